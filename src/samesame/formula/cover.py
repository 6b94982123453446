"""Covers: whether regions together hold every size of another one.

What is proved case by case is proved for all of them, but a claim may only be said where nothing lies between the
cases: `T ≤ 64` and `T > 65` leave 65 out. The solver is asked for sizes of the claim that no case holds. Only its
`unsat` counts; where it finds such sizes they are the example of the next case, and the nearest to the example are
taken, for these are cheap to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import z3

from samesame.formula.effort import WORK
from samesame.formula.expr import Add, Extremum, FloorDiv, Mod, Mul, Num, Pow, Size, Unsupported
from samesame.formula.region import COMPARE, Condition, Region, Values
from samesame.formula.sizes import size_text
from samesame.formula.smt import new_context
from samesame.formula.tensor import Dim

ASKED = 300 * WORK                                         # of the solver, for one question
NEAR = 1 << 24                                             # how far from the example sizes are looked for


def covers(cases: Sequence[Region], claim: Region) -> bool:
    """Whether the cases together hold all sizes of the claim, as far as the solver shows it."""
    try:
        return bool(_Question(cases, claim).solver.check() == z3.unsat)
    except Unsupported:
        return False


def uncovered(cases: Sequence[Region], claim: Region, example: Values) -> dict[str, int] | None:
    """Sizes of the claim that no case holds, near the example: one symbol moved alone where that can be, by as little
    as can be. None where there are none, or none are found."""
    try:
        question = _Question(cases, claim)
    except Unsupported:
        return None
    symbols = question.symbols
    alone = [[symbols[name] == example[name] for name in symbols if name != moved] for moved in symbols]
    for held in [*alone, []] if question.solver.check() != z3.unsat else ():
        found = question.nearest(held, example)
        if found is not None:
            return found
    return None


class _Question:
    """Sizes of the claim that no case holds, for the solver. A case that has no words there holds nothing."""

    def __init__(self, cases: Sequence[Region], claim: Region) -> None:
        self.context = new_context()  # what was asked before changes nothing in which sizes are found
        self.symbols = {name: z3.Int(name, self.context) for name in claim.bounds}
        self.solver = z3.Solver(ctx=self.context)
        self.solver.set("rlimit", ASKED)
        self.solver.add(*self.conditions(claim))
        for case in cases:
            try:
                self.solver.add(z3.Not(z3.And(*self.conditions(case), self.context)))
            except Unsupported:
                continue

    def conditions(self, region: Region) -> Iterator[Any]:
        for name, (low, high) in region.bounds.items():
            yield self.symbols[name] >= low
            if high is not None:
                yield self.symbols[name] <= high
        yield from (self.condition(condition) for condition in region.conditions)

    def condition(self, condition: Condition) -> Any:
        return COMPARE[condition.op](self.term(condition.left), self.term(condition.right))

    def term(self, size: Dim) -> Any:
        """The size for the solver, whose quotients are rounded down where the divisor is a positive number."""
        match size:
            case int():
                return z3.IntVal(size, self.context)
            case Num(value):
                if value.denominator == 1:
                    return z3.IntVal(int(value), self.context)
                return z3.RatVal(value.numerator, value.denominator, self.context)
            case Size(name, _) if name in self.symbols:
                return self.symbols[name]
            case Add(parts):
                return sum(self.term(part) for part in parts)
            case Mul(parts):
                return prod((self.term(part) for part in parts), start=z3.IntVal(1, self.context))
            case Pow(base, exponent) if exponent.denominator == 1 and exponent > 0:
                return prod([self.term(base)] * int(exponent), start=z3.IntVal(1, self.context))
            case FloorDiv(a, Num(value)) | Mod(a, Num(value)) if value.denominator == 1 and value > 0:
                dividend, divisor = self.term(a), z3.IntVal(int(value), self.context)
                if dividend.is_int():
                    return dividend / divisor if isinstance(size, FloorDiv) else dividend % divisor
            case Extremum(op, parts):
                best, *others = (self.term(part) for part in parts)
                for other in others:
                    best = z3.If(best >= other if op == "max" else best <= other, best, other)
                return best
        raise Unsupported(f"{size_text(size)} has no words for the solver")

    def nearest(self, held: Sequence[Any], example: Values) -> dict[str, int] | None:
        """Such sizes, where these hold, no farther from the example than they must be."""
        def found(far: int) -> dict[str, int] | None:
            near = [e for name, n in self.symbols.items() for e in (n >= example[name] - far, n <= example[name] + far)]
            if self.solver.check(*held, *near) != z3.sat:
                return None
            model = self.solver.model()
            return {name: model.eval(n, model_completion=True).as_long() for name, n in self.symbols.items()}

        best, low, high = found(NEAR), 0, NEAR
        while best is not None and high - low > 1:
            middle = (low + high) // 2
            closer = found(middle)
            best, low, high = (best, middle, high) if closer is None else (closer, low, middle)
        return best
