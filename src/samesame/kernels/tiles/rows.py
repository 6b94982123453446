"""Dimensions that a kernel takes as one.

Many kernels know nothing of rows and columns: they take the m·n elements of a tensor as one row, block by block. Over
the indices [i, j] the question who writes an element is one of divisions by n; over the row it is none. So where a
launch speaks of a product of sizes that lie behind one another in memory (as an argument, or in its grid), these
dimensions are joined for the proofs. Nothing is assumed thereby: it is the same memory. The formula is written over the
tensor's own indices in the end, `out[i·n + j] = f(x[i·n + j])` as `out[i, j] = f(x[i, j])`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from samesame.formula import polynomials
from samesame.formula.binders import rebuilt
from samesame.formula.expr import ZERO, Expr, FloorDiv, Index, Load, const, index, substitute, walk
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim
from samesame.kernels.execution.values import line_of
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts
from samesame.kernels.launch import Launch, Memory
from samesame.kernels.tiles.memory import leaf_of, offset_of, with_elements

Groups = tuple[range, ...]  # the dimensions of a tensor that are one, in order


@dataclass(frozen=True)
class Joined:
    """A tensor with some dimensions joined, and what it was before."""

    memory: Memory
    before: Memory
    groups: Groups

    def own_indices(self, indices: tuple[Index, ...]) -> tuple[tuple[Index, ...], dict[Index, Expr]]:
        """Indices of the tensor's own shape, and what the given joined ones are in terms of them."""
        own = tuple(index(integers.tidied(const(n))) for n in self.before.shape)
        values: dict[Index, Expr] = {}
        for joined, dims in zip(indices, self.groups, strict=True):
            place: Expr = ZERO
            for d in dims:
                place = integers.plus_(integers.times_(place, own[d].extent), own[d])
            values[joined] = place
        return own, values


def with_rows(launch: Launch) -> tuple[Launch, dict[str, Joined]]:
    """The launch with dimensions joined that it takes as one, and by name the tensors where that is so."""
    named = spoken_of(launch)
    found: dict[str, Joined] = {}
    arguments = dict(launch.arguments)
    for parameter, given in launch.arguments.items():
        if not isinstance(given, Memory):
            continue
        groups = grouped(given, named)
        if len(groups) < len(given.shape):
            shape = tuple(canonical(spanned(given, dims)) for dims in groups)
            strides = tuple(given.strides[dims[-1]] for dims in groups)
            arguments[parameter] = replace(given, shape=shape, strides=strides)
            found[given.name] = Joined(cast(Memory, arguments[parameter]), given, groups)
    return replace(launch, arguments=arguments), found


def spoken_of(launch: Launch) -> set[Expr]:
    """The numbers of elements that the launch is given or makes blocks of, but for those that are a step in memory."""
    given = [*(n for n in launch.arguments.values() if isinstance(n, Expr | int)), *launch.grid]
    found: set[Expr] = set()
    for n in given:
        for e in walk(integers.tidied(const(n))):
            if e.kind == "int":
                found.add(e)
            if isinstance(e, FloorDiv):
                terms = polynomials.polynomial(e.numerator)
                found.add(polynomials.written({m: c for m, c in terms.items() if m}))
    memories = [n for n in launch.arguments.values() if isinstance(n, Memory)]
    return found - {step(stride) for memory in memories for stride in memory.strides}


def knows_rows(launch: Launch, tensors: dict[str, Joined]) -> bool:
    """Whether the launch is told where the rows of a joined tensor begin."""
    given = {integers.tidied(const(n)) for n in launch.arguments.values() if isinstance(n, Expr | int)}
    steps = {step(one.before.strides[d]) for one in tensors.values() for dims in one.groups for d in dims[:-1]}
    return bool(given & steps)


def step(stride: Dim) -> Expr:
    return integers.tidied(const(stride))


def grouped(memory: Memory, named: set[Expr]) -> Groups:
    """The longest runs of dimensions that lie behind one another, and whose product of sizes is spoken of."""
    found: list[range] = []
    start, rank = 0, len(memory.shape)
    while start < rank:
        ends = [e for e in range(rank, start + 1, -1) if e - start > 1 and in_line(memory, range(start, e))]
        end = next((e for e in ends if spanned(memory, range(start, e)) in named), start + 1)
        found.append(range(start, end))
        start = end
    return tuple(found)


def in_line(memory: Memory, dims: range) -> bool:
    """Whether each row begins where the one before ends."""
    return all(
        step(memory.strides[d]) is integers.times_(step(memory.strides[d + 1]), step(memory.shape[d + 1]))
        for d in dims[:-1]
    )


def spanned(memory: Memory, dims: range) -> Expr:
    """How many elements the dimensions have together."""
    total: Expr = const(1)
    for d in dims:
        total = integers.times_(total, step(memory.shape[d]))
    return total


def apart(expr: Expr, tensors: dict[str, Joined], facts: Facts, simplify: Simplifier) -> Expr:
    """The formula with tensors' own indices in place of joined ones; by offsets where they cannot be told."""
    leaves = {leaf_of(joined.memory): joined for joined in tensors.values()}
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = visit(e)
        return memo[e]

    def visit(e: Expr) -> Expr:
        new = rebuilt(e, go)
        if isinstance(new, Load) and new.leaf in leaves:
            joined = leaves[new.leaf]
            return Load(line_of(joined.before), (offset_of(joined.memory, new.indices),))
        return new

    before = {f"{name}*": joined.before for name, joined in tensors.items()}
    return simplify(with_elements(integers.tidied(go(expr)), before, facts, simplify), facts)


def restated(
    joined: Joined, indices: tuple[Index, ...], exprs: tuple[Expr, ...]
) -> tuple[tuple[Index, ...], tuple[Expr, ...]]:
    """Expressions over a joined tensor's indices, over its own."""
    own, values = joined.own_indices(indices)
    return own, tuple(integers.tidied(substitute(e, values)) for e in exprs)
