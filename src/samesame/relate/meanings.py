"""What a block claims: the formulas of its two sides over the tensors of its frontier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.graph import Node
from samesame.operators import explain
from samesame.operators.demands import Range
from samesame.operators.numbers import beside, constant
from samesame.relate.blocks import Block
from samesame.relate.kinds import kind_of


def meanings(block: Block) -> tuple[Tensor, Tensor]:
    """The formulas of the block's two sides over its frontier. Raises Unsupported where an operator has none here."""
    known: dict[Node, Any] = {}
    lookup: Callable[[Node], Any] = known.__getitem__
    with beside(_floats(block)):
        for node in block.graph.nodes:
            if node.operator == "input":
                known[node] = _variable(node, block.ranges.get(node.name))
            elif node.operator == "constant":
                known[node] = _number(block.graph.tensors[node.name], node)
            else:
                known[node] = explain(node, lookup)
    return known[block.left], known[block.right]


def _floats(block: Block) -> Iterator[float]:
    """The numbers that the block's programs write."""
    numbers = (value for value in block.graph.tensors.values() if value.numel() and value.dtype == torch.float64)
    yield from (value.flatten()[0].item() for value in numbers)
    for node in block.graph.nodes:
        yield from (a for a in (*node.args, *node.kwargs.values()) if isinstance(a, float))


def _variable(node: Node, bounds: Range | None) -> Tensor:
    """A frontier tensor; a complex one has its real and imaginary part in one more dimension, as in `operators`."""
    kind = kind_of(node.type.dtype)  # type: ignore[union-attr]
    return leaf(node.name, (*node.shape, 2) if kind == "complex" else node.shape, kind, bounds)


def _number(value: torch.Tensor, node: Node) -> Tensor:
    number = value.flatten()[0].item()
    expr = constant(number) if isinstance(number, float) else number
    return tensor(node.shape, lambda *_: expr, kind_of(node.type.dtype))  # type: ignore[union-attr]
