"""Norms in plain operators, where one side writes them by hand.

Ranks that share what a norm runs over add up moments themselves: a mean, a variance, an inverse root. A sequential
layer norm is one operator, in which none of these is to be seen, and the whole norm is one long claim. Opened, its mean
is related to theirs, its variance to theirs, and what follows is short. Where no side writes one by hand, norms stay as
they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from samesame.graph import Graph, Node, TensorType, rewritten

BY_HAND = frozenset(("aten.rsqrt.default", "aten.sqrt.default", "aten.var.correction", "aten.var_mean.correction"))


def with_open_norms(left: Graph, world: Graph) -> tuple[Graph, Graph]:
    """Both programs with their norms opened, if the ranks take roots or variances where the sequential program has a
    norm, or the other way round."""
    mine, theirs = _operators(left), _operators(world)
    by_hand = (theirs - mine if mine & OPENED.keys() else mine) & BY_HAND
    if not by_hand or OPENED.keys().isdisjoint(mine | theirs):
        return left, world
    return _opened(left), _opened(world)


def _operators(graph: Graph) -> frozenset[str]:
    return frozenset(node.operator for node in graph.nodes)


def _opened(graph: Graph) -> Graph:
    norms: dict[Node, tuple[Node, ...]] = {}

    def make(node: Node, now: Node) -> list[Node]:
        if node.operator in OPENED:
            steps = OPENED[node.operator](now)
            norms[node] = steps.results
            return [*steps.nodes, now] if isinstance(node.type, tuple) else [*steps.nodes, steps.results[0]]
        if node.operator == "getitem" and node.args[0] in norms:
            return [norms[node.args[0]][node.args[1]]]
        return [now]

    opened = rewritten(graph, make)
    return replace(opened, nodes=tuple(node for node in dict.fromkeys(opened.nodes) if node.operator not in OPENED))


@dataclass(slots=True)
class _Steps:
    """Plain operators in place of a norm, each at its line and under a name of its own; the norm's `results`."""

    norm: Node
    nodes: list[Node] = field(default_factory=list)
    results: tuple[Node, ...] = ()

    def add(self, operator: str, *args: Any, shape: Sequence[int]) -> Node:
        first = args[0].type
        made = Node(f"{self.norm.name}.{len(self.nodes)}", operator, args, {}, TensorType(tuple(shape), first.dtype),
                    self.norm.origin)
        self.nodes.append(made)
        return made

    def shaped(self, x: Node, shape: Sequence[int]) -> Node:
        return x if x.shape == tuple(shape) else self.add("aten.reshape.default", x, tuple(shape), shape=shape)

    def mean(self, x: Node, dims: tuple[int, ...]) -> Node:
        shape = [1 if d in dims else size for d, size in enumerate(x.shape)]
        return self.add("aten.mean.dim", x, dims, True, shape=shape)

    def scaled(self, x: Node, dims: tuple[int, ...], eps: float) -> tuple[Node, Node]:
        """x over the root of its mean square, and the inverse root."""
        square = self.mean(self.add("aten.mul.Tensor", x, x, shape=x.shape), dims)
        root = self.add("aten.rsqrt.default", self.add("aten.add.Tensor", square, eps, shape=square.shape),
                        shape=square.shape)
        return self.add("aten.mul.Tensor", x, root, shape=x.shape), root

    def weighed(self, x: Node, weight: Node | None, bias: Node | None, shape: Sequence[int]) -> Node:
        for operator, part in (("aten.mul.Tensor", weight), ("aten.add.Tensor", bias)):
            x = x if part is None else self.add(operator, x, self.shaped(part, shape), shape=x.shape)
        return x


def _norm(node: Node, shape: Sequence[int], dims: tuple[int, ...], weights: Sequence[int], weight: Node | None,
          bias: Node | None, eps: float) -> _Steps:
    """(x − mean) / √(variance + eps) · weight + bias; the mean; the inverse root."""
    steps = _Steps(node)
    x = steps.shaped(node.args[0], shape)
    middle = steps.mean(x, dims)
    y, root = steps.scaled(steps.add("aten.sub.Tensor", x, middle, shape=shape), dims, eps)
    y = steps.weighed(steps.shaped(y, node.args[0].shape), weight, bias, weights)
    steps.results = (y, middle, root)
    if isinstance(node.type, tuple):
        told = [part.shape for part in node.type if isinstance(part, TensorType)]
        steps.results = y, steps.shaped(middle, told[1]), steps.shaped(root, told[2])
    return steps


def _given(node: Node, *defaults: Any) -> list[Any]:
    """Two arguments, and those after them that have a default: as they are given, by place or by name."""
    names = {2: "weight", 3: "bias", 4: "eps"} if len(defaults) == 3 else {2: "weight", 3: "eps"}
    return [*node.args[:2], *(node.args[k] if k < len(node.args) else node.kwargs.get(name, default)
                              for (k, name), default in zip(names.items(), defaults, strict=True))]


def _layer_norm(node: Node) -> _Steps:
    x, inner, weight, bias, eps = _given(node, None, None, 1e-5)
    dims = tuple(range(len(x.shape) - len(inner), len(x.shape)))
    return _norm(node, x.shape, dims, inner, weight, bias, eps)


def _group_norm(node: Node) -> _Steps:
    x, weight, bias, *_, groups, eps = node.args
    return _over_groups(node, x, groups, weight, bias, eps)


def _whole_group_norm(node: Node) -> _Steps:
    return _over_groups(node, *_given(node, None, None, 1e-5))


def _over_groups(
    node: Node, x: Node, groups: int, weight: Node | None, bias: Node | None, eps: float
) -> _Steps:
    rows, channels, *inner = x.shape
    shape = rows, groups, prod(x.shape[1:]) // groups
    return _norm(node, shape, (2,), (channels, *(1 for _ in inner)), weight, bias, eps)


def _rms_norm(node: Node) -> _Steps:
    x, inner, weight, eps = _given(node, None, None)
    steps = _Steps(node)
    y, root = steps.scaled(x, tuple(range(len(x.shape) - len(inner), len(x.shape))), eps)
    steps.results = steps.weighed(y, weight, None, inner), root
    return steps


OPENED: dict[str, Callable[[Node], _Steps]] = {
    "aten.native_layer_norm.default": _layer_norm,
    "aten.native_group_norm.default": _group_norm,
    "aten._fused_rms_norm.default": _rms_norm,
    "aten.layer_norm.default": _layer_norm,
    "aten.group_norm.default": _whole_group_norm,
    "aten.rms_norm.default": _rms_norm,
}
