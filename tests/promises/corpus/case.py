"""A case of the corpus of promises: two programs, the truth about them, and how a verdict is held to it.

Each case is written from the documentation alone, by somebody who knows what the two programs compute and not how they
are compared. `truth` is one of

    same        equal for all inputs of all sizes that both take (in real arithmetic), under `condition` if there is one
    different   not the same: on the example itself, on other values of its shapes, with other weights, in what a call
                leaves behind, or in what it returns (kind, shape, structure)
    parts       equal on the example and near it, and different on `elsewhere()`: inputs of other sizes
    hides       a program whose course depends on data that it hides, or that no two runs of agree on: not comparable

A false `same` is the worst that can happen: the judge knows no excuse for it, but that the headline itself leaves out
where the programs part (`only`). It is one if the truth is `different` or
`hides`, or if the programs part at sizes that the verdict claims to cover. `different` on a pair that is the same is
false, too. Everything else (undecided, refused) is no falsehood, only a loss, and is counted apart.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from samesame import check
from samesame.evidence import SamesameError


@dataclass(frozen=True)
class Case:
    """`left` and `right` make the programs (a module or a function over tensors), `inputs` the example."""

    name: str
    truth: str
    why: str
    left: Callable[[], Any]
    right: Callable[[], Any]
    inputs: Callable[[], Any]
    elsewhere: Callable[[], Any] | None = None
    condition: str = ""                         # what must hold for the two to be the same, in words
    options: dict[str, Any] = field(default_factory=dict)
    only: str = ""                              # what a headline has to say for "same" to be no falsehood


@dataclass(frozen=True)
class Outcome:
    """What `check` said of a case, and whether that is a falsehood: "", "false same" or "false different"."""

    case: Case
    said: str
    false: str
    detail: str
    seconds: float


def judge(case: Case, timeout: float = 60.0) -> Outcome:
    """Run a case as a user would, and hold the verdict to the truth."""
    torch.manual_seed(0)
    left, right = case.left(), case.right()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = check(left, right, case.inputs(), timeout=timeout, **case.options)
    except SamesameError as refused:
        return Outcome(case, "refused", "", str(refused), 0.0)
    false = ""
    if verdict.verdict == "same":
        covered = case.elsewhere is not None and verdict.covers(case.elsewhere())
        told = bool(case.only) and any(case.only in words for words in verdict.only)
        if (case.truth in ("different", "hides") and not told) or covered:
            false = "false same"
    elif verdict.verdict == "different" and case.truth == "same":
        false = "false different"
    conditions = sorted({str(c) for relation in verdict.relations for c in relation.evidence.conditions})
    detail = "; ".join(filter(None, [str(verdict.evidence), *verdict.sizes.varying, *conditions]))
    return Outcome(case, verdict.verdict, false, detail, verdict.timing.get("total", 0.0))
