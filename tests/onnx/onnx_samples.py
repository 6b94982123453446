"""Samples of every operator that the table of ONNX covers: attributes, fitted shapes, negative axes, versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

import onnx
from onnx import TensorProto, helper


@dataclass(frozen=True)
class Sample:
    """A node: operator, inputs (None for one that is left out), attributes, version. Integers and what stands among
    `fixed` are constants of the file."""

    operator: str
    inputs: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    version: int = 18
    outputs: int = 1
    fixed: tuple[int, ...] = ()
    opaque: bool = False

    def __str__(self) -> str:
        shapes = "-".join("x".join(map(str, np.shape(x))) or "s" for x in self.inputs if x is not None)
        said = ",".join(f"{k}={v}" for k, v in self.attributes.items())
        return f"{self.operator}-{self.version}-{shapes}-{said}"[:110].replace(" ", "")

    def model(self) -> tuple[Any, list[Any]]:
        """The file, and what to give it."""
        names = ["" if x is None else f"x{k}" for k, x in enumerate(self.inputs)]
        made = [f"y{k}" for k in range(self.outputs)]
        node = helper.make_node(self.operator, names, made, **self.attributes)
        held = [k for k in self.fixed if k < len(names) and names[k]]
        constants = [helper.make_tensor(names[k], KINDS[np.asarray(self.inputs[k]).dtype.str[1:]],
                                        np.shape(self.inputs[k]), np.asarray(self.inputs[k]).flatten()) for k in held]
        given = [k for k, x in enumerate(self.inputs) if x is not None and k not in held]
        taken = [helper.make_tensor_value_info(names[k], KINDS[np.asarray(self.inputs[k]).dtype.str[1:]],
                                               np.shape(self.inputs[k])) for k in given]
        ends = [helper.make_empty_tensor_value_info(name) for name in made]
        graph = helper.make_graph([node], "sample", taken, ends, constants)
        return typed(graph, self.version, np.shape(self.inputs[0])), [np.asarray(self.inputs[k]) for k in given]


KINDS = {"f4": TensorProto.FLOAT, "f8": TensorProto.DOUBLE, "i8": TensorProto.INT64, "i4": TensorProto.INT32,
         "b1": TensorProto.BOOL, "u1": TensorProto.UINT8, "f2": TensorProto.FLOAT16, "i1": TensorProto.INT8}


def typed(graph: Any, version: int, shape: tuple[int, ...]) -> Any:
    """The model, with types for what it gives: the shape of what it takes where nothing else is known."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
    inferred = onnx.shape_inference.infer_shapes(model)
    for place, value in enumerate(inferred.graph.output):
        if not value.type.tensor_type.HasField("shape"):   # a function, which the package does not look into
            same = helper.make_tensor_value_info(value.name, TensorProto.FLOAT, shape)
            inferred.graph.output[place].CopyFrom(same)
    return inferred


DICE = np.random.default_rng(0)


def real(*shape: int) -> Any:
    return DICE.normal(size=shape).astype(np.float32)


def above(least: float, *shape: int) -> Any:
    return (np.abs(DICE.normal(size=shape)) + least).astype(np.float32)


def unit(*shape: int) -> Any:
    return DICE.uniform(-0.9, 0.9, size=shape).astype(np.float32)


def ints(*values: Any) -> Any:
    return np.array(values, dtype=np.int64)


def whole(*shape: int) -> Any:
    return DICE.integers(-7, 8, size=shape)


def truths(*shape: int) -> Any:
    return DICE.integers(0, 2, size=shape).astype(bool)


ANY = ["Abs", "Atan", "Ceil", "Cos", "Erf", "Exp", "Floor", "Identity", "IsNaN", "Neg", "Relu", "Round", "Sigmoid",
    "Sign", "Sin", "Softplus", "Softsign", "Tan", "Tanh", "Sinh", "Cosh", "Asinh", "HardSwish", "Mish"]
S = Sample
Samples = Iterator[Sample]


def elementwise() -> Samples:
    for name in ANY:
        yield S(name, (real(3, 4),))
    yield from (S(name, (unit(3, 4),)) for name in ("Acos", "Asin", "Atanh"))
    yield from (S(name, (above(1.1, 3, 4),)) for name in ("Acosh", "Log", "Sqrt", "Reciprocal"))
    yield S("Round", (np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float32),))
    yield S("Sign", (np.array([0.0, -0.0, 2.0, -3.0], np.float32),))
    yield from (S(name, (whole(2, 5),)) for name in ("Abs", "Neg", "Sign"))
    yield S("Not", (truths(3, 4),))
    yield S("BitwiseNot", (whole(3, 4),))
    for name, (a, b) in product(("Add", "Sub", "Mul", "Div"), (((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 4), (3, 1)))):
        yield S(name, (real(*a), above(0.5, *b)))
        yield S(name, (whole(*a), np.where(DICE.integers(0, 2, size=b), 3, -2)))
        yield S(name, (real(*a), above(0.5)), fixed=(1,))
        yield S(name, (np.float32(0.1), above(0.5, *b)), fixed=(0,))
    for fmod in (0, 1):
        yield S("Mod", (whole(3, 4), np.where(DICE.integers(0, 2, size=4), 3, -2)), {"fmod": fmod})
    yield S("Mod", (real(3, 4), above(0.5, 4)), {"fmod": 1})
    yield S("Pow", (above(0.2, 3, 4), real(4)))
    yield S("Pow", (real(3, 4), np.float32(2.0)), fixed=(1,))
    yield S("Pow", (real(3, 4), np.int64(3)), fixed=(1,))
    yield S("Pow", (whole(3, 4), np.int64(2)), fixed=(1,))
    for name in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        yield S(name, (whole(3, 4), whole(4)))
        yield S(name, (real(3, 4), real(3, 1)))
    for name in ("And", "Or", "Xor"):
        yield S(name, (truths(3, 4), truths(4)))
    for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        yield S(name, (whole(3, 4), whole(4)))
    yield from (S("BitShift", (np.array([1, 4, 16], np.uint8), np.array([1, 2, 3], np.uint8)), {"direction": d})
                for d in ("LEFT", "RIGHT"))
    for name in ("Max", "Min", "Sum", "Mean"):
        yield S(name, (real(3, 4), real(4), real(3, 1)))
        yield S(name, (real(3, 4),))
    yield S("Max", (whole(3, 4), whole(4)))
    yield S("Where", (truths(3, 1), real(4), real(3, 4)))
    yield S("Where", (truths(3, 4), np.float32(0.0), real(3, 4)), fixed=(1,))
    yield S("Clip", (real(3, 4), np.float32(-0.5), np.float32(0.5)), fixed=(1, 2))
    yield S("Clip", (real(3, 4), None, np.float32(0.5)), fixed=(2,))
    yield S("Clip", (real(3, 4), np.float32(0.1)), version=11)
    yield S("Clip", (real(3, 4),))
    for how in ("none", "tanh"):
        yield S("Gelu", (real(3, 4),), {"approximate": how}, 20)
    for alpha in ({}, {"alpha": 0.3}):
        yield from (S(name, (real(3, 4),), alpha) for name in ("LeakyRelu", "Elu", "Celu", "ThresholdedRelu"))
    yield S("Selu", (real(3, 4),))
    yield S("Selu", (real(3, 4),), {"alpha": 1.5, "gamma": 2.0})
    yield S("HardSigmoid", (real(3, 4) * 4,))
    yield S("HardSigmoid", (real(3, 4) * 4,), {"alpha": 1 / 6, "beta": 0.5})
    yield S("Shrink", (real(3, 4),), {"lambd": 0.4})
    yield S("Shrink", (real(3, 4),), {"lambd": 0.4, "bias": 0.2})
    yield S("PRelu", (real(2, 3, 4), real(1)))
    yield S("PRelu", (real(2, 3, 4), real(3, 1)))
    yield S("PRelu", (real(2, 3, 4), real(4)))
    yield S("PRelu", (real(2, 4, 4), real(4, 1)))
    yield S("PRelu", (real(2, 4, 4), real(4)))
    infinite = np.array([1.0, np.inf, -np.inf], np.float32)
    for up, down in ((1, 1), (1, 0), (0, 1)):
        yield S("IsInf", (infinite,), {"detect_positive": up, "detect_negative": down})
    for kind in (TensorProto.INT64, TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.INT32):
        yield S("Cast", (real(3, 4) * 3,), {"to": kind})
    yield S("Cast", (truths(3, 4),), {"to": TensorProto.FLOAT})
    yield S("CastLike", (whole(3, 4), real(1)))
    yield S("Dropout", (real(3, 4),), version=13)
    yield S("Dropout", (real(3, 4),), version=13, outputs=2)
    yield S("ConstantOfShape", (ints(2, 3),), fixed=(0,))
    four = helper.make_tensor("v", TensorProto.INT64, [1], [4])
    yield S("ConstantOfShape", (ints(2, 3),), {"value": four}, fixed=(0,))
    yield S("Range", (np.int64(2), np.int64(11), np.int64(3)), fixed=(0, 1, 2))
    yield S("Range", (np.float32(0), np.float32(1), np.float32(0.25)), fixed=(0, 1, 2))
    yield S("EyeLike", (real(3, 4),))
    yield S("EyeLike", (real(3, 4),), {"k": 1}, opaque=True)
    for upper in (0, 1):
        yield S("Trilu", (real(2, 4, 4),), {"upper": upper})
        yield S("Trilu", (real(4, 5), np.int64(-1)), {"upper": upper}, fixed=(1,))
    for axis in (-1, 0, 1):
        yield S("OneHot", (ints(0, 2, -1), np.int64(4), real(2)), {"axis": axis}, fixed=(1, 2))
    yield S("Shape", (real(2, 3, 4),))
    yield S("Shape", (real(2, 3, 4),), {"start": -2})
    yield S("Shape", (real(2, 3, 4),), {"start": 1, "end": -1})
    yield S("Size", (real(2, 3, 4),))
    yield S("Swish", (real(3, 4),), {"alpha": 1.0}, 24)
    yield S("Swish", (real(3, 4),), {"alpha": 1.7}, 24)


def movement() -> Samples:
    x = real(2, 3, 4)
    for shape in (ints(6, 4), ints(0, -1), ints(2, 0, 2, 2), ints(-1)):
        yield S("Reshape", (x, shape), fixed=(1,))
    yield S("Reshape", (x, ints(4, 6)), {"allowzero": 1}, fixed=(1,))
    yield from (S("Flatten", (x,), {"axis": axis}) for axis in (0, 1, 2, 3, -1))
    yield S("Transpose", (x,))
    yield S("Transpose", (x,), {"perm": [1, 2, 0]})
    y = real(1, 3, 1, 4)
    yield S("Squeeze", (y,))
    yield S("Squeeze", (y, ints(0, -2)), fixed=(1,))
    yield S("Squeeze", (y,), {"axes": [2]}, 11)
    yield S("Unsqueeze", (x, ints(0, -1)), fixed=(1,))
    yield S("Unsqueeze", (x, ints(3, 1)), fixed=(1,))
    yield S("Unsqueeze", (x,), {"axes": [-1, 1]}, 11)
    for axis in (0, 1, -1):
        yield S("Concat", (x, real(2, 3, 4), real(2, 3, 4)), {"axis": axis})
    yield S("Split", (real(6, 4), ints(1, 5)), {"axis": 0}, outputs=2, fixed=(1,))
    yield S("Split", (real(6, 4),), {"axis": -1, "split": [1, 3]}, 11, outputs=2)
    yield S("Split", (real(6, 4),), {"axis": 0}, 13, outputs=3)
    yield S("Split", (real(7, 4),), {"axis": 0, "num_outputs": 3}, 18, outputs=3)
    z = real(5, 6)
    far = np.iinfo(np.int64).max
    for start, end, axes, steps in (
        (ints(1), ints(4), ints(0), None), (ints(-3), ints(far), ints(-1), None), (ints(0, 1), ints(5, -1), None, None),
        (ints(0), ints(6), ints(1), ints(2)), (ints(-1), ints(-far), ints(0), ints(-1)),
        (ints(4), ints(0), ints(0), ints(-2)), (ints(2), ints(100), ints(0), None),
        (ints(-100), ints(2), ints(0), None),
    ):
        yield S("Slice", (z, start, end, axes, steps)[: 5 if steps is not None else 4 if axes is not None else 3],
                fixed=(1, 2, 3, 4))
    for axis, places in product((0, 1, -1), (ints(0, 2, 1), ints([0, -1], [1, 2]), np.int64(1), np.int64(-1))):
        yield S("Gather", (real(4, 3), places), {"axis": axis}, fixed=(1,))
        yield S("Gather", (real(4, 3), places), {"axis": axis})
    yield S("Gather", (real(4, 3, 2), ints(0, 2, 1)), {"axis": 1})
    for axis in (0, 1, -1):
        for places in (ints([0, -1, 2], [1, 1, 0], [2, 0, 0]), ints([0, 1, 2], [1, 1, 0], [2, 0, 0])):
            yield from (S("GatherElements", (real(3, 3), places), {"axis": axis}, fixed=fixed) for fixed in ((), (1,)))
        for how in ("none", "add", "mul", "max", "min"):
            yield S("ScatterElements", (real(3, 3), ints([0, -1, 2], [1, 2, 0], [2, 0, 1]), real(3, 3)),
                    {"axis": axis, "reduction": how})
    yield S("GatherElements", (real(3, 4), ints([0, -1], [1, 1])), {"axis": 1})
    yield S("GatherND", (real(3, 4, 2), ints([0, 1], [2, -1])))
    yield S("GatherND", (real(3, 4, 2), ints([[0], [1]])))
    yield S("GatherND", (real(3, 4, 2), ints([0], [1], [3])), {"batch_dims": 1}, opaque=True)
    for how in ("none", "add"):
        yield S("ScatterND", (real(4, 3), ints([0], [2]), real(2, 3)), {"reduction": how})
    yield S("ScatterND", (real(4, 3), ints([0, 1], [2, -1]), real(2)))
    yield S("ScatterND", (real(4, 3), ints([0], [2]), real(2, 3)), {"reduction": "max"}, opaque=True)
    yield S("Expand", (real(3, 1), ints(2, 3, 4)), fixed=(1,))
    yield S("Expand", (real(3, 4), ints(1, 1)), fixed=(1,))
    yield S("Expand", (real(2, 3, 1), ints(4)), fixed=(1,))
    yield S("Tile", (real(2, 3), ints(2, 3)), fixed=(1,))
    yield from (S("DepthToSpace", (real(2, 8, 3, 2),), {"blocksize": 2, "mode": mode}) for mode in ("DCR", "CRD"))
    yield S("SpaceToDepth", (real(2, 3, 4, 6),), {"blocksize": 2})
    yield S("Pad", (real(2, 3), ints(1, 0, 0, 2)), fixed=(1,))
    yield S("Pad", (real(2, 3), ints(1, 0, 0, 2), np.float32(0.7)), fixed=(1, 2))
    yield S("Pad", (real(2, 3), ints(0, -1, 1, 0)), fixed=(1,))
    yield S("Pad", (real(2, 3, 4), ints(1, 2), np.float32(0.0), ints(-1)), fixed=(1, 2, 3))
    for mode in ("reflect", "edge"):
        yield S("Pad", (real(2, 3, 4, 5), ints(0, 0, 1, 2, 0, 0, 2, 1)), {"mode": mode}, fixed=(1,))
        yield S("Pad", (real(4, 5), ints(1, 2, 2, 1)), {"mode": mode}, fixed=(1,))
    yield S("Pad", (real(2, 3, 4, 5), ints(0, 0, 1, 2, 0, 0, 2, 1)), {"mode": "wrap"}, 19, fixed=(1,))
    for reverse in (0, 1):
        yield S("CumSum", (real(3, 4), np.int64(-1)), {"reverse": reverse}, fixed=(1,))
    yield S("CumSum", (whole(3, 4), np.int64(0)), fixed=(1,))
    yield S("CumSum", (real(3, 4), np.int64(1)), {"exclusive": 1}, fixed=(1,), opaque=True)
    yield S("CenterCropPad", (real(4, 7), ints(6, 4)), fixed=(1,))
    yield S("CenterCropPad", (real(5, 4), ints(4, 7)), fixed=(1,))


FOLDS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
    "ReduceSumSquare", "ReduceLogSumExp", "ReduceLogSum"]


def reductions() -> Samples:
    for name in FOLDS:
        x = above(0.2, 2, 3, 4) if name == "ReduceLogSum" else real(2, 3, 4)
        as_input = 13 if name == "ReduceSum" else 18
        yield S(name, (x,), version=as_input)
        yield S(name, (x, ints(1)), {"keepdims": 0}, as_input, fixed=(1,))
        yield S(name, (x, ints(-1, 0)), {"keepdims": 1}, as_input, fixed=(1,))
        yield S(name, (x,), {"axes": [-1], "keepdims": 0}, 11)
        if name in ("ReduceSum", "ReduceMax", "ReduceMean"):
            yield S(name, (x,), {"noop_with_empty_axes": 1}, as_input)
    for name in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"):
        yield S(name, (whole(2, 3).astype(np.int32),), version=18)
    for name, axis, keep in product(("ArgMax", "ArgMin"), (0, 1, -1), (0, 1)):
        yield S(name, (real(2, 3, 4),), {"axis": axis, "keepdims": keep})
    yield S("ArgMax", (real(2, 3),), {"axis": 0, "select_last_index": 1}, opaque=True)
    for largest, axis in product((0, 1), (-1, 0)):
        yield S("TopK", (real(4, 5), ints(2)), {"axis": axis, "largest": largest}, outputs=2, fixed=(1,))
    for a, b in (((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2))):
        yield S("MatMul", (real(*a), real(*b)))
    yield S("Gemm", (real(3, 4), real(4, 5)))
    yield S("Gemm", (real(3, 4), real(5, 4), real(5)), {"transB": 1})
    yield S("Gemm", (real(4, 3), real(5, 4), real(3, 1)), {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0})
    yield S("Gemm", (real(3, 4), real(5, 4), real(3, 5)), {"transB": 1})
    yield S("Gemm", (real(3, 4), real(4, 5), real(5)), {"beta": 0.0})
    yield S("Einsum", (real(2, 3, 4), real(2, 4, 5)), {"equation": "bij,bjk->bik"})
    yield S("Einsum", (real(3, 4),), {"equation": "ij->ji"})
    for name, axis, version in product(("Softmax", "LogSoftmax", "Hardmax"), (-1, 0, 1), (11, 13)):
        yield S(name, (real(2, 3, 4),), {"axis": axis}, version)
    yield S("Softmax", (real(2, 3, 4),), version=11)
    yield S("Softmax", (real(2, 3, 4),), version=13)
    yield from (S("LpNormalization", (real(3, 4),), {"axis": axis, "p": p}) for axis, p in product((0, -1), (1, 2)))
    yield S("MeanVarianceNormalization", (real(2, 3, 4, 5),))
    yield S("MeanVarianceNormalization", (real(2, 3, 4, 5),), {"axes": [0, 2]})


def neural() -> Samples:
    x, w, b = real(2, 4, 7, 6), real(6, 4, 3, 3), real(6)
    for attributes in (
        {}, {"pads": [1, 1, 1, 1]}, {"pads": [0, 1, 2, 1]}, {"strides": [2, 1]}, {"auto_pad": "VALID"},
        {"dilations": [2, 2], "pads": [1, 0, 1, 0]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
    ):
        yield S("Conv", (x, w, b), attributes)
    yield S("Conv", (x, real(6, 2, 3, 3)), {"group": 2})
    yield S("Conv", (real(2, 3, 9), real(4, 3, 2), real(4)), {"strides": [2]})
    yield S("Conv", (real(1, 2, 4, 5, 4), real(3, 2, 2, 2, 2)))
    for attributes in ({}, {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 0]}, {"dilations": [2, 1]}):
        yield S("ConvTranspose", (x, real(4, 5, 3, 3), real(5)), attributes)
    yield S("ConvTranspose", (x, real(4, 3, 3, 3)), {"group": 2})
    yield S("ConvTranspose", (x, real(4, 5, 3, 3)), {"pads": [0, 1, 1, 0]}, opaque=True)
    for attributes in ({}, {"strides": [2, 2], "pads": [1, 1, 1, 1]}, {"pads": [0, 1, 2, 0]}, {"dilations": [2, 1]},
                       {"ceil_mode": 1, "strides": [2, 2]}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}):
        yield S("MaxPool", (x,), {"kernel_shape": [3, 2], **attributes})
    yield S("MaxPool", (x,), {"kernel_shape": [2, 2]}, outputs=2, opaque=True)
    for attributes in ({}, {"strides": [2, 2], "pads": [1, 1, 1, 1]}, {"pads": [1, 1, 1, 1], "count_include_pad": 1},
                       {"pads": [0, 1, 1, 0], "count_include_pad": 1}, {"ceil_mode": 1, "strides": [2, 2]}):
        yield S("AveragePool", (x,), {"kernel_shape": [3, 2], **attributes}, 19)
    yield S("AveragePool", (x,), {"kernel_shape": [3, 2], "pads": [0, 1, 1, 0]}, 19, opaque=True)
    yield from (S(name, (real(2, 3, 4, 5),)) for name in ("GlobalAveragePool", "GlobalMaxPool"))
    yield S("GlobalAveragePool", (real(2, 3, 6),))
    yield S("LRN", (real(2, 6, 3, 3),), {"size": 3})
    yield S("LRN", (real(2, 6, 3, 3),), {"size": 5, "alpha": 0.2, "beta": 0.6, "bias": 2.0})
    for version in (11, 14, 15):
        given = real(2, 4, 3), real(4), real(4), real(4), above(0.2, 4)
        yield S("BatchNormalization", given, {"epsilon": 0.01}, version)
    yield S("InstanceNormalization", (real(2, 4, 5), real(4), real(4)), {"epsilon": 0.01})
    for axis in (-1, 1, 2):
        shape = (2, 3, 4)[axis:]
        yield S("LayerNormalization", (real(2, 3, 4), real(*shape), real(*shape)), {"axis": axis, "epsilon": 0.01}, 17)
    yield S("LayerNormalization", (real(2, 3, 4), real(4)), version=17)
    yield S("LayerNormalization", (real(2, 3, 4), real(4)), version=17, outputs=3, opaque=True)
    yield S("RMSNormalization", (real(2, 3, 4), real(4)), {"epsilon": 0.01}, 23)
    yield S("RMSNormalization", (real(2, 3, 4), real(3, 4)), {"axis": 1}, 23)
    yield S("GroupNormalization", (real(2, 6, 3, 3), real(6), real(6)), {"num_groups": 3, "epsilon": 0.01}, 21)
    for mode, place in product(("linear", "cubic"), ("half_pixel", "align_corners", "pytorch_half_pixel")):
        yield S("Resize", (real(1, 2, 3, 4), None, None, ints(1, 2, 6, 7)),
                {"mode": mode, "coordinate_transformation_mode": place}, 18, fixed=(3,))
    scales = np.array([1, 1, 2, 1.5], np.float32)
    yield S("Resize", (real(1, 2, 3, 4), None, scales), {"mode": "linear"}, 18, fixed=(2,))
    nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    yield S("Resize", (real(1, 2, 3, 4), None, np.array([1, 1, 2, 2], np.float32)), nearest, 18, fixed=(2,))
    yield S("Resize", (real(1, 2, 3, 4), None, scales), nearest, 18, fixed=(2,))
    yield S("Resize", (real(1, 2, 3, 4), None, None, ints(1, 2, 5, 7)), nearest, 18, fixed=(3,))
    yield S("Resize", (real(1, 2, 3, 4), None, None, ints(5, 7)), {**nearest, "axes": [2, 3]}, 18, fixed=(3,))
    yield S("Resize", (real(1, 2, 3, 4), None, scales), {"mode": "nearest"}, 18, fixed=(2,), opaque=True)
    yield S("Resize", (real(1, 2, 3, 4), None, scales), {"mode": "cubic", "cubic_coeff_a": -0.5}, 18, fixed=(2,),
            opaque=True)
    grid = unit(2, 3, 4, 2)
    for mode, pad, corners in product(("bilinear", "nearest"), ("zeros", "border", "reflection"), (0, 1)):
        how = {"mode": mode, "padding_mode": pad, "align_corners": corners}
        yield S("GridSample", (real(2, 3, 5, 6), grid), how, 16)


def attention() -> Samples:
    q, k, v = real(2, 4, 5, 8), real(2, 2, 5, 8), real(2, 2, 5, 6)
    yield S("Attention", (q, k, v), version=23)
    yield S("Attention", (q, k, v), {"is_causal": 1}, 23)
    yield S("Attention", (q, k, v), {"scale": 0.3}, 23)
    yield S("Attention", (q, k, v, real(2, 1, 5, 5)), version=23)
    yield S("Attention", (real(2, 5, 8), real(2, 6, 8), real(2, 6, 8)), {"q_num_heads": 4, "kv_num_heads": 4}, 23)
    yield S("Attention", (q, k, v), {"softcap": 2.0}, 23, opaque=True)
    for interleaved in (0, 1):
        yield S("RotaryEmbedding", (real(2, 3, 5, 8), unit(2, 5, 4), unit(2, 5, 4)), {"interleaved": interleaved}, 23)
    yield S("RotaryEmbedding", (real(2, 3, 5, 8), unit(9, 4), unit(9, 4), DICE.integers(0, 9, size=(2, 5))), version=23)
    yield S("RotaryEmbedding", (real(2, 5, 24), unit(2, 5, 4), unit(2, 5, 4)), {"num_heads": 3}, 23)
    yield S("RotaryEmbedding", (real(2, 3, 5, 8), unit(2, 5, 2), unit(2, 5, 2)), {"rotary_embedding_dim": 4}, 23)


def recurrent() -> Samples:
    for name, gates, states in (("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)):
        for ways, direction in ((1, "forward"), (1, "reverse"), (2, "bidirectional")):
            x, w, r = real(4, 3, 5), real(ways, gates * 2, 5), real(ways, gates * 2, 2)
            b, start = real(ways, gates * 4), [real(ways, 3, 2) for _ in range(states)]
            lengths = np.array([4, 1, 3], np.int32)
            how = {"hidden_size": 2, "direction": direction}
            yield S(name, (x, w, r), how, 14, outputs=1 + states)
            yield S(name, (x, w, r, b, lengths, *start), how, 14, outputs=1 + states)
            yield S(name, (x, w, r, b, None, *start), how, 22, outputs=1)
            others = ["Relu", "Softsign", "Softplus"][: {"RNN": 1, "GRU": 2, "LSTM": 3}[name]] * ways
            yield S(name, (x, w * 0.3, r * 0.3, b), {**how, "activations": others}, 11, outputs=1 + states)
            if name == "GRU":
                yield S(name, (x, w, r, b, lengths, *start), {**how, "linear_before_reset": 1}, 14, outputs=2)
                yield S(name, (x, w, r), {**how, "linear_before_reset": 1}, 14, outputs=2)
            if name == "LSTM":
                yield S(name, (x, w, r, b, None, *start, real(ways, 6)), how, 14, outputs=3)
        x, w, r = real(4, 3, 5), real(1, gates * 2, 5), real(1, gates * 2, 2)
        yield S(name, (x, w, r), {"hidden_size": 2, "clip": 0.3}, 14, outputs=1, opaque=True)
    leaky = {"hidden_size": 2, "activations": ["LeakyRelu"], "activation_alpha": [0.3]}
    yield S("RNN", (real(4, 3, 5), real(1, 2, 5), real(1, 2, 2)), leaky, 14, outputs=1, opaque=True)


def bytes_of(kind: Any, *shape: int) -> np.ndarray[Any, Any]:
    bounds = np.iinfo(kind)
    return DICE.integers(bounds.min, bounds.max + 1, size=shape).astype(kind)


def quantised() -> Samples:
    scale, scales, x = above(0.01, 1)[0] * 0.02, above(0.01, 3) * 0.02, real(2, 3, 4)
    # Weights are halved: where a machine lacks dot products of bytes, the runtime's sums of two products saturate.
    for kind in (np.uint8, np.int8):
        zero, zeros = bytes_of(kind, 1)[0], bytes_of(kind, 3)
        yield S("QuantizeLinear", (x, scale, zero), version=13)
        yield S("QuantizeLinear", (x * 100, scale, zero), version=13)
        yield S("QuantizeLinear", (x, scales, zeros), {"axis": 1}, 19)
        yield S("QuantizeLinear", (real(4, 2, 3), scales, zeros), {"axis": -1}, 13)
        yield S("DequantizeLinear", (bytes_of(kind, 2, 3, 4), scale, zero), version=13)
        yield S("DequantizeLinear", (bytes_of(kind, 2, 3, 4), scales, zeros), version=19)
        yield S("DequantizeLinear", (bytes_of(kind, 2, 3, 4), scale), version=13)
        yield S("MatMulInteger", (bytes_of(np.uint8, 2, 3, 4), bytes_of(kind, 4, 5) // 2), version=10 + 1)
        yield S("MatMulInteger", (bytes_of(np.uint8, 3, 4), bytes_of(kind, 4, 5) // 2, bytes_of(np.uint8, 1)[0], zero))
        yield S("MatMulInteger", (bytes_of(np.uint8, 3, 4), bytes_of(kind, 4, 3) // 2, bytes_of(np.uint8, 1)[0], zeros))
        yield S("QLinearMatMul", (bytes_of(np.uint8, 3, 4), scale, bytes_of(np.uint8, 1)[0], bytes_of(kind, 4, 3),
                                  scale, zero, np.float32(0.03), bytes_of(np.uint8, 1)[0]))
        yield S("QLinearMatMul", (bytes_of(np.uint8, 2, 3, 4), scale, bytes_of(np.uint8, 1)[0], bytes_of(kind, 4, 3),
                                  scales, zeros, np.float32(0.03), bytes_of(np.uint8, 1)[0]))
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 300, -300, 0], np.float32)
    yield S("QuantizeLinear", (halves, np.float32(1)), version=13)
    yield S("QuantizeLinear", (real(4, 4), above(0.1, 2, 4), bytes_of(np.uint8, 2, 4)),
            {"axis": 0, "block_size": 2}, 21, opaque=True)
    yield S("DequantizeLinear", (DICE.integers(-999, 999, size=(2, 3)).astype(np.int32), scale), version=13)
    yield from (S("DynamicQuantizeLinear", (x,), outputs=3)
                for x in (real(3, 4), above(0.5, 4), -above(0.5, 4), np.zeros((2, 3), np.float32), halves))
    x, zero = bytes_of(np.uint8, 2, 4, 6, 5), bytes_of(np.uint8, 1)[0]
    for attributes in ({}, {"pads": [1, 1, 1, 1]}, {"pads": [0, 1, 1, 0], "strides": [2, 1]}, {"dilations": [2, 1]}):
        yield S("ConvInteger", (x, bytes_of(np.uint8, 3, 4, 2, 3) // 2, zero), attributes)
        given = scale, zero, bytes_of(np.int8, 3, 4, 2, 3) // 2, scale, np.int8(0), np.float32(0.05), zero
        yield S("QLinearConv", (x, *given), attributes)
    yield S("ConvInteger", (x, bytes_of(np.uint8, 3, 4, 2, 3)))
    yield S("QLinearConv", (x, scale, zero, bytes_of(np.int8, 3, 4, 2, 3) // 2, scales, np.zeros(3, np.int8),
                            np.float32(0.05), zero, DICE.integers(-999, 999, size=3).astype(np.int32)))


FAMILIES: dict[str, Callable[[], Samples]] = {
    "elementwise": elementwise, "movement": movement, "reductions": reductions, "neural": neural,
    "attention": attention, "recurrent": recurrent, "quantised": quantised,
}


def samples() -> dict[str, list[Sample]]:
    """By operator."""
    found: dict[str, list[Sample]] = {}
    for family in FAMILIES.values():
        for sample in family():
            found.setdefault(sample.operator, []).append(sample)
    return found
