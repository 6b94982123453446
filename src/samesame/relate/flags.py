"""Flags: inputs of numbers that hold zeros and ones, and nothing else, as masks and labels do.

Programs read them in ways that part on any other number: `(1 − m) · lowest` and `m == 0`, `t · log p` and a choice by
`t > ½`. So draws put their zeros and ones in other places, and where no proof is found for all numbers, a flag is read
as a truth value that is used as a number. What is then proved holds if every element is 0 or 1, as the headline says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from samesame.graph import Dtype, Graph, Node, TensorType, rewritten
from samesame.operators.kept import Over
from samesame.relate.propose import Values

Graphs = tuple[Graph, Graph]
Names = tuple[frozenset[str], frozenset[str]]


def is_flag(value: torch.Tensor) -> bool:
    """Does a tensor of numbers hold zeros and ones, both of them?"""
    if value.dtype == torch.bool or value.dtype.is_complex or value.numel() < 2:
        return False
    ones = value == 1
    return bool((ones | (value == 0)).all()) and 0 < int(ones.count_nonzero()) < value.numel()


def moved(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The same zeros and ones, in other places."""
    return value.flatten()[torch.randperm(value.numel(), generator=generator)].view(value.shape)


@dataclass(frozen=True, slots=True)
class Flags:
    """The inputs of each side that are read as truth values, by name."""

    names: Names

    @property
    def condition(self) -> str:
        return f"if every element of {' and '.join(sorted(self.names[0]))} is 0 or 1"

    def rewrite(self, graphs: Graphs) -> Graphs:
        """The graphs with these inputs as truth values, and the numbers made of them."""
        left, right = (_written(graph, names) for graph, names in zip(graphs, self.names, strict=True))
        return left, right

    def values(self, values: tuple[Values, Values]) -> tuple[Values, Values]:
        """The values of these graphs' nodes, draw by draw."""
        left, right = ([self._of(run, k) for run in runs] for k, runs in enumerate(values))
        return left, right

    def _of(self, run: Mapping[str, Any], k: int) -> Over:
        held = {name: run[name] for name in self.names[k]}
        return Over({**{name: value == 1 for name, value in held.items()},
                     **{_number(name): value for name, value in held.items()}}, run)


def flags_of(graphs: Graphs) -> Flags | None:
    """The inputs that hold zeros and ones in the example, if there are any."""
    names = [frozenset(n.name for n in graph.sources("input") if is_flag(graph.tensors[n.name])) for graph in graphs]
    return Flags((names[0], names[1])) if all(names) else None


def _number(name: str) -> str:
    return f"{name}_number"


def _written(graph: Graph, names: frozenset[str]) -> Graph:
    def make(node: Node, now: Node) -> Sequence[Node]:
        if node.operator != "input" or node.name not in names or not isinstance(node.type, TensorType):
            return [now]
        flag = replace(node, type=TensorType(node.shape, "bool"))
        cast = {"dtype": Dtype(node.type.dtype)}
        return [flag, Node(_number(node.name), "aten._to_copy.default", (flag,), cast, node.type, node.origin)]

    tensors = {name: value == 1 if name in names else value for name, value in graph.tensors.items()}
    return replace(rewritten(graph, make), tensors=tensors)
