"""Sized: what of a program hangs on size symbols, and what it works out of nothing.

A tensor that depends on no input and no weight is a constant, if no size symbol is in its type or arguments, or in what
it is made of: at any one size it is one, and at another it holds something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from samesame.formula.expr import Expr, Size, walk
from samesame.graph import Graph, TensorType
from samesame.operators.execute import closed
from samesame.relate.propose import Values


def closed_values(graph: Graph, values: Values) -> Mapping[str, torch.Tensor]:
    """The values of the tensors that depend on no input, no weight and no size symbol."""
    sized = _sized(graph)
    names = [name for name in closed(graph) if name not in sized]
    return {name: values[0][name] for name in names if isinstance(values[0].get(name), torch.Tensor)}


def symbols_of_constants(graph: Graph) -> set[str]:
    """Names of the size symbols that occur in tensors which depend on no input and no weight."""
    names = closed(graph)
    return {s.name for node in graph.nodes if node.name in names for s in _symbols((node.args, node.kwargs, node.type))}


def symbols_of(graph: Graph) -> set[str]:
    """Names of the size symbols that occur in a graph."""
    return {symbol.name for node in graph.nodes for symbol in _symbols((node.args, node.kwargs, node.type))}


def made_of_sizes(graph: Graph) -> set[str]:
    """Names of the tensors that are constants at any one size: what they hold at another, no draw shows."""
    return _sized(graph) & closed(graph)


def _sized(graph: Graph) -> set[str]:
    """Names of the nodes whose values depend on a size symbol: one is in their type or arguments, or in what they
    read."""
    found: set[str] = set()
    for node in graph.nodes:
        if any(part.name in found for part in node.inputs) or _symbols((node.args, node.kwargs, node.type)):
            found.add(node.name)
    return found


def _symbols(argument: Any) -> set[Size]:
    match argument:
        case Expr():
            return {e for e in walk(argument) if isinstance(e, Size)}
        case tuple():
            return {symbol for part in argument for symbol in _symbols(part)}
        case dict():
            return _symbols(tuple(argument.values()))
        case TensorType():
            return _symbols(argument.shape)
    return set()
