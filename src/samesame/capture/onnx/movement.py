"""Operators that move elements: reshapes, slices, gathers, scatters, pads. The second part of the table."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from samesame.capture.onnx.arithmetic import cuts
from samesame.capture.onnx.known import Known
from samesame.capture.onnx.table import Application, Value, axis_of, number, numbers, row, tensor

Tensor = torch.Tensor


def given_axes(node: Application, axes: Value | None, name: str = "axes") -> list[int] | None:
    """Axes, which older versions have as an attribute and newer ones as an input."""
    if axes is not None:
        return [int(axis) for axis in numbers(axes)]
    found = node.get(name)
    return None if found is None else list(found)


@row("Reshape")
def reshape(node: Application, x: Value, shape: Value) -> Tensor:
    found = tensor(x)
    sizes = [found.shape[d] if _is_zero(n) and not node.get("allowzero", 0) else n
             for d, n in enumerate(numbers(shape))]
    return found.reshape(sizes)


def _is_zero(number: Any) -> bool:
    """A size that remembers is no zero: a dimension was asked for its size."""
    return type(number) is int and number == 0


@row("Flatten")
def flatten(node: Application, x: Value) -> Tensor:
    found = tensor(x)
    axis = axis_of(node.get("axis", 1), found.dim())
    if axis == 1 and found.dim() > 1:
        return torch.flatten(found, 1)
    return found.reshape(math.prod(found.shape[:axis]), math.prod(found.shape[axis:]))


@row("Transpose")
def transpose(node: Application, x: Value) -> Tensor:
    found = tensor(x)
    return found.permute(node.get("perm", list(range(found.dim()))[::-1]))


@row("Squeeze")
def squeeze(node: Application, x: Value, axes: Value | None = None) -> Tensor:
    found, given = tensor(x), given_axes(node, axes)
    return found.squeeze() if given is None else found.squeeze(tuple(given))


@row("Unsqueeze")
def unsqueeze(node: Application, x: Value, axes: Value | None = None) -> Tensor:
    found, given = tensor(x), given_axes(node, axes) or []
    for axis in sorted(axis_of(axis, found.dim() + len(given)) for axis in given):
        found = found.unsqueeze(axis)
    return found


@row("Concat")
def concat(node: Application, *values: Value) -> Tensor:
    return torch.cat([tensor(value) for value in values], node.get("axis"))


@row("Split")
def split(node: Application, x: Value, sizes: Value | None = None) -> Any:
    found, axis = tensor(x), node.get("axis", 0)
    given = given_axes(node, sizes, "split") if sizes is None else numbers(sizes)
    if given is not None:
        return torch.split(found, given, axis)
    return torch.chunk(found, node.get("num_outputs", len(node.outputs)), axis)


@row("Slice")
def cut(node: Application, x: Value, *bounds: Value | None) -> Tensor:
    known = tuple(b if b is None or isinstance(b, Known) else Known(numbers(b), b.shape, b.dtype) for b in bounds)
    found = tensor(x)
    slices = cuts(node, found.dim(), known)
    for dim, part in enumerate(slices):
        if _is_negative(part.step):
            found = _backwards(found, dim, part)
        elif part != slice(None):
            found = found[(*[slice(None)] * dim, _plain(part, found.shape[dim]))]
    return found


END = 1 << 31                                              # from here on, the end is the end


def _is_negative(step: Any) -> bool:
    return type(step) is int and step < 0


def _plain(part: slice, size: Any) -> slice:
    end = None if type(part.stop) is int and part.stop >= END - 1 else part.stop
    start = None if type(part.start) is int and part.start == 0 else part.start
    if type(start) is int and start >= END - 1:
        start = size
    return slice(start, end, part.step)


def _backwards(x: Tensor, dim: int, part: slice) -> Tensor:
    """torch has no steps backwards: the elements are taken by their places."""
    places = range(x.shape[dim])[part]
    if list(places) == list(range(x.shape[dim]))[::-1]:
        return x.flip(dim)
    return x.index_select(dim, torch.tensor(list(places), dtype=torch.int64))


@row("Gather")
def gather(node: Application, x: Value, indices: Value) -> Tensor:
    found = tensor(x)
    axis = axis_of(node.get("axis", 0), found.dim())
    if isinstance(indices, Known) and not indices.shape:
        return found.select(axis, indices.numbers[0])
    places = tensor(indices).to(torch.int64)
    before: list[Any] = [slice(None)] * axis
    return found[(*before, places)] if places.dim() else found[(*before, places.reshape(1))].squeeze(axis)


def from_the_start(places: Tensor, given: Value, size: Any) -> Tensor:
    """Indices may be negative, and then count from the end, which torch knows where it indexes and not where it
    gathers; those of the file are looked at."""
    if isinstance(given, Known) and not given.sized and all(n >= 0 for n in given.numbers):
        return places
    return torch.where(places < 0, places + size, places)


@row("GatherElements")
def gather_elements(node: Application, x: Value, indices: Value) -> Any:
    found, axis = tensor(x), node.get("axis", 0)
    axis = axis_of(axis, found.dim())
    if any(a < b for d, (a, b) in enumerate(zip(found.shape, tensor(indices).shape, strict=True)) if d != axis):
        return NotImplemented
    return found.gather(axis, from_the_start(tensor(indices).to(torch.int64), indices, found.shape[axis]))


@row("GatherND")
def gather_nd(node: Application, x: Value, indices: Value) -> Any:
    if node.get("batch_dims", 0):
        return NotImplemented
    found, places = tensor(x), tensor(indices).to(torch.int64)
    return found[tuple(places.select(-1, k) for k in range(places.shape[-1]))]


@row("ScatterElements")
def scatter_elements(node: Application, x: Value, indices: Value, updates: Value) -> Any:
    found, axis, how = tensor(x), node.get("axis", 0), node.get("reduction", "none")
    places = from_the_start(tensor(indices).to(torch.int64), indices, found.shape[axis])
    if how == "none":
        return found.scatter(axis, places, tensor(updates))
    if how == "add":
        return found.scatter_add(axis, places, tensor(updates))
    if how not in REDUCED:
        return NotImplemented
    return found.scatter_reduce(axis, places, tensor(updates), REDUCED[how])


REDUCED = {"mul": "prod", "max": "amax", "min": "amin"}


@row("ScatterND")
def scatter_nd(node: Application, x: Value, indices: Value, updates: Value) -> Any:
    if node.get("reduction", "none") not in ("none", "add"):
        return NotImplemented
    found, places = tensor(x), tensor(indices).to(torch.int64)
    columns = tuple(places.select(-1, k) for k in range(places.shape[-1]))
    return torch.index_put(found, columns, tensor(updates), node.get("reduction", "none") == "add")


@row("Expand")
def expand(node: Application, x: Value, shape: Value) -> Tensor:
    found, wanted = tensor(x), numbers(shape)
    rank = max(found.dim(), len(wanted))
    own, other = [1] * (rank - found.dim()) + list(found.shape), [1] * (rank - len(wanted)) + wanted
    return found.expand([a if _is_one(b) else b for a, b in zip(own, other, strict=True)])


def _is_one(number: Any) -> bool:
    return type(number) is int and number == 1


@row("Tile")
def tile(node: Application, x: Value, repeats: Value) -> Tensor:
    return tensor(x).repeat(numbers(repeats))


@row("DepthToSpace")
def depth_to_space(node: Application, x: Value) -> Tensor:
    found, block = tensor(x), node.get("blocksize")
    if node.get("mode", "DCR") == "CRD":
        return F.pixel_shuffle(found, block)
    n, c, h, w = found.shape
    parts = found.reshape(n, block, block, c // block**2, h, w).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // block**2, h * block, w * block)


@row("SpaceToDepth")
def space_to_depth(node: Application, x: Value) -> Tensor:
    found, block = tensor(x), node.get("blocksize")
    n, c, h, w = found.shape
    parts = found.reshape(n, c, h // block, block, w // block, block).permute(0, 3, 5, 1, 2, 4)
    return parts.reshape(n, c * block**2, h // block, w // block)


MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@row("Pad")
def pad(node: Application, x: Value, pads: Value, value: Value | None = None, axes: Value | None = None) -> Any:
    found, given = tensor(x), numbers(pads)
    rank, half = found.dim(), len(given) // 2
    along = [axis_of(int(a), rank) for a in numbers(axes)] if axes is not None else list(range(rank))
    sides: list[tuple[Any, Any]] = [(0, 0)] * rank
    for place, axis in enumerate(along):
        sides[axis] = given[place], given[half + place]
    mode = node.get("mode", "constant")
    while len(sides) > 1 and _nothing(sides[0]):           # torch pads the last dimensions
        sides.pop(0)
    flat = [n for side in reversed(sides) for n in side]
    if mode == "constant":
        return F.pad(found, flat, value=0 if value is None else number(value))
    if mode not in MODES or rank - len(sides) > 2 or len(sides) > 3:
        return NotImplemented
    outer = rank - len(sides)
    shaped = found if outer else found.unsqueeze(0)
    shaped = shaped if shaped.dim() - len(sides) else shaped.unsqueeze(0)
    padded = F.pad(shaped, flat, mode=MODES[mode])
    return padded if outer else padded.squeeze(0)


def _nothing(side: tuple[Any, Any]) -> bool:
    return all(type(n) is int and n == 0 for n in side)


@row("CumSum")
def cumulated(node: Application, x: Value, axis: Value) -> Any:
    if node.get("exclusive", 0):
        return NotImplemented
    found, dim = tensor(x), number(axis)
    if node.get("reverse", 0):
        return found.flip(dim).cumsum(dim, dtype=found.dtype).flip(dim)
    return found.cumsum(dim, dtype=found.dtype)


@row("CenterCropPad")
def center_crop_pad(node: Application, x: Value, shape: Value) -> Any:
    found, wanted = tensor(x), numbers(shape)
    axes = node.get("axes", list(range(found.dim())))
    for axis, size in zip(axes, wanted, strict=True):
        dim = axis_of(axis, found.dim())
        missing = size - found.shape[dim]
        if missing < 0:
            found = found.narrow(dim, -missing // 2, size)
        elif missing > 0:
            sides = [0, 0] * (found.dim() - dim - 1) + [missing // 2, missing - missing // 2]
            found = F.pad(found, sides)
    return found
