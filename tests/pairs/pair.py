"""What a pair is: two spellings of one function, and twins that look like the second spelling but are wrong.

A pair is true over the reals. A twin differs from `right` in one place, runs on the same inputs and gives the same
shapes: a bug somebody has written. Inputs are drawn with a seed; their sizes are small and generic, so that an axis
cannot be mistaken for another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, update_wrapper

import torch
from torch import Tensor

Program = Callable[..., Tensor | tuple[Tensor, ...]]
Draw = Callable[[torch.Generator], Tensor]


@dataclass(frozen=True, slots=True)
class Twin:
    """A wrong version of a pair's `right`; `name` says what is wrong."""

    name: str
    right: Program


@dataclass(frozen=True, slots=True)
class Pair:
    """Two programs that compute the same function of `inputs(seed)`. `number` is the group of docs/pairs.md."""

    name: str
    number: int
    left: Program
    right: Program
    inputs: Callable[..., tuple[Tensor, ...]]
    twins: tuple[Twin, ...]


def twins(**wrong: Program) -> tuple[Twin, ...]:
    """Twins by name; an underscore in a name stands for a space."""
    return tuple(Twin(name.replace("_", " "), program) for name, program in wrong.items())


def vary(program: Program, **changes: object) -> Program:
    """`program` with keyword arguments changed."""
    return update_wrapper(partial(program, **changes), program)


def inputs(*draws: tuple[int, ...] | Draw, scale: float = 1.0) -> Callable[..., tuple[Tensor, ...]]:
    """A function of a seed (default 0) that draws a tensor for each entry; a shape means normals times `scale`."""

    def draw_all(seed: int = 0) -> tuple[Tensor, ...]:
        generator = torch.Generator().manual_seed(seed)
        return tuple(
            draw(generator) if callable(draw) else scale * torch.randn(draw, generator=generator) for draw in draws
        )

    return draw_all


def integers(high: int, *shape: int) -> Draw:
    """Random integers from 0 to `high` - 1: tokens, classes, positions."""
    return lambda generator: torch.randint(0, high, shape, generator=generator)


def positive(*shape: int) -> Draw:
    """Random numbers between 0.5 and 1.5: variances, decay rates."""
    return lambda generator: 0.5 + torch.rand(shape, generator=generator)


def mask(*shape: int) -> Draw:
    """Random booleans of which every last-axis row holds both values, so that no row is masked away entirely."""

    def draw(generator: torch.Generator) -> Tensor:
        kept = torch.rand(shape, generator=generator) < 0.6
        kept[..., 0], kept[..., -1] = True, False
        return kept

    return draw
