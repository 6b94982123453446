"""ONNX Runtime: a whole model where nobody watches, and single nodes of which the table has no row.

Such a node is the operator `onnx.<Op>` of torch, opaque to proofs: its arguments are the tensors that it takes, what it
asks for as text, and the version. Where ONNX Runtime has no kernel for float64, the node computes in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import onnxruntime
import torch
from google.protobuf.json_format import Parse

import onnx
from onnx import NodeProto, helper
from samesame.capture.onnx.file import Model, first_line
from samesame.capture.onnx.table import Application
from samesame.evidence import Refused

LIBRARY: Any = torch.library.Library("onnx", "FRAGMENT")    # type: ignore[no-untyped-call]
DEFINED: set[str] = set()


class Runtime:
    """A model in ONNX Runtime, to be called as the model is."""

    def __init__(self, model: Model) -> None:
        self.model, self.session = model, session(model.path)
        self.names = [value.name for value in self.session.get_inputs()]

    def __call__(self, *args: torch.Tensor, **kwargs: torch.Tensor) -> dict[str, torch.Tensor]:
        given = dict(zip(self.names, args, strict=False)) | kwargs
        feeds = {name: array(given[name]) for name in self.names if name in given}
        try:
            found = self.session.run(None, feeds)
        except Exception as error:                         # ONNX Runtime has exceptions of its own for each failure
            raise RuntimeError(f"ONNX Runtime cannot run {self.model.path}: {first_line(error)}") from None
        names = [value.name for value in self.session.get_outputs()]
        return {name: torch.from_numpy(np.array(value)) for name, value in zip(names, found, strict=True)}


def options() -> Any:
    """Operators as they stand in the file, on as many threads as torch has."""
    chosen = onnxruntime.SessionOptions()
    chosen.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    chosen.intra_op_num_threads = torch.get_num_threads()
    chosen.log_severity_level = 4
    return chosen


def session(model: str | bytes) -> Any:
    try:
        return onnxruntime.InferenceSession(model, options(), providers=["CPUExecutionProvider"])
    except Exception as error:
        named = model if isinstance(model, str) else "a node"
        raise Refused(f"ONNX Runtime {onnxruntime.__version__} cannot load {named}: {first_line(error)}") from None


def array(tensor: torch.Tensor) -> Any:
    return tensor.detach().cpu().contiguous().numpy()


# ------------------------------------------------------------------------------------------------------- single nodes


def run_node(node: Application, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The results of a node that runs in ONNX Runtime, as an operator that torch dispatches."""
    name = node.called.replace(".", "_")
    if name not in DEFINED:
        DEFINED.add(name)
        LIBRARY.define(f"{name}(Tensor[] inputs, str node, int version) -> Tensor[]")
        LIBRARY.impl(name, _computed, "CPU")
    found = getattr(torch.ops.onnx, name)(list(tensors), node.proto, node.version)
    return tuple(found)


def _computed(inputs: list[torch.Tensor], node: str, version: int) -> list[torch.Tensor]:
    try:
        return _run(inputs, node, version)
    except Refused:
        if not any(x.dtype == torch.float64 for x in inputs):
            raise
        narrow = [x.float() if x.dtype == torch.float64 else x for x in inputs]
        return [x.double() if x.is_floating_point() else x for x in _run(narrow, node, version)]


def _run(inputs: list[torch.Tensor], node: str, version: int) -> list[torch.Tensor]:
    kinds = tuple(helper.np_dtype_to_tensor_dtype(array(x).dtype) for x in inputs)
    loaded = _session_of(node, version, kinds, tuple(x.dim() for x in inputs))
    feeds = {value.name: array(x) for value, x in zip(loaded.get_inputs(), inputs, strict=True)}
    return [torch.from_numpy(np.array(found)) for found in loaded.run(None, feeds)]


@cache
def _session_of(text: str, version: int, kinds: tuple[int, ...], ranks: tuple[int, ...]) -> Any:
    """A model of one node."""
    node = Parse(text, NodeProto())
    names = [name for name in node.input if name]
    given = [helper.make_tensor_value_info(name, kind, [None] * rank)
             for name, kind, rank in zip(names, kinds, ranks, strict=True)]
    made = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    domain = node.domain
    versions = [helper.make_opsetid(domain, version)] + ([helper.make_opsetid("", 17)] if domain else [])
    model = helper.make_model(helper.make_graph([node], "node", given, made), opset_imports=versions)
    inferred = onnx.shape_inference.infer_shapes(model)
    model.ir_version = min(model.ir_version, 10)
    if all(value.type.WhichOneof("value") for value in inferred.graph.output):
        inferred.ir_version = model.ir_version
        return session(inferred.SerializeToString())
    return session(model.SerializeToString())
