"""Placement: how one tensor lies on the ranks, as people write it.

`replicated` is on every rank; `shard(d)`, or `sharded(d)`, is cut over dimension d, one piece a rank in their order;
`strided(d, n)` cuts each of n parts of that dimension, as a fused query-key-value weight is cut. `over tp` says over
which axis of the mesh, and several, with commas between, each cut what the one before left. A placement of an output
may also be `partial`, a sum over ranks that nobody took (`partial(avg)`: a mean), or `scaled`, a multiple: both only
where a program declares them. After an output's placement, `in the order of ranks 1, 0` says on which ranks its pieces
lie if not in rank order, and `on the last rank`, `on rank 2` or `on ranks 2-3` where it is looked for: what other ranks
return under its name is something else.

Cuts are torch's: pieces of ⌈size / ranks⌉ elements, the last ones smaller or empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from samesame.capture.ranks.placements import Placed
from samesame.evidence import Refused
from samesame.relate.layout import Concat, Layout, Reshape, Slice, Whole

Mesh = Mapping[str, int]            # sizes of the axes by name, outermost first; ranks count the last axis fastest

KINDS = ("replicated", "sharded", "strided", "partial", "scaled")
FORMS = (
    "replicated, shard(dim), strided(dim, parts), partial or scaled, then `over AXIS` if the mesh has several axes, "
    "and for an output `in the order of ranks N, M, …` if that is not theirs, and `on the last rank`, `on rank N` or "
    "`on ranks N-M` if others return something else"
)


@dataclass(frozen=True, slots=True)
class Placement:
    """One word of a placement: its kind, and the dimension and the number of parts that it cuts."""

    kind: str
    dim: int = 0
    parts: int = 1
    axis: str = ""

    def __str__(self) -> str:
        over = f" over {self.axis}" if self.axis else ""
        match self.kind:
            case "sharded":
                return f"shard({self.dim}){over}"
            case "strided":
                return f"strided({self.dim}, {self.parts}){over}"
        return f"{self.kind}{over}"


_WORD = re.compile(
    r"(?:(replicated|partial|scaled)(?:\((?:sum|avg)\))?|"
    r"shard(?:ed)?\((-?\d+)\)|strided\((-?\d+), *(\d+)\))(?: +over +(\w+))?"
)


_ORDER = re.compile(r" +in the order of ranks (\d+(?:, *\d+)*)")


def in_order_of(text: str) -> tuple[str, tuple[int, ...]]:
    """The placement of an output without the order of its pieces, and the first rank of each piece in that order, none
    if it does not say."""
    match = _ORDER.search(text)
    if match is None:
        return text, ()
    return text[: match.start()] + text[match.end() :], tuple(map(int, match[1].split(",")))


_WHERE = re.compile(r" +on +(?:(the last rank)|rank (\d+)|ranks (\d+)-(\d+))$")


def holders(text: str, tensor: str, ranks: int) -> tuple[str, range]:
    """The placement of an output without where it is, and the ranks on which it is looked for, all if it does not say.
    Raises Refused, naming the tensor, where there are no such ranks."""
    _require_text(text, tensor)
    text, _ = in_order_of(text)
    match = _WHERE.search(text.rstrip())
    if match is None:
        return text, range(ranks)
    last, one, start, stop = match.groups()
    found = range(ranks - 1, ranks) if last else range(int(one or start), int(one or stop) + 1)
    if not found or found[-1] >= ranks:
        raise Refused(f"the placement {text!r} of {tensor} names ranks that there are not: they are 0 to {ranks - 1}")
    return text[: match.start()], found


def _require_text(text: object, tensor: str) -> None:
    if not isinstance(text, str):
        raise Refused(f"the placement {text!r} of {tensor} is no text; write {FORMS}")


def parsed(text: str, tensor: str, mesh: Mesh) -> tuple[Placement, ...]:
    """The placements of a tensor from their text. Raises Refused, naming the tensor."""
    found = []
    _require_text(text, tensor)
    for word in re.split(r",(?![^(]*\))", text):
        match = _WORD.fullmatch(word.strip())
        if match is None:
            raise Refused(f"the placement {text!r} of {tensor} is unknown; write {FORMS}")
        plain, shard, strided, parts, axis = match.groups()
        if axis and axis not in mesh:
            raise Refused(f"the placement {text!r} of {tensor} names the axis {axis}; the mesh has {', '.join(mesh)}")
        if plain:
            found.append(Placement(plain, axis=axis or ""))
        elif shard is not None:
            found.append(Placement("sharded", int(shard), axis=axis or ""))
        else:
            found.append(Placement("strided", int(strided), int(parts), axis or ""))
    return tuple(found)


_CUT = re.compile(r"\b(shard(?:ed)?|strided)\((-?\d+)")


def from_the_front(text: str, tensor: str, dims: int) -> str:
    """A placement of a tensor of so many dimensions, none of which is counted from the end. Raises Refused, naming the
    tensor, where it has no such dimension."""
    def counted(match: re.Match[str]) -> str:
        dim = int(match[2])
        if not -dims <= dim < dims:
            raise Refused(f"{tensor} has {dims} dimensions and cannot be placed as {text}")
        return f"{match[1]}({dim % dims}"

    return _CUT.sub(counted, text)


def piece(
    name: str, shape: Sequence[int], placements: Sequence[Placement], rank: int, mesh: Mesh
) -> tuple[Layout, tuple[int, ...]]:
    """What a rank holds of the tensor of this name and shape, as a layout of it, and the shape of that.

    Raises Refused where the tensor has no such dimension or cannot be cut so.
    """
    layout: Layout = Whole(name)
    now = tuple(shape)
    for placement in placements:
        if placement.kind == "replicated":
            continue
        if placement.kind not in ("sharded", "strided"):
            raise Refused(f"{name} is given as {placement}, which says nothing of what a rank holds of it")
        if not -len(now) <= placement.dim < len(now):
            raise Refused(f"{name} has {len(now)} dimensions and cannot be placed as {placement}")
        dim = placement.dim % len(now)
        if now[dim] % placement.parts:
            raise Refused(f"dimension {dim} of {name}, {now[dim]}, does not divide into {placement.parts} parts")
        place, ranks = coordinate(rank, placement.axis, mesh)
        inner = now[dim] // placement.parts
        start, stop = cut(inner, ranks, place)
        if placement.parts == 1:
            layout = Slice(layout, dim, start, stop)
        else:
            split = (*now[:dim], placement.parts, inner, *now[dim + 1 :])
            layout = Slice(Reshape(layout, split), dim + 1, start, stop)
        now = (*now[:dim], placement.parts * (stop - start), *now[dim + 1 :])
        if placement.parts > 1:
            layout = Reshape(layout, now)
    return layout, now


def held_part(name: str, placed: Placed) -> Layout:
    """What a rank holds of the tensor of this name, as DTensor says it: runs of positions in each dimension."""
    layout: Layout = Whole(name)
    for dim, (runs, size) in enumerate(zip(placed.runs, placed.shape, strict=True)):
        pieces = [Slice(layout, dim, start, stop) for start, stop in runs] or [Slice(layout, dim, 0, 0)]
        if runs != ((0, size),):
            layout = pieces[0] if len(pieces) == 1 else Concat(tuple(pieces), dim)
    return layout


def cut(size: int, pieces: int, place: int) -> tuple[int, int]:
    """Where the piece at this place starts and stops, as torch.chunk cuts."""
    step = -(-size // pieces)
    return min(size, place * step), min(size, (place + 1) * step)


def coordinate(rank: int, axis: str, mesh: Mesh) -> tuple[int, int]:
    """The place of a rank along an axis, and how many ranks that has; without an axis, among all."""
    sizes = list(mesh.values())
    if not axis:
        return rank, prod(sizes)
    at = list(mesh).index(axis)
    return rank // prod(sizes[at + 1 :]) % sizes[at], sizes[at]
