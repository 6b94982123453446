"""Channel by channel: what one program makes in one tensor, another may make in several, or along another dimension.

A fused matrix is read by one linear layer, where the other program adds a low-rank update to a third of its channels
and leaves the rest; a 1 × 1 convolution is a linear layer whose channels lie elsewhere. So each channel of a tensor is
looked for, by the values of one run, among the channels of all tensors that the other program makes of the same one by
a matrix or a kernel, and the rows of these formulas, one below the other, are the formula here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from samesame.graph import Node, TensorType
from samesame.relate.affine import TRANSPOSED, Affine, Weights, affine, axis_of

_RUNS = 64                  # pieces of the other's tensors that one formula is put together from
_SAMPLED = 64               # numbers of a channel that are compared
_LARGEST = 1 << 22          # comparisons of channels with channels
_FAR = 1e-2                 # of a channel's largest magnitude: nothing farther is the same channel
_SAME = 1e-12               # of it: nothing nearer is told apart


@dataclass(slots=True)
class Run:
    """Channels start … stop − 1 of a tensor."""

    source: int
    start: int
    stop: int


def by_channels(mine: Affine, made: torch.Tensor, start: torch.Tensor, weights: Weights) -> Iterator[Affine]:
    """What takes `start` to `made` by matrices or kernels of the other program, where the own one does so by `mine`."""
    if mine.kind == "gain" or mine.map is None or _is_uneven(mine):
        return
    axis = axis_of(mine)
    wanted, given = _channels(made, axis), _channels(start, axis)
    tensors = [node for node in weights.graph.nodes if node not in weights.fixed and isinstance(node.type, TensorType)]
    for anchor in tensors:
        if not any(_is_same(there, given) for _, there in _views(weights, anchor)):
            continue
        forms, places = list[Affine](), list[tuple[torch.Tensor, torch.Tensor]]()
        for node in tensors:
            for along, there in _views(weights, node):
                nearest = _nearest(wanted, there)
                form = None if nearest is None else affine(node, anchor, weights)
                if nearest is None or form is None or axis_of(form) % len(node.shape) != along:
                    continue
                form = _like(form, mine, weights)
                if form is not None:
                    forms.append(form)
                    places.append(nearest)
        found = _runs(places, len(wanted))
        if found is not None:
            yield _joined(found, forms, weights)


def _channels(value: torch.Tensor, axis: int) -> torch.Tensor:
    """A row for each channel."""
    return value.double().movedim(axis, 0).flatten(1)


def _views(weights: Weights, node: Node) -> Iterator[tuple[int, torch.Tensor]]:
    """The dimensions that channels of a tensor may lie along, with a row for each channel."""
    value = weights.values.get(node.name)
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim() > 1:
        for along in dict.fromkeys([1, value.dim() - 1]):
            yield along, _channels(value, along)


def _is_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(((a - b).abs() <= _SAME * b.abs().max()).all())


def _nearest(wanted: torch.Tensor, there: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
    """For each channel the nearest one there and how far that is, of the largest magnitude in it; None where all are
    far."""
    if wanted.shape[1] != there.shape[1] or len(wanted) * len(there) > _LARGEST:
        return None
    step = max(1, wanted.shape[1] // _SAMPLED)
    few, others = wanted[:, ::step], there[:, ::step]
    gaps = torch.cdist(few, others, p=float("inf")) / few.abs().amax(1, keepdim=True).clamp(min=1e-300)
    far, at = gaps.min(1)
    return (at, far) if bool((far <= _FAR).any()) else None


def _runs(places: Sequence[tuple[torch.Tensor, torch.Tensor]], count: int) -> list[Run] | None:
    """Which channels of which tensors stand for these, as few runs as can be; None where one is near to none."""
    runs: list[Run] = []
    for channel in range(count):
        far = [float(gaps[channel]) for _, gaps in places]
        least = min(far, default=_FAR)
        if least >= _FAR or len(runs) > _RUNS:
            return None
        sources = [k for k, gap in enumerate(far) if gap <= least + _SAME]
        last = runs[-1] if runs else None
        if last is not None and last.source in sources and int(places[last.source][0][channel]) == last.stop:
            last.stop += 1
            continue
        at = int(places[sources[0]][0][channel])
        runs.append(Run(sources[0], at, at + 1))
    return runs


def _like(form: Affine, mine: Affine, weights: Weights) -> Affine | None:
    """The form in the way of another: a kernel of size one is a matrix. None where it is of another kind."""
    map_ = form.map
    if map_ is None or mine.map is None or _is_uneven(form):
        return None
    if form.kind != mine.kind and form.kind == "kernel" and _mixes_only_channels(form):
        form = Affine("matrix", weights.shaped(map_, map_.shape[:2]), form.shift)
    elif form.kind != mine.kind and form.kind == "matrix" and _mixes_only_channels(mine):
        kernel = weights.shaped(map_, (*map_.shape, *(1,) * (len(mine.map.shape) - 2)))
        form = Affine("kernel", kernel, form.shift, mine.settings)
    return form if (form.kind, form.settings) == (mine.kind, mine.settings) else None


def _is_uneven(form: Affine) -> bool:
    """Do channels see only some of the channels before, or are they not the first dimension of the kernel?"""
    return form.kind == "kernel" and (form.settings[-1] != 1 or bool(form.settings[TRANSPOSED]))


def _mixes_only_channels(form: Affine) -> bool:
    """Is the kernel of size one, at every place?"""
    assert form.map is not None
    stride, padding = form.settings[:2]
    return set(form.map.shape[2:]) == set(stride) == {1} and not any(padding)


def _joined(runs: Sequence[Run], forms: Sequence[Affine], weights: Weights) -> Affine:
    """The rows of so many forms as one form."""
    first = forms[runs[0].source]
    maps, shifts = list[Node](), list[Node]()
    for run in runs:
        form = forms[run.source]
        assert form.map is not None
        shift = form.shift or weights.make("aten.full.default", (form.map.shape[0],), 0.0)
        for pieces, whole in ((maps, form.map), (shifts, shift)):
            every = (run.start, run.stop) == (0, whole.shape[0])
            pieces.append(whole if every else weights.make("aten.slice.Tensor", whole, 0, run.start, run.stop))
    shifted = any(forms[run.source].shift is not None for run in runs)
    whole_map, whole_shift = (
        pieces[0] if len(pieces) == 1 else weights.make("aten.cat.default", tuple(pieces), 0)
        for pieces in (maps, shifts)
    )
    return replace(first, map=whole_map, shift=whole_shift if shifted else None)
