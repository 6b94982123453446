"""Truth tables: claims whose numbers hang on data through conditions alone, worked out for all that these may be.

The place of a token in its document, a rank, a count of hidden places: whole numbers, made of whether elements are
certain numbers, or above some. At an example's sizes a row of seven tokens, each of which ends a document or does not,
is one of 128, and in each of these both sides are plain numbers. All of them are worked out at once (`evaluate.py`): a
leaf becomes a table, with one row for each way its elements may be, and the row is one more index of the claim.

An element is told by the answers to what the claim asks of it (is it 0, is it below 5), or by its value where that is
read and is one of few; whatever it is, other elements may be anything. Where the claim reads one line of a leaf at each
point of the output, the table is of that line. So its rows are all that there can be, and perhaps more: a claim that
holds in each of them is true, and one that fails in some may be, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, prod
from typing import Any

import numpy as np

from samesame.formula.equal import NotProved, Proved, integers_in_range
from samesame.formula.evaluate import Array, Evaluation
from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fold,
    Index,
    Leaf,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Or,
    Pow,
    Truth,
    Unsupported,
    Where,
    rebuild,
    walk,
)
from samesame.formula.expr import index as new_index

ROWS = 1 << 10              # of a table
POINTS = 1 << 22            # at which one expression is worked out
PER_SECOND = 1 << 26        # numbers that are worked out, about
LARGE = 1 << 52             # what a float of 64 bits holds, too: of no number the largest is −∞

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {"<": operator.lt, "≤": operator.le, "=": operator.eq}
# What whole numbers are made of, beside elements.
WHOLE = (Num, Truth, Index, Add, Mul, Pow, FloorDiv, Mod, Compare, Not, And, Or, Where, Extremum, Fold)

Value = Fraction | int | bool


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of an element: is it `op` the number, or, turned round, is the number `op` it? Without an operator,
    which value it has."""

    op: str = ""
    number: Fraction = Fraction(0)
    turned: bool = False

    def answer(self, value: Value) -> Value:
        if not self.op:
            return value
        return OPERATORS[self.op](*((self.number, value) if self.turned else (value, self.number)))


VALUE = Question()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a claim asks of a leaf: the questions, of elements that differ `along` these dimensions, of these sizes, and
    the `ways` to answer all of the questions about one of them."""

    leaf: Leaf
    along: tuple[int, ...]
    sizes: tuple[int, ...]
    questions: tuple[Question, ...]
    ways: tuple[tuple[Value, ...], ...]

    def answers(self, question: Question, rows: int) -> Leaf:
        """The table of the answers to one of the questions."""
        told = f"{self.leaf.name} {question.op} {question.number} {question.turned}"
        if question is not VALUE or self.leaf.kind == "bool":
            return Leaf(told, (rows, *self.sizes), "bool")
        values = [int(value) for value, in self.ways]
        return Leaf(told, (rows, *self.sizes), "int", (min(values), max(values)))


def prove_by_table(indices: tuple[Index, ...], left: Expr, right: Expr, *, seconds: float) -> Proved | NotProved:
    """Prove two expressions equal at all values of these indices, where a table of few rows has all that they hang on.
    What would take more than so many seconds is not begun."""
    try:
        asked = _asked(indices, left, right)
        rows = _rows(asked)
        if any(rows * prod(own.sizes) > POINTS for own in asked):
            raise Unsupported("a table of all truth values is too large")
        row = new_index(rows)
        sides = [_read_off(side, asked, row) for side in (left, right)]
        if any(_magnitude(side) > LARGE for side in sides) or sum(map(_work, sides)) > seconds * PER_SECOND:
            raise Unsupported("a table of all truth values is too large")
        values = _table(asked, rows)
        axes = tuple(sorted(sides[0].free | sides[1].free, key=lambda v: v.serial))
        mine, yours = (Evaluation(values, {}, None, most=POINTS).run(side, axes) for side in sides)
    except Unsupported as unsupported:
        return NotProved(str(unsupported))
    title = f"for each of the {rows} ways in which conditions on elements may hold"
    if any(np.any(side.undefined) for side in (mine, yours) if side.undefined is not None):
        return NotProved(f"{title}, there is no value in one")
    if not np.array_equal(mine.array, yours.array):
        return NotProved(f"{title}, they differ in one")
    return Proved("normal form", tuple(dict.fromkeys(integers_in_range(left, right))), title)


# -------------------------------------------------------------------------------------------------------- what is asked


def _asked(indices: tuple[Index, ...], *sides: Expr) -> list[Asked]:
    """What two expressions ask of leaves. Raises Unsupported where values are read of which there are many."""
    questions, places = dict[Leaf, dict[Question, None]](), dict[Leaf, list[tuple[Expr, ...]]]()
    for element, question in _elements(sides):
        questions.setdefault(element.leaf, {})[question] = None
        places.setdefault(element.leaf, []).append(element.indices)
    return [_of_leaf(leaf, list(own), places[leaf], frozenset(indices)) for leaf, own in questions.items()]


def _elements(sides: tuple[Expr, ...]) -> Iterator[tuple[Load, Question]]:
    """The elements that expressions read, each with what is asked of it."""
    stack, seen = list(sides), set[Expr]()
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        element, question = (e, VALUE) if isinstance(e, Load) else _condition(e)
        if element is None:
            stack += e.children
        else:
            stack += element.indices
            yield element, question


def _condition(e: Expr) -> tuple[Load | None, Question]:
    """The element that a comparison sets beside a number, and which that is."""
    match e:
        case Compare(op, Load() as element, Num(number)):
            return element, Question(op, number)
        case Compare(op, Num(number), Load() as element):
            return element, Question(op, number, turned=True)
    return None, VALUE


def _of_leaf(leaf: Leaf, questions: list[Question], places: list[tuple[Expr, ...]], outside: frozenset[Index]) -> Asked:
    """The questions about a leaf. Dimensions along which all elements stand at one place, which the output's indices
    tell, make no two of them different."""
    read = VALUE in questions
    several = [len(set(at)) > 1 or not at[0].free <= outside for at in zip(*places, strict=True)]
    along = tuple(d for d, differ in enumerate(several) if differ)
    sizes = tuple(n for d in along if isinstance(n := leaf.shape[d], int))
    if len(sizes) < len(along):
        raise Unsupported("sizes are no numbers")
    kept = (VALUE,) if read else tuple(questions)
    values = _all_values(leaf) if read else _samples(leaf, sorted({q.number for q in questions}))
    return Asked(leaf, along, sizes, kept, tuple(dict.fromkeys(tuple(q.answer(v) for q in kept) for v in values)))


def _all_values(leaf: Leaf) -> list[Value]:
    """All values of an element, which are few."""
    if leaf.kind == "bool":
        return [False, True]
    low, high = leaf.bounds or (None, None)
    if leaf.kind != "int" or not isinstance(low, int) or not isinstance(high, int) or high - low >= ROWS:
        raise Unsupported("values are read of which there are many")
    return list(range(low, high + 1))


def _samples(leaf: Leaf, numbers: list[Fraction]) -> list[Value]:
    """Values of an element among which are all ways to stand to these numbers, which are in order."""
    if leaf.kind != "int":
        between = [(a + b) / 2 for a, b in pairwise(numbers)]
        return [numbers[0] - 1, *numbers, *between, numbers[-1] + 1]
    near = sorted({floor(n) + k for n in numbers for k in (-1, 0, 1)} | {ceil(n) + 1 for n in numbers})
    low, high = (end if isinstance(end, int) else None for end in leaf.bounds or (None, None))
    low, high = near[0] if low is None else low, near[-1] if high is None else high
    return [low, *(n for n in near if low < n < high), high]


# ------------------------------------------------------------------------------------------------------------ the table


def _rows(asked: list[Asked]) -> int:
    """How many rows the table has: one for each choice of a way for each element."""
    choices = [len(own.ways) for own in asked for _ in range(min(prod(own.sizes), ROWS)) if len(own.ways) != 1]
    if len(choices) >= ROWS.bit_length() or prod(choices) > ROWS or 0 in choices:
        raise Unsupported("conditions may hold in too many ways")
    return prod(choices)


def _table(asked: list[Asked], rows: int) -> dict[str, Array]:
    """The answers, by name: the rows come first, then the elements of the leaf."""
    left, values = np.arange(rows), dict[str, Array]()
    for own in asked:
        chosen = np.zeros((rows, prod(own.sizes)), np.int64)
        for element in range(prod(own.sizes)):
            chosen[:, element], left = left % len(own.ways), left // len(own.ways)
        for k, question in enumerate(own.questions):
            answers = np.array([way[k] for way in own.ways])
            values[own.answers(question, rows).name] = answers[chosen].reshape(rows, *own.sizes)
    return values


def _read_off(side: Expr, asked: list[Asked], row: Index) -> Expr:
    """The expression in which every answer is read off a row of the table. Raises Unsupported where it is made of more
    than answers and whole numbers."""
    of, memo = {own.leaf: own for own in asked}, dict[Expr, Expr]()

    def go(e: Expr) -> Expr:
        if e not in memo:
            element, question = (e, VALUE) if isinstance(e, Load) else _condition(e)
            if element is not None and question in of[element.leaf].questions:
                own = of[element.leaf]
                memo[e] = Load(own.answers(question, _extent(row)), (row, *(go(element.indices[d]) for d in own.along)))
            elif isinstance(e, WHOLE):
                memo[e] = rebuild(e, go)
            else:
                raise Unsupported("more is computed than whole numbers")
        return memo[e]

    return go(side)


# ------------------------------------------------------------------------------------------------- how much it comes to


def _extent(v: Index) -> int:
    if not isinstance(v.extent, Num):
        raise Unsupported("sizes are no numbers")
    return int(v.extent.value)


def _points(indices: frozenset[Index]) -> int:
    return prod(map(_extent, indices))


def _work(side: Expr) -> int:
    """How many numbers are worked out on the way to an expression."""
    return sum(_points(e.free | frozenset(e.bound if isinstance(e, Fold) else ())) for e in walk(side))


def _magnitude(side: Expr) -> int:
    """What no number on the way to an expression exceeds. Raises Unsupported where one need not be whole."""
    own: dict[Expr, int] = {}
    for e in walk(side):
        own[e] = _magnitude_of(e, [own[child] for child in e.children])
        if own[e] > LARGE:
            return own[e]
    return own[side]


def _magnitude_of(e: Expr, parts: list[int]) -> int:
    match e:
        case Num(value) if value.denominator == 1:
            return abs(int(value))
        case Index():
            return _extent(e)
        case Load(Leaf(bounds=(int(low), int(high))), _):
            return max(abs(low), abs(high))
        case Add():
            return sum(parts)
        case Mul():
            return prod(max(1, part) for part in parts)
        case Pow(_, exponent) if exponent.denominator == 1 and 0 <= exponent <= LARGE.bit_length():
            return prod([max(1, parts[0])] * int(exponent))
        case FloorDiv() | Mod() | Where() | Extremum():
            return max(1, *parts)
        case Fold("sum", bound, _):
            return parts[0] * _points(frozenset(bound))
        case Fold("prod", bound, _) if (points := _points(frozenset(bound))) <= LARGE.bit_length():
            return prod([max(1, parts[0])] * points)
        case Fold("max" | "min", _, _):
            return parts[0]
    if e.kind == "bool":
        return 1
    raise Unsupported("numbers need not be whole, or not small")
