"""Covers: whether regions together hold every size of another one.

What is proved case by case is proved for all of them, but a claim may only be said where nothing lies between the
cases: `T ≤ 64` and `T > 65` leave 65 out. The solver is asked for sizes of the claim that no case holds. Only its
`unsat` counts; where it finds such sizes they are the example of the next case, and the nearest to the example are
taken, for these are cheap to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import z3

from samesame.formula.effort import WORK
from samesame.formula.expr import Expr, Size, const
from samesame.formula.region import COMPARE, Region, Values
from samesame.formula.smt import Formulas, Untranslatable, new_context

ASKED = 300 * WORK                                         # of the solver, for one question
NEAR = 1 << 24                                             # how far from the example sizes are looked for


def covers(cases: Sequence[Region], claim: Region) -> bool:
    """Whether the cases together hold all sizes of the claim, as far as the solver shows it."""
    try:
        return bool(_Question(cases, claim).asked.check() == z3.unsat)
    except Untranslatable:
        return False


def uncovered(cases: Sequence[Region], claim: Region, example: Values) -> dict[str, int] | None:
    """Sizes of the claim that no case holds, near the example: one symbol moved alone where that can be, by as little
    as can be. None where there are none, or none are found."""
    try:
        question = _Question(cases, claim)
    except Untranslatable:
        return None
    symbols = question.symbols
    alone = [[symbols[name] == example[name] for name in symbols if name != moved] for moved in symbols]
    for held in [*alone, []] if question.asked.check() != z3.unsat else ():
        found = question.nearest(held, example)
        if found is not None:
            return found
    return None


class _Question(Formulas):
    """Sizes of the claim that no case holds, for the solver. A case that has no words there holds nothing."""

    def __init__(self, cases: Sequence[Region], claim: Region) -> None:
        super().__init__(new_context())  # what was asked before changes nothing in which sizes are found
        self.symbols = {name: z3.Int(name, self.context) for name in claim.bounds}
        self.asked = self.solver(*self.conditions(claim))
        self.asked.set("rlimit", ASKED)
        for case in cases:
            try:
                self.asked.add(z3.Not(z3.And(*self.conditions(case), self.context)))
            except Untranslatable:
                continue

    def conditions(self, region: Region) -> Iterator[Any]:
        for name, (low, high) in region.bounds.items():
            yield self.symbols[name] >= low
            if high is not None:
                yield self.symbols[name] <= high
        for condition in region.conditions:
            yield COMPARE[condition.op](*(self.term(const(side)) for side in (condition.left, condition.right)))

    def unknown(self, expr: Expr) -> Any:
        if isinstance(expr, Size) and expr.name in self.symbols:
            return self.symbols[expr.name]
        return super().unknown(expr)

    def nearest(self, held: Sequence[Any], example: Values) -> dict[str, int] | None:
        """Such sizes, where these hold, no farther from the example than they must be."""
        def found(far: int) -> dict[str, int] | None:
            near = [e for name, n in self.symbols.items() for e in (n >= example[name] - far, n <= example[name] + far)]
            if self.asked.check(*held, *near) != z3.sat:
                return None
            model = self.asked.model()
            return {name: model.eval(n, model_completion=True).as_long() for name, n in self.symbols.items()}

        best, low, high = found(NEAR), 0, NEAR
        while best is not None and high - low > 1:
            middle = (low + high) // 2
            closer = found(middle)
            best, low, high = (best, middle, high) if closer is None else (closer, low, middle)
        return best
