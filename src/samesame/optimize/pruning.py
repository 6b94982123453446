"""Pruning: what need not be tuned, because something else is at least as good at every size, or far better here.

The cost of a schedule is what every choice of its tiles must pay: operations (rounds of innermost statements; a machine
that multiplies numbers of two bytes in pairs does two rounds of these at once) and elements (each tensor read or
written once), as polynomials over sizes. One schedule is *dominated* by another if both
its costs are at least the other's for all sizes, which the solver decides, and one is more at these; where it has more
to do in parallel, since it takes the depth in parts, only by another that does so, too. Of the rest, what would take
many times as long here as the best, by a rough model of a machine, is *costly* and left out as well; so are parts of a
depth where there is enough to do in parallel without. Tiles that do not fit the machine's registers are cut by the
tuner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.expr import ZERO, Add, Expr, Index, Load, Where, add, compare, const, mul, walk, where
from samesame.formula.sizes import replaced, value_at
from samesame.optimize.ir import (
    Accumulate,
    Buffer,
    Loop,
    Program,
    Store,
    bound,
    expressions,
    innermost,
    is_narrow_product,
    lanes,
    narrow_ones,
    statements,
    symbols,
)
from samesame.optimize.machine import here
from samesame.optimize.schedule import Scheduled, Space

MORE = 4                                             # times as often as another gathers
COSTLY = 4.0                                     # times the best by the model
ROUND = 2                                        # operations, where a round of a product in pairs is one
OPERATIONS_PER_ELEMENT = 16.0                    # how many operations take the time in which memory gives an element
PATIENCE = Budget(seconds=0.5)


@dataclass(frozen=True)
class Cost:
    """Lower bounds for a schedule with any tiles, over size symbols."""

    operations: Expr
    elements: Expr

    def here(self, numbers: dict[str, int]) -> float:
        """Elements that memory could give in the time that this takes, at these sizes."""
        operations, elements = (value_at(size, numbers) for size in (self.operations, self.elements))
        return max(operations / OPERATIONS_PER_ELEMENT, float(elements))


def cost(program: Program) -> Cost:
    """What a program costs at least, with parts as long as can be; kernels that run ahead cost nothing."""
    whole = bound(program, {tile.size.name: 1 for tile in program.tiles if tile.role != "parts"})
    kernels = [kernel for kernel in whole.kernels if not kernel.ahead]
    tensors = {buffer for kernel in kernels for buffer in kernel.tensors}
    narrow = narrow_ones(tensors) if here().multiplies_pairs else set()
    rounds = [mul(1 if is_narrow_product(statement, narrow) else ROUND, *(loop.variable.extent for loop in loops))
              for kernel in kernels for loops, statement in innermost(kernel.body)]
    one = {tile.size.name: tile.of for tile in program.tiles if tile.role == "parts"}
    looked = looked_up(replace(whole, kernels=tuple(kernels)))
    elements = (mul(*(1 if (buffer.name, d) in looked else size for d, size in enumerate(buffer.shape)))
                for buffer in sorted(tensors, key=lambda b: b.name))
    return Cost(*(const(replaced(add(*several), one)) for several in (rounds, elements)))


def looked_up(program: Program) -> set[tuple[str, int]]:
    """The dimensions along which data says what is read: of one row at least."""
    inside = (load for kernel in program.kernels for _, statement in innermost(kernel.body)
              for e in expressions(statement) for load in walk(e) if isinstance(load, Load))
    return {(load.leaf.name, d) for load in inside for d, at in enumerate(load.indices)
            if any(isinstance(e, Load) for e in walk(at))}


def rounds(program: Program, numbers: dict[str, int], across: int) -> int | None:
    """How many rounds a kernel whose depth is in parts would have in parallel were it one, with tiles of one register's
    lanes; None where there is no such kernel."""
    parts = [tile for tile in program.tiles if tile.role == "parts"]
    if not parts:
        return None
    width = {tile.size.name: across if tile.role in ("lanes", "beside") else 1 for tile in program.tiles}
    width |= {tile.size.name: value_at(tile.of, numbers) for tile in parts}
    kernel = next(kernel for kernel in program.kernels if parts[0].size.name in symbols(kernel))
    loops = (s.variable for s in statements(kernel.body) if isinstance(s, Loop) and s.kind == "parallel")
    return prod(value_at(variable.extent, {**numbers, **width}) for variable in loops)


def is_at_most(a: Expr, b: Expr) -> bool:
    """Whether a ≤ b for all positive sizes, proved."""
    found = prove_equal(where(compare("<", b, a), 1, 0), ZERO, budget=PATIENCE)
    return isinstance(found, Proved) and found.unconditional()


def dominated(one: Cost, other: Cost, numbers: dict[str, int]) -> bool:
    """Whether `other` is never worse, and is better at these numbers."""
    pairs = ((other.operations, one.operations), (other.elements, one.elements))
    strictly = any(value_at(less, numbers) < value_at(more, numbers) for less, more in pairs)
    return strictly and all(is_at_most(less, more) for less, more in pairs)


LONG = 64                                            # terms of a sum that take longer than a gathered element
GAPS = 2, 3, 4                                       # elements, one of which is read of each: runs are shuffled


def gathers(program: Program, numbers: Mapping[str, int]) -> int:
    """How often lanes read elements that lie apart, in kernels that do not run ahead. What a sum's result is looked up
    beside, once for each, is read so however its operands lie; and what a long sum's result meets costs little."""
    kernels = [kernel for kernel in program.kernels if not kernel.ahead]
    strided = {b.name: b for kernel in kernels for b in kernel.reads if b.strides is not None}
    single = {**numbers, **{tile.size.name: 1 for tile in program.tiles}}
    found = 0
    for kernel in kernels:
        inside = [*innermost(kernel.body)]
        terms = max((_times(loops, single) for loops, s in inside if isinstance(s, Accumulate)), default=0)
        for loops, statement in inside:
            apart = {load for e in expressions(statement) for load in walk(e) if isinstance(load, Load)
                     if any(_apart(load, v, strided.get(load.leaf.name), numbers) for v in lanes(loops))}
            if terms and isinstance(statement, Store):
                long = terms >= LONG * _times(loops, single)
                apart = {load for load in apart if not long and not _is_look_up(load)}
            found += len(apart) * _times(loops, single)
    return found


def _times(loops: Sequence[Loop], numbers: Mapping[str, int]) -> int:
    """How often a statement runs within loops."""
    return prod(value_at(loop.variable.extent, numbers) for loop in loops)


def _is_look_up(load: Load) -> bool:
    return any(isinstance(e, Load | Where) for at in load.indices for e in walk(at))


def _apart(load: Load, v: Index, strided: Buffer | None, numbers: Mapping[str, int]) -> bool:
    """Whether elements for neighbouring values of a variable are no neighbours, nor neighbours two by two, or three or
    four: it is not a term of the last index (of more than these), or, where there are strides, of that whose stride
    is 1."""
    if strided is not None and strided.strides is not None:
        near = strided.fastest
        ends = [load.indices[near]] if near is not None else [ZERO]
        rest = [i for d, i in enumerate(load.indices) if d != near and strided.strides[d] != 0]
        return any(v in i.free for i in rest) or _inside(ends[0], v)
    narrow = any(value_at(size, numbers) in GAPS for size in load.leaf.shape[-1:]
                 if symbols(size) <= numbers.keys())
    indices = load.indices[:-1] if narrow and v not in load.indices[-1].free else load.indices
    *before, last = indices or (ZERO,)
    return any(v in i.free for i in before) or _inside(last, v)


def _inside(place: Expr, v: Index) -> bool:
    """Whether a variable is in an index, and no term of it."""
    terms = place.terms if isinstance(place, Add) else (place,)
    return any(v in term.free and term is not v for term in terms)


def pruned(several: list[Scheduled], space: Space, cut: Counter[str]) -> list[Scheduled]:
    """What is left to be tuned, what shuffles and then the most promising first; `cut` counts what is left out. Each is
    left out for something that is still there, so that one is left."""
    numbers = space.numbers()
    costs = [cost(scheduled.program) for scheduled in several]
    estimates = [each.here(numbers) for each in costs]
    busy = [rounds(scheduled.program, numbers, here().lanes) for scheduled in several]
    left = [n for n, scheduled in enumerate(several) if not scheduled.shuffles]

    def but(what: str, those: Collection[int]) -> None:
        if those and len(those) < len(left):
            cut[what] += len(those)
            left[:] = [n for n in left if n not in those]

    gathered = [gathers(scheduled.program, numbers) for scheduled in several]
    but("schedules that gather", [n for n in left if gathered[n] > MORE * min(gathered[m] for m in left)])
    but("schedules in parts with enough to do", [n for n in left if (busy[n] or 0) >= space.threads])
    but("schedules dominated", [n for n in left if any(
        dominated(costs[n], costs[m], numbers) for m in left if busy[n] is None or busy[m] is not None)])
    but("schedules too costly", [n for n in left if estimates[n] > COSTLY * min(estimates[m] for m in left)])
    order = sorted(left, key=lambda n: (estimates[n], n))
    return [*(scheduled for scheduled in several if scheduled.shuffles), *(several[n] for n in order)]
