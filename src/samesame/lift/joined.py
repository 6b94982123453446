"""Composed formulas in the form in which they are compared with others.

One kernel's tiles are gone from its formula; two kernels together still have the tiles in which the first one leaves
its results for the second: Σ_{p<⌈n/B⌉} Σ_{l<min{B, n − B·p}} x[B·p + l]. So what they compute is simplified once more
as a whole, under the conditions of all kernels. A range that still ends at the least of two numbers is then one that
ends at the first of them, with a condition on its elements, as the provers of formulas take it. And a kernel writes
out what its window has, where a reference folds over it: max{x[2·i], x[2·i + 1]} is max_{k<2} x[2·i + k].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod

from samesame.evidence import Refused
from samesame.formula import polynomials
from samesame.formula.expr import (
    TRUE,
    ZERO,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fold,
    Index,
    Load,
    Mod,
    Num,
    Size,
    Where,
    and_,
    const,
    index,
    not_,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.order import order
from samesame.formula.tensor import Tensor, tensor
from samesame.kernels import clock
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.shorter import least_of
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.front import element_name
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver, with_fact
from samesame.kernels.launch import whole_numbers
from samesame.kernels.loops.steps import COMBINED
from samesame.kernels.stated import Sum
from samesame.lift.draws import Held
from samesame.lift.halves import divides
from samesame.lift.ranked import Ranked

SECONDS = 10.0
FEW, SEVERAL = 16, 64  # elements that are written out; where an index is one number, too
SHORT = ("u8", "i8", "u16", "i16")  # dtypes that say something of integers
NO_DTYPES: Mapping[str, str] = {}


def in_one_range(
    whole: Tensor,
    assumed: Sequence[Expr],
    data: Mapping[str, Held],
    sums: Sequence[Sum] = (),
    dtypes: Mapping[str, str] = NO_DTYPES,
) -> tuple[Tensor, tuple[str, ...]]:
    """The tensor with tiles joined, conditions decided and the largest of rows told one by one, where the assumed
    conditions on sizes hold and what is said of integers does, and what that needs besides; as it is where that takes
    too long or is nested too deeply."""
    indices = tuple(index(integers.tidied(const(n))) for n in whole.shape)
    prover = prover_of(assumed, data, sums, dtypes)
    try:
        with clock.limited(SECONDS):
            ranked, simplify = Ranked(prover), Simplifier(prover)
            found = ranked(by_conditions(simplify(by_order(ranked(whole[indices]), prover)), prover))
    except (Refused, RecursionError):
        return whole, ()
    told = Tensor(whole.shape, lambda *i: substitute(found, dict(zip(indices, i, strict=True))), whole.kind)
    return told, tuple(ranked.conditions)


def prover_of(
    assumed: Sequence[Expr],
    data: Mapping[str, Held],
    sums: Sequence[Sum] = (),
    dtypes: Mapping[str, str] = NO_DTYPES,
) -> IndexProver:
    """One that knows what is assumed of sizes, and what is said of integers, by their dtypes, too."""
    prover = IndexProver(seconds=SECONDS)
    for condition in assumed:
        prover.assume(integers.tidied(condition))
    for name, held in data.items():
        low, high = (integers.tidied(const(end)) for end in (held.low, held.high))
        prover.assume_range(name, low, high, held.but)
    prover.sums += sums
    for name, element in ((name, element_name(dtype)) for name, dtype in dtypes.items()):
        if element in SHORT:
            least, most = map(const, whole_numbers(element))
            prover.dtypes[name] = least, most
    return prover


def by_order(expr: Expr, prover: IndexProver) -> Expr:
    """The expression with integers that are chosen by how they compare as maxima and minima, as {0 if i < 0 else i} is
    max{0, i}, and with comparisons by whether an element is the one number outside of its range."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = told(rebuild(e, go))
        return memo[e]

    def told(e: Expr) -> Expr:
        match e:
            case Compare() if e.left.kind == "int":
                return as_exception(e, prover)
            case Where(c, then, otherwise) if e.kind == "int":
                found = as_extremum(c, then, otherwise, prover)
                return e if found is None else told(found)
            case Extremum(op, parts) if e.kind == "int":
                return Extremum(op, tuple(sorted(parts, key=order)))
        return e

    return go(expr)


def as_extremum(condition: Expr, then: Expr, otherwise: Expr, prover: IndexProver) -> Expr | None:
    """The greater or the lesser of two integers, where a condition chooses that one; elements that it does not look at
    may be nowhere where it does not hold."""
    if not loads_in(then) | loads_in(otherwise) <= loads_in(condition):
        return None
    for op, low, high in (("max", otherwise, then), ("min", then, otherwise)):       # where it holds
        wanted = ((condition, integers.at_most(low, high)), (not_(condition), integers.at_most(high, low)))
        if all(prover.proves(with_fact((), fact), goal) for fact, goal in wanted):
            return integers.flattened(op, (then, otherwise))
    return None


def loads_in(e: Expr) -> set[Load]:
    return {part for part in walk(e) if isinstance(part, Load)}


def as_exception(compare: Compare, prover: IndexProver) -> Expr:
    """Of 0 ≤ e < n or e = −1, as data says, both 0 ≤ e and e ≠ −1 as the latter; other comparisons as they are."""
    for element in sorted(loads_in(compare), key=order):
        for number in prover.excepted.get(element.leaf.name, ()):
            one = integers.equal(element, number)
            for is_one, same in ((compare, one), (not_(compare), not_(one))):
                here, elsewhere = with_fact((), one), with_fact((), not_(one))
                if prover.proves(here, is_one) and prover.proves(elsewhere, not_(is_one)):
                    return same
    return compare


def by_conditions(expr: Expr, prover: IndexProver) -> Expr:
    """The expression with ranges that end at a polynomial in sizes, where one of several numbers is the least, or where
    data says which rows of a tensor are taken."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            new = rebuild(e, go)
            memo[e] = with_conditions(over_rows(new, prover), prover) if isinstance(new, Fold) else new
        return memo[e]

    return go(expr)


def over_rows(fold: Fold, prover: IndexProver) -> Fold:
    """Σ_{k<e} f(x[a + k]) as Σ_{k<n} {f(x[k]) if a ≤ k < a + e else 0}, where data says a and e and all of these are
    shown to be among the n rows that x has."""
    neutral = NEUTRAL[fold.monoid]
    condition: Expr = TRUE
    body = fold.body
    if isinstance(body, Where) and body.otherwise is neutral:
        condition, body = body.condition, body.then
    for v in fold.bound if not any(w.extent.free & frozenset(fold.bound) for w in fold.bound) else ():
        if all(is_of_sizes(end) for end in least_of(v.extent)):
            continue
        facts = with_fact((), integers.tidied(condition))
        for i, n in read_along(v, body):
            start = integers.minus(i, v)
            inside = and_(integers.at_least_zero(i), integers.less(i, n))
            if start.free & frozenset(fold.bound) or not prover.proves(facts, inside):
                continue
            row = index(n)
            here: dict[Index, Expr] = {v: integers.minus(row, start)}
            within = [integers.less(here[v], end) for end in map(or_none, least_of(v.extent))]
            whole = and_(integers.at_most(start, row), *within, integers.tidied(substitute(condition, here)))
            new = where(whole, integers.tidied(substitute(body, here)), neutral)
            return over_rows(Fold(fold.monoid, tuple(row if w is v else w for w in fold.bound), new), prover)
    return fold


def read_along(v: Index, body: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The indices a + v of elements, with the number of elements along there."""
    for load in walk(body):
        if isinstance(load, Load):
            for i, n in zip(load.indices, load.leaf.shape, strict=True):
                line = integers.linear(i, v)
                if line is not None and line[0] == 1 and v in i.free:
                    yield i, integers.tidied(const(n))


def or_none(end: Expr) -> Expr:
    """Below max{e, 0} lies, of what is never negative, what lies below e."""
    others = [e for e in end.arguments if e is not ZERO] if isinstance(end, Extremum) and end.op == "max" else []
    return others[0] if len(others) == 1 and isinstance(end, Extremum) and ZERO in end.arguments else end


def written_out(whole: Tensor) -> Tensor:
    """The tensor with folds over a few known elements as these elements, one by one."""
    return tensor(whole.shape, lambda *i: opened(whole[i], FEW), whole.kind)


def in_places(whole: Tensor) -> Tensor:
    """The tensor with folds over runs of a few elements as one for each place of a run; itself where it has none."""
    indices, body = whole.element()
    found = by_places(body)
    if found is body:
        return whole
    return tensor(whole.shape, lambda *i: substitute(found, dict(zip(indices, i, strict=True))), whole.kind)


def by_places(expr: Expr) -> Expr:
    """The expression with Σ_{k<c·n} f(k) as Σ_{q<n} f(c·q) + … + Σ_{q<n} f(c·q + c − 1), and other folds in the same
    way, where f divides k by a few c: weights that lie in bytes, of which a kernel takes each place by itself."""
    whole = rebuild(expr, by_places)
    if not isinstance(whole, Fold):
        return whole
    widths = ((v, width_of(v, whole)) for v in whole.bound)
    v, c = next(((v, c) for v, c in widths if c > 1), (None, 1))
    if v is None:
        return whole
    run = index(integers.quotient(v.extent, const(c)))
    bound = tuple(run if w is v else w for w in whole.bound)
    places = (integers.plus_(integers.times_(run, c), r) for r in range(c))
    parts = (integers.tidied(substitute(whole.body, {v: place})) for place in places)
    return reduce(COMBINED[whole.monoid], (by_places(Fold(whole.monoid, bound, part)) for part in parts))


def width_of(v: Index, fold: Fold) -> int:
    """The largest number, of a few, by which an index of a fold is divided, and so is how many there are; 1 if there is
    none."""
    if isinstance(v.extent, Num) or any(v in w.extent.free for w in fold.bound):
        return 1
    parts = (e for e in walk(fold.body) if isinstance(e, FloorDiv | Mod) and v in e.children[0].free)
    found = [int(e.divisor.value) for e in parts if isinstance(e.divisor, Num)]
    return max((c for c in found if 1 < c <= FEW and divides(c, v.extent)), default=1)


def opened(expr: Expr, few: int = SEVERAL) -> Expr:
    """The expression with folds over so many known elements, or fewer, as these elements, as long as those of folds
    within folds are no more than the square of it. The outer ones come first: they may say how many inner ones have."""
    memo: dict[tuple[Expr, int], Expr] = {}

    def go(e: Expr, most: int) -> Expr:
        key = e, most
        if key not in memo:
            count = elements_of(e) if isinstance(e, Fold) else 0
            if isinstance(e, Fold) and 0 < count <= min(few, most):
                memo[key] = go(integers.tidied(one_by_one(e)), most // count)
            else:
                memo[key] = rebuild(e, lambda part: go(part, most))
        return memo[key]

    return go(expr, few * few)


def elements_of(fold: Fold) -> int:
    """How many elements a fold has; 0 where that is no number."""
    return prod(int(v.extent.value) if isinstance(v.extent, Num) else 0 for v in fold.bound)


def one_by_one(fold: Fold) -> Expr:
    ranges = (range(int(v.extent.value)) for v in fold.bound if isinstance(v.extent, Num))
    points = (dict(zip(fold.bound, map(const, p), strict=True)) for p in product(*ranges))
    return reduce(COMBINED[fold.monoid], (substitute(fold.body, point) for point in points))


def with_conditions(fold: Fold, prover: IndexProver) -> Fold:
    """Σ_{k<min{a, b}} f(k) as Σ_{k<a} {f(k) if k < b else 0}, and Σ_{k<⌊n/c⌋} f(k) as Σ_{k<n} {f(k) if c·(k + 1) ≤ n
    else 0}, as many tiles as there are; other folds in the same way."""
    if any(v.extent.free & frozenset(fold.bound) for v in fold.bound):
        return fold
    values: dict[Index, Index] = {}
    parts: list[Expr] = []
    for v in fold.bound:
        ends = least_of(v.extent)
        first = next((e for e in ends if is_of_sizes(e)), ends[0])
        least = numerator_of(first, prover)
        values[v] = v if least is v.extent else index(least)
        parts += [integers.less(values[v], e) for e in ends if e is not first]
        if isinstance(first, FloorDiv) and least is not first:
            parts.append(integers.at_most(integers.times_(first.divisor, integers.plus_(values[v], 1)), least))
    if not parts:
        return fold
    body = where(and_(*parts), substitute(fold.body, dict[Index, Expr](values)), NEUTRAL[fold.monoid])
    return Fold(fold.monoid, tuple(values[v] for v in fold.bound), body)


def numerator_of(end: Expr, prover: IndexProver) -> Expr:
    """n, of an end ⌊n/c⌋ with polynomials in sizes and n ≥ 0, which is no less; any other end as it is."""
    match end:
        case FloorDiv(n, c) if is_of_sizes(n) and is_of_sizes(c):
            wanted = and_(integers.at_least_zero(n), integers.less(0, c))
            return n if prover.proves((), wanted) else end
    return end


def is_of_sizes(end: Expr) -> bool:
    """Whether it is a sum of products of sizes."""
    return all(isinstance(atom, Size) for monomial in polynomials.polynomial(end) for atom in monomial)
