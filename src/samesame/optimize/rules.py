"""The algebra of forms: rules for the e-graph, each true of all tensors and sizes, and each proved in the tests.

In the e-graph a product and its sum are one operator: `contract(x, W; k)` is Σ_k x·W, of any number of factors, and
without axes it is their product. Sums are linear; what is free of an axis leaves the sum over it; sums within sums are
one sum. With that, an order of contraction, a scale before or behind a matmul, a division before or behind it, a
low-rank update merged or apart are all in one class.

Some equalities of real numbers are no rules, since in floating point they lose what the program took care of:
exp(a + b) = exp a · exp b, and so softmax without its maximum; E[x²] − E[x]², and whatever else distributes a product
over a *difference* (`minus` is opaque here: it may cancel); an epsilon moved or dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from samesame.egraph import EGraph, Operand, rules
from samesame.egraph.pattern import Made
from samesame.optimize import forms as f
from samesame.optimize.forms import Form, Infinity, Part, Place, free_axes, product_of
from samesame.optimize.pairs import MOST

Axes = tuple[str, ...]
Pieces = tuple[str | None, ...]                      # the axes of a concatenation's parts
TERMS = 4                                            # terms of a sum that a contraction is distributed over
PIECES = 32                                          # of a concatenation that is split


def typed(operator: str, attributes: tuple[Any, ...], below: tuple[Any, ...]) -> Hashable:
    """A term's type: its free axes, and its value where it is a number."""
    inside = [axes for axes, _ in below]
    if operator == "contract":
        return free_axes("fold", ("sum", attributes[0]), inside), None
    value = attributes if operator == "number" and attributes[0] != Infinity else None
    return free_axes(operator, attributes, inside), value


class Factor(NamedTuple):
    """A factor of a product: a term that there is or is to be made, its axes, its value if it is a number."""

    term: Operand | Made
    axes: Axes
    value: Any = None

    @property
    def place(self) -> tuple[bool, int]:
        """Factors stand in one order: by number, new ones last."""
        return isinstance(self.term, Made), 0 if isinstance(self.term, Made) else self.term.term


def factors_of(operands: Sequence[Operand]) -> list[Factor]:
    return [Factor(x, *x.type) for x in operands]


def contraction(factors: Iterable[Factor], axes: Iterable[str]) -> Factor:
    """Σ over axes of a product: its numbers become one, and an axis that no factor has becomes its extent."""
    factors = list(factors)
    rest = sorted((x for x in factors if x.value is None), key=lambda x: x.place)
    inside = {axis for x in rest for axis in x.axes}
    axes = set(axes)
    value = product_of([*(x.value for x in factors if x.value), (1, tuple((axis, 1) for axis in axes - inside))])
    if value[0] != 1 or value[1] or not rest:
        rest = [Factor(Made("number", value, ()), (), value), *rest]
    over = tuple(sorted(axes & inside))
    if len(rest) == 1 and not over:
        return rest[0]
    below = tuple(x.term if isinstance(x.term, Made) else x.term.term for x in rest)
    return Factor(Made("contract", (over,), below), tuple(sorted(inside - set(over))))


def total(terms: Sequence[Factor]) -> Factor:
    below = tuple(x.term if isinstance(x.term, Made) else x.term.term for x in sorted(terms, key=lambda x: x.place))
    return Factor(Made("plus", (), below), tuple(sorted({axis for x in terms for axis in x.axes})))


# ---------------------------------------------------------------------------------------------------- right sides


def merged(xs: Sequence[Operand], ys: Sequence[Operand], a: Axes, b: Axes) -> Iterator[Operand | Made]:
    """Σ_a x·Σ_b y = Σ_a,b x·y, where x is free of b."""
    if len(xs) + len(ys) <= MOST and not set(b) & {*a, *(axis for x in xs for axis in x.type[0])}:
        yield contraction([*factors_of(xs), *factors_of(ys)], (*a, *b)).term


def parted(xs: Sequence[Operand], a: Axes) -> Iterator[Operand | Made]:
    """Σ_a,b x·y = Σ_b y·Σ_a x, where y is free of a: one axis first, or what is free of all of them taken out."""
    factors = factors_of(xs)
    for first in dict.fromkeys([*((axis,) for axis in a), a]):
        inner = [x for x in factors if set(x.axes) & set(first)]
        outer = [x for x in factors if x not in inner]
        if outer and inner:
            yield contraction([*outer, contraction(inner, first)], set(a) - set(first)).term


def distributed(xs: Sequence[Operand], ys: Sequence[Operand], a: Axes) -> Iterator[Operand | Made]:
    """Σ_a x·(y + z) = Σ_a x·y + Σ_a x·z."""
    if a and len(ys) <= TERMS:
        yield total([contraction([*factors_of(xs), y], a) for y in factors_of(ys)]).term


def factored(xs: Sequence[Operand], ys: Sequence[Operand], a: Axes, b: Axes) -> Iterator[Operand | Made]:
    """Σ_a,c x·y + Σ_a,d x·z = Σ_a x·(Σ_c y + Σ_d z), where x is free of c and d."""
    common, left, right = shared(factors_of(xs), factors_of(ys))
    both, axes = set(a) & set(b), {axis for x in common for axis in x.axes}
    if any(x.value is None for x in common) and left and right and not axes & (set(a) ^ set(b)):
        yield contraction([*common, total([contraction(left, set(a) - both), contraction(right, set(b) - both)])],
                          both).term


def shared(xs: list[Factor], ys: list[Factor]) -> tuple[list[Factor], list[Factor], list[Factor]]:
    """The factors of both, those of the first alone, those of the second alone."""
    common, rest = list[Factor](), list(ys)
    for x in xs:
        if x in rest:
            rest.remove(x)
            common.append(x)
    left = list(xs)
    for x in common:
        left.remove(x)
    return common, left, rest


def concatenated(factors: Sequence[Factor], k: str, ps: Pieces) -> Factor:
    below = tuple(x.term if isinstance(x.term, Made) else x.term.term for x in factors)
    return Factor(Made("concat", (k, ps), below), free_axes("concat", (k, ps), [x.axes for x in factors]))


def split(xs: Sequence[Operand], ys: Sequence[Operand], k: str, ps: Pieces, a: Axes) -> Iterator[Operand | Made]:
    """Σ_k x·concat(y, z) = Σ_p x·y + Σ_q x·z, where all of these are free of k, and x of p and q."""
    if k in a and k not in axes_of(ys) and len(ys) <= PIECES and not {k, *ps} & axes_of(xs) and not {*ps} & {*a}:
        rest = {*a} - {k}
        yield total([contraction([*factors_of(xs), y], rest if p is None else rest | {p})
                     for p, y in zip(ps, factors_of(ys), strict=True)]).term


def times_load(
    xs: Sequence[Operand], name: str, places: tuple[Place, ...], ys: Sequence[Operand], k: str, ps: Pieces, a: Axes
) -> Iterator[Operand | Made]:
    """x[k]·concat(y, z) = concat(x[p]·y, x[|p| + q]·z), where x is read along k one by one."""
    read = [part for place in places for part in place.parts]
    if len(ys) > PIECES or {*ps} & {part.axis for part in read} or {x for x in read if x.axis == k} != {Part(k)}:
        return
    pieces = []
    for j, (p, y) in enumerate(zip(ps, factors_of(ys), strict=True)):
        before = [q for q in ps[:j] if q is not None]
        there = Place((Part(p),) if p is not None else (), j - len(before), tuple(sorted(before)))
        at = (name, *(place.put({k: there}) for place in places))
        pieces.append(contraction([Factor(Made("load", at, ()), free_axes("load", at, ())), y], ()))
    yield contraction([*factors_of(xs), concatenated(pieces, k, ps)], a).term


def times_concat(
    xs: Sequence[Operand], ys: Sequence[Operand], zs: Sequence[Operand], k: str, ps: Pieces, a: Axes
) -> Iterator[Operand | Made]:
    """concat(u, v)·concat(y, z) = concat(u·y, v·z), where they are cut alike."""
    if len(ys) <= PIECES:
        pairs = zip(factors_of(ys), factors_of(zs), strict=True)
        yield contraction([*factors_of(xs), concatenated([contraction(pair, ()) for pair in pairs], k, ps)], a).term


def joined(
    xs: Sequence[Operand], ys: Sequence[Operand], k: str, ps: Pieces, a: Axes, b: Axes
) -> Iterator[Operand | Made]:
    """concat(Σ_a x·y, Σ_a x·z) = Σ_a x·concat(y, z), where x is free of p and q."""
    common, left, right = shared(factors_of(xs), factors_of(ys))
    own = {k, *ps} & {*a, *(axis for x in common for axis in x.axes)}
    if a == b and left and right and not own and any(x.value is None for x in common):
        yield contraction([*common, concatenated([contraction(left, ()), contraction(right, ())], k, ps)], a).term


def axes_of(xs: Iterable[Operand]) -> set[str]:
    return {axis for x in xs for axis in x.type[0]}


def narrow(dtype: str) -> bool:
    """Whether a cast to it loses digits, so that leaving it out gains some."""
    return dtype in ("bfloat16", "float16")


def in_order(xs: Sequence[Operand]) -> bool:
    return all(a.term <= b.term for a, b in pairwise(xs))


RULES = rules("""
    sum-of-sums      contract(*xs, contract(*ys; b); a) = t for t in merged(xs, ys, a, b)
    take-out         contract(*xs; a) = t for t in parted(xs, a) if in_order(xs)
    linearity        contract(*xs, plus(*ys); a) = t for t in distributed(xs, ys, a)
    common-factor    plus(contract(*xs; a), contract(*ys; b)) = t for t in factored(xs, ys, a, b)
    round-later      contract(*xs, cast(contract(*ys; b); d); a) = t for t in merged(xs, ys, a, b) if narrow(d)
    split-concat     contract(*xs, concat(*ys; k, ps); a) = t for t in split(xs, ys, k, ps, a)
    load-in-concat   contract(*xs, load(; n, *at), concat(*ys; k, ps); a)
                         = t for t in times_load(xs, n, at, ys, k, ps, a)
    concat-by-concat contract(*xs, concat(*ys; k, ps), concat(*zs; k, ps); a)
                         = t for t in times_concat(xs, ys, zs, k, ps, a)
    function-inside  function(concat(*ys; k, ps); *f) = concat(*[function(y; *f) for y in ys]; k, ps)
    concat-outside   concat(contract(*xs; a), contract(*ys; b); k, ps) = t for t in joined(xs, ys, k, ps, a, b)
    turn             contract(*xs; a) = contract(*xs[1:], xs[0]; a) if len(xs) > 1
""", merged, parted, distributed, factored, split, times_load, times_concat, joined, in_order, narrow,
    function=("fn", "power", "cast"))
SILENT = {"turn"}                                    # factors in another order: no step that one wants to read


# ------------------------------------------------------------------------------------------------- there and back


def parts_of(form: Form) -> tuple[str, tuple[Any, ...], tuple[Form, ...]]:
    """Operator, attributes and arguments of a form's term: sums and products are contractions."""
    inside, axes = form, ()
    if form.operator == "fold" and form.attributes[0] == "sum":
        inside, axes = form.arguments[0], form.attributes[1]
    if inside.operator == "times":
        return "contract", (axes,), inside.arguments
    return ("contract", (axes,), (inside,)) if axes else (form.operator, form.attributes, form.arguments)


def add(graph: EGraph, form: Form, known: dict[Form, int]) -> int:
    """The form's term."""
    todo = [form]
    while todo:
        here = todo[-1]
        operator, attributes, below = parts_of(here)
        missing = [x for x in below if x not in known]
        todo += missing
        if not missing:
            todo.pop()
            terms = tuple(known[x] for x in below)
            known[here] = graph.add(operator, attributes, tuple(sorted(terms)) if operator == "contract" else terms)
    return known[form]


def form_of(graph: EGraph, term: int, known: dict[int, Form]) -> Form:
    """The form that a term stands for, with the arguments it was made with."""
    todo = [term]
    while todo:
        here = todo[-1]
        operator, attributes, below = graph.application(here)
        missing = [x for x in below if x not in known]
        if missing:
            todo += missing
            continue
        todo.pop()
        xs = tuple(known[x] for x in below)
        axes: Any = attributes[0] if operator == "contract" else ()
        known[here] = f.fold("sum", axes, f.times(*xs)) if operator == "contract" else f.made(operator, attributes, xs)
    return known[term]
