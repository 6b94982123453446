"""Reductions and scans: a region that combines two elements, and the fold it stands for.

The region is executed on two unknown elements, and what comes out is compared with what the known monoids make of
them: sum, product, maximum, minimum, and, or; and of pairs the maximum with its position, where of several the first is
kept. Anything else is refused, with its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import (
    Expr,
    Fold,
    Lambda,
    Leaf,
    Load,
    Opaque,
    add,
    and_,
    eq,
    index,
    lt,
    mul,
    or_,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.lift import integers
from samesame.lift.operations import largest, smallest
from samesame.lift.ttir import Operation
from samesame.lift.values import Shuffled, Value, block, same_everywhere

if TYPE_CHECKING:
    from samesame.lift.symbolic import Environment, Machine


def combiner(machine: Machine, operation: Operation) -> tuple[Expr, ...]:
    """What the region of a reduction or scan makes of a left and a right element, as expressions of both."""
    region = operation.regions[0]
    env: Environment = {}
    for name, kind in region.arguments:
        env[name] = same_everywhere(Load(Leaf(name, (), kind.kind), ()))
    kept = len(machine.arithmetic)
    found = machine.block(region, env)
    del machine.arithmetic[kept:]
    return tuple(cast(Tensor, x)[()] for x in found)


def monoid_of(machine: Machine, operation: Operation) -> str:
    """The name of the monoid that a region with two arguments combines in. Raises Refused."""
    (made,) = combiner(machine, operation)
    (left, kind), (right, _) = operation.regions[0].arguments
    a, b = (Load(Leaf(name, (), kind.kind), ()) for name in (left, right))
    known: dict[str, Any] = {"sum": (add, integers.plus_), "prod": (mul, integers.times_)}
    if kind.kind == "bool":
        known = {"any": (or_,), "all": (and_,)}
    for name, makers in known.items():
        if any(made is make(x, y) for make in makers for x, y in ((a, b), (b, a))):
            return name
    for name, best in (("max", largest), ("min", smallest)):
        if kind.kind != "bool" and made in (best(a, b), best(b, a)):
            return name
    raise Refused(f"{operation.place}: a reduction that combines elements in a way that is not supported")


def reduce(machine: Machine, operation: Operation, operands: list[Value]) -> Any:
    axis = operation.attribute("axis")
    blocks = cast("list[Tensor]", operands)
    length = blocks[0].shape[axis]
    shape = blocks[0].shape[:axis] + blocks[0].shape[axis + 1 :]
    if len(blocks) == 2:
        return _chosen(machine, operation, blocks, axis, shape)
    if len(blocks) > 2:
        raise Refused(f"{operation.place}: a reduction of {len(blocks)} values at once is not supported")
    (x,) = blocks
    monoid = monoid_of(machine, operation)

    def at(*i: Expr) -> Expr:
        k = index(length)
        return Fold(monoid, (k,), x[(*i[:axis], k, *i[axis:])])

    return block(shape, at, x.kind)


def _chosen(
    machine: Machine, operation: Operation, blocks: list[Tensor], axis: int, shape: Any
) -> tuple[Tensor, Tensor]:
    """The greatest (least) element and where it stands; the first one where several are equal."""
    value, place = combiner(machine, operation)
    names = operation.regions[0].arguments
    a, i, b, j = (Load(Leaf(name, (), kind.kind), ()) for name, kind in names)
    x, at_lane = blocks
    monoid = next(
        (m for m, ahead in (("max", lt(b, a)), ("min", lt(a, b))) if _picks(value, place, a, i, b, j, ahead)), ""
    )
    lane = index(x.shape[axis])
    probe = tuple(index(n) for n in shape)
    if not monoid or at_lane[(*probe[:axis], lane, *probe[axis:])] is not lane or isinstance(x, Shuffled):
        raise Refused(
            f"{operation.place}: a reduction of pairs other than (max, argmax) and (min, argmin) is not supported"
        )

    def best(*i: Expr) -> Expr:
        k = index(x.shape[axis])
        return Fold(monoid, (k,), x[(*i[:axis], k, *i[axis:])])

    def where_(*i: Expr) -> Expr:
        k = index(x.shape[axis])
        row = Lambda((k,), x[(*i[:axis], k, *i[axis:])])
        return Opaque(f"aten.arg{monoid}", (), (row,), (), "int")

    return block(shape, best, x.kind), block(shape, where_, "int")


def _picks(value: Expr, place: Expr, a: Expr, i: Expr, b: Expr, j: Expr, ahead: Expr) -> bool:
    """Whether the left pair is kept where it is ahead, or equal and earlier."""
    earlier = integers.less(i, j)
    ties = (and_(eq(a, b), earlier), and_(earlier, eq(a, b)))
    known = [c for tie in ties for c in (or_(ahead, tie), or_(tie, ahead))]
    return any(value is where(c, a, b) and place is where(c, i, j) for c in known)


def scan(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    if len(operands) != 1:
        raise Refused(f"{operation.place}: a scan of {len(operands)} values at once is not supported")
    (x,) = cast("list[Tensor]", operands)
    axis, reverse = operation.attribute("axis"), operation.attribute("reverse", 0)
    monoid = monoid_of(machine, operation)
    length = x.shape[axis]

    def at(*i: Expr) -> Expr:
        here = i[axis]
        k = index(integers.minus(length, here) if reverse else integers.plus_(here, 1))
        lane = integers.plus_(here, k) if reverse else k
        return Fold(monoid, (k,), x[(*i[:axis], lane, *i[axis + 1 :])])

    return block(x.shape, at, x.kind)
