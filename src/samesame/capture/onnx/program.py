"""An ONNX model as a program: its nodes run one by one in torch's operators, and the recorder watches.

Weights are buffers under the names that the file has for them. What runs is known by the node: `where` is its number in
the file, its text and the module it was exported from. Where nobody watches, the model runs in ONNX Runtime.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch

from samesame.capture.onnx import attention, elementwise, movement, neural, quantised, recurrent, reductions
from samesame.capture.onnx.arithmetic import FEW, known
from samesame.capture.onnx.file import Input, Model, Part, read
from samesame.capture.onnx.known import Known, literal
from samesame.capture.onnx.runtime import Runtime, run_node
from samesame.capture.onnx.table import ROWS, Application, Value, number, numbers, tensor
from samesame.capture.program import Foreign
from samesame.evidence import Refused
from samesame.graph import Origin

TABLES = (elementwise, movement, reductions, neural, attention, recurrent, quantised)
GENERATED = re.compile(r"|val_\d+|\d+|scalar.*|.*[Cc]onst.*|onnx::[A-Z]\w*_\d+|_?inlfunc.*|.*_output_\d+")
COUNTED = (torch.bool, torch.int32, torch.int64)
CONSTANT = "Constant"
Values = dict[str, Value | None]


class OnnxModel(Foreign):
    """The model in a file."""

    remembers = False

    def __init__(self, path: str) -> None:
        super().__init__()
        model = read(path)
        self.itself = Runtime(model)
        self._buffers.update(model.main.constants)         # past register_buffer, which takes no names with dots
        self.where = Origin(path)
        self.forward = _Forward(self, model)
        self.eval()

    def __repr__(self) -> str:
        return self.where.file


class _Forward:
    """What calls a model: binds arguments to the inputs of the file, and runs its nodes."""

    def __init__(self, owner: OnnxModel, model: Model) -> None:
        self.owner, self.model = owner, model
        self.constants = {id(part): constants_of(part) for part in parts_of(model.main)}
        self.names = {plain_name(value.name, k): value for k, value in enumerate(model.inputs)}
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([
            *(inspect.Parameter(name, kind) for name in self.names),
            inspect.Parameter("unread", inspect.Parameter.VAR_KEYWORD),
        ])

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, torch.Tensor]:
        given = self.__signature__.bind(*args, **kwargs).arguments
        values: Values = {value.name: self.taken(value, given[name]) for name, value in self.names.items()}
        return {name: tensor(value) for name, value in self.part(self.model.main, values).items()}

    def taken(self, value: Input, given: Any) -> torch.Tensor:
        """An argument, which must be of the type and of the sizes that the file says."""
        self.owner.where = Origin(self.model.path, code=f"input {value.name}")
        if not isinstance(given, torch.Tensor):
            raise Refused(f"{self.model.path} takes a tensor for {value.name}; give one")
        if given.dtype != value.dtype:
            raise Refused(f"{self.model.path} takes {value.name} as {_name(value.dtype)}, and the inputs have "
                          f"{_name(given.dtype)}; convert them, or export the model anew")
        shape = given.shape if value.shape is None else value.shape
        if len(shape) != given.dim() or any(n is not None and n != m for n, m in zip(shape, given.shape, strict=True)):
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise Refused(f"{self.model.path} takes {value.name} in the shape [{wanted}] only, and not in "
                          f"{[int(n) for n in given.shape]}; export it with dynamic sizes")
        return given

    def part(self, part: Part, values: Values) -> dict[str, Value]:
        """What the nodes of a model, or of a branch, give."""
        constants = self.constants[id(part)]
        values = {**values, **constants}
        last = {name: k for k, node in enumerate(part.nodes) for name in node.inputs} | {
            name: len(part.nodes) for name in (*part.outputs, *_outer(part))}
        for k, node in enumerate(part.nodes):
            if node.operator == CONSTANT:
                continue
            self.owner.where, self.owner.runs = node.origin, f"is {node.operator}"
            given = [values[name] if name else None for name in node.inputs]
            values.update(zip(node.outputs, self.apply(node, given, values), strict=False))
            for name in {*node.inputs, *node.outputs}:
                if name not in constants and last.get(name, -1) <= k:
                    values.pop(name, None)
        return {name: _there(values[name]) for name in part.outputs}

    def apply(self, node: Application, given: list[Value | None], values: Values) -> tuple[Value, ...]:
        while given and given[-1] is None:
            given.pop()
        if node.operator == "If":
            chosen = "then_branch" if self.decided(node, _there(given[0])) else "else_branch"
            return tuple(self.part(node.get(chosen), values).values())
        found: Any = NotImplemented
        if not node.domain:
            if all(value is None or isinstance(value, Known) for value in given):
                found = known(node, tuple(given))          # type: ignore[arg-type]
            if found is NotImplemented and node.operator in ROWS:
                found = ROWS[node.operator](node, *given)
        if found is NotImplemented:
            found = run_node(node, [tensor(value) for value in given if value is not None])
        return tuple(found) if isinstance(found, tuple | list) else (found,)

    def decided(self, node: Application, condition: Value) -> bool:
        """Which branch is taken: what decides is known, or a constant of the model."""
        if not isinstance(condition, Known) and len(numbers(condition)) != 1:
            raise Refused(f"{node.origin.spoken} is If, with a condition of several numbers")
        return bool(number(condition))


def _there(value: Value | None) -> Value:
    if value is None:
        raise Refused("a node reads an output that its maker leaves out")
    return value


def _outer(part: Part) -> list[str]:
    """The names that branches inside read."""
    return [name for inner in parts_of(part) if inner is not part
            for name in (*(name for node in inner.nodes for name in node.inputs), *inner.outputs)]


def parts_of(part: Part) -> Iterator[Part]:
    """A part and the branches inside."""
    yield part
    for node in part.nodes:
        for value in node.attributes.values():
            if isinstance(value, Part):
                yield from parts_of(value)


def constants_of(part: Part) -> dict[str, Value]:
    """What the nodes of a part read without computing it: tensors of the file, and Constant nodes."""
    nodes = {node.outputs[0]: constant("", held(node)) for node in part.nodes if node.operator == CONSTANT}
    return {name: constant(name, stored) for name, stored in part.constants.items()} | nodes


def constant(name: str, stored: torch.Tensor) -> Value:
    """A tensor of the file: numbers where it decides shapes or is a literal, which has a name made for it or none; else
    a weight."""
    if stored.dtype in COUNTED and stored.numel() <= FEW:
        return literal(stored)
    if stored.numel() == 1 and stored.is_floating_point() and GENERATED.fullmatch(name):
        return literal(stored)
    return stored


def held(node: Application) -> torch.Tensor:
    """What a Constant holds."""
    name, value = next(iter(node.attributes.items()))
    if isinstance(value, torch.Tensor):
        return value
    return torch.tensor(value, dtype=torch.int64 if "int" in name else torch.float32)


def plain_name(name: str, place: int) -> str:
    """The name of an input as Python can have it."""
    found = re.sub(r"\W+", "_", name).strip("_")
    return found if found.isidentifier() and found != "unread" else f"input_{place}"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
