"""True claims to be made false: every list of the tests, as pairs of formulas, mostly over size symbols.

Three sources. The claims that the prover is measured against; the pairs of programs, each as one block, generalised
where it can be; and the meaning of every operator on its samples, which claims no more than that it is itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from all_claims import ALL
from claims_loops import LoopClaim
from meaning_samples import OWN, own
from symbolic_samples import HOLDS
from test_meanings import Leaves, comparable
from test_symbolic_sizes import over_symbols

from pairs.corpus import GROUPS, PAIRS
from pairs.pair import Pair
from samesame.capture import capture
from samesame.formula.expr import Expr, Index, Opaque, Unsupported, walk
from samesame.formula.tensor import Dim, Tensor
from samesame.graph import Graph, Node, map_nodes
from samesame.operators import meaning_of
from samesame.operators.table import packet
from samesame.relate.blocks import Block
from samesame.relate.domain import demanded
from samesame.relate.generalise import generalise
from samesame.relate.meanings import meanings

ORDERINGS = {"aten.argmax", "aten.argmin", "aten.topk", "aten.sort"}       # opaque, but `run_opaque` computes them


@dataclass(frozen=True)
class Sides:
    """Two formulas for the element at `indices` of a tensor of this shape, over size symbols or in numbers."""

    shape: tuple[Dim, ...]
    indices: tuple[Index, ...]
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Source:
    """A true claim: `make()` gives its two tensors. `family` is the heading it is counted under."""

    name: str
    family: str
    make: Callable[[], tuple[Tensor, Tensor]]

    @functools.cached_property
    def sides(self) -> Sides | None:
        """None where there is no formula for it (random or unfilled memory, a result that is no tensor), or none whose
        value can be worked out: an operator may have a meaning in numbers and be opaque over symbols."""
        try:
            left, right = self.make()
            indices, expr = left.element()
            sides = Sides(left.shape, indices, expr, right[indices])
        except Unsupported:
            return None
        opaque = {e.name for side in (sides.left, sides.right) for e in walk(side) if isinstance(e, Opaque)}
        return sides if opaque <= ORDERINGS else None


# --------------------------------------------------------------------------------------------------------------- claims


def claims() -> Iterator[Source]:
    """Over size symbols; loops are written out, which takes numbers (`loops.py` has them over symbols)."""
    for claim in ALL:
        make = functools.partial(claim.sides, not isinstance(claim, LoopClaim))
        yield Source(claim.name, f"claims: {claim.theme}", lambda make=make: make()[:2])


# ---------------------------------------------------------------------------------------------------------------- pairs


def pairs() -> Iterator[Source]:
    for pair in PAIRS:
        for symbolic in (True, False):
            sizes = "over symbols" if symbolic else "in numbers"
            make = functools.partial(block_sides, pair, symbolic)
            yield Source(f"{pair.name}, {sizes}", f"pairs: {GROUPS[pair.number]}", make)


def block_sides(pair: Pair, symbolic: bool) -> tuple[Tensor, Tensor]:
    """The two programs as one block: its frontier the inputs, its sides the first outputs."""
    block = whole_block(pair)
    if symbolic:
        general = generalise(block.graph, block.ranges, as_sizes=True, as_variables=True)
        if general is None:
            raise Unsupported("it holds nothing to generalise")
        block = replace(block, graph=general.graph, ranges=general.ranges)
    return meanings(block)


def whole_block(pair: Pair) -> Block:
    """The graphs of both programs side by side on the same inputs."""
    left, right = (capture(program, pair.inputs(), name=name)
                   for program, name in ((pair.left, "left"), (pair.right, "right")))
    shared = {theirs: mine for mine, theirs in zip(left.sources("input"), right.sources("input"), strict=True)}
    made: dict[Node, Node] = dict(shared)
    for node in right.nodes:
        if node not in made:
            kwargs = {name: map_nodes(made.__getitem__, value) for name, value in node.kwargs.items()}
            args = map_nodes(made.__getitem__, node.args)
            made[node] = replace(node, name=f"right_{node.name}", args=args, kwargs=kwargs)
    tensors = {**left.tensors, **{f"right_{name}": value for name, value in right.tensors.items()}}
    nodes = tuple(dict.fromkeys([*left.nodes, *made.values()]))
    if any(node.operator in ("parameter", "buffer") or not uniform(node, tensors) for node in nodes):
        raise Unsupported("it holds tables of numbers")
    graph = Graph("block", nodes, (("left", left.roots[0][1]), ("right", made[right.roots[0][1]])), tensors)
    return Block(graph, {}, demanded(graph, lambda node: False), False, pair.name)


def uniform(node: Node, tensors: dict[str, Any]) -> bool:
    """Whether a constant is one number, which is all that a block writes down of it."""
    if node.operator != "constant":
        return True
    value = tensors[node.name]
    return value.numel() > 0 and bool((value == value.flatten()[0]).all())


# ------------------------------------------------------------------------------------------------------------ operators


def operators() -> Iterator[Source]:
    """Meanings over size symbols, and for the operators that have none there, in numbers."""
    for k, (operator, arguments) in enumerate(HOLDS):
        yield Source(f"{operator} {k}", family_of(operator), functools.partial(over_sizes, operator, arguments))
    symbolic = {operator for operator, _ in HOLDS}
    for operator in OWN:
        if operator not in symbolic:
            yield Source(operator, family_of(operator), functools.partial(in_numbers, operator))


def family_of(operator: str) -> str:
    meaning = meaning_of(operator)
    assert meaning is not None
    module = getattr(meaning, "func", meaning).__module__                  # some are made by partial application
    return f"operators: {module.rsplit('.', 1)[-1]}"


def over_sizes(operator: str, arguments: Callable[..., tuple[Any, ...]]) -> tuple[Tensor, Tensor]:
    return twice(over_symbols(operator, arguments))


def in_numbers(operator: str) -> tuple[Tensor, Tensor]:
    for call in own(operator):
        if comparable(call) and call.result is not None and torch.utils._pytree.tree_leaves(call.args):
            leaves, meaning = Leaves(), meaning_of(packet(operator)) or meaning_of(operator)
            assert meaning is not None
            try:
                return twice(meaning(*map(leaves.of, call.args), **{n: leaves.of(v) for n, v in call.kwargs.items()}))
            except Unsupported:
                continue
    raise Unsupported("no sample has a formula")


def twice(result: Any) -> tuple[Tensor, Tensor]:
    tensors = [part for part in (result if isinstance(result, tuple) else (result,)) if isinstance(part, Tensor)]
    if not tensors:
        raise Unsupported("the result is no tensor")
    return tensors[0], tensors[0]


@functools.cache
def sources() -> tuple[Source, ...]:
    """All of them, in one order."""
    return (*claims(), *pairs(), *operators())
