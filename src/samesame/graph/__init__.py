"""A graph: what every front end makes and every verb reads.

A program is a list of nodes in the order they run, each applying one operator to earlier nodes: single static
assignment, and nothing in it has a side effect (front ends functionalise views and in-place writes first). Three
operators are sources and take no nodes: `input` (an example argument), `parameter` (a weight: counts as an input, and
its relation to the other program's weights is inferred), `constant` (a buffer or literal tensor: part of the program).
Everything else is named as torch names it, overload included: `aten.add.Tensor`. An operator with several results is
one node whose type is a tuple, followed by `getitem` nodes that pick one result each.

A graph over size symbols stands for a program at every size: `at` gives its member at given sizes.

The text form is for people; the JSON form round-trips, with tensors beside it as safetensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from samesame.formula.expr import Expr
from samesame.formula.sizes import plain, replaced, size_text
from samesame.formula.tensor import Dim

SOURCES = ("input", "parameter", "constant")
COLLECTIVE = "collective."  # what operators of a rank's graph begin with that bring what other ranks have


@dataclass(frozen=True, slots=True)
class TensorType:
    """Shape (sizes outermost first) and dtype (torch's name without the prefix, such as `float32`) of one tensor.

    In a graph over size symbols, shapes hold size expressions (formula/sizes.py) beside ints; so do arguments of nodes.
    """

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(size_text, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype given as an argument of an operator, such as the target of a cast."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node comes from: a line of the user's program, a module path such as `layers.0.mlp`, a parameter
    name.
    """

    file: str = ""
    line: int = 0
    function: str = ""
    code: str = ""
    module: str = ""
    parameter: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else ""
        return " ".join(part for part in (place, self.parameter or self.module) if part) or "?"

    @property
    def spoken(self) -> str:
        """The place at the head of a sentence: file and line, else the module, else the program as a whole."""
        if self.file:
            return f"{self.file}:{self.line}"
        return f"the module {self.module}" if self.module else "the program"


NOWHERE = Origin()
NodeType = TensorType | tuple[TensorType, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One application of an operator. `args` and `kwargs` hold nodes, numbers, strings, `Dtype`, None, and tuples of
    these.

    `type` is the result's type, or a tuple of types where the operator has several results. Nodes are compared by
    identity; `name` is unique within their graph.
    """

    name: str
    operator: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    type: NodeType = TensorType((), "float32")
    origin: Origin = NOWHERE
    inputs: tuple[Node, ...] = field(init=False, repr=False)    # the nodes this one reads, in order, repeats kept

    def __post_init__(self) -> None:
        found: list[Node] = []
        stack = [*reversed(self.kwargs.values()), *reversed(self.args)]
        while stack:
            argument = stack.pop()
            if isinstance(argument, Node):
                found.append(argument)
            elif isinstance(argument, tuple):
                stack.extend(reversed(argument))
        object.__setattr__(self, "inputs", tuple(found))   # here and no property: this is asked a million times

    @property
    def shape(self) -> tuple[int, ...]:
        assert isinstance(self.type, TensorType), f"{self.name} has several results"
        return self.type.shape

    @property
    def is_source(self) -> bool:
        return self.operator in SOURCES

    def __repr__(self) -> str:
        return f"%{self.name}"


def nodes_in(argument: Any) -> Iterator[Node]:
    """Every node in a nested argument, from left to right."""
    if isinstance(argument, Node):
        yield argument
    elif isinstance(argument, tuple):
        for part in argument:
            yield from nodes_in(part)


def map_nodes(function: Callable[[Node], Any], argument: Any) -> Any:
    """The same nested argument with `function(node)` in place of each node."""
    if isinstance(argument, Node):
        return function(argument)
    if isinstance(argument, tuple):
        return tuple(map_nodes(function, part) for part in argument)
    return argument


@dataclass(frozen=True, slots=True)
class Asked:
    """Something beside values that a program asks for, such as whether gradients are on: the line, and whether it
    computes the same where the answer is another; None where that was not tried."""

    what: str
    origin: Origin
    same: bool | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """The state that a graph was captured in: the mode of the program's modules (eval, training, mixed; empty without
    modules), what else is unusual (autocast, the default dtype), what the program asks for of the rest, and whether
    `gradients` were on."""

    mode: str = ""
    unusual: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    gradients: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in topological order, and the roots: the tensors the program returns, with a name each.

    `tensors` holds, by node name, the values of parameters and constants and the example values of inputs (torch
    tensors). `setting` is the state that it was captured in. `unread` are nodes that no root depends on, though the
    program may have asked for their sizes; they are no part of what the graph computes.
    """

    name: str
    nodes: tuple[Node, ...]
    roots: tuple[tuple[str, Node], ...]
    tensors: dict[str, Any] = field(default_factory=dict)
    setting: Setting = Setting()
    unread: tuple[Node, ...] = field(default=(), kw_only=True)

    def sources(self, operator: str) -> tuple[Node, ...]:
        """The nodes of one kind of source: `input`, `parameter` or `constant`."""
        return tuple(node for node in self.nodes if node.operator == operator)

    def __getitem__(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)


def with_roots(graph: Graph, roots: Sequence[tuple[str, Node]]) -> Graph:
    """The graph with these roots, and what they depend on; inputs stay even if nothing reads them."""
    live = {root for _, root in roots} | set(graph.sources("input"))
    for node in reversed(graph.nodes):
        if node in live:
            live.update(node.inputs)
    nodes = tuple(node for node in graph.nodes if node in live)
    dropped = (node for node in graph.nodes if node not in live)
    tensors = {node.name: graph.tensors[node.name] for node in nodes if node.name in graph.tensors}
    return replace(graph, nodes=nodes, roots=tuple(roots), tensors=tensors, unread=(*graph.unread, *dropped))


def rewritten(graph: Graph, make: Callable[[Node, Node], Sequence[Node]]) -> Graph:
    """The graph with nodes in the place of each node; whatever read it reads the last of them.

    `make(node, current)` gives them: `current` is the node as it reads what was put in place so far. What `make` puts
    in may read nodes of the old graph, and reads what stands in their places.
    """
    now: dict[Node, Node] = {}

    def reading(node: Node) -> Node:
        if all(now.get(part, part) is part for part in node.inputs):
            return node
        args, kwargs = map_nodes(put, node.args), {name: map_nodes(put, value) for name, value in node.kwargs.items()}
        return Node(node.name, node.operator, args, kwargs, node.type, node.origin)    # in half of the time of replace

    def put(node: Node) -> Node:
        return now.get(node, node)

    nodes: list[Node] = []
    for node in graph.nodes:
        for part in make(node, reading(node)):
            nodes.append(reading(part))
            now[part] = nodes[-1]
        now[node] = nodes[-1]
    return replace(graph, nodes=tuple(nodes), roots=tuple((name, now[root]) for name, root in graph.roots))


def at(graph: Graph, sizes: Mapping[str, Dim]) -> Graph:
    """The graph with these sizes in place of its size symbols, by name."""

    def put(argument: Any) -> Any:
        if isinstance(argument, tuple):
            return tuple(map(put, argument))
        if isinstance(argument, TensorType):
            return TensorType(put(argument.shape), argument.dtype)
        return plain(replaced(argument, sizes)) if isinstance(argument, Expr) else argument

    def make(_: Node, now: Node) -> tuple[Node]:
        kwargs = {name: put(value) for name, value in now.kwargs.items()}
        return (replace(now, args=put(now.args), kwargs=kwargs, type=put(now.type)),)

    found = rewritten(graph, make)
    known = {node.name: node for node in found.nodes}
    for node in graph.unread:
        args = map_nodes(lambda part: known.get(part.name, part), put(node.args))
        known[node.name] = replace(node, args=args, type=put(node.type))
    return replace(found, unread=tuple(known[node.name] for node in graph.unread))
