"""What torch leaves open: calls whose result may be anything, so that no compiler can be wrong about them.

A program is run once with an eye on every operator. A cast of NaN to an integer, a shift by more bits than there are,
an index written twice, the order of equal elements: a program in which that happens is dropped, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from samesame.capture.memory import address, has_memory, overlap, place_of
from samesame.fuzz.program import Program

UNINITIALISED = ("torch.empty", "torch.empty_like", "torch.empty_strided", ".new_empty", ".new_empty_strided")
CASTS = ("_to_copy", "copy_", "to")

Question = Callable[[Any, Any, Any], bool]        # of an argument among all of them


def leaves_open(subject: Any) -> str:
    """Why the program (or what else is judged) has no defined result; "" if it has. Runs it."""
    steps = subject.every_step if isinstance(subject, Program) else []
    if any(step.call in UNINITIALISED for step in steps):
        return "memory that nothing was written into"
    if any("max_pool" in step.call and step.unpacked for step in steps):
        return "positions of maxima that may stand twice"
    function, inputs, watch = subject.function(), subject.make_inputs(), _Watch()
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
        if not self.why and any(map(_endless, tree_leaves((args, kwargs)))):
            self.why = "a complex number that is not finite"
        for why, question, position, names in OPEN:
            if not self.why and name.removesuffix("_") in names and question(args[position], args, kwargs):
                self.why = why
        result = operation(*args, **kwargs)
        casts = name in CASTS or kwargs.get("dtype") is not None
        if not self.why and casts and _beyond(args[-1] if name == "copy_" else args[0] if args else None, result):
            self.why = "a cast of a float that no integer of that dtype is"
        return result


def _endless(value: Any) -> bool:
    """A complex number of which a part is not finite: 1·(1 + ∞i) is NaN + ∞i, or 1 + ∞i, as one counts."""
    return isinstance(value, torch.Tensor) and value.is_complex() and not bool(torch.isfinite(value).all())


def _beyond(value: Any, result: Any) -> bool:
    """A float whose whole part no integer of the result's dtype is."""
    if not (isinstance(value, torch.Tensor) and isinstance(result, torch.Tensor) and value.is_floating_point()):
        return False
    if result.is_floating_point() or result.is_complex() or result.dtype == torch.bool:
        return False
    info, wide = torch.iinfo(result.dtype), value.double()
    return not bool((torch.isfinite(wide) & (wide > info.min - 1.0) & (wide < info.max + 1.0)).all())


def _shift(value: Any, args: Any, kwargs: Any) -> bool:
    kind = value.dtype if isinstance(value, torch.Tensor) else args[1].dtype
    by = torch.as_tensor(args[1])
    return not kind.is_floating_point and not bool(((by >= 0) & (by < torch.iinfo(kind).bits)).all())


def _twice(index: Any, args: Any, kwargs: Any) -> bool:
    """The same place twice, or an index of several tensors, of which that is not asked."""
    if kwargs.get("accumulate") or (len(args) > 3 and args[3] is True) or kwargs.get("reduce"):
        return False
    parts = [part for part in _listed(index) if part is not None]
    if len(parts) != 1:
        return True
    mask = parts[0].dtype in (torch.bool, torch.uint8)
    return not mask and parts[0].unique().numel() < parts[0].numel()


def _scattered(index: Any, args: Any, kwargs: Any) -> bool:
    """The same place twice along the dimension."""
    return not kwargs.get("reduce") and index.numel() > 0 and index.dim() > 0 and _equal_along(index, args[1])


def _ties(value: Any, args: Any, kwargs: Any) -> bool:
    """Equal elements, or NaN, along the dimension that is sorted."""
    if value.dim() == 0 or value.is_complex() or kwargs.get("stable"):
        return False
    numbers = [part for part in args[1:] if isinstance(part, int) and not isinstance(part, bool)]
    dim = kwargs.get("dim", numbers[-1] if numbers and -value.dim() <= numbers[-1] < value.dim() else -1)
    return value.shape[dim] > 1 and (_equal_along(value, dim) or bool(value.isnan().any()))


def _equal_along(value: torch.Tensor, dim: int) -> bool:
    ordered, length = value.sort(dim).values, value.shape[dim]
    return bool((ordered.narrow(dim, 1, length - 1) == ordered.narrow(dim, 0, length - 1)).any())


def _equal_anywhere(value: Any, args: Any, kwargs: Any) -> bool:
    return bool(value.isnan().any()) or value.unique().numel() < value.numel()


def _unsorted(bounds: Any, args: Any, kwargs: Any) -> bool:
    ordered = not isinstance(bounds, torch.Tensor) or bool((bounds[..., 1:] >= bounds[..., :-1]).all())
    return not ordered and kwargs.get("sorter") is None


def _bytes(masks: Any, args: Any, kwargs: Any) -> bool:
    """A mask of bytes, which torch's documentation does not take."""
    return any(isinstance(mask, torch.Tensor) and mask.dtype == torch.uint8 for mask in _listed(masks))


def _listed(index: Any) -> Sequence[Any]:
    return index if isinstance(index, list | tuple) else [index]


def _overflow(value: Any, args: Any, kwargs: Any) -> bool:
    """The smallest integer over −1."""
    by = torch.as_tensor(args[1])
    if not isinstance(value, torch.Tensor) or any(x.is_floating_point() or x.is_complex() for x in (value, by)):
        return False
    return value.dtype != torch.bool and bool((value == torch.iinfo(value.dtype).min).any() and (by == -1).any())


def _infinite(value: Any, args: Any, kwargs: Any) -> bool:
    return bool(torch.isinf(value).any())


def _read_elsewhere(target: Any, args: Any, kwargs: Any) -> bool:
    """What is written lies in what is read, and at other places: no order of the elements is promised."""
    return any(_crossing(target, other) for other in args[1:] if isinstance(other, torch.Tensor))


def _updated_elsewhere(statistics: Any, args: Any, kwargs: Any) -> bool:
    """Running statistics, which a training step updates, that lie in one another's memory, or in what is normalised."""
    tensors = {k: x for k, x in enumerate(args) if isinstance(x, torch.Tensor)}
    return any(k != j and _meet(x, tensors[j]) for j in (3, 4) if j in tensors for k, x in tensors.items())


def _crossing(a: torch.Tensor, b: torch.Tensor) -> bool:
    return _meet(a, b) and place_of(a) != place_of(b)


def _meet(a: torch.Tensor, b: torch.Tensor) -> bool:
    return has_memory(a) and has_memory(b) and address(a) == address(b) and overlap(a, b)


TWICE = "an element that is written twice, or may be"
CROSSED = "memory that is read while it is written at other places"
TIES = "equal elements, whose order is not defined"
BOUNDARIES = "boundaries that are not sorted"
MASK = "a mask that is not boolean, which torch deprecates"
MOMENTS = "var_mean std_mean native_layer_norm native_group_norm native_batch_norm _native_batch_norm_legit"
OPEN: list[tuple[str, Question, int, frozenset[str]]] = [  # why, what is asked, of which argument of which operators
    (why, question, position, frozenset(names.split()))
    for why, question, position, names in (
        ("a shift by more bits than there are", _shift, 0,
         "bitwise_left_shift bitwise_right_shift __lshift__ __rshift__"),
        (TWICE, _twice, 1, "index_put put max_unpool2d max_unpool3d"),
        (TWICE, _twice, 2, "index_copy"),
        (TWICE, _scattered, 2, "scatter"),
        (TIES, _ties, 0, "sort argsort topk kthvalue median nanmedian mode"),
        (TIES, _equal_anywhere, 0, "cummax cummin _cummax_helper _cummin_helper"),
        (BOUNDARIES, _unsorted, 0, "searchsorted"),
        (BOUNDARIES, _unsorted, 1, "bucketize"),
        (MASK, _bytes, 0, "where"),
        (MASK, _bytes, 1, "masked_fill masked_select masked_scatter index"),
        (CROSSED, _read_elsewhere, 0, "copy"),
        (CROSSED, _updated_elsewhere, 3, "native_batch_norm _native_batch_norm_legit"),
        ("the smallest integer divided by −1", _overflow, 0, "floor_divide div remainder fmod"),
        ("a mean beside an infinity, which depends on how it is summed", _infinite, 0, MOMENTS),
    )
]
