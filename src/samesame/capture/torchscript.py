"""TorchScript: scripted and traced modules, frozen and optimised ones among them, run node by node in Python.

torch's own interpreter of TorchScript tells nobody what it does with sizes and plain numbers, and after some runs it
fuses operators into code that no mode sees. So a module's graph, with all that it calls put in line, is walked here: an
operator of torch is called by its name and overload, and numbers, lists, branches and loops are Python's. Lines are
those that the graph itself keeps. Weights that freezing made constants are buffers, under the names they had.

Where nobody watches, the module runs as TorchScript runs it. So every check that a program computes what its graph does
(on the example, on other values, in a second call) is one of this translation, too.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode

from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.programs.origins import is_users, place
from samesame.programs.outputs import kind_of_value

LINE = re.compile(r'File "([^"]+)", line (\d+)(?:, in (\S+))?')
OPTIMISED = "; give the module as it was before torch made it so"


class Scripted(nn.Module):
    """A scripted or traced module or function. `where` is the line of the node that runs."""

    def __init__(self, script: Any) -> None:
        super().__init__()
        self.script: Any
        object.__setattr__(self, "script", script)         # no part of this one, so that its weights have their names
        self.training = bool(getattr(script, "training", False))
        self.where = Origin()
        self.program = script.inlined_graph
        self.owner = getattr(script, "_c", None) if isinstance(script, nn.Module) else None
        self.known: dict[str, Any] = {}                    # constants, by the names of their values
        self.weights: dict[str, torch.Tensor] = {}
        self.attributes: list[tuple[tuple[str, ...], Any, str]] = []    # those that are set: path, owner, name
        for node in nodes_of(self.program.nodes()):
            self.learn(node)

    def learn(self, node: Any) -> None:
        """Keep what a constant holds, for a tensor has one address; and which attributes are set."""
        if node.kind() == "prim::SetAttr":
            path = path_of(node.inputsAt(0).node())
            owner: Any = self.owner
            for part in path:
                owner = owner.getattr(part)
            self.attributes.append((path, owner, node.s("name")))
        if node.kind() not in ("prim::Constant", "prim::ConstantMKLDNNTensor"):
            return
        packed, name = node.kind() == "prim::ConstantMKLDNNTensor", node.output().debugName()
        value = node.t("value").to_dense() if packed else node.output().toIValue()
        if isinstance(value, torch.Tensor):
            self.weights[called(node, name)] = value
        self.known[name] = value

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return self.script.named_parameters(prefix, recurse) if self.owner is not None else iter(())

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        yield from self.script.named_buffers(prefix, recurse) if self.owner is not None else ()
        yield from self.weights.items()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if _get_current_dispatch_mode() is None:
            return self.script(*args, **kwargs)
        names = [value.debugName() for value in self.program.inputs()]
        given = self.bound(args, kwargs)
        values = dict(self.known) | dict(zip(names, given if self.owner is None else [self.owner, *given], strict=True))
        found = self.run(self.program, values)
        return found[0] if len(found) == 1 else tuple(found)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in order, with what the schema has for those not given."""
        schema = self.script.schema if self.owner is None else self.script.forward.schema
        expected = schema.arguments[self.owner is not None :]
        left = dict(kwargs)
        rest = [left.pop(a.name) if a.name in left else a.default_value for a in expected[len(args) :]]
        return [*args, *rest]

    # -------------------------------------------------------------------------------------------------------- the walk

    def run(self, block: Any, values: dict[str, Any]) -> list[Any]:
        """What a block returns; `values` are those of the names known so far."""
        for node in block.nodes():
            if (names := [value.debugName() for value in node.outputs()]) and names[0] in self.known:
                continue
            given = [values[value.debugName()] for value in node.inputs()]
            found = self.results(node, given, values)
            values.update(zip(names, found if len(names) != 1 else [found], strict=bool(names)))
        return [values[value.debugName()] for value in block.outputs()]

    def results(self, node: Any, given: list[Any], values: dict[str, Any]) -> Any:
        """What a node gives: one value, or as many as it has outputs."""
        kind = node.kind()
        self.at(node)
        if kind == "prim::If":
            then, otherwise = node.blocks()
            found = self.run(then if given[0] else otherwise, values)
            return found[0] if len(found) == 1 else found
        if kind == "prim::Loop":
            found = self.loop(node, given, values)
            return found[0] if len(found) == 1 else found
        if kind == "prim::GetAttr":
            return given[0].getattr(node.s("name"))
        if kind == "prim::SetAttr":
            given[0].setattr(node.s("name"), given[1])
            return []
        if kind in PLAIN:
            return PLAIN[kind](*given)
        if kind in OF_NUMBERS and not any(isinstance(part, torch.Tensor) for part in given):
            return OF_NUMBERS[kind](*given)
        overload = overload_of(node.schema())
        if overload is None:
            raise Refused(f"{self.where.spoken} is {kind} in TorchScript, which samesame does not know{OPTIMISED}")
        return overload(*positional(overload, given), **named(overload, given))

    def loop(self, node: Any, given: list[Any], values: dict[str, Any]) -> list[Any]:
        most, goes_on, *carried = given
        (block,) = node.blocks()
        counter, *names = (value.debugName() for value in block.inputs())
        step = 0
        while goes_on and step < most:
            values[counter] = step
            values.update(zip(names, carried, strict=True))
            goes_on, *carried = self.run(block, values)
            step += 1
        return carried

    def at(self, node: Any) -> None:
        """Note the line that a node is of, and the module."""
        module = ".".join(re.findall(r"(\w+)\(\w+\)", node.getModuleHierarchy()))
        found = [m for m in LINE.findall(node.sourceRange()) if is_users(m[0])]
        self.where = place(found[0][0], int(found[0][1]), found[0][2], module) if found else Origin(module=module)


def nodes_of(nodes: Any) -> Iterator[Any]:
    """All nodes, those inside of branches and loops too."""
    for node in nodes:
        yield node
        for block in node.blocks():
            yield from nodes_of(block.nodes())


def path_of(node: Any) -> tuple[str, ...]:
    """The way to a part of a module, attribute by attribute."""
    return (*path_of(node.inputsAt(0).node()), node.s("name")) if node.kind() == "prim::GetAttr" else ()


def called(node: Any, name: str) -> str:
    """The name that a constant had as a weight; else what its first reader is given it as."""
    if name.startswith("self."):
        return name.removeprefix("self.")
    uses = node.output().uses()
    reader = uses[0].user if uses else node
    return f"{reader.kind().rpartition('::')[2]}_{reader.output().debugName()}.{uses[0].offset if uses else 0}" \
        if reader.outputsSize() == 1 else name


def overload_of(schema: str) -> Any:
    """The operator of torch that a schema is of, if torch has it in Python."""
    found = re.match(r"(\w+)::(\w+)\.?(\w*)\(", schema)
    if found is None:
        return None
    namespace, name, overload = found.groups()
    packet = getattr(getattr(torch.ops, namespace), name, None)
    return getattr(packet, overload or "default", None)


def positional(overload: Any, given: Sequence[Any]) -> list[Any]:
    return [part for part, a in zip(given, overload._schema.arguments, strict=True) if not a.kwarg_only]


def named(overload: Any, given: Sequence[Any]) -> dict[str, Any]:
    return {a.name: part for part, a in zip(given, overload._schema.arguments, strict=True) if a.kwarg_only}


# ---------------------------------------------------------------------------------------------- what is Python's own


def raised(message: Any = "", *rest: Any) -> Any:
    raise RuntimeError(message)


def number(thing: Any, kind: Callable[[Any], Any]) -> Any:
    """A number out of a tensor, which it must be a constant for; a size stays the size that it is."""
    if isinstance(thing, torch.Tensor):
        return kind(thing.item())
    return thing if kind is int and isinstance(thing, int) and not isinstance(thing, bool) else kind(thing)


def is_none(value: Any) -> bool:
    return value is None


def appended(held: list[Any], value: Any) -> list[Any]:
    held.append(value)
    return held


def put(held: Any, key: Any, value: Any) -> Any:
    held[key] = value
    return held


def unpacked(given: Any) -> Any:
    return given[0] if len(given) == 1 else list(given)


def sizes(tensor: torch.Tensor, *dim: int) -> Any:
    return tensor.shape[dim[0]] if dim else list(tensor.shape)


def convolved(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any) -> Any:
    function = (nn.functional.conv1d, nn.functional.conv2d, nn.functional.conv3d)[weight.dim() - 3]
    return function(x, weight, bias, stride, padding, dilation, groups)


# What holds others, and what asks for something: whatever these are given.
PLAIN: dict[str, Callable[..., Any]] = {
    "prim::ListConstruct": lambda *parts: list(parts),
    "prim::TupleConstruct": lambda *parts: parts,
    "prim::DictConstruct": lambda *parts: dict(zip(parts[::2], parts[1::2], strict=True)),
    "prim::ListUnpack": unpacked,
    "prim::TupleUnpack": unpacked,
    "prim::TupleIndex": operator.getitem,
    "prim::unchecked_cast": lambda x: x,
    "prim::unchecked_unwrap_optional": lambda x: x,
    "aten::_unwrap_optional": lambda x: x,
    "prim::Uninitialized": lambda: None,
    "prim::RaiseException": raised,
    "prim::Print": lambda *parts: [],
    "prim::dtype": lambda x: x.dtype,
    "prim::device": lambda x: x.device,
    "prim::NumToTensor": lambda x: x,
    "prim::min": min,
    "prim::max": max,
    "aten::warn": lambda *parts: [],
    "aten::size": sizes,
    "aten::dim": lambda x: x.dim(),
    "aten::len": len,
    "aten::numel": lambda x: x.numel(),
    "aten::is_floating_point": lambda x: x.is_floating_point(),
    "aten::Int": lambda x: number(x, int),
    "aten::IntImplicit": lambda x: number(x, int),
    "aten::Float": lambda x: number(x, float),
    "aten::FloatImplicit": lambda x: number(x, float),
    "aten::ScalarImplicit": lambda x: x.item() if isinstance(x, torch.Tensor) else x,
    "aten::Bool": bool,
    "aten::append": appended,
    "aten::_set_item": put,
    "aten::__contains__": lambda held, x: x in held,
    "aten::__is__": operator.is_,
    "aten::__isnot__": operator.is_not,
    "aten::__getitem__": operator.getitem,
    "aten::list": list,
    "aten::keys": lambda held: list(held.keys()),
    "aten::values": lambda held: list(held.values()),
    "aten::__range_length": lambda low, high, step: len(range(low, high, step)),
    "aten::__derive_index": lambda index, start, step: start + index * step,
    # what torch.jit.optimize_for_inference puts in the place of torch's operators
    "aten::_convolution": lambda *given: torch.convolution(*given[:9]),      # the rest are switches of libraries
    "aten::to_mkldnn": lambda x, *rest: x,
    "aten::to_dense": lambda x, *rest: x,
    "prim::mkldnn_convolution": convolved,
    "prim::BroadcastMKLDNNTensors": lambda x, y: list(torch.broadcast_tensors(x, y)),    # type: ignore[no-untyped-call]
    "prim::MKLDNNHardSwish": nn.functional.hardswish,
    "prim::MKLDNNHardSigmoid": nn.functional.hardsigmoid,
    "prim::MKLDNNRelu6": nn.functional.relu6,
    "prim::MKLDNNScalarMul": operator.mul,
}

ROUNDED: dict[str | None, Callable[[Any, Any], Any]] = {
    None: operator.truediv, "floor": operator.floordiv, "trunc": lambda a, b: math.trunc(a / b),
}

# Arithmetic of plain numbers, lists and strings; of tensors it is torch's.
OF_NUMBERS: dict[str, Callable[..., Any]] = {
    "aten::add": lambda a, b, *alpha: a + b,
    "aten::sub": lambda a, b, *alpha: a - b,
    "aten::mul": operator.mul,
    "aten::div": lambda a, b, rounded=None: ROUNDED[rounded](a, b),
    "aten::floordiv": operator.floordiv,
    "aten::floor_divide": operator.floordiv,
    "aten::remainder": operator.mod,
    "aten::pow": operator.pow,
    "aten::neg": operator.neg,
    "aten::sqrt": math.sqrt,
    "aten::ceil": math.ceil,
    "aten::floor": math.floor,
    "aten::eq": operator.eq,
    "aten::ne": operator.ne,
    "aten::lt": operator.lt,
    "aten::le": operator.le,
    "aten::gt": operator.gt,
    "aten::ge": operator.ge,
    "aten::__and__": lambda a, b: a and b,
    "aten::__or__": lambda a, b: a or b,
    "aten::__not__": operator.not_,
    "aten::slice": lambda held, start, end, step: held[start:end:step],
}


def scripted(thing: Any) -> Any:
    """The program for a scripted or traced module or function. Raises Refused where it is none that can be walked."""
    try:
        return Scripted(thing)
    except AttributeError as error:
        raise Refused(f"{kind_of_value(thing)} has no forward in TorchScript: {error}") from None
