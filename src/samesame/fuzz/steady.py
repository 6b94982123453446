"""Steadiness: whether what eager torch gives says anything about a compiler.

A step function of a rounded number does not, and neither does the difference of two numbers that are nearly equal. So
the program runs again with every float off by a few units in the last place: those of the inputs, and whatever is
computed on the way; a zero that was added up or chosen may be one of the other sign. What moves more than that explains
is dropped. Two kinds of number stay as they are, because no order of computing changes them: one that an operator's
argument holds already was moved and not computed, and small multiples of 1/16 have exact sums and products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from samesame.fuzz.oracle import Observation, apart, observe, unlike

UNITS = 4                    # in the last place, up or down
SENSITIVE = 256.0            # a result that moves so many units says nothing
GRID, LARGEST = 16, 1024     # numbers that are exact: multiples of 1/16 up to 1024
# Operators that round several times by themselves, so that a zero of theirs may be none.
# Of these no order is promised, nor which of 0.0 and −0.0 comes out.
SIGNLESS = ("max", "min", "relu", "clamp", "add", "sub", "sum", "mean", "mm", "dot")
ROUND_OFTEN = ("var", "std", "norm", "dist", "softmax", "logsumexp", "linalg", "conv", "upsample", "cov", "corrcoef")


def steady(
    function: Callable[..., Any], make_inputs: Callable[[], list[torch.Tensor]], eager: Observation, draws: int
) -> bool:
    """Whether eager torch gives the same again, and nearly the same in so many draws with other roundings."""
    again = observe(function, make_inputs, calls=1)
    if again.error or any(apart(a.value, b.value) for a, b in zip(eager.outputs[0], again.outputs[0], strict=True)):
        return False
    return all(_withstands(function, make_inputs, eager, seed) for seed in range(draws))


def _withstands(
    function: Callable[..., Any], make_inputs: Callable[[], list[torch.Tensor]], eager: Observation, seed: int
) -> bool:
    dice = torch.Generator().manual_seed(seed)

    def call(*given: torch.Tensor) -> Any:
        for tensor in given:
            whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())  # expanded ones lie on themselves
            nudge(whole, _magnitudes([]), dice)
        with _OtherRoundings(dice):
            return function(*given)

    nudged = observe(call, make_inputs, calls=1)
    if nudged.error or len(nudged.outputs[0]) != len(eager.outputs[0]):
        return False
    pairs = [(a.value, b.value) for a, b in zip(eager.outputs[0], nudged.outputs[0], strict=True)]
    return all(_near(a, b) for a, b in (*pairs, *zip(eager.inputs[0], nudged.inputs[0], strict=True)))


class _OtherRoundings(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Every result of every operator rounded otherwise."""

    def __init__(self, dice: torch.Generator) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dice = dice

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        held = _magnitudes(given)
        result = operation(*args, **(kwargs or {}))
        made = [*tree_leaves(result), *(given if operation._schema.is_mutable else ())]
        often, signless = (any(w in operation._schema.name for w in words) for words in (ROUND_OFTEN, SIGNLESS))
        for tensor in (tensor for tensor in made if isinstance(tensor, torch.Tensor)):
            nudge(tensor, held, self.dice, zeros=float(held.max()) if often and held.numel() else 0.0)
            if signless and tensor.is_floating_point():
                flips = (tensor == 0) & torch.randint(0, 2, tensor.shape, generator=self.dice).bool()
                tensor.copy_(torch.where(flips, -tensor, tensor))
        return result


def _magnitudes(tensors: list[torch.Tensor]) -> torch.Tensor:
    """The finite numbers that tensors hold, without signs."""
    found = [_real(tensor).flatten().double().abs() for tensor in tensors if tensor.numel()]
    return torch.cat([part[part.isfinite()] for part in found]) if found else torch.zeros(0, dtype=torch.float64)


def nudge(tensor: torch.Tensor, held: torch.Tensor, dice: torch.Generator, zeros: float = 0.0) -> None:
    """Move the tensor's numbers by units in the last place, but for exact ones and those that were held before; zeros
    by units of the number `zeros`."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or not tensor.numel():
        return
    value = _real(tensor)
    wide, unit = value.double(), torch.finfo(value.dtype).eps
    exact = ((wide * GRID).round() == wide * GRID) & (wide.abs() <= LARGEST) & ((wide != 0) | (zeros == 0))
    moves = ~exact & wide.isfinite() & ~torch.isin(wide.abs(), held[held != 0])
    if bool(moves.any()):
        by = torch.randint(-UNITS, UNITS + 1, wide.shape, generator=dice) * unit
        value.copy_(torch.where(moves, wide + by * torch.where(wide == 0, zeros, wide), wide))


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """A complex tensor as one of pairs, in the same memory."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _near(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether other roundings moved this little."""
    if a.shape != b.shape or not (a.is_floating_point() or a.is_complex()):
        return a.shape == b.shape and not apart(a, b)
    x, y = _real(a).double(), _real(b).double()
    if bool(unlike(x, y).any()):
        return False
    moved = torch.where(x.isfinite() & y.isfinite(), (x - y).abs(), 0.0)
    scale = torch.where(x.isfinite(), x.abs(), 0.0)
    info = torch.finfo(a.dtype)
    return not x.numel() or float(moved.max()) <= SENSITIVE * info.eps * max(float(scale.max()), info.tiny)
