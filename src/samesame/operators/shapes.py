"""Sizes, dimensions and broadcasting: what every family of operators needs to say which element belongs to which.

A size is an int or an integer expression over symbolic sizes. Sizes are compared as products of factors, so `H·D`
equals `D·H`; two sizes that cannot be told apart or together are refused, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

from samesame.formula.expr import (
    ZERO,
    Add,
    Expr,
    Extremum,
    FloorDiv,
    Index,
    Load,
    Mod,
    Mul,
    Num,
    Size,
    Unsupported,
    Where,
    const,
    fold,
    mul,
    numeric,
)
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.numbers import constant

Shape = tuple[Dim, ...]


# -------------------------------------------------------------------------------------------------------------- sizes


def plain(size: Dim) -> Dim:
    """An int where the size is a number."""
    return int(size.value) if isinstance(size, Num) else size


def static(size: Dim) -> int:
    """The size as an int; refused where it is symbolic."""
    known = plain(size)
    if isinstance(known, int):
        return known
    raise Unsupported(f"a size {size!r} must be known here")


def factors(sizes: Iterable[Dim]) -> tuple[int, Counter[Expr]]:
    """A product of sizes as a number and a bag of symbolic factors."""
    number, symbols = 1, Counter[Expr]()
    for size in map(plain, sizes):
        if isinstance(size, int):
            number *= size
        elif isinstance(size, Mul):
            more, inner = factors(size.factors)
            number, symbols = number * more, symbols + inner
        else:
            symbols[size] += 1
    return number, symbols


def count(sizes: Iterable[Dim]) -> Dim:
    """The product of sizes."""
    number, symbols = factors(sizes)
    return plain(mul(number, *symbols.elements()))


def same_size(a: Iterable[Dim], b: Iterable[Dim]) -> bool:
    """Whether two products of sizes are the same, whatever the symbols are."""
    return factors(a) == factors(b)


def divided(total: Iterable[Dim], by: Iterable[Dim]) -> Dim:
    """The quotient of two products of sizes, which must be exact."""
    (n, above), (d, below) = factors(total), factors(by)
    if d == 0 or n % d or below - above:
        raise Unsupported(f"{list(total)} is not a multiple of {list(by)}")
    return plain(mul(n // d, *(above - below).elements()))


def dimension(d: int, rank: int) -> int:
    """A dimension counted from the front; a tensor of rank 0 takes 0 and -1."""
    limit = max(rank, 1)
    if not -limit <= d < limit:
        raise Unsupported(f"dimension {d} of a tensor of rank {rank}")
    return d % limit


def dimensions(dims: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Dimensions from the front, in ascending order; None and () mean all."""
    if dims is None or dims == () or dims == []:
        return tuple(range(rank))
    chosen = (dims,) if isinstance(dims, int) else dims
    return tuple(sorted({dimension(d, rank) for d in chosen})) if rank else ()


def lower_bound(e: Expr) -> int | None:
    """A number that an integer expression is never below, if one is evident."""
    match e:
        case Num(value):
            return int(value) if value.denominator == 1 else None
        case Index() | Mod():
            return 0
        case Size(_, minimum):
            return minimum
        case Load(leaf, _):
            low = leaf.bounds[0] if leaf.bounds else None
            return lower_bound(const(low)) if low is not None else None
        case Add(terms):
            return _all_known(map(lower_bound, terms), sum)
        case Mul(parts) | Extremum("min", parts):
            lows = [lower_bound(part) for part in parts]
            known = [low for low in lows if low is not None and low >= 0]
            if len(known) < len(lows):
                return None
            return min(known) if isinstance(e, Extremum) else prod(known)
        case Extremum(_, parts):
            known = [low for low in map(lower_bound, parts) if low is not None]
            return max(known) if known else None
        case Where(_, then, otherwise):
            return _all_known(map(lower_bound, (then, otherwise)), min)
        case FloorDiv(numerator, _):
            low = lower_bound(numerator)
            return 0 if low is not None and low >= 0 else None
    return None


def _all_known(bounds: Iterable[int | None], combine: Callable[[list[int]], int]) -> int | None:
    found = list(bounds)
    known = [b for b in found if b is not None]
    return combine(known) if len(known) == len(found) else None


# ------------------------------------------------------------------------------------------------------- broadcasting


def broadcast(*shapes: Sequence[Dim]) -> Shape:
    """The common shape of operands, aligned at the right."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = []
    for k in range(-rank, 0):
        sizes = [size for shape in shapes if len(shape) >= -k and (size := plain(shape[k])) != 1]
        if any(not same_size((size,), (sizes[0],)) for size in sizes):
            raise Unsupported(f"shapes {' and '.join(map(str, shapes))} do not broadcast")
        result.append(sizes[0] if sizes else 1)
    return tuple(result)


def at(x: Tensor, i: Sequence[Expr]) -> Expr:
    """The element of x that belongs to index i of a shape x is broadcast to."""
    own = i[len(i) - x.rank :]
    return x[tuple(ZERO if plain(size) == 1 else j for size, j in zip(x.shape, own, strict=True))]


def as_tensor(x: Any) -> Tensor:
    """A number as a tensor of rank 0; tensors pass through."""
    if isinstance(x, Tensor):
        return x
    if not isinstance(x, int | float | Expr):
        raise Unsupported(f"{x!r} is no number")
    value = x if isinstance(x, Expr) else constant(x)
    kind = x.kind if isinstance(x, Expr) else kind_of_number(x)
    return tensor((), lambda: value, kind)


def untold(shape: Shape, what: str, kind: str = "real") -> Tensor:
    """One of several results, which has no formula: whoever reads an element is refused."""

    def refuse(*_: Expr) -> Expr:
        raise Unsupported(what)

    return tensor(shape, refuse, kind)


def kind_of_number(x: float) -> str:
    return "bool" if isinstance(x, bool) else "int" if isinstance(x, int) else "real"


def joined(*kinds: str) -> str:
    """The kind that operands of these kinds are promoted to."""
    return max(kinds, key=("bool", "int", "real").index)


def pointwise(function: Callable[..., Any], *operands: Any, kind: str | None = None) -> Tensor:
    """`function` of the operands' elements, broadcast; of the kind they are promoted to unless told."""
    xs = [as_tensor(x) for x in operands]
    shape, result = broadcast(*(x.shape for x in xs)), kind or joined(*(x.kind for x in xs))
    read: Callable[[Any], Expr] = const if result == "bool" else numeric
    return tensor(shape, lambda *i: read(function(*(at(x, i) for x in xs))), result)


# ---------------------------------------------------------------------------------------------------------- reductions


def folded(monoid: str, sizes: Sequence[Dim], body: Callable[..., Any]) -> Expr:
    """`body` folded over an index for each size; a size of one has the index 0 and no binder."""
    wide = [k for k, size in enumerate(sizes) if plain(size) != 1]

    def inside(*bound: Expr) -> Any:
        full: list[Expr] = [ZERO] * len(sizes)
        for k, index in zip(wide, bound, strict=True):
            full[k] = index
        return body(*full)

    return fold(monoid, tuple(sizes[k] for k in wide), inside)


def reduced(
    monoid: str,
    x: Tensor,
    dims: int | Sequence[int] | None,
    keepdim: bool = False,
    of: Callable[[Expr], Any] = numeric,
    kind: str | None = None,
) -> Tensor:
    """A fold of `of(element)` over some dimensions of x, which vanish, or stay with size one."""
    over = dimensions(dims, x.rank)
    kept = [d for d in range(x.rank) if d not in over]
    shape = tuple(1 if d in over else x.shape[d] for d in range(x.rank) if keepdim or d not in over)

    def element(*i: Expr) -> Expr:
        outer = dict(zip(range(x.rank) if keepdim else kept, i, strict=True))

        def body(*bound: Expr) -> Any:
            inner = dict(zip(over, bound, strict=True))
            return of(x[tuple(inner[d] if d in inner else outer[d] for d in range(x.rank))])

        return folded(monoid, [x.shape[d] for d in over], body)

    return tensor(shape, element, kind or x.kind)


# -------------------------------------------------------------------------------------------------------------- dtypes


NARROW = ("int8", "uint8", "int16", "uint16")               # integers that arithmetic may make wrap around


def kind_of(dtype: Dtype | None, default: str = "real") -> str:
    """The kind of elements of a dtype."""
    if dtype is None:
        return default
    name = str(dtype)
    if name.startswith(("int", "uint")):
        return "int"
    return "bool" if name == "bool" else "complex" if name.startswith("complex") else "real"
