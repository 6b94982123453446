"""Graphs that Entangle captured (github.com/nyu-systems/Entangle): its pickles, as graphs of ours.

A program is one file for each rank; a sequential program is one rank. What they hold are torch's functional operators,
HLO operators, and calls of fused kernels. The last two become torch's operators (hlo.py, fused.py), collectives take
their normal form (collectives.py), and whatever is the identity (`clone`, `detach`, a wait, a logged tensor) is no node
but another name of one. Values that were not captured (`_tensor_constantN`, HLO constants that became `aten.empty`) are
inputs, unless the caller knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samesame.capture.ranks.collectives import REDUCTIONS
from samesame.entangle.emit import Emit, Value
from samesame.entangle.fused import APEX, WRAPPED
from samesame.entangle.hlo import TRANSLATIONS
from samesame.entangle.pickled import Foreign, Ref, read
from samesame.evidence import Refused
from samesame.graph import NOWHERE, Dtype, Graph, Node, Origin, TensorType
from samesame.operators.execute import draws_numbers, resolve
from samesame.operators.table import STORAGE, UNINITIALISED, packet
from samesame.programs.origins import TRACED_FRAME

Groups = Mapping[str, tuple[int, ...]]                     # a process group's name → its ranks


@dataclass(frozen=True, slots=True)
class Captured:
    """One rank's graph. `aliases` gives a tensor's name in the file the name of its node; `names` are all that the file
    has, also of what no output needs; `uncaptured` are inputs that stand for values which the file does not hold;
    `assumptions` are what the translation takes for granted."""

    graph: Graph
    aliases: dict[str, str]
    names: frozenset[str]
    uncaptured: tuple[str, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted of one rank's file: the name of its graph, nodes that become inputs, and nodes to keep as roots
    beside what the program returns."""

    path: Path
    name: str
    cuts: frozenset[str] = frozenset()
    kept: tuple[str, ...] = ()


def load(ranks: Sequence[Asked], *, constant: float | None = None) -> list[Captured]:
    """The graphs of a program's ranks, in order.

    `constant` is the value of every `_tensor_constantN`; None leaves them inputs. Raises Refused, with the file and the
    node, for what is no graph or cannot be translated.
    """
    files = [read(rank.path) for rank in ranks]
    groups = _groups(files)
    return [
        _Rank(asked, k, groups, constant).captured(nodes)
        for k, (asked, nodes) in enumerate(zip(ranks, files, strict=True))
    ]


def _groups(files: Sequence[tuple[Foreign, ...]]) -> Groups:
    """Who belongs to a process group: the ranks whose graphs name it."""
    found: dict[str, list[int]] = {}
    for rank, nodes in enumerate(files):
        for node in nodes:
            if packet(node.target) in COLLECTIVES and node.args and isinstance(node.args[-1], str):
                members = found.setdefault(node.args[-1], [])
                if rank not in members:
                    members.append(rank)
    return {name: tuple(members) for name, members in found.items()}


# ------------------------------------------------------------------------------------------------------------ one rank


class _Rank:
    """Translates the nodes of one rank."""

    def __init__(self, asked: Asked, rank: int, groups: Groups, constant: float | None) -> None:
        self.asked, self.rank, self.groups, self.constant = asked, rank, groups, constant
        self.values: dict[str, Value] = {}
        self.uncaptured: list[Node] = []

    def captured(self, nodes: tuple[Foreign, ...]) -> Captured:
        self.emit = emit = Emit(written(node.name) for node in nodes)
        names = frozenset(node.name for node in nodes)
        if unknown := sorted({*self.asked.cuts, *self.asked.kept} - names):
            raise Refused(f"{self.asked.path} has no tensor {unknown[0]}")
        roots: dict[str, Node] = {}
        for node in nodes:
            if node.kind == "output":
                roots = self.roots(node)
                continue
            try:
                with emit.translating(written(node.name), origin_of(node)):
                    value = self.values[node.name] = self.fitting(node, self.value(node))
            except Refused as error:
                raise Refused(f"{self.asked.path}: {error}") from error
            except Exception as error:                     # a file may give any operator any arguments
                told = f"{type(error).__name__}: {error}"
                raise Refused(f"{self.asked.path}: {node.name} cannot be read as {node.target} ({told})") from error
            if isinstance(value, Node):
                emit.name(value, written(node.name))
        for kept in self.asked.kept:
            if not isinstance(value := self.values[kept], Node):
                raise Refused(f"{self.asked.path}: {kept} is no tensor")
            roots.setdefault(kept, value)
        graph = self.kept(roots)
        inside = {node.name for node in graph.nodes}
        aliases = {name: emit.told(value) for name, value in self.values.items() if isinstance(value, Node)}
        return Captured(
            graph,
            {name: own for name, own in aliases.items() if own in inside},
            names,
            tuple(own for node in self.uncaptured if (own := emit.told(node)) in inside),
            tuple(emit.assumptions),
        )

    def roots(self, output: Foreign) -> dict[str, Node]:
        """What the program returns and computes, by its names in the file; an input handed through is no result."""
        given = output.args[0] if len(output.args) == 1 and isinstance(output.args[0], tuple) else output.args
        found = [(part.name, self.values[part.name]) for part in given if isinstance(part, Ref)]
        return {name: value for name, value in found if isinstance(value, Node) and not value.is_source}

    def kept(self, roots: dict[str, Node]) -> Graph:
        graph = self.emit.graph(self.asked.name, roots)
        used = {part for node in graph.nodes for part in node.inputs}
        idle = {self.emit.told(node) for node in self.uncaptured} - {node.name for node in used}
        return Graph(graph.name, tuple(node for node in graph.nodes if node.name not in idle), graph.roots)

    # -------------------------------------------------------------------------------------------------------- values

    def value(self, node: Foreign) -> Value:
        """What a node stands for: a node of ours, or several."""
        args, kwargs = self.given(node.args), self.given(node.kwargs)
        if node.kind == "placeholder" or node.name in self.asked.cuts:
            return self.input(node)
        if node.kind == "get_attr":
            return ("constant", node.name)                 # what reads it knows its type
        if node.kind != "call_function":
            raise Refused(f"{node.name} is a {node.kind}, which is not supported; capture the program functionalised")
        if node.target == "<built-in function getitem>":
            return self.item(node, args)
        if node.target in ("auto_functionalized", "auto_functionalized_v2"):
            return self.wrapped(node, args, kwargs)
        if node.target in TRANSLATIONS:
            assert node.type is not None, f"{node.name} has no type"
            return TRANSLATIONS[node.target](self.emit, node.type, *args, **kwargs)
        if node.target in APEX:
            return APEX[node.target](self.emit, *args, **kwargs)
        if packet(node.target) in COLLECTIVES:
            return self.collective(node, args)
        if node.target.startswith("aten."):
            return self.aten(node, args, kwargs)
        if packet(node.target) in ("tg.log_tensor", "_c10d_functional.wait_tensor"):
            whole: Value = args[0]
            return whole
        raise Refused(f"{node.name} is a call of {node.target}, which is not supported")

    def given(self, argument: Any) -> Any:
        if isinstance(argument, Ref):
            return self.values[argument.name]
        if isinstance(argument, tuple):
            return tuple(map(self.given, argument))
        if isinstance(argument, dict):
            return {name: self.given(value) for name, value in argument.items()}
        return argument

    def input(self, node: Foreign) -> Value:
        if node.type is None and CONSTANT.fullmatch(node.name):
            return ("constant", node.name)
        if node.type is None:
            raise Refused(f"{node.name} is an input, and the file does not tell its shape")
        return self.emit.typed("input", node.type)

    def unknown(self, node: Foreign, type: TensorType) -> Node:
        """An input in the place of a value that was not captured."""
        self.uncaptured.append(self.emit.typed("input", type))
        return self.uncaptured[-1]

    def item(self, node: Foreign, args: tuple[Any, ...]) -> Value:
        whole, position = args
        if isinstance(whole, Node):
            assert isinstance(position, int)
            if not isinstance(whole.type, tuple):
                raise Refused(f"{node.name} takes a part of {whole}, which is one tensor")
            return self.emit.part(whole, position)
        found: Value = whole[position]
        return found

    def fitting(self, node: Foreign, value: Value) -> Value:
        """The value, held to what the file tells of its type; casts that the file tells by the type only are made."""
        if node.type is None or not isinstance(value, Node) or not isinstance(value.type, TensorType):
            return value
        if value.shape != node.type.shape:
            raise Refused(
                f"{node.name} has the type {node.type} in the file, and {node.target} of its arguments the type "
                f"{value.type}"
            )
        if value.type.dtype == node.type.dtype:
            return value
        return self.emit("aten._to_copy.default", value, dtype=Dtype(node.type.dtype))

    # ------------------------------------------------------------------------------------------------------ operators

    def aten(self, node: Foreign, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Value:
        emit, x = self.emit, args[0] if args else None
        kwargs = {name: value for name, value in kwargs.items() if name not in STORAGE}
        name = packet(node.target).removeprefix("aten.")
        if name in SAME:
            return x if isinstance(x, Node) else self.constant_of(node)
        if packet(node.target) in UNINITIALISED:
            if node.type is None:
                raise Refused(f"{node.name} is memory whose shape the file does not tell")
            return self.unknown(node, node.type)
        if name == "copy":
            return self.copied(*args[:2])
        if isinstance(x, Node) and isinstance(x.type, TensorType):
            if name in ("view", "_unsafe_view", "reshape") and node.type is not None and x.shape == node.type.shape:
                return x
            if name == "_to_copy" and kwargs.get("dtype", Dtype(x.type.dtype)) == Dtype(x.type.dtype):
                return x
        if name == "index_put" and self.is_mask(args[1]):
            return self.filled(args[0], args[1][0], args[2], *args[3:])
        if name == "baddbmm" and kwargs.get("beta", 1) == 0:
            product = emit("aten.bmm.default", *args[1:3])
            return product if kwargs.get("alpha", 1) == 1 else emit("aten.mul.Scalar", product, kwargs["alpha"])
        if name == "native_dropout" and args[1] and args[2] is not False:
            emit.assume("dropout is off (p = 0): the random masks of the runs were not captured")
            args = (args[0], 0.0, args[2])
        if name == "arange" and "dtype" not in kwargs and node.type is not None:
            kwargs["dtype"] = Dtype(node.type.dtype)
        operation = resolve(node.target)
        if operation._schema.is_mutable or draws_numbers(operation, args, kwargs):
            raise Refused(f"{node.name} writes to its arguments or draws random numbers ({node.target})")
        return emit(node.target, *args, **kwargs)

    def constant_of(self, node: Foreign) -> Value:
        """A captured attribute as its reader sees it."""
        if node.type is None:
            raise Refused(f"{node.name} reads a constant whose shape the file does not tell")
        if self.constant is None:
            return self.unknown(node, node.type)
        self.emit.assume(f"constants that were not captured are {self.constant:g}, as the case states")
        return self.emit("aten.full.default", node.type.shape, self.constant, dtype=Dtype(node.type.dtype))

    def copied(self, into: Node, x: Node) -> Node:
        """What is left of `into` once x is copied to it."""
        if x.shape != into.shape:
            x = self.emit("aten.expand.default", x, into.shape)
        assert isinstance(into.type, TensorType) and isinstance(x.type, TensorType)
        same = into.type.dtype == x.type.dtype
        return x if same else self.emit("aten._to_copy.default", x, dtype=Dtype(into.type.dtype))

    @staticmethod
    def is_mask(indices: tuple[Node | None, ...]) -> bool:
        first = indices[0]
        return len(indices) == 1 and first is not None and getattr(first.type, "dtype", "") == "bool"

    def filled(self, x: Node, mask: Node, value: Node, accumulate: bool = False) -> Node:
        """x[mask] = one value."""
        if accumulate or value.shape:
            raise Refused(f"{self.emit.place} writes several values through a mask: which goes where depends on data")
        for _ in range(len(x.shape) - len(mask.shape)):
            mask = self.emit("aten.unsqueeze.default", mask, -1)
        known = value.operator == "aten.full.default"
        overload = "Scalar" if known else "Tensor"
        return self.emit(f"aten.masked_fill.{overload}", x, mask, value.args[1] if known else value)

    def wrapped(self, node: Foreign, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Value:
        """What an operator returns that writes to its arguments, then what it wrote."""
        operator = str(args[0])
        if packet(operator) == "tg.inplace_log_tensor" and len(kwargs.get("_all_bases", ())) == 1:
            logged: Node = kwargs["_all_bases"][0]
            self.emit.called(logged, str(kwargs.get("s", "")))
            return None, logged
        if operator not in WRAPPED:
            raise Refused(f"{node.name} is a call of {operator}, which is not supported")
        try:
            return WRAPPED[operator](self.emit, **kwargs)
        except TypeError as error:
            raise Refused(f"{node.name} calls {operator} with other arguments than are known: {error}") from error

    def collective(self, node: Foreign, args: tuple[Any, ...]) -> Value:
        x: Node = args[0]
        rest, group_name = args[1:-1], args[-1]
        assert isinstance(x.type, TensorType)
        group = self.groups[group_name]
        if len(group) == 1:
            return x                                       # of one rank, each of them gives back what it is given
        attributes = COLLECTIVES[packet(node.target)](x, rest, group)
        operator = f"collective.{attributes.pop('is')}"
        if attributes.get("op", "sum") not in REDUCTIONS:
            raise Refused(f"{node.name} reduces by {attributes['op']}, which is not supported")
        members = ", ".join(map(str, group))
        self.emit.assume(f"process group {group_name} is of the ranks whose graphs name it: {members}")
        first = x.shape[:1]
        if operator == "collective.all_gather":
            first = (sum(attributes["sizes"]),)
        if operator == "collective.reduce_scatter":
            first = (attributes["sizes"][group.index(self.rank)],)
        return self.emit.typed(operator, TensorType((*first, *x.shape[1:]), x.type.dtype), x, **attributes)


CONSTANT = re.compile(r"_tensor_constant\d+")
SAME = frozenset(("alias", "clone", "contiguous", "detach", "lift", "lift_fresh", "lift_fresh_copy"))


def _all_reduce(x: Node, rest: Sequence[Any], group: tuple[int, ...]) -> dict[str, Any]:
    return {"is": "all_reduce", "op": str(rest[0]) if rest else "sum", "group": group}


def _all_gather(x: Node, rest: Sequence[Any], group: tuple[int, ...]) -> dict[str, Any]:
    return {"is": "all_gather", "dim": 0, "sizes": (x.shape[0],) * len(group), "group": group}


def _reduce_scatter(x: Node, rest: Sequence[Any], group: tuple[int, ...]) -> dict[str, Any]:
    sizes = (x.shape[0] // len(group),) * len(group)
    return {"is": "reduce_scatter", "op": str(rest[0]), "dim": 0, "sizes": sizes, "group": group}


def _broadcast(x: Node, rest: Sequence[Any], group: tuple[int, ...]) -> dict[str, Any]:
    return {"is": "broadcast", "src": group[rest[0]], "group": group}


# A collective's packet, and its normal form: of the tensor, the arguments between it and the group's name, the group.
COLLECTIVES: dict[str, Callable[[Node, Sequence[Any], tuple[int, ...]], dict[str, Any]]] = {
    "_c10d_functional.all_reduce": _all_reduce,
    "_c10d_functional.all_gather_into_tensor": _all_gather,
    "_c10d_functional.reduce_scatter_tensor": _reduce_scatter,
    "_c10d_functional.broadcast": _broadcast,
    "vllm.all_reduce": _all_reduce,
}


# ------------------------------------------------------------------------------------------------------------- origins

NOT_THE_PROGRAM = re.compile(r"/(?:site|dist)-packages/(?:torch|torch_neuronx|functorch)/")
CODE = re.compile(r"\n    (?! *File )(.+)")
STEP = re.compile(r"\._modules\['([^']+)'\]|\['([^']+)'\]|\[(\d+)\]")


def origin_of(node: Foreign) -> Origin:
    """The innermost line of the program that the file notes, outside of torch; and the module."""
    modules = node.notes.get("nn_module_stack")
    module = ""
    if isinstance(modules, dict) and modules:
        last = list(modules.values())[-1]
        module = module_path(str(last[0])) if isinstance(last, tuple | list) and last else ""
    trace, lines = node.notes.get("stack_trace"), node.notes.get("stack")
    if isinstance(trace, str):
        frames = [match for match in TRACED_FRAME.finditer(trace) if not NOT_THE_PROGRAM.search(match[1])]
        if frames:
            code = CODE.match(trace, frames[-1].end())
            return Origin(frames[-1][1], int(frames[-1][2]), frames[-1][3], code[1].strip() if code else "", module)
    if isinstance(lines, list | tuple):
        places = [str(line).rpartition(":") for line in lines if not NOT_THE_PROGRAM.search(str(line))]
        if places and places[-1][2].isdigit():
            return Origin(places[-1][0], int(places[-1][2]), module=module)
    return Origin(module=module) if module else NOWHERE


def module_path(noted: str) -> str:
    """`L['model'].decoder.layers[0]` as `decoder.layers.0`."""
    path = STEP.sub(lambda m: "." + next(part for part in m.groups() if part is not None), noted)
    return path.partition(".")[2].partition(".")[2] if path.startswith("L.") else path


def written(name: str) -> str:
    """A node's name as graphs write it."""
    return re.sub(r"[^\w.]", "_", name)
