"""Emit: how a front end that translates writes a graph, node by node.

A call such as `emit("aten.mm.default", a, b)` appends a node and works out its type: the shape by the rules of
shapes.py, the dtype by torch's promotion. So a translation that does not fit its arguments is found where it is made.
Nodes are named after the node that is being translated, and the last of a translation takes that name for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from samesame.entangle.shapes import Call, Mismatch, Numbers, rule_of
from samesame.evidence import Refused
from samesame.graph import NOWHERE, Dtype, Graph, Node, NodeType, Origin, TensorType, map_nodes
from samesame.operators.table import packet

Value = Node | tuple[Any, ...] | None                      # of a foreign node: a node, several, or nothing


class Emit:
    """The nodes of one graph so far. `reserved` names are given to nodes by `name` only."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.nodes: list[Node] = []
        self.assumptions: dict[str, None] = {}             # sentences, each once
        self.place, self.origin = "", NOWHERE
        self._taken: set[str] = set(reserved)
        self._names: dict[Node, str] = {}                  # the final name of a node, where it is another
        self._parameters: dict[Node, str] = {}             # what the program calls a source

    @contextmanager
    def translating(self, name: str, origin: Origin) -> Iterator[None]:
        """Nodes emitted inside are named after `name` and come from `origin`."""
        self.place, self.origin = name, origin
        yield
        self.place, self.origin = "", NOWHERE

    def assume(self, sentence: str) -> None:
        """Note what a translation takes for granted; it belongs into the report."""
        self.assumptions[sentence] = None

    def __call__(self, operator: str, *args: Any, **kwargs: Any) -> Node:
        """Apply an operator. Lists count as tuples; a node of several results has a tuple for a type."""
        node = Node(self.place, operator, frozen(args), {name: frozen(value) for name, value in kwargs.items()})
        shape_rule = rule_of(operator)
        if shape_rule is None:
            raise Refused(f"{self.place} is a call of {operator}, whose result's shape is not known here")
        try:
            found = shape_rule(Call(Numbers(), node, lambda part: part.shape))
        except (Mismatch, ValueError, IndexError) as error:
            raise Refused(f"{self.place} does not fit its arguments: {operator}: {error}") from error
        dtypes = dtypes_of(node)
        if isinstance(found, list):
            types: NodeType = tuple(map(TensorType, found, dtypes * len(found) if len(dtypes) == 1 else dtypes))
        else:
            types = TensorType(found, dtypes[0])
        return self._append(replace(node, type=types))

    def typed(self, operator: str, type: TensorType, *args: Any, **kwargs: Any) -> Node:
        """Apply an operator, such as a source or a collective, whose result has this type."""
        return self._append(Node(self.place, operator, frozen(args), dict(kwargs), type))

    def parts(self, node: Node) -> tuple[Node, ...]:
        """The results of a node that has several, each as a node."""
        assert isinstance(node.type, tuple)
        return tuple(self.part(node, position) for position in range(len(node.type)))

    def part(self, node: Node, position: int) -> Node:
        """One result of a node that has several."""
        assert isinstance(node.type, tuple)
        return self._append(Node(self.place, "getitem", (node, position), {}, node.type[position]))

    def _append(self, node: Node) -> Node:
        self.nodes.append(replace(node, name=self._fresh(), origin=self.origin))
        return self.nodes[-1]

    def _fresh(self) -> str:
        name, number = f"{self.place}.0", 0
        while name in self._taken:
            number += 1
            name = f"{self.place}.{number}"
        self._taken.add(name)
        return name

    def name(self, node: Node, name: str) -> None:
        """Give a node its final name, unless it has one."""
        self._names.setdefault(node, name)

    def called(self, node: Node, parameter: str) -> None:
        """Note what the program calls a tensor, if the tensor is one of its sources."""
        if node.is_source:
            self._parameters[node] = parameter

    def told(self, node: Node) -> str:
        """The name that a node will have."""
        return self._names.get(node, node.name)

    def graph(self, name: str, roots: dict[str, Node]) -> Graph:
        """The nodes that the roots need and every input, under their final names."""
        needed = set(roots.values()) | {node for node in self.nodes if node.operator == "input"}
        for node in reversed(self.nodes):
            if node in needed:
                needed.update(node.inputs)
        made: dict[Node, Node] = {}
        for node in self.nodes:
            if node in needed:
                kwargs = {key: map_nodes(made.__getitem__, value) for key, value in node.kwargs.items()}
                args = map_nodes(made.__getitem__, node.args)
                origin = replace(node.origin, parameter=self._parameters.get(node, ""))
                made[node] = replace(node, name=self.told(node), args=args, kwargs=kwargs, origin=origin)
        return Graph(name, tuple(made.values()), tuple((root, made[node]) for root, node in roots.items()))


def frozen(argument: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(map(frozen, argument)) if isinstance(argument, list | tuple) else argument


# -------------------------------------------------------------------------------------------------------------- dtypes

TRUTHS = frozenset(["lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_not", "any", "all"])
PROMOTED = frozenset((
    "add", "sub", "rsub", "mul", "div", "pow", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor",
))
HALVES = ("float16", "bfloat16")


def dtypes_of(node: Node) -> tuple[str, ...]:
    """The dtypes of a node's results, as torch promotes them; one stands for all."""
    name = packet(node.operator).rpartition(".")[2]
    given = node.kwargs.get("dtype")
    tensors = [part.type for part in node.inputs if isinstance(part.type, TensorType)]
    if isinstance(given, Dtype):
        return (given.name,)
    if name in TRUTHS:
        return ("bool",)
    if name in PROMOTED:
        return (promoted(name, [part.type if isinstance(part, Node) else part for part in node.args]),)
    if name == "where":
        return (promoted(name, [part.type for part in node.inputs[1:]]),)
    if not tensors:
        fill = node.args[-1] if name == "full" else 0 if name == "arange" else 0.0
        return (str(torch.tensor(fill).dtype).removeprefix("torch."),)
    first = tensors[0].dtype
    if name in ("sum", "prod") and first in ("bool", "int32", "uint8", "int8", "int16"):
        return ("int64",)
    if name == "native_layer_norm":
        kept = "float32" if first in HALVES else first
        return first, kept, kept
    if name in ("max", "min") and len(node.args) > 1 and not isinstance(node.args[1], Node):
        return first, "int64"
    return (first, "bool") if name == "native_dropout" else (first,)


def promoted(name: str, parts: list[Any]) -> str:
    """The dtype of arithmetic between tensors and numbers."""
    examples = [
        torch.empty((1,) * bool(part.shape), dtype=getattr(torch, part.dtype)) if isinstance(part, TensorType) else part
        for part in parts
        if not isinstance(part, str | None)
    ]
    found = torch.result_type(examples[0], examples[1] if len(examples) > 1 else examples[0])
    if name == "div" and not found.is_floating_point:
        found = torch.get_default_dtype()
    return str(found).removeprefix("torch.")
