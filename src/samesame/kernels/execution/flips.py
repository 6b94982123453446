"""Blocks turned around, as `tl.flip` does it: by exclusive or, one axis of two lanes after the other.

Triton has no operation that turns a block around. It takes the lanes as axes of two, and of each axis the bits of both
elements together, x₀ ⊕ x₁; that ⊕ x₀ is x₁, and ⊕ x₁ is x₀. Nothing else need be known of exclusive or to see that.
Sorting does the same between comparisons, again and again; that is told apart, and not supported.
"""

from __future__ import annotations

from itertools import permutations

from samesame.evidence import Refused
from samesame.formula.expr import ONE, ZERO, Compare, Expr, Index, Num, Where, index, substitute, walk
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Operation
from samesame.kernels.execution.values import block, of_bits
from samesame.kernels.indices import integers


def of_both(operation: Operation, x: Tensor, axis: int) -> Tensor | None:
    """The exclusive or of two lanes; None for a reduction that is something else."""
    names = [name for name, _ in operation.regions[0].arguments]
    first, *others = operation.regions[0].operations
    alone = first.name == "arith.xori" and sorted(first.operands) == sorted(names) and len(others) == 1
    if not alone or others[0].operands != first.results or x.shape[axis] != 2 or x.kind != "int":
        return None
    bits = operation.given[0].bits

    def at(*i: Expr) -> Expr:
        return of_bits("xori", bits, *(x[(*i[:axis], lane, *i[axis:])] for lane in (ZERO, ONE)))

    return block(x.shape[:axis] + x.shape[axis + 1 :], at, "int")


def flipped(operation: Operation, operands: list[Tensor]) -> Tensor | None:
    """A ⊕ (A₀ ⊕ A₁) as A with an axis of two lanes turned around; None for any other exclusive or."""
    for x, both in permutations(operands):
        lanes = tuple(index(n) for n in x.shape)
        bits = operation.type.bits
        for axis in (d for d, n in enumerate(x.shape) if n == 2):
            one, other = ((*lanes[:axis], lane, *lanes[axis + 1 :]) for lane in (ZERO, ONE))
            if both[one] is both[other] is of_bits("xori", bits, x[one], x[other]):
                demand_no_sorting(operation, x[lanes], lanes)
                return around(x, axis)
    return None


def around(x: Tensor, axis: int) -> Tensor:
    return block(x.shape, lambda *i: x[(*i[:axis], integers.minus(1, i[axis]), *i[axis + 1 :])], x.kind)


def demand_no_sorting(operation: Operation, element: Expr, lanes: tuple[Index, ...]) -> None:
    """Raise Refused for a block that was made by comparing one with itself turned around, and choosing."""
    for chosen in walk(element):
        if isinstance(chosen, Where) and is_exchange(chosen, lanes):
            raise Refused(f"{operation.place}: sorting, as tl.sort and tl.topk do it, is not supported")


def is_exchange(chosen: Where, lanes: tuple[Index, ...]) -> bool:
    """Whether one of two elements is chosen by comparing them, of which one is the other with a lane turned around."""
    a, b = chosen.then, chosen.otherwise
    if not any(compares(e, a, b) for e in walk(chosen.condition) if isinstance(e, Compare)):
        return False
    turns: list[dict[Index, Expr]] = [{v: integers.minus(1, v)} for v in lanes]
    return any(integers.tidied(substitute(a, turn)) is integers.tidied(b) for turn in turns)


def compares(e: Compare, a: Expr, b: Expr) -> bool:
    """Whether a and b are compared; of integers, whether their difference is, up to a number."""
    if a.kind != "int" or b.kind != "int":
        return {e.left, e.right} == {a, b}
    return any(isinstance(integers.minus(e.right, integers.minus(*pair)), Num) for pair in ((a, b), (b, a)))
