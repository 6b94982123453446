"""The input relation: how the weights of the right program sit in those of the left, inferred from their values.

Both programs are expected to hold the same weights, packed differently: one matrix on the left may be three rows of
a fused matrix on the right, a transpose, a stack of experts, or the other way round. Every right parameter is
looked for as a layout over left parameters, simplest first. Parameters with the same values (all-ones norm weights)
are told apart by name, then by the order of first use; whether the choice was right, the proofs will tell. What has
no partner is named, and keeps its own values: nothing general can be said about it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from math import prod

import torch

from samesame.relate.layout import Concat, Layout, Permute, Reshape, Slice, Whole, permuted, reshaped, wholes
from samesame.relate.world import widened

_MAX_PERMUTED_RANK = 4


@dataclass(slots=True)
class InputRelation:
    """`layouts[right name]` over left names; parameters of either side without a partner; equal-valued groups
    paired by name."""

    layouts: dict[str, Layout] = field(default_factory=dict)
    unpaired_left: list[str] = field(default_factory=list)
    unpaired_right: list[str] = field(default_factory=list)
    by_name: list[str] = field(default_factory=list)


def relate_parameters(left: Mapping[str, torch.Tensor], right: Mapping[str, torch.Tensor]) -> InputRelation:
    """Find each right parameter as a layout over left parameters. Keys are names in order of first use; values any
    dtype."""
    index = _Index(left)
    relation = InputRelation()
    used: set[str] = set()
    _pair_equal(left, right, index, relation, used)
    for name, tensor in right.items():
        if name in relation.layouts:
            continue
        layout = next(_layouts(widened(tensor), index), None)
        if layout is None:
            relation.unpaired_right.append(name)
        else:
            relation.layouts[name] = layout
            used.update(wholes(layout))
    relation.unpaired_left = [name for name in left if name not in used]
    return relation


def _pair_equal(
    left: Mapping[str, torch.Tensor],
    right: Mapping[str, torch.Tensor],
    index: _Index,
    relation: InputRelation,
    used: set[str],
) -> None:
    """Parameters with the same shape and values; equal ones among themselves by name first, then in order of use."""
    waiting: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for name, tensor in right.items():
        waiting[_digest(tensor)].append(name)
    for digest, rights in waiting.items():
        lefts = list(index.equal.get(digest, ()))
        if not lefts:
            continue
        if len(lefts) > 1 or len(rights) > 1:
            relation.by_name.extend(rights)
        rest = []
        for name in rights:
            best = max(lefts, key=lambda other: _common_words(name, other), default=None)
            if best is not None and best == name:
                relation.layouts[name] = Whole(best)
                lefts.remove(best)
            else:
                rest.append(name)
        for position, name in enumerate(rest):
            partners = lefts or list(index.equal[digest])
            partner = partners[min(position, len(partners) - 1)]
            relation.layouts[name] = Whole(partner)
        used.update(index.equal[digest])


def _common_words(a: str, b: str) -> tuple[bool, int]:
    return (a == b, len(set(a.split(".")) & set(b.split("."))))


def _digest(tensor: torch.Tensor) -> tuple[object, ...]:
    """Equal for tensors of the same shape, kind and values, whatever their dtype."""
    plain = widened(tensor).resolve_conj()
    return (tuple(plain.shape), plain.dtype, plain.numpy().tobytes())


class _Index:
    """Left parameters by value: whole tensors, and the places where a given first element occurs. A number of another
    kind is another number."""

    def __init__(self, left: Mapping[str, torch.Tensor]) -> None:
        self.values = {name: widened(tensor) for name, tensor in left.items()}
        self.equal: dict[tuple[object, ...], list[str]] = defaultdict(list)
        self.by_size: dict[tuple[torch.dtype, int], list[str]] = defaultdict(list)
        self.by_first: dict[tuple[torch.dtype, complex], list[str]] = defaultdict(list)
        for name, value in self.values.items():
            self.equal[_digest(value)].append(name)
            self.by_size[value.dtype, value.numel()].append(name)
            if value.numel():
                self.by_first[value.dtype, value.flatten()[0].item()].append(name)

    def of_size(self, value: torch.Tensor) -> list[str]:
        """The parameters with as many numbers of the same kind."""
        return self.by_size.get((value.dtype, value.numel()), [])

    def of_kind(self, value: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
        return [(name, other) for name, other in self.values.items() if other.dtype == value.dtype]


def _layouts(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """Layouts over left parameters with these values, the simplest kind first."""
    if value.numel() == 0 or bool((value == value.flatten()[0]).all()):
        return  # a constant tensor says nothing about where it came from
    yield from _rearranged(value, index)
    yield from _concatenated(value, index)
    yield from _stacked(value, index)
    yield from _sliced(value, index)
    yield from _interleaved(value, index)


def _rearranged(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """reshape(permute(one left parameter))."""
    for name in index.of_size(value):
        other = index.values[name]
        if other.dim() > _MAX_PERMUTED_RANK:
            continue
        for dims in permutations(range(other.dim())):
            moved = other.permute(dims)
            if torch.equal(moved.reshape(-1), value.reshape(-1)):
                yield reshaped(permuted(Whole(name), dims), tuple(moved.shape), tuple(value.shape))


def _concatenated(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """concat of left parameters over one dimension, each as it is or transposed."""
    for dim in range(value.dim()):
        parts: list[Layout] = []
        offset = 0
        while offset < value.shape[dim]:
            step = _piece(value, dim, offset, index)
            if step is None:
                break
            part, length = step
            parts.append(part)
            offset += length
        if offset == value.shape[dim] and len(parts) > 1:
            yield Concat(tuple(parts), dim)


def _piece(value: torch.Tensor, dim: int, offset: int, index: _Index) -> tuple[Layout, int] | None:
    """A left parameter that makes up `value` from `offset` on, and its length over `dim`; the longest one."""
    rest = value.narrow(dim, offset, value.shape[dim] - offset)
    best: tuple[Layout, int] | None = None
    for name in index.by_first.get((rest.dtype, rest.flatten()[0].item()), ()):
        other = index.values[name]
        for dims in (tuple(range(other.dim())), (1, 0)) if other.dim() == 2 else (tuple(range(other.dim())),):
            moved = other.permute(dims)
            if moved.dim() != rest.dim() or moved.shape[dim] > rest.shape[dim]:
                continue
            length = moved.shape[dim]
            if torch.equal(moved, rest.narrow(dim, 0, length)) and (best is None or length > best[1]):
                best = (permuted(Whole(name), dims), length)
    return best


def _stacked(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """A stack over dimension 0 of layouts over left parameters, such as experts; or one member of a left stack."""
    if value.dim() >= 2 and value.shape[0] > 1:
        parts = []
        for member in value:
            found = next(_rearranged(member, index), None) or next(_concatenated(member, index), None)
            if found is None:
                break
            parts.append(Reshape(found, (1, *member.shape)))
        else:
            yield Concat(tuple(parts), 0)
    for name, other in index.of_kind(value):
        if other.dim() == value.dim() + 1 and tuple(other.shape[1:]) in (tuple(value.shape), tuple(value.shape[::-1])):
            for position, member in enumerate(other):
                whole = Reshape(Slice(Whole(name), 0, position, position + 1), tuple(member.shape))
                if member.shape == value.shape and torch.equal(member, value):
                    yield whole
                elif member.dim() == 2 and torch.equal(member.T, value):
                    yield Permute(whole, (1, 0))


def _sliced(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """A slice of one left parameter over one dimension, as it is or transposed."""
    first = value.flatten()[0]
    for name, other in index.of_kind(value):
        for dims in ((0, 1), (1, 0)) if other.dim() == 2 else (tuple(range(other.dim())),):
            moved = other.permute(dims)
            for dim in range(moved.dim()):
                if moved.dim() != value.dim() or moved.shape[dim] <= value.shape[dim]:
                    continue
                if any(a != b for d, (a, b) in enumerate(zip(moved.shape, value.shape, strict=True)) if d != dim):
                    continue
                edge = moved.select(dim, 0) if moved.dim() == 1 else moved.movedim(dim, 0).flatten(1)[:, 0]
                heads = moved if moved.dim() == 1 else edge
                for start in torch.nonzero(heads == first).flatten().tolist():
                    stop = start + value.shape[dim]
                    if stop <= moved.shape[dim] and torch.equal(moved.narrow(dim, start, stop - start), value):
                        yield Slice(permuted(Whole(name), dims), dim, start, stop)


def _interleaved(value: torch.Tensor, index: _Index) -> Iterator[Layout]:
    """One dimension taken in another order: (a, b, c) → (a, c, b) within it, as rotary pairs are."""
    for name in index.of_size(value):
        other = index.values[name]
        if other.shape != value.shape:
            continue
        for dim in range(value.dim()):
            size = value.shape[dim]
            before, after = tuple(value.shape[:dim]), tuple(value.shape[dim + 1 :])
            for a, b, c in _factorings(size):
                split = other.reshape(*before, a, b, c, *after)
                order = (*range(dim + 1), dim + 2, dim + 1, *range(dim + 3, split.dim()))
                if torch.equal(split.permute(order).reshape(value.shape), value):
                    yield Reshape(Permute(Reshape(Whole(name), tuple(split.shape)), order), tuple(value.shape))


def _factorings(size: int) -> Iterator[tuple[int, int, int]]:
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    for a in divisors:
        for b in divisors:
            if (size // a) % b == 0 and b > 1 and prod((a, b)) < size:
                yield a, b, size // a // b
