"""Placements: which part of a whole tensor each rank holds, as DTensor says it.

A DTensor knows its mesh of ranks and, for each dimension of the mesh, whether its tensor is cut there (and along which
of its dimensions, in one piece or in strides), held whole, or held as a part of a sum. `placed` writes that down as
plain data: for each dimension of the tensor, the runs of the whole's indices that this rank holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch.distributed.tensor import DTensor, Partial, Shard
from torch.distributed.tensor.placement_types import Placement, _StridedShard

Run = tuple[int, int]                                      # from, and up to but without


@dataclass(frozen=True, slots=True)
class Placed:
    """One rank's part of a whole tensor of `shape`.

    `mesh` holds the sizes of the mesh of ranks and `coordinate` this rank's place in it; `placements` says in torch's
    words what holds along each of the mesh's dimensions. `runs[d]` are the indices of the whole's dimension d that the
    part has, in order. `partial` names the reduction for each dimension of the mesh along which parts add up, None for
    the others.
    """

    shape: tuple[int, ...]
    mesh: tuple[int, ...]
    names: tuple[str, ...]
    coordinate: tuple[int, ...]
    placements: tuple[str, ...]
    runs: tuple[tuple[Run, ...], ...]
    partial: tuple[str | None, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the rank holds all of the tensor."""
        return self.runs == tuple(((0, size),) for size in self.shape) and not any(self.partial)

    def part(self, whole: torch.Tensor) -> torch.Tensor:
        """This rank's part of the whole; of a sum, the first rank along the mesh has all of it."""
        for dim, runs in enumerate(self.runs):
            pieces = [whole.narrow(dim, start, stop - start) for start, stop in runs]
            whole = torch.cat(pieces, dim) if pieces else whole.narrow(dim, 0, 0)
        absent = any(at and op for at, op in zip(self.coordinate, self.partial, strict=True))
        return torch.zeros_like(whole) if absent else whole


def placed(tensor: DTensor) -> Placed:
    """What this rank holds of a DTensor."""
    mesh = tensor.device_mesh
    coordinate = tuple(mesh.get_coordinate() or ())
    shape = tuple(tensor.shape)
    return Placed(
        shape,
        tuple(mesh.shape),
        tuple(mesh.mesh_dim_names or ()),
        coordinate,
        tuple(map(str, tensor.placements)),
        tuple(runs(size, dim, tensor.placements, tuple(mesh.shape), coordinate) for dim, size in enumerate(shape)),
        tuple(str(p.reduce_op) if isinstance(p, Partial) else None for p in tensor.placements),
    )


def runs(
    size: int, dim: int, placements: tuple[Placement, ...], mesh: tuple[int, ...], coordinate: tuple[int, ...]
) -> tuple[Run, ...]:
    """The indices of one dimension that a rank holds, by DTensor's own way of cutting."""
    held = torch.arange(size)
    for placement, parts, place in zip(placements, mesh, coordinate, strict=True):
        if isinstance(placement, Shard | _StridedShard) and placement.dim == dim:
            cut: Shard | _StridedShard = Shard(0)
            if isinstance(placement, _StridedShard):
                cut = _StridedShard(0, split_factor=placement.split_factor)
            pieces, _ = cut._split_tensor(held, parts, with_padding=False, contiguous=False)
            held = pieces[place]
    indices = held.tolist()
    breaks = [0, *(k for k, (a, b) in enumerate(pairwise(indices), 1) if b != a + 1), len(indices)]
    return tuple((indices[start], indices[stop - 1] + 1) for start, stop in pairwise(breaks) if stop > start)
