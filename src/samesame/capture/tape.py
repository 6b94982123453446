"""The tape: nodes in the order they were recorded, each with a name, a type, and whether it depends on data.

A node is *open* when it depends on an input or a parameter. What is not open is a constant of the program: its values
may decide how the program runs. What is open may not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from samesame.graph import Dtype, Graph, Node, NodeType, Origin, TensorType, nodes_in

Emit = Callable[..., Node]


def dtype_of(dtype: torch.dtype) -> Dtype:
    """A torch dtype as graphs write it."""
    return Dtype(str(dtype).removeprefix("torch."))


def type_of(result: Any) -> TensorType:
    """The type of one result. What is no tensor (None, a seed) has no shape, and the name of its Python type as
    dtype."""
    if isinstance(result, torch.Tensor):
        return TensorType(tuple(result.shape), dtype_of(result.dtype).name)
    return TensorType((), type(result).__name__)


ROUNDS_NUMBERS = frozenset(f"aten.{name}" for name in ("add", "sub", "rsub", "mul", "div"))
DIGITS = 6


def as_meant(operator: str, args: tuple[Any, ...], type_: NodeType) -> tuple[Any, ...]:
    """The arguments with each number that is a short decimal as float32 rounds it as that decimal, where torch rounds
    it to float32 anyhow: its own decomposition of `rms_norm` hands on an epsilon of 1e-5 as 9.999999747378752e-06."""
    if operator.rpartition(".")[0] not in ROUNDS_NUMBERS or getattr(type_, "dtype", "") != "float32":
        return args
    return tuple(_decimal(value) if isinstance(value, float) else value for value in args)


def _decimal(value: float) -> float:
    text = f"{value:.{DIGITS}g}"
    with np.errstate(over="ignore"):
        own, short = np.float32(value), np.float32(text)
    return float(text) if float(own) == value and short == own else value


class Tape:
    """Records nodes. `here()` says where the program is; it gives each node its origin. A tape that `borrows` has the
    program's own parameters, but for those that it writes into."""

    def __init__(self, here: Callable[[], Origin], borrows: bool = False) -> None:
        self.here, self.borrows = here, borrows
        self.borrowed: dict[int, list[str]] = {}           # by the address of their memory
        self.nodes: list[Node] = []
        self.tensors: dict[str, torch.Tensor] = {}
        self.open: set[Node] = set()
        self.names: set[str] = set()
        self.counts: dict[str, int] = {}
        self.follow: Callable[[Node], None] | None = None  # is told of every node that applies an operator

    def emit(self, operator: str, args: tuple[Any, ...], kwargs: dict[str, Any], type_: NodeType) -> Node:
        """A new node that applies `operator`; `args` and `kwargs` hold nodes."""
        args = as_meant(operator, args, type_)
        name = operator if operator.startswith("getitem") else operator.split(".")[1].strip("_")
        node = Node(self.unique(name), operator, args, kwargs, type_, self.here())
        if any(part in self.open for part in nodes_in((args, tuple(kwargs.values())))):
            self.open.add(node)
        self.nodes.append(node)
        if self.follow is not None:
            self.follow(node)
        return node

    def source(self, operator: str, name: str, value: torch.Tensor, origin: Origin) -> Node:
        """A new input, parameter or constant. Its value is on the CPU, apart from what the program does next."""
        node = Node(self.unique(name), operator, (), {}, type_of(value), origin)
        if operator != "constant":
            self.open.add(node)
        self.nodes.append(node)
        borrowed = self.borrows and operator == "parameter"
        with torch.inference_mode(False):
            self.tensors[node.name] = value.detach().resolve_conj().to("cpu", copy=not borrowed)
        if borrowed:
            self.borrowed.setdefault(value.untyped_storage().data_ptr(), []).append(node.name)
        return node

    def own(self, tensor: torch.Tensor) -> None:
        """Copy what was borrowed of the memory of a tensor, before the program writes into it."""
        for name in self.borrowed.pop(tensor.untyped_storage().data_ptr(), ()):
            with torch.inference_mode(False):
                self.tensors[name] = self.tensors[name].clone()

    def unique(self, name: str) -> str:
        """`name`, or `name_1`, `name_2`, … if it is taken; letters, digits, `_` and `.` only."""
        stem = re.sub(r"[^\w.]", "_", name) or "x"
        count = self.counts.get(stem, 0)
        while (candidate := f"{stem}_{count}" if count else stem) in self.names:
            count += 1
        self.counts[stem] = count
        self.names.add(candidate)
        return candidate

    def graph(self, name: str, roots: list[tuple[str, Node]], kept: Iterable[Node] = ()) -> Graph:
        """The graph of what the roots and the nodes `kept` depend on. Inputs stay even if nothing reads them."""
        live = {root for _, root in roots} | {node for node in self.nodes if node.operator == "input"} | set(kept)
        for node in reversed(self.nodes):
            if node in live:
                live.update(node.inputs)
        nodes = tuple(node for node in self.nodes if node in live)
        tensors = {node.name: self.tensors[node.name] for node in nodes if node.name in self.tensors}
        return Graph(name, nodes, tuple(roots), tensors, unread=tuple(node for node in self.nodes if node not in live))
