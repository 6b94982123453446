"""Dimensions that other sizes make up, unfolded into these.

A launch gives its kernel an `x` of 32·n elements and a bias of 2·T − 1. What a reference computes at every size is
found by recording it at several, and 32·n is nothing that can be changed by itself: the tensors beside it have n rows.
So the reference is recorded as a program of tensors whose dimensions are single sizes, which are put together before
it takes them:

    32·n        n rows of 32, laid one behind another
    n·m + 1     n rows of m, and one element behind them
    2·T − 1     T rows of 2, without the last element, at which nobody looks

Elements are those of the launch's tensor all along, so that what is proved is about that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import torch

from samesame.formula import polynomials
from samesame.formula.expr import Expr, Size, add, const, mul
from samesame.formula.sizes import canonical, value_at
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.kernels.indices import integers

Joined = Callable[[Mapping[str, torch.Tensor]], torch.Tensor]


@dataclass(frozen=True)
class Unfolded:
    """Tensors of single sizes in place of one: by name the formula, and what the example has; `joined` puts them
    together."""

    joined: Joined
    formulas: dict[str, Tensor] = field(default_factory=dict)
    examples: dict[str, torch.Tensor] = field(default_factory=dict)


def unfold(name: str, whole: Tensor, given: torch.Tensor, example: Mapping[str, int], mark: str) -> Unfolded:
    """A tensor of the launch with its dimensions unfolded; `given` is what it holds at the example's sizes. Its parts
    are called by its name and a `mark` that no other name has."""
    for d, size in enumerate(whole.shape):
        parts, less = parts_of(size)
        if parts and less <= given.shape[d]:
            return _along(name, whole, given, example, mark, d, parts, less)
    return Unfolded(lambda tensors: tensors[name], {name: whole}, {name: given})


def parts_of(size: Dim) -> tuple[list[list[Dim]], int]:
    """The sizes of parts that make up a dimension, and how many elements they are too many; no parts where it is a
    single size, or made up otherwise."""
    if not isinstance(size, Expr) or isinstance(size, Size):
        return [], 0
    terms = polynomials.polynomial(size)
    number = terms.get((), 0)
    parts = list[list[Dim]]()
    for atoms, times in terms.items():
        if atoms and (times < 1 or not all(isinstance(atom, Size) for atom in atoms)):
            return [], 0
        if atoms:
            parts.append([*map(canonical, atoms), *([times] if times > 1 else [])])
    return parts + ([[number]] if number > 0 else []), max(0, -number)


def _along(
    name: str, whole: Tensor, given: torch.Tensor, example: Mapping[str, int], mark: str, d: int,
    parts: list[list[Dim]], less: int,
) -> Unfolded:
    """Unfolded along one dimension, and each part along the others."""
    start, found = const(0), list[Unfolded]()
    rows = torch.cat([given, given.narrow(d, 0, less)], d) if less else given      # whatever follows the last element
    for k, sizes in enumerate(parts):
        lengths = [value_at(n, example) for n in sizes]
        own = rows.narrow(d, value_at(start, example), prod(lengths))
        own = own.reshape(*given.shape[:d], *lengths, *given.shape[d + 1 :])
        part = tensor((*whole.shape[:d], *sizes, *whole.shape[d + 1:]), _placed(whole, d, sizes, start), whole.kind)
        found.append(unfold(f"{name}{mark}{k}" if len(parts) > 1 else name, part, own, example, mark))
        start = add(start, mul(*map(const, sizes)))
    folds = [len(sizes) for sizes in parts]

    def joined(tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        flat = [one.joined(tensors).flatten(d, d + n - 1) for one, n in zip(found, folds, strict=True)]
        behind = torch.cat(flat, d) if len(flat) > 1 else flat[0]
        return behind.narrow(d, 0, behind.shape[d] - less).contiguous() if less else behind

    formulas = {part: formula for one in found for part, formula in one.formulas.items()}
    return Unfolded(joined, formulas, {part: held for one in found for part, held in one.examples.items()})


def _placed(whole: Tensor, d: int, sizes: list[Dim], start: Expr) -> Callable[..., Any]:
    """The elements of a part: those of the whole from its start on, row by row."""
    def at(*i: Expr) -> Expr:
        inner = i[d : d + len(sizes)]
        flat = inner[0]
        for index, size in zip(inner[1:], sizes[1:], strict=True):
            flat = add(mul(flat, const(size)), index)
        return whole[(*i[:d], integers.tidied(add(start, flat)), *i[d + len(sizes) :])]     # 2·⌊k/2⌋ + k mod 2 is k

    return at
