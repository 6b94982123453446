"""Several programs of one thing: each pair compared, and which program stands alone.

A model that differs between two libraries leaves open which of them is wrong. A third program, another way through one
of the libraries, often tells: the two that agree are likely what was meant. No program is presumed to be right.
Pairs may be compared several at a time, each in a fork of this process, which loads its two programs by itself.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import combinations
from typing import Any

import torch

from samesame.budget import Run
from samesame.capture.targets import programs_of
from samesame.check import check
from samesame.evidence import Rung, SamesameError, Verdict
from samesame.report.html.several import draw
from samesame.report.words import listed
from samesame.store import Store
from samesame.supervised import without_answer
from samesame.versions import versions, versions_of_packages
from samesame.work.crew import Crew
from samesame.work.local import Local, Work
from samesame.work.progress import Progress, Told
from samesame.work.tasks import Lost, Task

COMPARING = "samesame.several:comparing"
GRACE = 60.0                                # seconds beyond the time limit; then the process of a pair is ended
NOT_REACHED = "Stopped by Ctrl-C or SIGTERM before this pair was decided. What is missing was not tried."


def compare(programs: Sequence[tuple[str, Any]], inputs: Any, **settings: Any) -> list[Verdict]:
    """The verdict of `check` on each pair of these programs, given by name, in order: first with second, first with
    third, second with third, …"""
    found = []
    for (left, mine), (right, yours) in combinations(programs, 2):
        verdict = check(mine, yours, inputs, **settings)
        verdict.left, verdict.right = left, right
        found.append(verdict)
    return found


def compare_targets(
    targets: Sequence[str], inputs: str | None, settings: Mapping[str, Any], *, jobs: int, tiny: bool = False,
    store: str | None = "-", progress: Told | None = None,
) -> tuple[list[Verdict], list[dict[str, Any]], bool]:
    """The verdict of `check` on each pair of these targets, `jobs` at a time; what a page shows of each, where
    `settings["picture"]` asks for it; and whether Ctrl-C ended it: what was not decided then is undecided.

    `settings` are those of `check`, whose `timeout` is for all pairs together. Rules are in the `store` of this path
    (None: the user's own, "-": nowhere). `progress` is called at least once a second. Raises SamesameError where a
    target cannot be loaded or compared, or ends its process, and KeyboardInterrupt where Ctrl-C came before anything
    was decided."""
    pairs = [*combinations(range(len(targets)), 2)]
    names = [(targets[a], targets[b]) for a, b in pairs]
    found = [Verdict("undecided", Rung.UNDECIDED, seed=settings["seed"], left=a, right=b) for a, b in names]
    timeout, threads = settings["timeout"], max(1, (os.cpu_count() or 1) // jobs)
    limit = math.inf if timeout is None else 1.5 * timeout + GRACE
    drawn: list[dict[str, Any] | None] = [None] * len(pairs)
    tasks = [Task(str(n), (n + 1, *pair), " and ".join(names[n]), limit) for n, pair in enumerate(pairs)]
    far = Progress("pairs", len(pairs))
    given = [*targets], inputs, dict(settings), tiny, store, threads, time.monotonic()
    with Crew([Local(COMPARING, given, jobs, forks=True, tasks_each=1)], tries=1) as crew:

        def tell() -> None:
            far.under_way = [(task.name, seconds) for task, seconds in crew.under_way]
            if progress is not None:
                progress(far)

        crew.watch = tell
        try:
            for done in crew.results(tasks):
                number = int(done.task.key)
                found[number], drawn[number] = _told(done.task.name, done.result)
                far.done += 1
        except KeyboardInterrupt:
            if not far.done:
                raise
            for verdict in found:
                verdict.notes += [] if verdict.versions else [NOT_REACHED]
    shown = [one or draw(n, verdict) for n, (verdict, one) in enumerate(zip(found, drawn, strict=True), 1)]
    return found, shown if settings["picture"] else [], far.done < len(pairs)


def _told(pair: str, result: Any) -> tuple[Verdict, dict[str, Any] | None]:
    """The verdict on a pair, and what a page shows of it. Raises SamesameError where there is none."""
    if isinstance(result, Lost):
        raise SamesameError(f"{pair}: {result.why if result.code is None else without_answer(result.code)}")
    if isinstance(result, str):
        raise SamesameError(result)
    verdict, drawn = result
    return verdict, drawn


def comparing(
    targets: Sequence[str], inputs: str | None, settings: Mapping[str, Any], tiny: bool, store: str | None,
    threads: int, began: float,
) -> Work:
    """In a fork: loads the targets and compares two of them. Gives their verdict and what a page shows of it, or says
    why there is none."""
    torch.set_num_threads(threads)
    seed, run = settings["seed"], Run(settings["timeout"], started=began)
    prover, semantics = versions()

    def work(task: tuple[int, int, int]) -> tuple[Verdict, dict[str, Any] | None] | str:
        number, *pair = task
        rules = None if store == "-" else Store.open_or_go_without(store, prover=prover, semantics=semantics)
        verdict = Verdict("undecided", Rung.UNDECIDED, seed=seed, versions=versions_of_packages())
        try:
            with ExitStack() as kept, run.bounded():
                with run.during("load"):
                    programs, example = kept.enter_context(programs_of(targets, inputs, tiny=tiny, seed=seed))
                left, right = (programs[place] for place in pair)
                verdict = check(left, right, example, **settings, run=run, store=rules)
        except SamesameError as error:
            return str(error)
        verdict.left, verdict.right = (targets[place] for place in pair)
        verdict.notes = verdict.notes or run.notes()
        drawn = draw(number, verdict) if settings["picture"] else None
        verdict.picture = None                              # which holds formulas as functions, and cannot be sent
        return verdict, drawn

    return work


def alone(verdicts: Sequence[Verdict]) -> str:
    """What the verdicts say together, in a sentence: which program stands alone, or that none does."""
    groups, answers = agreeing(verdicts), [verdict.verdict for verdict in verdicts]
    names = [name for group in groups for name in group]
    if len(groups) == 1:
        return "all of them are the same"
    if "undecided" in answers:
        return "which of them stands alone is undecided"
    single = [group[0] for group in groups if len(group) == 1]
    if len(groups) == 2 and len(single) == 1 and len(names) > 2:
        return f"{single[0]} stands alone: {listed([name for name in names if name not in single])} agree"
    if len(groups) == len(names):
        return "no two of them agree"
    return "; ".join(f"{listed(group)} {'agree' if len(group) > 1 else 'stands alone'}" for group in groups)


def agreeing(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """The programs in groups that were found to be the same, directly or through others; the largest first."""
    names = list(dict.fromkeys(name for verdict in verdicts for name in (verdict.left, verdict.right)))
    answer = {frozenset((v.left, v.right)): v.verdict for v in verdicts}
    groups: list[list[str]] = []
    for name in names:
        met = [group for group in groups if any(answer.get(frozenset((name, other))) == "same" for other in group)]
        groups = [group for group in groups if group not in met] + [[*(n for group in met for n in group), name]]
    return sorted(groups, key=lambda group: -len(group))


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """0 where all pairs are the same, 1 where some differ, else 3."""
    codes = {verdict.exit_code for verdict in verdicts}
    return 1 if 1 in codes else max(codes)
