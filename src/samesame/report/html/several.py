"""More than two programs compared, as a page: which agree, the answer for each two, and below it the report of each
pair, drawn as `check` draws it; those that are not the same stand open."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from pathlib import Path
from typing import Any

from samesame.evidence import Verdict
from samesame.report.html.check import pair_of
from samesame.report.html.drawing import ANSWERS
from samesame.report.html.page import page, write_page
from samesame.report.words import listed

COLOURS = {"different": "refuted", "undecided": "undecided"}


def several_html(
    verdicts: Sequence[Verdict], answer: str, groups: Sequence[Sequence[str]], code: int,
    drawn: Sequence[dict[str, Any]] = (),
) -> str:
    """The whole page, for the verdicts of all pairs in order, the answer in a sentence, and the groups that agree. The
    pairs are `drawn` here, unless they are already."""
    number = (1 + isqrt(1 + 8 * len(verdicts))) // 2                    # of programs, of which these are all pairs
    names = [verdicts[0].left, *(verdict.right for verdict in verdicts[: number - 1])]
    shown = drawn or [draw(number, verdict) for number, verdict in enumerate(verdicts, 1)]
    pairs = [_pair(number, verdict, one) for number, (verdict, one) in enumerate(zip(verdicts, shown, strict=True), 1)]
    above = iter(pairs)
    return page(
        "several.html",
        title=answer,
        code=code,
        answer=answer,
        groups=[f"{listed(list(group))} {_together(group, verdicts)}" for group in groups],
        names=names,
        rows=[{"name": name, "cells": [None] * (row + 1) + [next(above) for _ in names[row + 1:]]}
              for row, name in enumerate(names[:-1])],
        pairs=pairs,
    )


def _together(group: Sequence[str], verdicts: Sequence[Verdict]) -> str:
    if len(group) > 1:
        return "agree"
    own = {verdict.verdict for verdict in verdicts if group[0] in (verdict.left, verdict.right)}
    return "stands alone" if own == {"different"} else "may agree with others: that is undecided"


def write_several_page(
    verdicts: Sequence[Verdict], answer: str, groups: Sequence[Sequence[str]], code: int, path: Path,
    drawn: Sequence[dict[str, Any]] = (),
) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(several_html(verdicts, answer, groups, code, drawn), path)


def draw(number: int, verdict: Verdict) -> dict[str, Any]:
    """What the page shows of a pair."""
    return pair_of(verdict, f"pair-{number}-")


def _pair(number: int, verdict: Verdict, drawn: dict[str, Any]) -> dict[str, Any]:
    kind = COLOURS.get(verdict.verdict) or ANSWERS[verdict.evidence]
    return {"id": f"pair-{number}", "kind": kind, "state": verdict.verdict, "evidence": str(verdict.evidence),
            **drawn}
