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
from samesame.optimize.forms import Form, Infinity, free_axes, product_of
from samesame.optimize.pairs import MOST

Axes = tuple[str, ...]
TERMS = 4                                            # terms of a sum that a contraction is distributed over


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
    turn             contract(*xs; a) = contract(*xs[1:], xs[0]; a) if len(xs) > 1
""", merged, parted, distributed, factored, in_order, narrow)
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
