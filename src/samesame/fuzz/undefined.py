"""What torch leaves open: calls whose result may be anything, so that no compiler can be wrong about them.

A program is run once with an eye on every operator. A cast of NaN to an integer, a shift by more bits than there are,
an index written twice, the order of equal elements: a program in which that happens is dropped, and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from samesame.fuzz.program import Program, steps_in

UNINITIALISED = ("torch.empty", "torch.empty_like", "torch.empty_strided", ".new_empty", ".new_empty_strided")

Question = Callable[..., str]


def leaves_open(subject: Any) -> str:
    """Why the program (or what else is judged) has no defined result; "" if it has. Runs it."""
    if isinstance(subject, Program) and any(step.call in UNINITIALISED for step in steps_in(subject.steps)):
        return "memory that nothing was written into"
    if isinstance(subject, Program) and any("max_pool" in s.call and s.unpacked for s in steps_in(subject.steps)):
        return "positions of maxima that may stand twice"
    function, inputs = subject.function(), subject.make_inputs()
    watch = _Watch()
    with watch:
        function(*inputs)
    return watch.why


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Asks of each operator that is dispatched whether its result is defined."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.why = ""

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = operation._schema.name.removeprefix("aten::")
        question = OPEN.get(name.removesuffix("_"))
        if question is not None and not self.why:
            self.why = question(args, kwargs)
        result = operation(*args, **kwargs)
        if not self.why and (name in CASTS or kwargs.get("dtype") is not None):
            self.why = _cast(args[-1] if name == "copy_" else args[0] if args else None, result)
        return result


CASTS = ("_to_copy", "copy_", "to")


def _cast(value: Any, result: Any) -> str:
    """A float that no integer of the result's dtype is."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.numel() == 0:
        return ""
    if not isinstance(result, torch.Tensor):
        return ""
    if result.is_floating_point() or result.is_complex() or result.dtype == torch.bool:
        return ""
    info = torch.iinfo(result.dtype)
    inside = torch.isfinite(value) & (value.double() > info.min - 1.0) & (value.double() < info.max + 1.0)
    return "" if bool(inside.all()) else "a cast of a float that is no integer of that dtype"


def _shift(args: Any, kwargs: Any) -> str:
    value, by = args[0], args[1]
    kind = value.dtype if isinstance(value, torch.Tensor) else by.dtype
    if kind.is_floating_point:
        return ""
    by = torch.as_tensor(by)
    return "" if bool(((by >= 0) & (by < torch.iinfo(kind).bits)).all()) else "a shift by more bits than there are"


def _written_twice(position: int) -> Question:
    def question(args: Any, kwargs: Any) -> str:
        if kwargs.get("accumulate") or (len(args) > 3 and args[3] is True) or kwargs.get("reduce"):
            return ""
        index = args[position]
        parts = [part for part in (index if isinstance(index, list | tuple) else [index]) if part is not None]
        if len(parts) != 1 or parts[0].dtype in (torch.bool, torch.uint8):
            return "" if len(parts) == 1 else "an element that may be written twice"
        return "" if parts[0].unique().numel() == parts[0].numel() else "an element that is written twice"

    return question


def _scattered(args: Any, kwargs: Any) -> str:
    """Twice the same place along the dimension."""
    _, dim, index = args[:3]
    if kwargs.get("reduce") or index.numel() == 0 or index.dim() == 0:
        return ""
    ordered = index.sort(dim).values
    twice = (ordered.narrow(dim, 1, index.shape[dim] - 1) == ordered.narrow(dim, 0, index.shape[dim] - 1)).any()
    return "an element that is written twice" if bool(twice) else ""


def _ties(args: Any, kwargs: Any) -> str:
    """Equal elements, whose order is not defined."""
    value = args[0]
    if value.dim() == 0 or value.is_complex():
        return ""
    numbers = [part for part in args[1:] if isinstance(part, int) and not isinstance(part, bool)]
    dim = kwargs.get("dim", numbers[-1] if numbers and -value.dim() <= numbers[-1] < value.dim() else -1)
    ordered = value.sort(dim).values
    if ordered.shape[dim] < 2:
        return ""
    equal = ordered.narrow(dim, 1, ordered.shape[dim] - 1) == ordered.narrow(dim, 0, ordered.shape[dim] - 1)
    nan = torch.isnan(value).any() if value.is_floating_point() else False
    return "equal elements, whose order is not defined" if bool(equal.any()) or bool(nan) else ""


def _sorted(position: int) -> Question:
    """The boundaries of a search."""

    def question(args: Any, kwargs: Any) -> str:
        bounds = args[position]
        ordered = not isinstance(bounds, torch.Tensor) or bool((bounds[..., 1:] >= bounds[..., :-1]).all())
        return "" if ordered or kwargs.get("sorter") is not None else "boundaries that are not sorted"

    return question


def _equal_maxima(args: Any, kwargs: Any) -> str:
    """Positions of maxima on the way, where one stands twice."""
    value = args[0]
    nan = value.is_floating_point() and bool(torch.isnan(value).any())
    return "equal elements, whose order is not defined" if nan or value.unique().numel() < value.numel() else ""


def _mask(position: int) -> Question:
    """A mask of bytes, which torch deprecates and its documentation does not take."""

    def question(args: Any, kwargs: Any) -> str:
        masks = args[position] if isinstance(args[position], list | tuple) else [args[position]]
        bytes_ = any(isinstance(mask, torch.Tensor) and mask.dtype == torch.uint8 for mask in masks)
        return "a mask that is not boolean, which torch deprecates" if bytes_ else ""

    return question


def _unstable(args: Any, kwargs: Any) -> str:
    return "" if kwargs.get("stable") else _ties(args, kwargs)


def _division(args: Any, kwargs: Any) -> str:
    """The smallest integer over −1."""
    value, by = args[0], torch.as_tensor(args[1])
    if not isinstance(value, torch.Tensor) or value.is_floating_point() or by.is_floating_point() or value.is_complex():
        return ""
    if value.dtype == torch.bool:
        return ""
    ends = (value == torch.iinfo(value.dtype).min).any() and (by == -1).any()
    return "the smallest integer divided by −1" if bool(ends) else ""


OPEN: dict[str, Question] = {
    "bitwise_left_shift": _shift,
    "bitwise_right_shift": _shift,
    "__lshift__": _shift,
    "__rshift__": _shift,
    "index_put": _written_twice(1),
    "index_copy": _written_twice(2),
    "put": _written_twice(1),
    "scatter": _scattered,
    "sort": _unstable,
    "argsort": _unstable,
    "topk": _ties,
    "kthvalue": _ties,
    "median": _ties,
    "nanmedian": _ties,
    "mode": _ties,
    "searchsorted": _sorted(0),
    "bucketize": _sorted(1),
    "where": _mask(0),
    "masked_fill": _mask(1),
    "masked_select": _mask(1),
    "masked_scatter": _mask(1),
    "index": _mask(1),
    "cummax": _equal_maxima,
    "cummin": _equal_maxima,
    "_cummax_helper": _equal_maxima,
    "_cummin_helper": _equal_maxima,
    "max_unpool2d": _written_twice(1),
    "max_unpool3d": _written_twice(1),
    "floor_divide": _division,
    "div": _division,
    "remainder": _division,
    "fmod": _division,
}
