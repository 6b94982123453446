"""Several programs of one thing: each pair compared, and which program stands alone.

A model that differs between two libraries leaves open which of them is wrong. A third program, another way through one
of the libraries, often tells: the two that agree are likely what was meant. No program is presumed to be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from samesame.check import check
from samesame.evidence import Verdict
from samesame.report.words import listed


def compare(programs: Sequence[tuple[str, Any]], inputs: Any, **settings: Any) -> list[Verdict]:
    """The verdict of `check` on each pair of these programs, given by name, in order: first with second, first with
    third, second with third, …"""
    found = []
    for (left, mine), (right, yours) in combinations(programs, 2):
        verdict = check(mine, yours, inputs, **settings)
        verdict.left, verdict.right = left, right
        found.append(verdict)
    return found


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
