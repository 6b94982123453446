"""Proof by cases: when a claim does not close as a whole, it may close for each value of something that has few.

Three things have few values: an output index of small extent (rows that a program writes one by one), an element of
an integer tensor whose range is known (which expert a token goes to), and whether an element is a certain number (a
temperature of 1, that leaves logits as they are). The claim is proved for every value, with that value in its place;
the cases cover all that the thing can be, so together they are the claim. Where nothing but numbers is left in each
case, all are worked out at once before that (truth_tables.py).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, combinations, product
from math import prod

from samesame.formula.assumptions import Assumption, simplified
from samesame.formula.binders import replaced
from samesame.formula.effort import spending
from samesame.formula.equal import Budget, NotProved, Proved, prove_equal, shapes_differ
from samesame.formula.expr import (
    FALSE,
    Compare,
    Expr,
    Fold,
    Index,
    Load,
    Num,
    add,
    and_,
    const,
    maximum,
    minimum,
    mul,
    or_,
    rebuild,
    walk,
)
from samesame.formula.expr import index as new_index
from samesame.formula.expr import substitute as with_indices
from samesame.formula.laws import LAWS
from samesame.formula.normal import index_poly
from samesame.formula.tensor import Tensor
from samesame.formula.truth_tables import prove_by_table

MOST = 64           # cases of one proof
FEW = 8             # values of an index
SHORT = 4           # terms of a fold that is written out to get at the integers inside


def prove_by_cases(
    left: Tensor,
    right: Tensor,
    *,
    budget: Budget,
    written: Callable[[Expr], Expr] | None = None,
    longest: int = FEW,
) -> Proved | NotProved:
    """Prove two tensors of one shape equal, case by case, as they are or with each side `written` in another way once
    the case is put in; `budget.seconds` is for all cases together. An index has `longest` values at most, where a claim
    compares it with many of them."""
    unlike = shapes_differ(left, right)
    if unlike:
        return NotProved(unlike)
    indices = tuple(new_index(size) for size in left.shape)
    a, b = left[indices], right[indices]
    deadline = time.thread_time() + budget.seconds
    at_once = prove_by_table(indices, a, b, seconds=budget.seconds)
    if isinstance(at_once, Proved):
        return at_once
    reason = "nothing in the claim has few values"
    for cases in _splits(indices, a, b, longest):
        outcome = _all(cases, budget, deadline, [as_it_is] if written is None else [as_it_is, written])
        if isinstance(outcome, Proved):
            return outcome
        reason = f"{cases[0]}, {outcome.reason}"
    return NotProved(reason)


def as_it_is(side: Expr) -> Expr:
    return side


Cases = tuple[str, list[tuple[Expr, Expr]]]


def _splits(indices: tuple[Index, ...], left: Expr, right: Expr, longest: int) -> Iterator[Cases]:
    yield from _by_integers(indices, left, right)
    yield from _by_numbers(indices, left, right)
    told = _told_apart(indices, left, right)
    few = [i for i in sorted(indices, key=lambda i: (-told[i], _extent(i))) if has_few(i, told[i], longest)]
    for chosen in ([index] for index in few):
        yield _at_each(chosen, left, right)
    for pair in combinations(few, 2):
        if prod(map(_extent, pair)) <= MOST:
            yield _at_each(list(pair), left, right)


def has_few(index: Index, told: int, longest: int) -> bool:
    """Whether an index of which so many comparisons ask has few values: rows that a loop put together are as many
    cases as are written down already."""
    return told > 0 and 1 < _extent(index) <= max(FEW, min(longest, 2 * told))


def _at_each(indices: list[Index], left: Expr, right: Expr) -> Cases:
    """The claim at each value of the indices."""
    points = [dict(zip(indices, map(const, p), strict=True)) for p in product(*(range(_extent(i)) for i in indices))]
    what = "an output index" if len(indices) == 1 else "two output indices"
    claims = [(with_indices(left, at), with_indices(right, at)) for at in points]
    return f"for each of the {len(points)} values of {what}", claims


def _told_apart(indices: tuple[Index, ...], *sides: Expr) -> Counter[Index]:
    """How many comparisons each output index stands in: what a claim tells apart is what cases may decide."""
    found = Counter(dict.fromkeys(indices, 0))
    for side in sides:
        for e in walk(side):
            if isinstance(e, Compare):
                found.update(e.free & frozenset(indices))
    return found


def is_by_cases(left: Tensor, right: Tensor) -> bool:
    """Is a claim put together from so many cases that it is better taken apart before anything else is tried?"""
    indices = tuple(new_index(size) for size in left.shape)
    told = _told_apart(indices, left[indices], right[indices])
    return any(told[index] >= FEW // 2 and 1 < _extent(index) <= FEW for index in indices)


def _extent(index: Index) -> int:
    return int(index.extent.value) if isinstance(index.extent, Num) else MOST + 1


def _by_integers(indices: tuple[Index, ...], left: Expr, right: Expr) -> Iterator[Cases]:
    """Split on every integer element that is known at the output's indices alone, once short folds are written out."""
    left, right = written_out(left), written_out(right)
    spelled: dict[object, list[Load]] = {}
    with spending(Budget(), LAWS):
        for e in chain(walk(left), walk(right)):
            if isinstance(e, Load) and e.kind == "int" and _values(e) and e.free <= frozenset(indices):
                spelled.setdefault(_place(e), []).append(e)
    choices = [_values(loads[0]) for loads in spelled.values()]
    total = prod(max(0, each.stop - each.start) for each in choices)             # more than len can say, of some
    if 1 < total <= MOST:
        cases: list[dict[Expr, Expr]] = [
            {load: const(value) for value, loads in zip(chosen, spelled.values(), strict=True) for load in loads}
            for chosen in product(*choices)
        ]
        yield (
            f"for each of the {total} values of the integers it depends on",
            [(replaced(left, case), replaced(right, case)) for case in cases],
        )


def _by_numbers(indices: tuple[Index, ...], left: Expr, right: Expr) -> Iterator[Cases]:
    """Split on whether elements that are known at the output's indices alone are the numbers with which the claim
    compares them: one case for each of these, in which the element is that number, and one in which it is none."""
    asked: dict[Load, dict[Expr, Expr]] = {}
    for e in chain(walk(left), walk(right)):
        found = _number_of(e) if isinstance(e, Compare) and e.free <= frozenset(indices) else None
        if found is not None:
            asked.setdefault(found[0], {})[e] = found[1]
    choices: list[list[dict[Expr, Expr]]] = []
    for element, numbers in asked.items():
        none: dict[Expr, Expr] = dict.fromkeys(numbers, FALSE)
        one: list[dict[Expr, Expr]] = [{element: n} for n in dict.fromkeys(numbers.values())]
        choices.append([*one, none])
    if 1 < prod(map(len, choices)) <= MOST:
        cases = [dict(chain(*(case.items() for case in chosen))) for chosen in product(*choices)]
        title = f"for each of the {len(cases)} ways in which elements are the numbers that they are compared with"
        yield title, [(replaced(left, case), replaced(right, case)) for case in cases]


def _number_of(equation: Compare) -> tuple[Load, Num] | None:
    """The element of real numbers that an equation sets to a number, with the number."""
    for element, n in ((equation.left, equation.right), (equation.right, equation.left)):
        if equation.op == "=" and isinstance(element, Load) and element.kind == "real" and isinstance(n, Num):
            return element, n
    return None


def _place(element: Load) -> object:
    """One thing for all spellings of an element: `x[(2·i + 1) // 2, 1]` is `x[i, 1]`."""
    polys = tuple(map(index_poly, element.indices))
    return (element.leaf, *polys) if None not in polys else element


def _values(element: Load) -> range:
    """The values an integer element may take; none where they are not known to be few."""
    bounds = element.leaf.bounds
    if bounds is None or not all(isinstance(end, int) for end in bounds):
        return range(0)
    low, high = bounds
    assert isinstance(low, int) and isinstance(high, int)
    return range(low, high + 1)


def written_out(expr: Expr) -> Expr:
    """The expression with short folds over integer tensors written out term by term."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            inner = rebuild(e, go)
            memo[e] = _unrolled(inner) if isinstance(inner, Fold) else inner
        return memo[e]

    return go(expr)


def _unrolled(fold: Fold) -> Expr:
    """The fold with its short indices written out, where they choose among elements of an integer tensor."""
    choosing = frozenset().union(
        *(e.free for e in walk(fold.body) if isinstance(e, Load) and e.kind == "int"), frozenset[Index]()
    )
    short = [i for i in fold.bound if i in choosing and 0 < _extent(i) <= SHORT]
    if not short:
        return fold
    rest = tuple(i for i in fold.bound if i not in short)
    points = (dict(zip(short, map(const, p), strict=True)) for p in product(*(range(_extent(i)) for i in short)))
    terms = [with_indices(fold.body, point) for point in points]
    whole = [Fold(fold.monoid, rest, term) if rest else term for term in terms]
    combine = {"sum": add, "prod": mul, "max": maximum, "min": minimum, "any": or_, "all": and_}[fold.monoid]
    return combine(*whole)


def _all(
    cases: Cases, budget: Budget, deadline: float, ways: list[Callable[[Expr], Expr]]
) -> Proved | NotProved:
    """Every case, in one of two ways to write it; the one that helped comes first in the next."""
    title, claims = cases
    conditions: list[Assumption] = []
    method, infinite = "normal form", False
    for number, (left, right) in enumerate(claims):
        remaining = deadline - time.thread_time()
        if remaining <= 0:
            return NotProved(f"out of time in case {number + 1} of {len(claims)}")
        outcome = prove_equal(ways[0](left), ways[0](right), budget=replace(budget, seconds=remaining))
        for way in ways[1:] if isinstance(outcome, NotProved) else ():
            other = prove_equal(way(left), way(right), budget=replace(budget, seconds=remaining))
            if isinstance(other, Proved):
                outcome, ways = other, ways[::-1]
                break
        if isinstance(outcome, NotProved):
            return NotProved(f"case {number + 1} of {len(claims)}: {outcome.reason}")
        conditions += outcome.conditions
        method = "smt" if "smt" in (method, outcome.method) else method
        infinite = infinite or outcome.infinite
    return Proved(method, simplified(conditions), title, infinite)
