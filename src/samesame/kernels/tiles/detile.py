"""Which program and lane writes an element: a store's offsets solved for the output's indices.

A store writes element o(p, l) from program p and lane l. For an output index i, program and lane are found by reading
o as digits: with o = p·B + l they are p = ⌊i/B⌋ and l = i − p·B. A program id that the kernel itself takes apart
(`pid // W`, `pid % W`, swizzles) is taken apart in the same way first. That gives a guess; what it is good for is then
proved: that it is a program and a lane, that o gives back i, that the mask lets it through, and the other way round,
that p and l can be told from o, so that no two programs write one element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import cast

from samesame.formula import polynomials
from samesame.formula.expr import (
    FALSE,
    TRUE,
    ZERO,
    Expr,
    FloorDiv,
    Fold,
    Index,
    Num,
    Where,
    and_,
    const,
    index,
    substitute,
    walk,
    where,
)
from samesame.formula.polynomials import least, polynomial
from samesame.kernels.execution.accesses import Access
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, with_fact
from samesame.kernels.launch import Memory
from samesame.kernels.tiles.digits import Change, joined, ratios, split, turned
from samesame.kernels.tiles.memory import element, is_contiguous, magnitude, offset_of

Equation = tuple[Expr, Expr]
FEW = 8  # values of a program id that are looked at one by one
SPLITS = 8  # divisions of program ids that are taken apart for one store


@dataclass(frozen=True, eq=False)
class Write:
    """One store or atomic operation over its variables: programs, iterations and lanes. `fixed` are program ids that
    have one value here, as the access is looked at for each of their few values by itself. `within` is the range of
    variables whose extent says less."""

    access: Access
    memory: Memory
    variables: tuple[Index, ...]
    offset: Expr
    condition: Expr
    value: Expr
    fixed: tuple[tuple[Index, int], ...] = ()
    lanes: tuple[Index, ...] = ()
    within: dict[Index, Expr] = field(default_factory=dict)

    @property
    def facts(self) -> Facts:
        return with_fact((), self.condition)

    @property
    def in_range(self) -> list[Expr]:
        """That its variables are in range, of those whose range hangs on others."""
        return [self.within.get(v, integers.less(v, v.extent)) for v in self.variables if v.extent.free]


@dataclass(frozen=True, eq=False)
class Solution:
    """For output indices, the program, iteration and lane that write them.

    `values` gives each variable that the offset determines; `free` are the others. `covers` is the condition on the
    indices under which the element is written; `at` the output's indices over the write's variables. `scattered`: where
    an element goes hangs on data, and of the free variables' values at most one leads to each element.
    """

    write: Write
    indices: tuple[Index, ...]
    values: dict[Index, Expr]
    free: tuple[Index, ...]
    covers: Expr
    at: tuple[Expr, ...]
    scattered: bool = False


def reached(solution: Solution) -> tuple[Expr, Expr]:
    """The condition under which a value of the free variables leads to an element, and what must be so of any value."""
    known = solution.values
    places = [(substitute(a, known), cast(Expr, i)) for a, i in zip(solution.at, solution.indices, strict=True)]
    parts = [integers.equal(a, i) for a, i in rejoined(places, is_digit)]
    for v, e in known.items():
        limit = solution.write.within.get(v, integers.less(v, v.extent))
        parts += [integers.at_least_zero(e), substitute(limit, known)]
    parts += with_fact((), substitute(solution.write.condition, known))
    free, parts = frozenset(solution.free), [integers.tidied(part) for part in parts]
    return and_(*(part for part in parts if part.free & free)), and_(*(part for part in parts if not part.free & free))


def scattered(solution: Solution, simplify: Simplifier) -> Solution:
    """The solution of a store through an index, given that no element is reached twice: an element is written where
    something reaches it."""
    each, whole = map(simplify, reached(solution))
    return replace(solution, covers=and_(whole, Fold("any", solution.free, each)), scattered=True)


def write_of(access: Access, programs: Sequence[Index], simplify: Simplifier) -> Write:
    """The access over index variables, simplified."""
    lanes = tuple(index(n) for n in access.pointers.shape)
    mask = access.mask[lanes] if access.mask is not None else TRUE
    condition = integers.tidied(and_(*access.path, mask))
    if any(isinstance(e, Where) for e in walk(condition)):  # of a load that is masked, as its mask is true there
        condition = simplify(condition)
    facts = with_fact((), condition)
    offset = simplify(access.pointers.offsets[lanes], facts)
    value = integers.tidied(access.value[lanes]) if access.value is not None else ZERO
    variables = [v for v in (*programs, *access.loops, *lanes) if v.extent is not const(1)]
    one = {v: cast(Expr, ZERO) for v in lanes if v.extent is const(1)}
    if one:
        condition, offset, value = (integers.tidied(substitute(e, one)) for e in (condition, offset, value))
    return Write(access, access.pointers.memory, tuple(variables), offset, condition, value, (), lanes)


def by_program(write: Write, programs: Sequence[Index], simplify: Simplifier) -> list[Write]:
    """The access for each value of a program id of which there are few, where the offset depends on which one it is.
    How often a loop runs may depend on it, too: the loop's own extent then says less than what is known here."""
    chosen = {v for e in walk(write.offset) if isinstance(e, Where) for v in e.condition.free}
    axis = next((v for v in programs if v in chosen and v in write.variables and _is_few(v.extent)), None)
    if axis is None:
        return [write]
    found: list[Write] = []
    for k in range(int(cast(Num, axis.extent).value)):
        here = {axis: const(k)}
        limits = {v: write.within.get(v, integers.less(v, v.extent)) for v in write.variables if axis in v.extent.free}
        within = {v: integers.tidied(substitute(c, here)) for v, c in (write.within | limits).items()}
        condition = simplify(and_(integers.tidied(substitute(write.condition, here)), *(within[v] for v in limits)))
        if condition is FALSE:
            continue
        offset = simplify(integers.tidied(substitute(write.offset, here)), with_fact((), condition))
        value = integers.tidied(substitute(write.value, here))
        variables = tuple(v for v in write.variables if v is not axis)
        fixed = (*write.fixed, (axis, k))
        one = Write(write.access, write.memory, variables, offset, condition, value, fixed, write.lanes, within)
        found += by_program(one, programs, simplify)
    return found


def _is_few(extent: Expr) -> bool:
    return isinstance(extent, Num) and extent.value <= FEW


def solved(write: Write, simplify: Simplifier) -> Solution | None:
    """Program and lane for each element. None where the offset cannot be read as an element's."""
    write = taken_as_one(write, simplify)
    at = element(write.memory, write.offset, write.facts, simplify)
    if at is None:
        return None
    write, at = taken_apart(write, at, simplify)
    indices = tuple(index(integers.tidied(const(n))) for n in write.memory.shape)
    solution = told(write, at, indices, list(zip(at, indices, strict=True)), simplify)
    if any(v in write.offset.free for v in solution.free) and is_contiguous(write.memory):
        line = write.offset, offset_of(write.memory, indices)
        by_line = told(write, at, indices, [line], simplify)
        solution = min(solution, by_line, key=lambda one: len(one.free))
    if write.access.kind != "store" and tells_programs(solution, simplify):
        return overlapping(solution, simplify) or solution
    return solution


def told(
    write: Write, at: tuple[Expr, ...], indices: tuple[Index, ...], equations: list[Equation], simplify: Simplifier
) -> Solution:
    """What the equations say of the variables. They hold where the store, somewhere in the tensor, reaches the element
    at the indices, and only there."""
    guesses = guess(indices, equations)
    values = {v: simplify(guesses[v]) for v in write.variables if v in guesses and guesses[v].free <= set(indices)}
    free = tuple(v for v in write.variables if v not in values)
    return Solution(write, indices, values, free, condition_of(write, equations, values, simplify), at)


def overlapping(solution: Solution, simplify: Simplifier) -> Solution | None:
    """Where several programs and lanes reach one element, as its windows 2·j + k do, all are kept but one for each
    dimension, which the element and the others tell: k = i − 2·j."""
    write, values = solution.write, dict[Index, Expr]()
    for i, a in zip(solution.indices, solution.at, strict=True):
        others = [e for e in (*solution.at, *(v.extent for v in write.variables)) if e is not a]
        alone = [v for v in write.variables if not any(v in e.free for e in others)]
        lines = [(v, found) for v in alone if (found := integers.linear(a, v)) is not None and abs(found[0]) == 1]
        if a.free and not lines:
            return None
        for v, (sign, rest) in lines[-1:]:
            values[v] = integers.times_(integers.minus(i, rest), sign)
    free = tuple(v for v in write.variables if v not in values)
    covers = condition_of(write, list(zip(solution.at, solution.indices, strict=True)), values, simplify)
    return replace(solution, values=values, free=free, covers=covers)


def taken_as_one(write: Write, simplify: Simplifier) -> Write:
    """The write over the number that its program and lane make up, and that number's digits, where the offset divides
    it."""
    change = joined((write.offset, write.condition), write.variables)
    if change is None:
        return write
    write = changed(write, change, simplify)
    for _ in range(SPLITS):
        found = [e for e in ratios((write.offset,)) if _splits(e, write, simplify)]
        if found:
            ratio = max(found, key=lambda e: magnitude(e.divisor))  # a whole row before a part of it
            write = changed(write, digits_in(write, ratio), simplify)
        elif (change := turn_in(write, (write.offset,))) is not None:
            write = changed_in_turn(write, change, simplify)
        else:
            break
    return write


def taken_apart(write: Write, at: tuple[Expr, ...], simplify: Simplifier) -> tuple[Write, tuple[Expr, ...]]:
    """The write over the digits of what it divides: of `pid // W` and `pid % W` the variables q and r, pid = q·W + r.

    Each pid has one q and one r < W, so nothing is lost: that q·W + r is a program becomes a condition of the write.
    """
    for _ in range(SPLITS):
        ratio = next((e for e in ratios(at) if _splits(e, write, simplify)), None)
        change = turn_in(write, at) if ratio is None else digits_in(write, ratio)
        if change is None:
            break
        write = changed(write, change, simplify) if ratio is not None else changed_in_turn(write, change, simplify)
        at = tuple(simplify(change(i), write.facts) for i in at)
    return write, at


def digits_in(write: Write, ratio: FloorDiv) -> Change:
    number = cast(Index, ratio.numerator)
    return split(number, ratio.divisor, write.within.get(number))


def turn_in(write: Write, exprs: Sequence[Expr]) -> Change | None:
    return next(filter(None, (turned(e, write.variables) for e in ratios(exprs))), None)


def changed_in_turn(write: Write, change: Change, simplify: Simplifier) -> Write:
    """The write over digits in another turn. Its value is told by the old ones first, of which more is known."""
    return changed(replace(write, value=simplify(write.value, write.facts)), change, simplify)


def changed(write: Write, change: Change, simplify: Simplifier) -> Write:
    """The write over other variables."""
    facts = with_fact((), change.condition)
    condition = and_(change.condition, simplify(change(write.condition), facts))
    return replace(
        write,
        variables=change.variables(write.variables),
        offset=simplify(change(write.offset), with_fact((), condition)),
        condition=condition,
        value=change(write.value),
        within={v: change(c) for v, c in write.within.items() if v not in change.values}
        | dict.fromkeys(change.within, change.condition),
    )


def _splits(e: FloorDiv, write: Write, simplify: Simplifier) -> bool:
    """Whether this is a variable divided by a positive number in which it does not occur."""
    v, known = e.numerator, write.variables
    if v not in known or v in e.divisor.free or any(v in w.extent.free for w in known):
        return False
    return simplify.prover.proves(write.facts, integers.less(0, e.divisor))


def guess(indices: tuple[Index, ...], known: list[Equation]) -> dict[Index, Expr]:
    """Values of the variables in what is equal, read off as digits of the indices, dimension by dimension."""
    found: dict[Index, Expr] = {}
    for expr, rest in sorted(rejoined(known), key=lambda pair: len(pair[0].free)):
        expr = by_chunk(integers.tidied(substitute(expr, found)), rest, indices, found)
        factors, others = by_unknown(integers.tidied(substitute(expr, found)), indices)
        rest = integers.minus(rest, others)
        if not any(map(leads_upwards, factors.values())):  # from the last element on: as from the first one, upwards
            factors, rest = {v: integers.times_(c, -1) for v, c in factors.items()}, integers.times_(rest, -1)
        ordered = sorted(factors.items(), key=lambda pair: magnitude(pair[1]), reverse=True)
        for k, (v, factor) in enumerate(ordered):
            sign = 1 if leads_upwards(factor) else -1
            size = integers.times_(factor, sign)
            digit = integers.quotient(integers.times_(rest, sign), size)
            if sign < 0 and k < len(ordered) - 1:
                break
            found[v] = digit
            rest = integers.minus(rest, integers.times_(integers.times_(digit, sign), size))
    return found


def by_unknown(expr: Expr, indices: tuple[Index, ...]) -> tuple[dict[Index, Expr], Expr]:
    """What each variable that is none of the indices is multiplied by, a sum perhaps, and the terms that have none of
    these, or several."""
    factors: dict[Index, polynomials.Polynomial] = {}
    others: polynomials.Polynomial = {}
    for monomial, c in polynomial(expr).items():
        unknown = [a for a in monomial if isinstance(a, Index) and a not in indices]
        if len(unknown) == 1:
            factor = list(monomial)
            factor.remove(unknown[0])
            factors.setdefault(unknown[0], {})[tuple(factor)] = c
        else:
            others[monomial] = c
    return {v: polynomials.written(factor) for v, factor in factors.items()}, polynomials.written(others)


def leads_upwards(factor: Expr) -> bool:
    """Whether the longest product in a factor is not subtracted."""
    terms = polynomial(factor)
    return terms[max(terms, key=lambda m: (len(m), polynomials.orders(m)))] > 0


def is_digit(low: Expr, divisor: Expr) -> bool:
    """Whether it is an index that runs below the divisor."""
    return isinstance(low, Index) and low.extent is divisor


def rejoined(
    known: list[Equation], may_be_rest: Callable[[Expr, Expr], bool] = lambda low, divisor: True
) -> list[Equation]:
    """Expressions and what they are: of ⌊t/d⌋ = i and t mod d = j as the one t = d·i + j, which says the same where j
    is a digit."""
    for one, other in permutations(known, 2):
        for monomial, c in polynomial(one[0]).items():
            if c != 1 or len(monomial) != 1 or not isinstance(monomial[0], FloorDiv):
                continue
            ratio = monomial[0]
            high = integers.minus(one[1], integers.minus(one[0], ratio))
            low = integers.minus(other[1], integers.minus(other[0], integers.remainder(ratio.numerator, ratio.divisor)))
            if high.free <= one[1].free and low.free <= other[1].free and may_be_rest(low, ratio.divisor):
                whole = integers.plus_(integers.times_(high, ratio.divisor), low)
                rest = [pair for pair in known if pair is not one and pair is not other]
                return rejoined([*rest, (ratio.numerator, whole)], may_be_rest)
    return known


def by_chunk(expr: Expr, i: Expr, indices: tuple[Index, ...], found: dict[Index, Expr]) -> Expr:
    """Of ⌊M·p/c⌋ + t, where chunk p begins at ⌊M·p/c⌋: the chunk that i lies in is ⌊(c·(i + 1) − 1)/M⌋."""
    for monomial, c in polynomial(expr).items():
        if c != 1 or len(monomial) != 1 or not isinstance(monomial[0], FloorDiv):
            continue
        numerator = polynomial(monomial[0].numerator)
        unknown = monomial[0].numerator.free.difference(indices)
        if len(unknown) != 1 or len(numerator) != 1 or not unknown.isdisjoint(found):
            continue
        (v,) = unknown
        ((atoms, size),) = numerator.items()
        if atoms.count(v) != 1:
            continue  # it stands inside another quotient, or is squared
        others = list(atoms)
        others.remove(v)
        width = polynomials.written({tuple(others): size})
        last = integers.minus(integers.times_(integers.plus_(i, 1), monomial[0].divisor), 1)
        found[v] = integers.quotient(last, width)
        return integers.tidied(substitute(expr, found))
    return expr


def condition_of(
    write: Write, equations: list[Equation], values: dict[Index, Expr], simplify: Simplifier
) -> Expr:
    """When the guess is a program and lane that write the element, the first ones where some are free; TRUE where that
    is proved for all elements."""
    free = {v: cast(Expr, ZERO) for v in write.variables if v not in values}
    whole: dict[Index, Expr] = {**free, **{v: substitute(e, free) for v, e in values.items()}}
    parts: list[Expr] = []
    for v, e in whole.items():
        limit = write.within.get(v, integers.less(v, v.extent))
        parts += [integers.at_least_zero(e), substitute(limit, whole)]
    parts += [integers.equal(substitute(a, whole), i) for a, i in equations]
    parts.append(substitute(write.condition, whole))
    return simplify(and_(*map(integers.tidied, parts)))


def value_at(solution: Solution, simplify: Simplifier, facts: Facts = ()) -> Expr:
    """What is written at the output's indices, where the solution covers them. There is one, so no extent is 0."""
    if solution.scattered:
        value, (each, whole) = substitute(solution.write.value, solution.values), reached(solution)
        if value.free.isdisjoint(solution.free):  # all that reach the element store it
            return simplify(value, with_fact(facts, whole))
        return simplify(Fold("sum", solution.free, where(each, value, 0)), with_fact(facts, whole))
    some = (integers.less(0, i.extent) for i in solution.indices if (least(i.extent) or 0) < 1)
    known = with_fact(with_fact(facts, solution.covers), and_(*some))
    return simplify(substitute(solution.write.value, solution.values), known)


def tells_programs(solution: Solution, simplify: Simplifier) -> list[Index]:
    """The determined variables that cannot be shown to follow from the element: two writers of one element."""
    write = solution.write
    there = dict(zip(solution.indices, solution.at, strict=True))
    unsure: list[Index] = []
    for v, e in solution.values.items():
        back = simplify(substitute(e, there), write.facts)
        if not simplify.prover.proves(write.facts, integers.equal(back, v)):
            unsure.append(v)
    return unsure
