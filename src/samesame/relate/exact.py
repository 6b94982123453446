"""Constants as they are meant: worked out in float64, where the program works them out in float32.

A table of angles, 1/√d or a mask that a program makes of literals is worked out in the program's own precision, and
two spellings of it then differ in their last digits though they mean the same numbers. `exact` writes a graph in which
such constants are made in float64, and `written` one in which float32's 0.1 is the 0.1 that one of the programs
writes (`torch.tensor(0.1)` beside `0.1`). What rounds on purpose stays as it is: a constant that goes through bfloat16,
float16 or less, and one by which an integer or a truth value is decided, if that would come out otherwise. So does one
of which float32 leaves too little to tell what is meant, as of (1e8 + 1) − 1e8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from samesame.evidence import SamesameError
from samesame.graph import COLLECTIVE, Dtype, Graph, Node, TensorType, map_nodes, rewritten
from samesame.operators.execute import closed, execute, wide
from samesame.operators.table import packet
from samesame.relate.propose import difference
from samesame.relate.roundings import Unbounded, cone, worked_out

_TIMES = 8                  # constants that decide otherwise are left alone, so many at the most
MUCH = 1e-4                 # of its largest magnitude: more than rounding does to a constant, if nothing cancels
COARSE = 2.0**-8            # of its largest magnitude: bfloat16 is no coarser, so more is no rounding of a constant
SHORT = 32                  # elements: a constant of more is a table that the program works out
DOUBLE = Dtype("float64")
ARITHMETIC = frozenset(f"aten.{name}" for name in ("add", "sub", "rsub", "mul", "div"))
STEPS = {f"aten.{name}" for name in ("floor", "ceil", "round", "trunc", "sign", "sgn", "heaviside", "nextafter")}
WIDENED = {"float32": "float64", "complex64": "complex128"}


@dataclass(frozen=True, slots=True)
class Widened:
    """A constant that the program works out in a dtype; `error` of its largest magnitude is what that rounds away.
    Where that is much only since it is meant to be zero, and rounding `leaves` something of what cancels, `meant` has
    it with its zeros."""

    node: Node
    dtype: str
    error: float
    meant: torch.Tensor | None = None
    leaves: float = 0.0


def exact(graph: Graph) -> tuple[Graph, list[Widened]]:
    """The graph with its constants worked out in float64, and which of them that changes."""
    names = closed(graph)
    if not any(node.name in names and not node.is_source and _is_real(node) for node in graph.nodes):
        return graph, []
    kept = _narrow(graph, names)
    try:
        own = _constants(graph, names)
        for _ in range(_TIMES):
            made = _in_double(graph, names, kept)
            values = _constants(made, closed(made))
            fault = next((n for n in graph.nodes if n.name in names and _decides_otherwise(own, values, n)), None)
            if fault is None:
                changed = [_widened(graph, node, own, values)
                           for node in _read(graph, names) if isinstance(own[node.name], torch.Tensor)]
                changed = [found for found in changed if found.error > 0 or found.leaves > 0]
                if lost := [found.node for found in changed if found.error > COARSE]:
                    kept |= {part for node in lost for part in cone(node)}
                    continue
                zeros = {found.node.name: found.meant for found in changed if found.meant is not None}
                return (_with_values(made, zeros), changed) if changed else (graph, [])
            kept |= set(cone(fault))
    except SamesameError:
        pass                                     # an operator without float64: the constants stay as they are
    return graph, []


def written(graph: Graph, numbers: Collection[float]) -> tuple[Graph, list[Widened]]:
    """The graph with stored float32 constants as the `numbers` that they are roundings of, and which that changes.

    Each element has to be the shortest decimal of its float32, and that one of the numbers. A constant is left alone
    unless all that reads it is arithmetic with what the program is given, in float32: what is worked out of constants
    decides or cancels, and float64 tells them apart.
    """
    fixed, reads = closed(graph), dict[Node, list[Node]]()
    for node in graph.nodes:
        for part in node.inputs:
            reads.setdefault(part, []).append(node)
    values: dict[str, torch.Tensor] = {}
    for node in graph.sources("constant"):
        value = graph.tensors[node.name]
        plain = value.dtype == torch.float32 and 0 < value.numel() <= SHORT
        if plain and all(_is_arithmetic(reader) and reader.name not in fixed for reader in reads.get(node, [])):
            each = [float(str(element)) for element in value.flatten().numpy()]
            made = torch.tensor(each, dtype=torch.float64).reshape(value.shape)
            if all(number in numbers for number in each) and not torch.equal(made, value.double()):
                values[node.name] = made

    def make(node: Node, now: Node) -> list[Node]:
        return [replace(now, type=_doubled(now.type)) if node.name in values else now]

    found = [Widened(node, "float32", difference(graph.tensors[node.name], values[node.name]))
             for node in graph.sources("constant") if node.name in values]
    return (replace(rewritten(graph, make), tensors={**graph.tensors, **values}), found) if found else (graph, [])


def _is_arithmetic(node: Node) -> bool:
    return packet(node.operator) in ARITHMETIC and isinstance(node.type, TensorType) and node.type.dtype == "float32"


def _widened(graph: Graph, node: Node, own: Mapping[str, Any], values: Mapping[str, Any]) -> Widened:
    """What the program's dtype does to a constant of its own."""
    mine, wider = own[node.name], values[node.name]
    error = difference(mine, wider)
    dtype = str(mine.dtype).removeprefix("torch.")
    meant = None if error < MUCH else _with_zeros(graph, node, own, mine, wider)
    if meant is None:
        return Widened(node, dtype, error)
    zero = (meant == 0) & (mine != 0)
    return Widened(node, dtype, difference(mine.masked_fill(zero, 0.0), meant), meant, float((mine * zero).abs().max()))


def _with_zeros(
    graph: Graph, node: Node, own: Mapping[str, Any], mine: torch.Tensor, wider: torch.Tensor
) -> torch.Tensor | None:
    """A constant with zeros where they are meant: float64 gives no more there than its rounding may leave of what
    cancels, and neither does the program's dtype. None where it is off by much elsewhere."""
    if not mine.dtype.is_floating_point:
        return None
    known = {name: value.double() for name, value in own.items() if isinstance(value, torch.Tensor)}
    try:
        narrow, wide_ = (worked_out(node, graph, known, dtype, surely=True) for dtype in (mine.dtype, torch.float64))
    except (Unbounded, SamesameError):
        return None
    zero = (wider.abs() <= wide_.error) & (mine.double().abs() <= narrow.error)
    meant = torch.where(zero, 0.0, wider)
    near = (mine.double() - meant).abs() < MUCH * meant.abs().max()
    return meant if bool((zero | near).all()) else None


def _with_values(graph: Graph, values: Mapping[str, torch.Tensor]) -> Graph:
    """The graph with these numbers for constants that it works out."""

    def make(node: Node, now: Node) -> list[Node]:
        return [replace(now, operator="constant", args=(), kwargs={}) if node.name in values else now]

    return replace(rewritten(graph, make), tensors={**graph.tensors, **values}) if values else graph


def _is_real(node: Node) -> bool:
    return isinstance(node.type, TensorType) and node.type.dtype in WIDENED


def _narrow(graph: Graph, names: frozenset[str]) -> set[Node]:
    """What goes through a dtype narrower than float32, and all that it is made of."""
    kept: set[Node] = set()
    for node in graph.nodes:
        dtype = getattr(torch, node.type.dtype, None) if isinstance(node.type, TensorType) else None
        narrow = isinstance(dtype, torch.dtype) and dtype.is_floating_point and dtype.itemsize < 4
        if narrow and node.name in names and not node.is_source:
            kept |= set(cone(node))
    return kept


def _constants(graph: Graph, names: frozenset[str]) -> dict[str, Any]:
    """The values of the constants, each in its own dtype."""
    nodes = tuple(node for node in graph.nodes if node.name in names)
    return execute(replace(graph, nodes=nodes, roots=()), {}, precision="own")


def _in_double(graph: Graph, names: frozenset[str], kept: set[Node]) -> Graph:
    tensors = dict(graph.tensors)
    feeds = {part for node in graph.nodes if node.name in names and node not in kept for part in node.inputs}

    def make(node: Node, now: Node) -> list[Node]:
        if node.operator.startswith(COLLECTIVE):             # ranks meet with what they have, in the dtype they have
            casts = list(_sent(node, now))
            back = {cast.inputs[0]: cast for cast in casts}
            return [*casts, replace(now, args=map_nodes(lambda part: back.get(part, part), now.args))]
        if node.name not in names or node in kept:
            return [now]
        if node.is_source:
            if node in feeds and _is_real(node):
                value = tensors[node.name]
                tensors[node.name] = value.to(wide(value.dtype))
                return [replace(now, type=_doubled(now.type))]
            return [now]
        casts = list(_whole_arguments(now)) if _is_real(node) else []
        put = {cast.inputs[0]: cast for cast in casts}
        args = _replaced(now.args, put)
        kwargs = {name: _replaced(value, put) for name, value in now.kwargs.items()}
        return [*casts, replace(now, args=args, kwargs=kwargs, type=_doubled(now.type))]

    return replace(rewritten(graph, make), tensors=tensors)


def _sent(node: Node, now: Node) -> Iterator[Node]:
    """Casts back to what they were in, of the constants that a collective is given."""
    for number, (before, part) in enumerate(dict(zip(node.inputs, now.inputs, strict=True)).items()):
        if before.type != part.type and isinstance(before.type, TensorType):
            dtype = {"dtype": Dtype(before.type.dtype)}
            yield Node(f"{node.name}_sent{number}", "aten._to_copy.default", (part,), dtype, before.type)


def _whole_arguments(node: Node) -> Iterator[Node]:
    """Casts of what an operator is given, where that is integers only and its result is real."""
    types = [part.type for part in node.inputs]
    if types and all(isinstance(t, TensorType) and "int" in t.dtype for t in types):
        for number, part in enumerate(dict.fromkeys(node.inputs)):
            type_ = replace(part.type, dtype=DOUBLE.name)    # type: ignore[type-var]
            yield Node(f"{node.name}_given{number}", "aten._to_copy.default", (part,), {"dtype": DOUBLE}, type_)


def _replaced(argument: Any, put: dict[Node, Node]) -> Any:
    if isinstance(argument, tuple):
        return tuple(_replaced(part, put) for part in argument)
    if isinstance(argument, Dtype):
        return Dtype(WIDENED.get(argument.name, argument.name))
    return put.get(argument, argument) if isinstance(argument, Node) else argument


def _doubled(type_: Any) -> Any:
    if isinstance(type_, tuple):
        return tuple(map(_doubled, type_))
    return replace(type_, dtype=WIDENED.get(type_.dtype, type_.dtype))


def _decides_otherwise(own: dict[str, Any], values: dict[str, Any], node: Node) -> bool:
    """Is a constant of integers or truth values another one, or one that steps from number to number?"""
    a, b = own[node.name], values[node.name]
    if not isinstance(a, torch.Tensor) or (a.dtype.is_floating_point and packet(node.operator) not in STEPS):
        return False
    return not a.dtype.is_complex and not torch.equal(a.double(), b.double())


def _read(graph: Graph, names: frozenset[str]) -> list[Node]:
    """The constants that the rest of the program reads."""
    roots = {root for _, root in graph.roots}
    read = {part for node in graph.nodes if node.name not in names for part in node.inputs} | roots
    return [node for node in graph.nodes if node in read and node.name in names and not node.is_source]
