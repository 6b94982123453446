"""Places that are held to the edge of what is read, in one spelling on both sides.

Where a stencil reaches beyond an image, a kernel takes a maximum, as in x[max{j − 1, 0}], and a reference chooses:
x[{0 if j < 1 else j − 1}]. Once both say the maximum, they say the same elements, and how these lie is of no account
any more: an element is then a number of its own, and what is left to be shown is plain arithmetic. Taken apart
instead, each such place is two cases, and those of a window multiply.
"""

from __future__ import annotations

from samesame.formula import polynomials
from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal, shapes_differ
from samesame.formula.expr import (
    ZERO,
    Compare,
    Expr,
    Extremum,
    Index,
    Leaf,
    Load,
    Where,
    index,
    rebuild,
    substitute,
    walk,
)
from samesame.formula.order import order
from samesame.formula.tensor import Tensor
from samesame.kernels.indices import integers


def as_extrema(expr: Expr) -> Expr:
    """The expression with maxima and minima, in one order, for choices of the greater or lesser one of two integers."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            new = rebuild(e, go)
            memo[e] = extremum_of(new) if new.kind == "int" else new
        return memo[e]

    return go(expr)


def extremum_of(e: Expr) -> Expr:
    """{a if 0 ≤ p else b} where a − b is c·p, or c·(p + 1), is the greater one of a and b for c > 0, else the lesser:
    at the number where the choice turns both are equal."""
    match e:
        case Extremum(op, parts):
            return integers.flattened(op, tuple(sorted(parts, key=order)))
        case Where(Compare("≤", zero, p), a, b) if zero is ZERO:
            apart = polynomials.polynomial(integers.minus(a, b))
            for turn in (p, integers.plus_(p, 1)):
                terms = polynomials.polynomial(turn)
                c = next((apart.get(m, 0) // n for m, n in terms.items() if m), 0)
                if c and apart == {m: c * n for m, n in terms.items()}:
                    return integers.flattened("max" if c > 0 else "min", tuple(sorted((a, b), key=order)))
    return e


def at_edges_equal(left: Tensor, right: Tensor, *, budget: Budget) -> Proved | NotProved:
    """A proof that takes each element at such a place for a number of its own, whatever both sides do with it."""
    unlike = shapes_differ(left, right)
    if unlike:
        return NotProved(unlike)
    indices = tuple(index(n) for n in left.shape)
    names: dict[Expr, Expr] = {}
    sides = [with_names(as_extrema(integers.tidied(whole[indices])), indices, names) for whole in (left, right)]
    if not names:
        return NotProved("no place is held to an edge")
    found = prove_tensors_equal(*(over(indices, side, left) for side in sides), budget=budget)
    if isinstance(found, Proved) and not found.unconditional():  # these are said in names that nobody gave
        return NotProved("it needs more of the elements")
    return found


def with_names(side: Expr, indices: tuple[Index, ...], names: dict[Expr, Expr]) -> Expr:
    """The expression with a number of its own for each element of which a place is an extremum; equal elements have
    one. An element inside a fold is as many numbers, and stays."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            held = isinstance(e, Load) and e.kind == "real" and any(map(is_held, e.indices))
            if held and e.free <= frozenset(indices):
                leaf = Leaf(f"element {len(names)}", tuple(i.extent for i in indices))
                memo[e] = names.setdefault(e, Load(leaf, indices))
            else:
                memo[e] = rebuild(e, go)
        return memo[e]

    return go(side)


def is_held(place: Expr) -> bool:
    return any(isinstance(e, Extremum) for e in walk(place))


def over(indices: tuple[Index, ...], side: Expr, like: Tensor) -> Tensor:
    return Tensor(like.shape, lambda *i: substitute(side, dict(zip(indices, i, strict=True))), like.kind)
