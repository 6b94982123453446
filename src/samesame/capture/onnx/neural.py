"""Convolutions, pools, normalisations and resizing: the fourth part of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from samesame.capture.onnx.elementwise import real
from samesame.capture.onnx.table import Application, Value, axis_of, numbers, row, tensor, tensors

Tensor = torch.Tensor
CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
MAX_POOLS = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
AVERAGES = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def padding(node: Application, x: Tensor, kernel: Sequence[int]) -> tuple[list[Any], list[Any]]:
    """How much is padded at the beginning and at the end of each spatial dimension."""
    count, how = len(kernel), node.get("auto_pad", "NOTSET")
    if how == "NOTSET":
        pads = list(node.get("pads", [0] * 2 * count))
        return pads[:count], pads[count:]
    if how == "VALID":
        return [0] * count, [0] * count
    strides, dilations = node.get("strides", [1] * count), node.get("dilations", [1] * count)
    begin, end = [], []
    for n, k, s, d in zip(x.shape[2:], kernel, strides, dilations, strict=True):
        whole = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0)
        less = whole // 2
        begin.append(less if how == "SAME_UPPER" else whole - less)
        end.append(whole - less if how == "SAME_UPPER" else less)
    return begin, end


def padded(x: Tensor, begin: list[Any], end: list[Any], value: float) -> Tensor:
    return F.pad(x, [n for side in zip(reversed(begin), reversed(end), strict=True) for n in side], value=value)


@row("Conv")
def conv(node: Application, x: Value, weight: Value, bias: Value | None = None) -> Any:
    found, kernel, added = tensors(x, weight, bias)
    assert found is not None and kernel is not None
    count = kernel.dim() - 2
    if count not in CONVOLUTIONS:
        return NotImplemented
    begin, end = padding(node, found, kernel.shape[2:])
    strides, dilations = node.get("strides", [1] * count), node.get("dilations", [1] * count)
    if begin != end:
        found, begin = padded(found, begin, end, 0.0), [0] * count
    return CONVOLUTIONS[count](found, kernel, added, strides, begin, dilations, node.get("group", 1))


@row("ConvTranspose")
def conv_transpose(node: Application, x: Value, weight: Value, bias: Value | None = None) -> Any:
    found, kernel, added = tensors(x, weight, bias)
    assert found is not None and kernel is not None
    count = kernel.dim() - 2
    if count not in TRANSPOSED or node.get("auto_pad", "NOTSET") != "NOTSET" or node.get("output_shape") is not None:
        return NotImplemented
    pads = list(node.get("pads", [0] * 2 * count))
    more = node.get("output_padding", [0] * count)
    if pads[:count] != pads[count:]:
        return NotImplemented
    return TRANSPOSED[count](found, kernel, added, node.get("strides", [1] * count), pads[:count], more,
                             node.get("group", 1), node.get("dilations", [1] * count))


@row("MaxPool")
def max_pool(node: Application, x: Value) -> Any:
    found, kernel = tensor(x), node.get("kernel_shape")
    count = len(kernel)
    if count not in MAX_POOLS or len(node.outputs) > 1 or node.get("storage_order", 0):
        return NotImplemented
    strides, dilations = node.get("strides", [1] * count), node.get("dilations", [1] * count)
    begin, end = padding(node, found, kernel)
    if begin != end or any(2 * p > k for p, k in zip(begin, kernel, strict=True)):
        if not found.is_floating_point() or node.get("ceil_mode", 0):
            return NotImplemented
        found, begin = padded(found, begin, end, -float("inf")), [0] * count
    return MAX_POOLS[count](found, kernel, strides, begin, dilations, bool(node.get("ceil_mode", 0)))


@row("AveragePool")
def average_pool(node: Application, x: Value) -> Any:
    found, kernel = tensor(x), node.get("kernel_shape")
    count, whole = len(kernel), bool(node.get("count_include_pad", 0))
    begin, end = padding(node, found, kernel)
    plain = count in AVERAGES and all(d == 1 for d in node.get("dilations", [1]))
    if not plain or any(2 * p > k for p, k in zip(begin, kernel, strict=True)) or (begin != end and not whole) \
            or (node.get("ceil_mode", 0) and any(n for n in (*begin, *end))):
        return NotImplemented
    if begin != end:
        found, begin = padded(found, begin, end, 0.0), [0] * count
    return AVERAGES[count](found, kernel, node.get("strides", [1] * count), begin, bool(node.get("ceil_mode", 0)),
                           whole)


@row("GlobalAveragePool")
def global_average_pool(node: Application, x: Value) -> Tensor:
    found = tensor(x)
    return found.mean(tuple(range(2, found.dim())), keepdim=True)


@row("GlobalMaxPool")
def global_max_pool(node: Application, x: Value) -> Tensor:
    found = tensor(x)
    return found.amax(tuple(range(2, found.dim())), keepdim=True)


@row("LRN")
def local_response(node: Application, x: Value) -> Tensor:
    return F.local_response_norm(tensor(x), node.get("size"), real(node, "alpha", 1e-4), real(node, "beta", 0.75),
                                 real(node, "bias", 1.0))


# ------------------------------------------------------------------------------------------------------- normalisations


@row("BatchNormalization")
def batch_norm(node: Application, x: Value, scale: Value, bias: Value, mean: Value, variance: Value) -> Any:
    if node.get("training_mode", 0) or len(node.outputs) > 1:
        return NotImplemented
    return F.batch_norm(tensor(x), tensor(mean), tensor(variance), tensor(scale), tensor(bias), False, 0.0,
                        real(node, "epsilon", 1e-5))


@row("InstanceNormalization")
def instance_norm(node: Application, x: Value, scale: Value, bias: Value) -> Tensor:
    return F.instance_norm(tensor(x), weight=tensor(scale), bias=tensor(bias), eps=real(node, "epsilon", 1e-5))


def widely(node: Application, x: Tensor) -> Tensor:
    """A normalisation computes in float32 unless it is told not to."""
    return x.float() if node.get("stash_type", 1) == 1 and x.dtype in (torch.float16, torch.bfloat16) else x


@row("LayerNormalization")
def layer_norm(node: Application, x: Value, scale: Value, bias: Value | None = None) -> Any:
    found, factor, added = tensors(x, scale, bias)
    assert found is not None and factor is not None
    if len(node.outputs) > 1:
        return NotImplemented
    shape = found.shape[axis_of(node.get("axis", -1), found.dim()):]
    epsilon = real(node, "epsilon", 1e-5)
    if factor.shape != shape or (added is not None and added.shape != shape) or found.dtype != factor.dtype:
        made = F.layer_norm(widely(node, found), shape, None, None, epsilon).to(found.dtype) * factor
        return made if added is None else made + added
    return F.layer_norm(found, shape, factor, added, epsilon)


@row("RMSNormalization")
def rms_norm(node: Application, x: Value, scale: Value) -> Tensor:
    found, factor = tensor(x), tensor(scale)
    shape = found.shape[axis_of(node.get("axis", -1), found.dim()):]
    epsilon = real(node, "epsilon", 1e-5)
    if factor.shape == shape and factor.dtype == found.dtype and widely(node, found).dtype == found.dtype:
        return F.rms_norm(found, shape, factor, epsilon)
    wide = widely(node, found)
    return F.rms_norm(wide, shape, None, epsilon).to(factor.dtype) * factor


@row("GroupNormalization")
def group_norm(node: Application, x: Value, scale: Value, bias: Value) -> Tensor:
    return F.group_norm(tensor(x), node.get("num_groups"), tensor(scale), tensor(bias), real(node, "epsilon", 1e-5))


# ------------------------------------------------------------------------------------------------------------- resizing


@row("Resize")
def resize(
    node: Application, x: Value, roi: Value | None = None, scales: Value | None = None, sizes: Value | None = None
) -> Any:
    """What torch's interpolate does too; other ways of resizing are ONNX Runtime's."""
    found = tensor(x)
    count = found.dim() - 2
    given = numbers(sizes) if sizes is not None else numbers(scales) if scales is not None else []
    axes = [axis_of(axis, found.dim()) for axis in node.get("axes", range(found.dim()))]
    factors = dict(zip(axes, given, strict=True))
    unit = 1.0 if sizes is None else None
    outer = [factors.get(d, unit or found.shape[d]) for d in (0, 1)]
    kept = all(n == (unit or found.shape[d]) for d, n in enumerate(outer))
    if not kept or not given or node.get("keep_aspect_ratio_policy", "stretch") != "stretch" or count < 1:
        return NotImplemented
    wanted = [factors.get(d, unit or found.shape[d]) for d in range(2, found.dim())]
    how = torch_mode(node, count)
    if how is None:
        return NotImplemented
    asked: dict[str, Any] = {"size": wanted} if sizes is not None else {"scale_factor": [float(n) for n in wanted]}
    if node.get("coordinate_transformation_mode", "half_pixel") == "pytorch_half_pixel" \
            and any(n <= 1 for n in (wanted if sizes is not None else [0])):
        return NotImplemented
    return F.interpolate(found, **asked, **how)


def torch_mode(node: Application, count: int) -> dict[str, Any] | None:
    """The settings of torch's interpolate that mean the same; None where there are none."""
    mode, place = node.get("mode", "nearest"), node.get("coordinate_transformation_mode", "half_pixel")
    smooth = bool(node.get("antialias", 0))
    if mode == "nearest":
        rounding = node.get("nearest_mode", "round_prefer_floor")
        return {"mode": "nearest"} if (place, rounding) == ("asymmetric", "floor") and not smooth else None
    names = {"linear": {1: "linear", 2: "bilinear", 3: "trilinear"}, "cubic": {2: "bicubic"}}
    name = names.get(mode, {}).get(count)
    if name is None or place not in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        return None
    if node.get("exclude_outside", 0) != int(smooth) and (mode == "cubic" or smooth):
        return None
    if mode == "cubic" and real(node, "cubic_coeff_a", -0.75) != (-0.5 if smooth else -0.75):
        return None
    if smooth and count != 2:
        return None
    return {"mode": name, "align_corners": place == "align_corners", "antialias": smooth}


@row("GridSample")
def grid_sample(node: Application, x: Value, grid: Value) -> Any:
    modes = {"linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest", "cubic": "bicubic",
             "bicubic": "bicubic"}
    found = tensor(x)
    return F.grid_sample(found, tensor(grid), modes[node.get("mode", "linear")],
                         node.get("padding_mode", "zeros"), bool(node.get("align_corners", 0)))
