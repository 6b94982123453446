"""How many rows were chosen, as Python sees it: whether there are any, and no more.

A dimension of chosen rows has as many rows as the mask has true values, which is not known while a program is recorded.
Where the program asks for its size it gets a `Count`. It may be compared with 0, which says that there are rows, be
given back to torch as a size, and be written out, as words; anything else is refused.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from samesame.capture.rows.carried import Axes, Selection
    from samesame.capture.rows.chosen import Rows

Tensor = torch.Tensor


class Count(int):
    """A size that data decides. As a plain number it is that of all rows, and so is what torch gets (`inside`); without
    a `selection` it is no size of a tensor but a product with one."""

    rows: Rows
    selection: Selection | None
    inside: Any

    @classmethod
    def of(cls, rows: Rows, plain: int, inside: Any, selection: Selection | None) -> Count:
        found = cls(plain)
        found.rows, found.selection, found.inside = rows, selection, inside
        return found

    def compare(self, other: Any, answers: dict[int, bool], word: str) -> bool:
        """How it compares with a number, where that says only whether there are rows."""
        if type(other) is int and other in answers:
            return answers[other]
        raise self.rows.refusal(f"asks whether the number of rows that data chose is {word} {other!s}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Count) and self.selection is not None and other.selection is self.selection:
            return True
        return False if other is None else self.compare(other, {0: False}, "equal to")

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __gt__(self, other: int) -> bool:
        return self.compare(other, {0: True}, "greater than")

    def __ge__(self, other: int) -> bool:
        return self.compare(other, {0: True, 1: True}, "at least")

    def __lt__(self, other: int) -> bool:
        return self.compare(other, {0: False, 1: False}, "less than")

    def __le__(self, other: int) -> bool:
        return self.compare(other, {0: False}, "at most")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "as many as are chosen"

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        return str(self)

    def refuse(self, *_: Any) -> Any:
        raise self.rows.refusal("computes with the number of rows that data chose")

    __hash__ = refuse
    __int__ = __float__ = __trunc__ = __round__ = __floor__ = __ceil__ = __abs__ = __neg__ = __pos__ = refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __pow__ = __rpow__ = __divmod__ = refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __rdivmod__ = refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = refuse
    bit_length = bit_count = as_integer_ratio = conjugate = refuse
    to_bytes = refuse                                      # type: ignore[assignment]


class Sizes(tuple[Any, ...]):
    """The shape of a tensor with chosen rows."""

    __slots__ = ()

    def numel(self) -> Any:
        counts = [n for n in self if isinstance(n, Count)]
        if not counts:
            return prod(self)
        return Count.of(counts[0].rows, prod(int.__index__(n) for n in self if isinstance(n, int)), None, None)


class Counting(TorchFunctionMode):
    """Gives out counts for the sizes of chosen rows, and takes them back."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.rows = rows

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        rows = self.rows
        if not rows.known and not rows.sites:
            return function(*args, **kwargs)
        if function in ASKED:
            tensor = next(iter(args), kwargs.get("input"))
            if isinstance(tensor, Tensor) and any(axes := axes_of(rows, tensor)):
                return ASKED[function](self, tensor, axes, *args[1:], **kwargs)
        before, rows.iterates = rows.iterates, sys._getframe(1).f_code is ITERATES
        counts: list[Count] = []
        try:
            result = function(*taken(args, counts), **taken(kwargs, counts))
        finally:
            rows.iterates = before
        if counts:
            with torch._C.DisableTorchFunction():
                self.sized(function, args, kwargs, counts, result)
        return result

    def sized(self, function: Any, args: Any, kwargs: Any, counts: list[Count], result: Tensor) -> None:
        """What came of a call that was given counts: a tensor made with one as a size has that many rows."""
        rows = self.rows
        if any(count.selection is None for count in counts) or function not in SIZED | MADE | {torch.arange}:
            raise rows.refusal(f"gives the number of rows that data chose to {function.__name__}")
        if function is torch.arange:
            if len(args) != 1 or not isinstance(args[0], Count):
                raise rows.refusal("numbers some of the rows that data chose")
            assert counts[0].selection is not None
            rows.mark(result, (counts[0].selection,))
            rows.numbers[rows.node(result)] = counts[0].selection
            return
        sizes = kwargs.get("size", kwargs.get("shape", args if function in MADE - NEW else args[1:]))
        sizes = sizes[0] if isinstance(sizes, tuple) and sizes and isinstance(sizes[0], tuple | list) else sizes
        asked = [n.selection if isinstance(n, Count) else None for n in sizes[: result.dim()]]
        if len(asked) != result.dim() or len([axis for axis in asked if axis]) != len(counts):
            raise rows.refusal(f"gives the number of rows that data chose to {function.__name__}")
        known = rows.axes(result)
        found = tuple(axis or own for axis, own in zip(asked, known, strict=True))
        fresh = function in MADE or (function in REPEATS and tuple(args[0].shape) != tuple(result.shape))
        if found != known and not fresh:
            raise rows.refusal(f"gives the number of rows that data chose to {function.__name__}")
        rows.mark(result, found)

    # ------------------------------------------------------------------------------------------------- what sizes are

    def sizes(self, tensor: Tensor, axes: Axes, *_: Any) -> Sizes:
        shape = tensor.shape
        return Sizes(n if axis is None else Count.of(self.rows, axis.count, n, axis)
                     for n, axis in zip(shape, axes, strict=True))

    def size(self, tensor: Tensor, axes: Axes, dim: int | None = None) -> Any:
        found = self.sizes(tensor, axes)
        return found if dim is None else found[dim]

    def length(self, tensor: Tensor, axes: Axes) -> Any:
        return self.sizes(tensor, axes)[0]

    def numel(self, tensor: Tensor, axes: Axes, **_: Any) -> Any:
        return next(iter(self.sizes(tensor, axes))) if tensor.dim() == 1 else self.sizes(tensor, axes).numel()

    def refused(self, tensor: Tensor, axes: Axes, *_: Any) -> Any:
        raise self.rows.refusal("asks for the size of")


def axes_of(rows: Rows, tensor: Tensor) -> Axes:
    """The axes of a tensor; that somebody asks is nothing the program does."""
    with torch._C.DisableTorchFunction():
        return rows.axes(tensor)


def taken(argument: Any, found: list[Count]) -> Any:
    """The argument with plain sizes in place of counts, which are added to `found`."""
    if isinstance(argument, Count):
        found.append(argument)
        return argument.inside
    if isinstance(argument, tuple | list):
        parts = [taken(part, found) for part in argument]
        if type(argument) in (tuple, list, Sizes):
            return parts if type(argument) is list else tuple(parts)
        return argument
    if type(argument) is dict:
        return {name: taken(part, found) for name, part in argument.items()}
    if isinstance(argument, slice):
        return slice(*(taken(part, found) for part in (argument.start, argument.stop, argument.step)))
    return argument


ASKED: dict[Any, Callable[..., Any]] = {
    Tensor.shape.__get__: Counting.sizes,                  # type: ignore[attr-defined]
    Tensor.size: Counting.size,
    Tensor.__len__: Counting.length,
    Tensor.numel: Counting.numel,
    Tensor.nelement: Counting.numel,
    torch.numel: Counting.numel,
    Tensor.nbytes.__get__: Counting.refused,               # type: ignore[attr-defined]
    Tensor.is_same_size: Counting.refused,
    torch.is_same_size: Counting.refused,
}
# Functions that are given sizes for what they make of a tensor: which rows its result has, the operator tells.
REPEATS = {Tensor.expand, torch.broadcast_to}
SIZED = {torch.reshape, Tensor.reshape, Tensor.view} | REPEATS
NEW = {Tensor.new_zeros, Tensor.new_ones, Tensor.new_empty, Tensor.new_full}
MADE = {torch.zeros, torch.ones, torch.empty, torch.full} | NEW
ITERATES = Tensor.__iter__.__code__                        # it calls unbind, and is no function of torch's mode itself


@contextmanager
def counting(rows: Rows) -> Iterator[None]:
    """Inside, sizes of chosen rows are counts."""
    before = builtins.len

    def length(thing: Any) -> Any:
        if rows.known and isinstance(thing, Tensor) and any(axes_of(rows, thing)[:1]):
            return thing.shape[0]
        return before(thing)

    with ExitStack() as stack:
        builtins.len = length
        stack.callback(setattr, builtins, "len", before)
        stack.enter_context(Counting(rows))
        yield
