"""Files: an ONNX model read and looked over, in the words of the table.

Functions that a file defines are written out, data that lie in files beside it are read. What cannot be a program here
is refused in a sentence: a damaged file, a version that nobody knows, loops and sequences, operators of a domain that
ONNX Runtime does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import DecodeError
from onnx.defs import onnx_opset_version
from onnx.external_data_helper import load_external_data_for_model, uses_external_data
from onnx.inliner import inline_local_functions

import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper
from samesame.capture.onnx.table import Application
from samesame.evidence import Refused
from samesame.graph import Origin

OLDEST = 11                                                # of ONNX's own operators
LARGEST = 2**31 - 1                                        # bytes that the checker can take
OWN = ("", "ai.onnx")
RUNS = ("com.microsoft", "ai.onnx.ml", "ai.onnx.preview.training", "com.ms.internal.nhwc")   # ONNX Runtime's domains
KINDS = {
    "Loop": "a loop, whose rounds values may decide; unroll it, and export that",
    "Scan": "a loop over the rows of a tensor; unroll it, and export that",
    **dict.fromkeys(("SequenceConstruct", "SequenceEmpty", "SequenceInsert", "SequenceErase", "SequenceAt",
                     "SequenceLength", "SequenceMap", "SplitToSequence", "ConcatFromSequence"),
                    "of sequences of tensors; use tensors"),
    **dict.fromkeys(("Optional", "OptionalGetElement", "OptionalHasElement"), "of values that may be missing"),
    **dict.fromkeys(("StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer",
                     "ImageDecoder"), "of text or images, not of numbers"),
    **dict.fromkeys(("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli",
                     "Multinomial"), "random, so no two runs agree"),
}
DTYPES = {
    TensorProto.FLOAT: torch.float32, TensorProto.DOUBLE: torch.float64, TensorProto.FLOAT16: torch.float16,
    TensorProto.BFLOAT16: torch.bfloat16, TensorProto.INT64: torch.int64, TensorProto.INT32: torch.int32,
    TensorProto.INT16: torch.int16, TensorProto.INT8: torch.int8, TensorProto.UINT8: torch.uint8,
    TensorProto.BOOL: torch.bool, TensorProto.UINT16: torch.uint16, TensorProto.UINT32: torch.uint32,
    TensorProto.UINT64: torch.uint64,
}
SCOPES = "pkg.torch.onnx.name_scopes"


@dataclass(frozen=True, slots=True)
class Input:
    """What a model takes: a tensor of this dtype; a size that is None may be any."""

    name: str
    dtype: torch.dtype
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes in order, with the constants that they read; a model, or a branch of one."""

    nodes: tuple[Application, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Model:
    """What a file holds."""

    path: str
    inputs: tuple[Input, ...]
    main: Part


def read(path: str) -> Model:
    """The model in a file. Raises Refused where there is none, or none that can be a program here."""
    proto = _written_out(_parsed(path), path)
    versions = {"" if one.domain in OWN else one.domain: one.version for one in proto.opset_import}
    demand_versions(path, versions)
    _with_data(proto, path)
    if proto.ByteSize() <= LARGEST:
        try:
            onnx.checker.check_model(proto)
        except onnx.checker.ValidationError as error:
            raise Refused(f"{path} is no valid ONNX model: {first_line(error)}") from None
    held = {tensor.name for tensor in proto.graph.initializer}
    inputs = tuple(_input(path, value) for value in proto.graph.input if value.name not in held)
    return Model(path, inputs, _Reader(path, versions).part(proto.graph))


def _parsed(path: str) -> ModelProto:
    try:
        proto = onnx.load(path, load_external_data=False)
    except FileNotFoundError:
        raise Refused(f"{path} does not exist") from None
    except OSError as error:
        raise Refused(f"cannot read {path}: {error.strerror or error}") from None
    except DecodeError:
        raise Refused(f"{path} is no ONNX model, or a damaged one; export it again") from None
    if not proto.graph.output:
        raise Refused(f"{path} is no ONNX model, or a damaged one: it has no outputs; export it again")
    return proto


def _written_out(proto: ModelProto, path: str) -> ModelProto:
    """The model with its own functions written out where they are called."""
    if not proto.functions:
        return proto
    try:
        return inline_local_functions(proto)
    except Exception as error:                             # whatever the library in C++ makes of a broken function
        raise Refused(f"{path} has functions that cannot be written out: {first_line(error)}") from None


def demand_versions(path: str, versions: Mapping[str, int]) -> None:
    """Raise Refused unless the operators are of versions that are known."""
    version, newest = versions.get(""), onnx_opset_version()
    if version is not None and not OLDEST <= version <= newest:
        raise Refused(f"{path} is written in opset {version}; opsets {OLDEST} to {newest} are known, so export it in "
                      "one of these")


def _with_data(proto: ModelProto, path: str) -> None:
    """Read what lies in files beside the model."""
    if not any(map(uses_external_data, proto.graph.initializer)):
        return
    folder = Path(path).parent
    for tensor in filter(uses_external_data, proto.graph.initializer):
        place = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
        if not (folder / place).is_file():
            raise Refused(f"{path} keeps {tensor.name} in {place}, which is not beside it; put that file into {folder}")
    try:
        load_external_data_for_model(proto, str(folder))
    except Exception as error:                             # the library raises what it likes at data that are too short
        raise Refused(f"the data beside {path} cannot be read: {first_line(error)}") from None


def _input(path: str, value: Any) -> Input:
    kind = value.type.WhichOneof("value")
    held = value.type.tensor_type
    if kind != "tensor_type" or held.elem_type not in DTYPES:
        raise Refused(f"{path} takes {value.name}, which is no tensor of numbers")
    shape = None
    if held.HasField("shape"):
        shape = tuple(d.dim_value if d.WhichOneof("value") == "dim_value" else None for d in held.shape.dim)
    return Input(value.name, DTYPES[held.elem_type], shape)


class _Reader:
    """Reads the nodes of a file, and counts them."""

    def __init__(self, path: str, versions: Mapping[str, int]) -> None:
        self.path, self.versions, self.count = path, versions, 0

    def part(self, graph: GraphProto) -> Part:
        constants = {tensor.name: self.tensor(tensor) for tensor in graph.initializer}
        if graph.sparse_initializer:
            name = graph.sparse_initializer[0].values.name
            raise Refused(f"{self.path} has sparse weights ({name}); store them dense")
        return Part(tuple(self.nodes(graph.node)), tuple(value.name for value in graph.output), constants)

    def nodes(self, given: Iterable[NodeProto]) -> Iterator[Application]:
        for proto in given:
            self.count += 1
            origin = Origin(self.path, self.count, proto.name, written(proto), scope(proto))
            self.demand_known(proto, origin)
            domain = "" if proto.domain in OWN else proto.domain
            attributes = {one.name: self.attribute(one) for one in proto.attribute}
            if proto.op_type == "ConstantOfShape" and "value" in attributes:
                attributes["fill"] = attributes["value"].item(), attributes["value"].dtype
            yield Application(proto.op_type, domain, self.versions.get(domain, 1), tuple(proto.input),
                              tuple(proto.output), attributes, origin, nameless(proto))

    def demand_known(self, proto: NodeProto, origin: Origin) -> None:
        if proto.domain in OWN and proto.op_type in KINDS:
            raise Refused(f"{origin.spoken} is {proto.op_type}, which is {KINDS[proto.op_type]}")
        if proto.domain not in (*OWN, *RUNS):
            raise Refused(f"{origin.spoken} is {proto.op_type} of the domain {proto.domain}, which ONNX Runtime does "
                          "not have; export the operator as a function of ONNX's own")

    def attribute(self, proto: AttributeProto) -> Any:
        value = onnx.helper.get_attribute_value(proto)
        if proto.type == AttributeProto.TENSOR:
            return self.tensor(value)
        if proto.type == AttributeProto.GRAPH:
            return self.part(value)
        if proto.type == AttributeProto.STRING:
            return value.decode(errors="replace")
        if proto.type == AttributeProto.STRINGS:
            return [text.decode(errors="replace") for text in value]
        if proto.name in ("to", "dtype") and proto.type == AttributeProto.INT:
            if value not in DTYPES:
                raise Refused(f"{self.path}:{self.count} makes numbers of {TensorProto.DataType.Name(value)}, which "
                              "torch does not compute with")
            return DTYPES[value]
        return list(value) if isinstance(value, Iterable) else value

    def tensor(self, proto: TensorProto) -> torch.Tensor:
        if proto.data_type not in DTYPES:
            kind = TensorProto.DataType.Name(proto.data_type)
            held = proto.name or "a constant"
            raise Refused(f"{self.path} holds {held} in {kind}, which torch does not compute with")
        array = np.array(numpy_helper.to_array(proto))
        if proto.data_type == TensorProto.BFLOAT16:
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)


def scope(proto: NodeProto) -> str:
    """The module that a node was exported from, as torch's exporters note it."""
    noted = next((entry.value for entry in proto.metadata_props if entry.key == SCOPES), "")
    if noted:
        names = [part.strip(" '\"") for part in noted.strip("[]").split(",")]
        return names[-2] if len(names) > 1 else ""
    parts = proto.name.split("/")
    return ".".join(parts[1:-1]) if proto.name.startswith("/") else ""


def written(proto: NodeProto) -> str:
    """A node in a line: `y = Softmax(x, axis=1)`."""
    said = [f"{one.name}={_short(onnx.helper.get_attribute_value(one))}" for one in proto.attribute]
    return f"{', '.join(proto.output)} = {proto.op_type}({', '.join([*proto.input, *said])})"


def _short(value: Any) -> str:
    if isinstance(value, bytes):
        return repr(value.decode(errors="replace"))
    if isinstance(value, int | float):
        return f"{value:.7g}" if isinstance(value, float) else str(value)
    return str(list(value)) if isinstance(value, Iterable) else "…"


def nameless(proto: NodeProto) -> str:
    """What a node asks for, without the names that a file has for it."""
    plain = NodeProto()
    plain.CopyFrom(proto)
    plain.ClearField("name")
    plain.ClearField("doc_string")
    del plain.metadata_props[:]
    plain.input[:] = [f"x{k}" if name else "" for k, name in enumerate(proto.input)]
    plain.output[:] = [f"y{k}" if name else "" for k, name in enumerate(proto.output)]
    return str(MessageToJson(plain, indent=None))


def first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
