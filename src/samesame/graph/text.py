"""Graphs as text and as JSON.

The text form is for people, one line for a node, and can be read back:

    graph left
    %x = input()  : float32[2, 3]
    %sum_1 = aten.sum.dim_IntList(%x, (-1,), dtype=float64)  : float64[2]   # model.py:12 layers.0
    return total = %sum_1

A line ends with the node's type and, after `#`, its origin: file, line, and parameter or module. JSON keeps the rest of
the origin too, and comes back exactly. Neither holds values of tensors.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from samesame.formula import sizes
from samesame.formula.expr import Expr, Leaf, Load
from samesame.formula.sizes import size_text
from samesame.graph import SOURCES, Dtype, Graph, Node, NodeType, Origin, TensorType

VERSION = 1


class GraphError(ValueError):
    """Text or JSON that is no graph: says where and why."""


# ------------------------------------------------------------------------------------------------------------- the text


def text_form(graph: Graph) -> str:
    """The graph as text, one line for each node and each root."""
    lines = [f"graph {graph.name}"]
    for node in graph.nodes:
        given = [*map(literal, node.args), *(f"{name}={literal(value)}" for name, value in node.kwargs.items())]
        origin = f"   # {node.origin}" if str(node.origin) != "?" else ""
        lines.append(f"%{node.name} = {node.operator}({', '.join(given)})  : {type_text(node.type)}{origin}")
    lines += [f"return {name} = %{root.name}" for name, root in graph.roots]
    return "\n".join(lines) + "\n"


def type_text(type_: NodeType) -> str:
    if isinstance(type_, TensorType):
        return str(type_)
    return f"({', '.join(map(str, type_))}{',' * (len(type_) == 1)})"


def literal(value: Any) -> str:
    """An argument as the text form writes it."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, complex):
        return f"complex({value.real!r}, {value.imag!r})"
    if isinstance(value, Expr):
        return size_text(value)
    if value is None or isinstance(value, bool | int | float | Dtype):
        return str(value)
    raise GraphError(f"an argument of type {type(value).__name__} cannot be written")


# ----------------------------------------------------------------------------------------------------- reading the text

LINE = re.compile(r"%(?P<name>[\w.]+) = (?P<operator>[\w.]+)\(")
ROOT = re.compile(r"return (?P<name>.*) = %(?P<node>[\w.]+)")
ORIGIN = re.compile(r"(?:(?P<file>.+):(?P<line>\d+)(?: |$))?(?P<rest>.*)")
TOKEN = re.compile(
    r'\s*(?:(?P<node>%[\w.]+)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>[+-]?(?:inf|nan|\d+(?:\.\d*)?(?:e[+-]?\d+)?))'
    r"(?![\w.])|(?P<word>[A-Za-z_]\w*)|(?P<mark>[(),:=\[\]]))"
)
WORDS = {"None": None, "True": True, "False": False}


def parse(text: str) -> Graph:
    """The graph that `text_form` wrote. Raises GraphError with the number of the line that does not fit."""
    name, nodes, roots = "", {}, []                       # type: str, dict[str, Node], list[tuple[str, Node]]
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.startswith("graph "):
                name = line.removeprefix("graph ")
            elif found := ROOT.fullmatch(line):
                roots.append((found["name"], nodes[found["node"]]))
            elif line.strip():
                node = parse_line(line, nodes)
                nodes[node.name] = node
        except GraphError as error:
            raise GraphError(f"line {number}: {error}") from None
        except KeyError as error:
            raise GraphError(f"line {number}: {error.args[0]} is used before it is defined") from None
    return Graph(name, tuple(nodes.values()), tuple(roots))


def parse_line(line: str, nodes: dict[str, Node]) -> Node:
    """The node of one line; `nodes` are those before it."""
    head = LINE.match(line)
    if head is None:
        raise GraphError(f"{line.strip()!r} is neither `%name = operator(...)  : type` nor `return name = %node`")
    if head["name"] in nodes:
        raise GraphError(f"{head['name']} is defined twice")
    reader = Reader(line, head.end(), nodes)
    args, kwargs = reader.arguments()
    reader.expect(":")
    type_ = reader.type()
    return Node(head["name"], head["operator"], args, kwargs, type_, parse_origin(reader.rest(), head["operator"]))


def parse_origin(comment: str, operator: str) -> Origin:
    if comment and not comment.startswith("#"):
        raise GraphError(f"{comment!r} stands after the type; a comment starts with #")
    found = ORIGIN.fullmatch(comment.removeprefix("#").strip())
    if found is None:
        raise GraphError(f"{comment!r} is no origin")
    where = {"parameter" if operator in SOURCES else "module": found["rest"]}
    return Origin(found["file"] or "", int(found["line"] or 0), **where)


class Reader:
    """Reads arguments and types from one line, token by token."""

    def __init__(self, line: str, position: int, nodes: dict[str, Node]) -> None:
        self.line, self.position, self.nodes = line, position, nodes

    def token(self) -> tuple[str, str]:
        """The next token: its kind and its text."""
        found = TOKEN.match(self.line, self.position)
        if found is None:
            raise GraphError(f"cannot read {self.line[self.position :]!r}")
        self.position = found.end()
        assert found.lastgroup is not None
        return found.lastgroup, found[found.lastgroup]

    def expect(self, mark: str) -> None:
        before = self.position
        if self.token() != ("mark", mark):
            raise GraphError(f"expected {mark!r} at {self.line[before:].strip()!r}")

    def next_is(self, mark: str) -> bool:
        """Whether the next token is this mark; if so it is read."""
        before = self.position
        if self.token() == ("mark", mark):
            return True
        self.position = before
        return False

    def rest(self) -> str:
        return self.line[self.position :].strip()

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and named arguments up to the closing parenthesis; the opening one has been read."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        while not self.next_is(")"):
            before = self.position
            kind, word = self.token()
            if kind == "word" and self.next_is("="):
                kwargs[word] = self.value()
            else:
                self.position = before
                args.append(self.value())
            self.next_is(",")
        return tuple(args), kwargs

    def value(self) -> Any:
        kind, text = self.token()
        if kind == "node":
            return self.nodes[text.removeprefix("%")]
        if kind == "string":
            return json.loads(text)
        if kind == "number":
            return int(text) if text.lstrip("+-").isdigit() else float(text)
        if text == "complex" and self.next_is("("):
            (real, imaginary), _ = self.arguments()
            return complex(real, imaginary)
        if kind == "word":
            return WORDS[text] if text in WORDS else Dtype(text)
        if text == "(":
            return tuple(self.items(self.value))
        raise GraphError(f"{text!r} is no argument")

    def items(self, item: Any) -> Iterator[Any]:
        """What stands in parentheses, the opening one read."""
        while not self.next_is(")"):
            yield item()
            self.next_is(",")

    def type(self) -> NodeType:
        if self.next_is("("):
            return tuple(self.items(self.tensor_type))
        return self.tensor_type()

    def tensor_type(self) -> TensorType:
        kind, dtype = self.token()
        if kind != "word":
            raise GraphError(f"{dtype!r} is no dtype")
        self.expect("[")
        shape = []
        while not self.next_is("]"):
            shape.append(int(self.token()[1]))
            self.next_is(",")
        return TensorType(tuple(shape), dtype)


# ------------------------------------------------------------------------------------------------------------- the JSON


def to_json(graph: Graph) -> dict[str, Any]:
    """The graph without its tensors, as what the `json` module writes."""
    return {
        "format": "samesame graph",
        "version": VERSION,
        "name": graph.name,
        "nodes": [
            {
                "name": node.name,
                "operator": node.operator,
                "args": [encoded(argument) for argument in node.args],
                "kwargs": {name: encoded(argument) for name, argument in node.kwargs.items()},
                "type": encoded_type(node.type),
                "origin": {name: part for name, part in asdict(node.origin).items() if part},
            }
            for node in graph.nodes
        ],
        "roots": [[name, root.name] for name, root in graph.roots],
    }


def from_json(form: Any) -> Graph:
    """The graph that `to_json` wrote. Raises GraphError if it did not, or wrote another version."""
    if not isinstance(form, dict) or form.get("format") != "samesame graph":
        raise GraphError("this is no saved graph")
    if form.get("version") != VERSION:
        raise GraphError(f"the graph has version {form.get('version')}, and this samesame reads version {VERSION}")
    nodes: dict[str, Node] = {}
    try:
        for part in form["nodes"]:
            args = tuple(decoded(argument, nodes) for argument in part["args"])
            kwargs = {name: decoded(argument, nodes) for name, argument in part["kwargs"].items()}
            type_, origin = decoded_type(part["type"]), Origin(**part["origin"])
            nodes[part["name"]] = Node(part["name"], part["operator"], args, kwargs, type_, origin)
        return Graph(form["name"], tuple(nodes.values()), tuple((name, nodes[root]) for name, root in form["roots"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise GraphError(f"the saved graph is damaged ({type(error).__name__}: {error})") from error


def encoded(value: Any) -> Any:
    """An argument as JSON: what JSON has no words for is an object with one key."""
    if isinstance(value, Node):
        return {"node": value.name}
    if isinstance(value, tuple):
        return [encoded(part) for part in value]
    if isinstance(value, Dtype):
        return {"dtype": value.name}
    if isinstance(value, Load):
        return {"variable": value.leaf.name}
    if isinstance(value, Expr):
        return {"size": sizes.encoded(value)}
    if isinstance(value, complex):
        return {"complex": [encoded(value.real), encoded(value.imag)]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise GraphError(f"an argument of type {type(value).__name__} cannot be saved")


def decoded(form: Any, nodes: dict[str, Node]) -> Any:
    if isinstance(form, list):
        return tuple(decoded(part, nodes) for part in form)
    if not isinstance(form, dict):
        return form
    ((kind, value),) = form.items()
    if kind == "complex":
        return complex(*(decoded(part, nodes) for part in value))
    return {"node": nodes.__getitem__, **READERS}[kind](value)


READERS: dict[str, Callable[[Any], Any]] = {
    "dtype": Dtype,
    "float": float,
    "size": sizes.decoded,
    "variable": lambda name: variable(name),
}


def variable(name: str) -> Load:
    """A number that stands for any number, in the place of an argument."""
    return Load(Leaf(name, ()), ())


def encoded_type(type_: NodeType) -> Any:
    """A pair (dtype, shape), or an object that holds a list of pairs."""
    if isinstance(type_, TensorType):
        return [type_.dtype, list(map(sizes.encoded, type_.shape))]
    return {"several": [encoded_type(part) for part in type_]}


def decoded_type(form: Any) -> NodeType:
    if isinstance(form, dict):
        return tuple(map(decoded_tensor_type, form["several"]))
    return decoded_tensor_type(form)


def decoded_tensor_type(form: Any) -> TensorType:
    dtype, shape = form
    return TensorType(tuple(map(sizes.decoded, shape)), dtype)  # type: ignore[arg-type]
