"""At infinity: a claim in which tensors of its frontier are −∞ or +∞ wherever a mask says so.

A proof is about real numbers. A tensor in the middle of two programs may hold −∞ all the same, put there by a mask, and
stands in a proof as if it were a number: e^h to the power of p is e^(p·h) for all numbers, and at h = −∞ for p > 0
alone. So where a tensor at the frontier is not finite on the example, the claim is proved once more with any mask in
front of it: `h` becomes `h.masked_fill(m, −∞)` with `h` and `m` free, and what the laws of formulas know of −∞ decides.
With a mask that is false throughout it is the claim itself, so that nothing else has to be proved beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators.execute import is_finite
from samesame.relate.blocks import Block, key_of

FILLS = {"aten.isneginf.default": -math.inf, "aten.isposinf.default": math.inf}      # by the operator that tells where


def infinite(values: Mapping[str, torch.Tensor]) -> dict[str, tuple[str, ...]]:
    """Which infinities stand in those that are not finite throughout, by name: the operators that tell where. None at
    all for one that holds a NaN, of which no formula speaks."""
    return {name: () if bool(value.isnan().any()) else tuple(
                operator for operator, number in FILLS.items() if bool((value == number).any()))
            for name, value in values.items() if value.is_floating_point() and not is_finite(value)}


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
