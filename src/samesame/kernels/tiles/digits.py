"""Numbers in mixed radix: some variables as one, and one as its digits.

A program and a lane are often only two digits of one number p = 1024·pid + lane, which the kernel then takes apart
with radices of its own: ⌊p/C⌋ and p mod C. Over pid and lane such an offset says little; over q and r, where
p = q·C + r, it is a plain sum. So variables that make up a number are first taken as that number, and the number is
then taken as the digits that the kernel looks at. Each step is one to one, so nothing is lost: that the digits stand
for a number that was there is a condition beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from samesame.formula import polynomials
from samesame.formula.expr import TRUE, ZERO, Expr, Extremum, FloorDiv, Index, const, index, substitute, walk
from samesame.formula.polynomials import least, polynomial
from samesame.kernels.indices import integers


@dataclass(frozen=True)
class Change:
    """New variables for old ones: what each old one is, and the condition under which the new ones stand for some. That
    is the range of those in `within`, too: their own extents say less."""

    new: tuple[Index, ...]
    values: dict[Index, Expr]
    condition: Expr = TRUE
    within: tuple[Index, ...] = ()

    def __call__(self, expr: Expr) -> Expr:
        return integers.tidied(substitute(expr, self.values))

    def variables(self, before: Sequence[Index]) -> tuple[Index, ...]:
        """All variables, the new ones where the first old one stood."""
        first = next(v for v in before if v in self.values)
        found = (w for v in before for w in (self.new if v is first else () if v in self.values else (v,)))
        return tuple(found)


def split(number: Index, width: Expr, within: Expr | None = None) -> Change:
    """A number as number = q·width + r, where r < width. `within` is its range where its extent is not."""
    rows = integers.quotient(number.extent, width)
    low = index(width)
    if within is None and integers.times_(rows, width) is number.extent:
        high = index(rows)
        return Change((high, low), {number: integers.plus_(integers.times_(high, width), low)})
    high = index(number.extent)
    values: dict[Index, Expr] = {number: integers.plus_(integers.times_(high, width), low)}
    limit = integers.less(number, number.extent) if within is None else within
    return Change((high, low), values, integers.tidied(substitute(limit, values)), (high,))


def joined(exprs: Sequence[Expr], variables: Sequence[Index]) -> Change | None:
    """The variables that are divided together as the one number they make up, where the expressions are about that
    number alone."""
    for e in exprs:
        for part in walk(e):
            if not isinstance(part, FloorDiv):
                continue
            digits = digits_of(part.numerator, variables)
            change = as_one(digits) if len(digits) > 1 else in_turns(part.numerator, variables)
            if change is not None and not any(divides_again(new, change) for new in map(change, exprs)):
                return change
    return None


def in_turns(number: Expr, variables: Sequence[Index]) -> Change | None:
    """The number p + s·t below n that program p comes to in its turn t, as persistent kernels count tiles: t runs as
    far as that is below n, and there are s programs, or n where that is less."""
    for p, t in permutations(variables, 2):
        if not isinstance(t.extent, FloorDiv):
            continue
        stride = t.extent.divisor
        n = integers.plus_(t.extent.numerator, p, 1, integers.times_(stride, -1))
        alone = not n.free & {p, t} and not any({p, t} & v.extent.free for v in variables if v is not t)
        is_number = integers.minus(number, integers.plus_(p, integers.times_(stride, t))) is ZERO
        if alone and is_number and (p.extent is stride or set(parts_of_least(p.extent)) == {stride, n}):
            tile = index(n)
            turn = integers.quotient(tile, stride)
            return Change((tile,), {t: turn, p: integers.minus(tile, integers.times_(turn, stride))})
    return None


def turned(ratio: FloorDiv, variables: Sequence[Index]) -> Change | None:
    """The digit w < s of (c + w) mod s as that remainder: whatever c is, each number below s comes once."""
    for w in variables:
        line = integers.linear(ratio.numerator, w)
        ahead = line is not None and line[0] == 1 and line[1] is not ZERO and w.extent is ratio.divisor
        if line is not None and ahead and not any(w in v.extent.free for v in variables):
            rest = index(w.extent)
            back = integers.minus(rest, line[1])
            return Change((rest,), {w: integers.remainder(back, w.extent)})
    return None


def parts_of_least(e: Expr) -> tuple[Expr, ...]:
    return e.arguments if isinstance(e, Extremum) and e.op == "min" else (e,)


def digits_of(number: Expr, variables: Sequence[Index]) -> tuple[tuple[Index, Expr], ...]:
    """Variables with what each counts for, the most significant first, where the number is made of them: each counts
    for as many as there are numbers in the digits behind it. Nothing where it is not."""
    left: dict[Expr, Index] = {}
    for monomial, c in polynomial(number).items():
        own = [v for v in variables if v in monomial]
        if len(own) != 1 or own[0] in left.values():
            return ()
        others = list(monomial)
        others.remove(own[0])
        left[polynomials.written({tuple(others): c})] = own[0]
    found: list[tuple[Index, Expr]] = []
    counts: Expr = const(1)
    while left:
        v = left.pop(counts, None)
        if v is None or v.extent.free or any(v in w.extent.free for w in variables):
            return ()
        if left and (least(v.extent) or 0) < 1:
            return ()
        found.append((v, counts))
        counts = integers.times_(counts, v.extent)
    return tuple(reversed(found))


def as_one(digits: Sequence[tuple[Index, Expr]]) -> Change:
    """Digits as the number that they make up."""
    first, most = digits[0]
    number = index(integers.times_(first.extent, most))
    above: Expr = ZERO
    values: dict[Index, Expr] = {}
    for digit, counts in digits:
        values[digit] = integers.minus(integers.quotient(number, counts), integers.times_(above, digit.extent))
        above = integers.quotient(number, counts)
    return Change((number,), values)


def divides_again(expr: Expr, change: Change) -> bool:
    """Whether an old digit is still read by itself."""
    made = {e for value in change.values.values() for e in walk(value) if isinstance(e, FloorDiv)}
    return any(e in made and e.numerator in change.new for e in walk(expr) if isinstance(e, FloorDiv))


def ratios(exprs: Sequence[Expr]) -> Iterator[FloorDiv]:
    """The quotients in some expressions."""
    for e in exprs:
        yield from (part for part in walk(e) if isinstance(part, FloorDiv))
