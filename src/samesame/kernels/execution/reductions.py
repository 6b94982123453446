"""Reductions and scans: a region that combines two elements, and the fold it stands for.

The region is executed on two unknown elements, and what comes out is compared with what the known monoids make of
them: sum, product, maximum, minimum, and, or. Tuples of values are in `combined`. Anything else is refused, with its
line. A sum in which one lane counts and the others are 0 is what that lane holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import Compare, Expr, Fold, Index, Leaf, Load, Num, Where, substitute
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.combined import Lanes, combined, monoid_of
from samesame.kernels.execution.operations import MODULAR
from samesame.kernels.execution.ttir import Operation
from samesame.kernels.execution.values import Shuffled, Value, block, same_everywhere
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.indices import integers

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Environment, Machine


ENDS = ("tt.reduce.return", "tt.scan.return")


def combiner(machine: Machine, operation: Operation) -> tuple[Expr, ...]:
    """What the region of a reduction or scan makes of a left and a right element, as expressions of both."""
    region = operation.regions[0]
    env: Environment = dict(machine.scope)
    for name, kind in region.arguments:
        env[name] = same_everywhere(Load(Leaf(name, (), kind.kind), ()))
    kept = machine.mark()
    found = machine.block(region, env)
    taken_back = machine.mark() != kept and len(machine.taken_back) != kept[-1]
    machine.forget(kept)
    if taken_back:
        raise Refused(f"{operation.place}: a reduction that makes floats of integers, and these of floats again")
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
    blocks = cast("list[Tensor]", operands)
    return folded(machine, operation, blocks, Lanes(blocks[0].shape, operation.attribute("axis")))


def scan(machine: Machine, operation: Operation, operands: list[Value]) -> Any:
    """Element j is the reduction over the lanes up to j, or from j on if it runs in reverse."""
    blocks = cast("list[Tensor]", operands)
    reverse = bool(operation.attribute("reverse", 0))
    return folded(machine, operation, blocks, Lanes(blocks[0].shape, operation.attribute("axis"), True, reverse))


def folded(machine: Machine, operation: Operation, blocks: list[Tensor], lanes: Lanes) -> Any:
    if not all(step.name in (*MODULAR, *ENDS) for step in operation.regions[0].operations):
        machine.all_observed(operation, blocks)  # the region compares them, or what else shows that they wrapped around
    if len(blocks) > 1:
        if any(isinstance(x, Shuffled) for x in blocks):
            raise Refused(f"{operation.place}: blocks in an order that is left to the compiler are reduced together")
        return combined(machine, operation, combiner(machine, operation), blocks, lanes)
    (x,) = blocks
    name = monoid(machine, operation)

    def at(*i: Expr) -> Expr:
        k, there = lanes.over(i)
        found = alone(name, k, x[there])
        return found if found is not None else Fold(name, (k,), x[there])

    return block(lanes.result, at, x.kind)


def alone(monoid: str, lane: Index, body: Expr) -> Expr | None:
    """Of a fold in which one lane counts and the others are neutral, what that lane holds."""
    match integers.tidied(body):
        case Where(Compare("=", a, b), then, otherwise) if otherwise is NEUTRAL[monoid] and a.kind == b.kind == "int":
            found = integers.linear(integers.minus(b, a), lane)
            if found is None or abs(found[0]) != 1:
                return None
            here = integers.times_(found[1], -found[0])
            inside = isinstance(here, Num) and isinstance(lane.extent, Num) and 0 <= here.value < lane.extent.value
            return integers.tidied(substitute(then, {lane: here})) if inside else None
    return None
