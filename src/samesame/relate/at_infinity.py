"""At infinity: a claim in which tensors of its frontier are −∞ or +∞ wherever a mask says so.

A proof is about real numbers. A tensor in the middle of two programs may hold −∞ all the same, put there by a mask, and
stands in a proof as if it were a number: e^h to the power of p is e^(p·h) for all numbers, and at h = −∞ for p > 0
alone. So where a tensor at the frontier is not finite on the example, the claim is proved once more with any mask in
front of it: `h` becomes `h.masked_fill(m, −∞)` with `h` and `m` free, and what the laws of formulas know of −∞ decides.
With a mask that is false throughout it is the claim itself, so that nothing else has to be proved beside it.

The example need not show it: its masks may hide nothing, its numbers be of one sign. So where a program writes an
infinity, it also runs with other masks and signs, and a tensor is infinite that is so in any of these runs. A run that
cannot go on says nothing of what it did not come to: there, whatever is made of an infinity may be one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import cast

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators.execute import Value, closed, execute, is_finite
from samesame.relate.blocks import Block, key_of
from samesame.relate.extremes import is_asking

FILLS = {"aten.isneginf.default": -math.inf, "aten.isposinf.default": math.inf}      # by the operator that tells where
FLOATS = "float", "bfloat"
LOGARITHMS = frozenset(f"aten.{name}.default" for name in ("log", "log2", "log10", "log1p"))    # −∞ at an end


def infinite(
    values: Mapping[str, torch.Tensor], elsewhere: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    """Which infinities stand in those that are not finite throughout, here or `elsewhere`, by name: the operators that
    tell where. None at all for one that holds a NaN, of which no formula speaks."""
    found = dict[str, tuple[str, ...]]()
    for name, value in values.items():
        there = elsewhere.get(name, ())
        if value.is_floating_point() and (there or not is_finite(value)):
            found[name] = () if bool(value.isnan().any()) else tuple(
                operator for operator, number in FILLS.items() if operator in there or bool((value == number).any()))
    return found


def reached(graph: Graph, given: Mapping[str, torch.Tensor]) -> dict[str, frozenset[str]]:
    """Which infinities tensors may hold, by name: those of runs from these sources in which masks hide what they like,
    or all, and numbers are of either sign. Nothing is looked for where the program writes no infinity."""
    constants, found = closed(graph), dict[str, frozenset[str]]()
    held = (graph.tensors[node.name] for node in graph.sources("constant"))
    if not any(map(_writes_infinity, graph.nodes)) and all(map(is_finite, held)):
        return found
    masks = {node for node in graph.nodes if node.name not in constants and _is_mask(node)}
    behind = _behind_infinities(graph)
    generator = torch.Generator().manual_seed(0)

    def add(node: Node, operators: Iterable[str]) -> None:
        found[node.name] = found.get(node.name, frozenset()).union(operators)

    def look(node: Node, value: Value, _: bool) -> None:
        come_to.add(node)
        if isinstance(value, torch.Tensor) and value.is_floating_point() and not is_finite(value):
            add(node, (operator for operator, number in FILLS.items() if bool((value == number).any())))

    def run(hidden: float, either: bool) -> None:
        def hide(node: Node, value: Value) -> Value:
            if node not in masks or not isinstance(value, torch.Tensor):
                return value
            return torch.rand(value.shape, generator=generator) < hidden

        def turn(value: torch.Tensor) -> torch.Tensor:
            turns = either and value.is_floating_point() and is_finite(value)
            return value * (1 - 2 * torch.randint(2, value.shape, generator=generator)) if turns else value

        sources = (node for node in graph.nodes if node.operator in ("input", "parameter"))
        values = {node.name: cast(torch.Tensor, hide(node, turn(given[node.name]))) for node in sources}
        try:
            execute(graph, values, keep=False, seen=look, changed=hide)
        except SamesameError:
            for node in behind - come_to:
                add(node, FILLS)

    for hidden, either in product((0.5, 1.0), (False, True)):
        come_to = set[Node]()
        run(hidden, either)
    return found


def _behind_infinities(graph: Graph) -> set[Node]:
    """The tensors of reals that are made of an infinity that the program writes or holds."""
    behind = set[Node]()
    for node in graph.nodes:
        held = node.operator == "constant" and not is_finite(graph.tensors[node.name])
        if held or _writes_infinity(node) or not behind.isdisjoint(node.inputs):
            behind.add(node)
    return {node for node in behind if isinstance(node.type, TensorType) and node.type.dtype.startswith(FLOATS)}


def _is_mask(node: Node) -> bool:
    """Is it a truth value of numbers, which others make another?"""
    return (isinstance(node.type, TensorType) and node.type.dtype == "bool" and not is_asking(node)
            and not any(isinstance(part.type, TensorType) and part.type.dtype == "bool" for part in node.inputs))


def _writes_infinity(node: Node) -> bool:
    written = (*node.args, *node.kwargs.values())
    return node.operator in LOGARITHMS or any(isinstance(part, float) and math.isinf(part) for part in written)


def masked(claim: Block, infinities: Mapping[str, tuple[str, ...]]) -> tuple[Block, dict[str, tuple[str, str]]]:
    """The claim with masks in front of these variables; and the masks' names, each with its variable and the operator
    that tells where it is true."""
    masks = dict[str, tuple[str, str]]()
    made = dict[Node, Node]()

    def nodes() -> Iterator[Node]:
        for node in claim.graph.nodes:
            args, kwargs = (map_nodes(made.__getitem__, part) for part in (node.args, tuple(node.kwargs.items())))
            made[node] = last = replace(node, args=args, kwargs=dict(kwargs))
            yield last
            for operator in infinities.get(node.name, ()):
                assert isinstance(node.type, TensorType), "what holds an infinity is a tensor"
                mask = Node(f"{last.name} m", "input", type=replace(node.type, dtype="bool"))
                masks[mask.name] = node.name, operator
                made[node] = last = Node(f"{last.name} f", "aten.masked_fill.Scalar", (last, mask, FILLS[operator]),
                                         type=node.type)
                yield from (mask, last)

    every = tuple(nodes())
    roots = tuple((name, made[root]) for name, root in claim.graph.roots)
    graph = Graph(claim.graph.name, every, roots, claim.graph.tensors)
    return replace(claim, graph=graph, key=key_of(graph, claim.ranges)), masks
