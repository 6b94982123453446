"""Reductions and scans: a region that combines two elements, and the fold it stands for.

The region is executed on two unknown elements, and what comes out is compared with what the known monoids make of
them: sum, product, maximum, minimum, and, or. Of pairs there is the maximum with its position, where of several the
first is kept; other tuples are in `combined`. Anything else is refused, with its line.
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
    and_,
    eq,
    index,
    lt,
    or_,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.lift.execution.combined import combined, monoid_of
from samesame.lift.execution.ttir import Operation
from samesame.lift.execution.values import Shuffled, Value, block, same_everywhere
from samesame.lift.indices import integers

if TYPE_CHECKING:
    from samesame.lift.execution.symbolic import Environment, Machine


def combiner(machine: Machine, operation: Operation) -> tuple[Expr, ...]:
    """What the region of a reduction or scan makes of a left and a right element, as expressions of both."""
    region = operation.regions[0]
    env: Environment = dict(machine.scope)
    for name, kind in region.arguments:
        env[name] = same_everywhere(Load(Leaf(name, (), kind.kind), ()))
    kept = len(machine.arithmetic)
    found = machine.block(region, env)
    del machine.arithmetic[kept:]
    return tuple(cast(Tensor, x)[()] for x in found)


def monoid(machine: Machine, operation: Operation) -> str:
    """The name of the monoid that a region with two arguments combines in. Raises Refused."""
    (made,) = combiner(machine, operation)
    a, b = (Load(Leaf(name, (), kind.kind), ()) for name, kind in operation.regions[0].arguments)
    found = monoid_of(made, a, b)
    if found:
        return found
    raise Refused(f"{operation.place}: a reduction that combines elements in a way that is not supported")


def reduce(machine: Machine, operation: Operation, operands: list[Value]) -> Any:
    axis = operation.attribute("axis")
    blocks = cast("list[Tensor]", operands)
    length = blocks[0].shape[axis]
    shape = blocks[0].shape[:axis] + blocks[0].shape[axis + 1 :]
    if len(blocks) > 1:
        return _several(machine, operation, blocks, axis, shape)
    (x,) = blocks
    name = monoid(machine, operation)

    def at(*i: Expr) -> Expr:
        k = index(length)
        return Fold(name, (k,), x[(*i[:axis], k, *i[axis:])])

    return block(shape, at, x.kind)


def _several(machine: Machine, operation: Operation, blocks: list[Tensor], axis: int, shape: Any) -> tuple[Tensor, ...]:
    """A reduction of tuples: the greatest (least) element and where it stands, or one of those in `combined`."""
    if any(isinstance(x, Shuffled) for x in blocks):
        raise Refused(f"{operation.place}: blocks in an order that is left to the compiler are reduced together")
    made = combiner(machine, operation)
    return _chosen(operation, made, blocks, axis, shape) or combined(machine, operation, made, blocks, axis)


def _chosen(
    operation: Operation, made: tuple[Expr, ...], blocks: list[Tensor], axis: int, shape: Any
) -> tuple[Tensor, Tensor] | None:
    """The greatest (least) element and where it stands; the first one where several are equal."""
    if len(blocks) != 2:
        return None
    names = operation.regions[0].arguments
    a, i, b, j = (Load(Leaf(name, (), kind.kind), ()) for name, kind in names)
    x, at_lane = blocks
    value, place = made
    ahead = (("max", lt(b, a)), ("min", lt(a, b)))
    name = next((m for m, is_ahead in ahead if _picks(value, place, a, i, b, j, is_ahead)), "")
    lane = index(x.shape[axis])
    probe = tuple(index(n) for n in shape)
    if not name or at_lane.kind != "int":
        return None
    first = integers.minus(at_lane[(*probe[:axis], lane, *probe[axis:])], lane)
    if lane in first.free:
        return None

    def best(*i: Expr) -> Expr:
        k = index(x.shape[axis])
        return Fold(name, (k,), x[(*i[:axis], k, *i[axis:])])

    def where_(*i: Expr) -> Expr:
        k = index(x.shape[axis])
        row = Lambda((k,), x[(*i[:axis], k, *i[axis:])])
        found = Opaque(f"aten.arg{name}", (), (row,), (), "int")
        return integers.plus_(found, integers.minus(at_lane[(*i[:axis], k, *i[axis:])], k))

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
    name = monoid(machine, operation)
    length = x.shape[axis]

    def at(*i: Expr) -> Expr:
        here = i[axis]
        k = index(integers.minus(length, here) if reverse else integers.plus_(here, 1))
        lane = integers.plus_(here, k) if reverse else k
        return Fold(name, (k,), x[(*i[:axis], lane, *i[axis + 1 :])])

    return block(x.shape, at, x.kind)
