"""Pickled graphs for tests, as the capturing tool writes them: classes of its modules, torch's own metadata."""

from __future__ import annotations

import gzip
import io
import pickle
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.fx.passes.shape_prop import TensorMetadata

MODULE = "torchgraph.pgraph.pickleable"
Row = tuple[str, str, str, Sequence[Any], dict[str, Any], tuple[int, ...] | None, torch.dtype | None]


class PickleableGraph:
    """Has `nodes`."""


class PickleableNode:
    """Has `op`, `name`, `target`, `args`, `kwargs`, `meta`."""


for _kind in (PickleableGraph, PickleableNode):
    _kind.__module__ = MODULE


@contextmanager
def modules() -> Iterator[None]:
    """The modules that the classes say they are of, while pickling."""
    made = {name: types.ModuleType(name) for name in ("torchgraph", "torchgraph.pgraph", MODULE)}
    made[MODULE].PickleableGraph, made[MODULE].PickleableNode = PickleableGraph, PickleableNode
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in made:
            sys.modules.pop(name, None)


class Name(str):
    """An argument that is the node of this name."""


def given(name: str, shape: tuple[int, ...], dtype: torch.dtype = torch.float32) -> Row:
    return "placeholder", name, name, (), {}, shape, dtype


def call(
    name: str,
    target: str,
    args: Sequence[Any],
    shape: tuple[int, ...] | None,
    dtype: torch.dtype | None = torch.float32,
    **kwargs: Any,
) -> Row:
    return "call_function", name, target, args, kwargs, shape, dtype


def output(*names: str) -> Row:
    return "output", "output", "output", ([Name(name) for name in names],), {}, None, None


def graph(rows: Sequence[Row]) -> PickleableGraph:
    nodes: dict[str, PickleableNode] = {}

    def reads(argument: Any) -> Any:
        if isinstance(argument, Name):
            return nodes[argument]
        if isinstance(argument, list | tuple):
            return type(argument)(map(reads, argument))
        return argument

    found = PickleableGraph()
    for op, name, target, args, kwargs, shape, dtype in rows:
        node = PickleableNode()
        node.op, node.name, node.target, node.args = op, name, target, reads(tuple(args))
        node.kwargs = {key: reads(value) for key, value in kwargs.items()}
        node.meta = {"stack_trace": f'  File "/opt/model.py", line 7, in forward\n    {name} = step()\n'}
        if shape is not None:
            node.meta["tensor_meta"] = TensorMetadata(torch.Size(shape), dtype, False, (1,), None, False, {})
        nodes[name] = node
    found.nodes, found.rank = list(nodes.values()), 0
    return found


def pickled(thing: Any) -> bytes:
    with modules():
        content = io.BytesIO()
        pickle.Pickler(content, protocol=4).dump(thing)
    return content.getvalue()


def write(path: Path, rows: Sequence[Row]) -> Path:
    """The file of a graph with these nodes, compressed if its name says so."""
    content = pickled(graph(rows))
    path.write_bytes(gzip.compress(content) if path.name.endswith(".gz") else content)
    return path
