"""The output relation: how each sequential output lies on the ranks, found from values and stated as roots to prove.

Every rank's own result is used: an output that is on all ranks is compared with each of them, and one that is cut is
put together once for each rank, with that rank's piece in it, so that no replica goes unchecked. The ways to put
results together are clean: the same on each, a concat of the pieces in the order in which they lie, interleaved pieces,
a sum over ranks, a multiple. Where it is known which piece a rank should have, cut over several dimensions say, each
rank's is compared with that piece. Whether an output may lie so is another question (due.py).

Not every rank need return an output: the last stage of a pipeline has the loss, and each stage the gradients of its own
weights. What is said of an output is then said of the ranks that return it, and the report names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any

import torch

from samesame.graph import Graph, Node, TensorType
from samesame.relate.layout import Layout, Scaled, values
from samesame.relate.propose import agree, difference

CLEAN = ("replicated", "sharded", "strided", "pieces")
EVERY = ", on every rank"
_WHOLE = 1000               # denominators of multiples are at most this


@dataclass(frozen=True, slots=True)
class Found:
    """How an output lies on the ranks. `kind` is one of replicated, sharded, strided, pieces, partial, scaled, or none;
    `words` say it in full. `groups` are the ranks that hold the same, in the order of their pieces; `dim`, `parts` and
    `factor` where there are any: each of `parts` of the dimension is cut; the output is `factor` times what the ranks'
    results come to. Where pieces were compared one by one, `own` says by rank which it has, and `declared` how a job
    would say so.
    """

    kind: str
    words: str
    groups: tuple[tuple[int, ...], ...] = ()
    dim: int = 0
    factor: Fraction = Fraction(1)
    parts: int = 1
    own: Mapping[int, Layout] = field(default_factory=dict)
    declared: str = ""


Held = Mapping[int, Sequence[torch.Tensor]]


def output_relation(
    wanted: Sequence[torch.Tensor], held: Held, ranks: int, own: Mapping[int, Layout] | None = None,
    times: Fraction = Fraction(1),
) -> Found:
    """How the sequential output lies on the ranks, of which there are so many: `wanted` by draw, `held[rank]` by draw
    for each rank that returns it. `own` is the piece of it that each rank should have, where that is known, and
    `times` a multiple that it may have of that. float64 values."""
    if not held:
        return Found("none", "no rank returns it")
    groups = _groups(held)
    firsts = [held[group[0]] for group in groups]
    plain = (found for way in (_replicated, _sharded, _strided) for found in way(wanted, firsts, groups))
    other = (found for way in (_partial, _scaled) for found in way(wanted, firsts, groups))
    found = next(chain(plain, _own_pieces(wanted, held, groups, own or {}, times), other), None)
    found = found or Found("none", _nothing(wanted, held))
    return found if len(held) == ranks else replace(found, words=_on_some(found, list(held)))


def _on_some(found: Found, ranks: Sequence[int]) -> str:
    """The words for an output that only these ranks return."""
    where = f"{_spoken(ranks)} only"
    if found.kind == "none":                                                   # whose words name ranks already
        return found.words
    return f"whole on {where}" if found.kind == "replicated" else f"{found.words.removesuffix(EVERY)}, on {where}"


def _spoken(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"


def _groups(held: Held) -> tuple[tuple[int, ...], ...]:
    """Ranks that hold the same tensor on every draw, by their first rank."""
    groups: list[list[int]] = []
    for rank, tensors in held.items():
        same = (group for group in groups if all(map(agree, held[group[0]], tensors)))
        if (group := next(same, None)) is not None:
            group.append(rank)
        else:
            groups.append([rank])
    return tuple(map(tuple, groups))


Groups = tuple[tuple[int, ...], ...]
Tensors = Sequence[Sequence[torch.Tensor]]


def _replicated(wanted: Sequence[torch.Tensor], firsts: Tensors, groups: Groups) -> Iterator[Found]:
    if len(groups) == 1 and all(map(agree, wanted, firsts[0])):
        yield Found("replicated", "replicated on every rank", groups)


def _sharded(wanted: Sequence[torch.Tensor], firsts: Tensors, groups: Groups) -> Iterator[Found]:
    for dim in range(wanted[0].dim()):
        if len(groups) < 2 or any(not _fits(part[0], wanted[0], dim) for part in firsts):
            continue
        order = _order(wanted[-1], [part[-1] for part in firsts], dim)
        if order is not None and all(
            agree(torch.cat([firsts[k][draw] for k in order], dim), whole) for draw, whole in enumerate(wanted)
        ):
            ranks = tuple(groups[k] for k in order)
            plain = [group[0] for group in ranks] == sorted(group[0] for group in ranks)
            told = "" if plain else f", in the order of ranks {', '.join(str(group[0]) for group in ranks)}"
            yield Found("sharded", f"sharded over dimension {dim}{told}{_copies(ranks)}", ranks, dim)


def _fits(part: torch.Tensor, whole: torch.Tensor, dim: int) -> bool:
    others = [d for d in range(whole.dim()) if d != dim]
    return part.dim() == whole.dim() and all(part.shape[d] == whole.shape[d] for d in others)


def _order(whole: torch.Tensor, parts: Sequence[torch.Tensor], dim: int) -> list[int] | None:
    """The order in which the pieces lie one after the other in the whole."""
    order: list[int] = []
    start = 0
    while len(order) < len(parts):
        size = whole.shape[dim]
        fitting = (
            k for k, part in enumerate(parts)
            if k not in order and start + part.shape[dim] <= size
            and agree(whole.narrow(dim, start, part.shape[dim]), part)
        )
        found = next(fitting, None)
        if found is None:
            return None
        order.append(found)
        start += parts[found].shape[dim]
    return order if start == whole.shape[dim] else None


def _copies(groups: Groups) -> str:
    """` (2 copies of each piece)`."""
    numbers = {len(group) for group in groups}
    return "" if numbers == {1} else f" ({' or '.join(map(str, sorted(numbers)))} copies of each piece)"


def _strided(wanted: Sequence[torch.Tensor], firsts: Tensors, groups: Groups) -> Iterator[Found]:
    """Each of several parts of a dimension cut, as a fused weight is; or its positions dealt out in turn."""
    number = len(groups)
    for dim in range(wanted[0].dim()):
        size = wanted[0].shape[dim]
        if number < 2 or size % number or any(part[0].shape != _part(wanted[0], dim, number) for part in firsts):
            continue
        for parts in (count for count in range(2, size // number + 1) if size // number % count == 0):
            order = _turns(wanted, firsts, dim, parts)
            if order is not None:
                what = f"every {number}th position of dimension {dim} a rank"
                if parts < size // number:
                    what = f"sharded over dimension {dim} in each of its {parts} parts"
                ranks = tuple(groups[k] for k in order)
                yield Found("strided", f"{what}{_copies(groups)}", ranks, dim, parts=parts)


def _turns(wanted: Sequence[torch.Tensor], firsts: Tensors, dim: int, parts: int) -> list[int] | None:
    """The order in which the pieces lie in each part, if they do."""
    shape = wanted[0].shape
    dealt = [whole.reshape(*shape[:dim], parts, len(firsts), -1, *shape[dim + 1 :]) for whole in wanted]
    order = []
    for turn in range(len(firsts)):
        pieces = [whole.select(dim + 1, turn).flatten(dim, dim + 1) for whole in dealt]
        fitting = (k for k, part in enumerate(firsts) if k not in order and all(map(agree, pieces, part)))
        order.append(next(fitting, -1))
    return None if -1 in order else order


def _part(whole: torch.Tensor, dim: int, number: int) -> torch.Size:
    return whole.narrow(dim, 0, whole.shape[dim] // number).shape


def _own_pieces(
    wanted: Sequence[torch.Tensor], held: Held, groups: Groups, own: Mapping[int, Layout], times: Fraction
) -> Iterator[Found]:
    """Every rank has its own piece, or such a multiple of it, and no element is on none."""
    if not own or set(own) != set(held):
        return
    numbers = torch.arange(wanted[0].numel()).reshape(wanted[0].shape)
    there = torch.unique(torch.cat([values(layout, lambda _: numbers).flatten() for layout in own.values()]))
    for factor in dict.fromkeys((Fraction(1), times)):
        scaled = {rank: layout if factor == 1 else Scaled(layout, factor) for rank, layout in own.items()}
        if there.numel() == numbers.numel() and all(
            agree(values(scaled[rank], lambda _, whole=whole: whole), piece)              # type: ignore[misc]
            for rank, tensors in held.items() for whole, piece in zip(wanted, tensors, strict=True)
        ):
            told = "in pieces, each on its rank"
            if factor != 1:
                told = f"{factor} times the output, in pieces: of each rank's own loss"
            yield Found("pieces" if factor == 1 else "scaled", told, groups, factor=1 / factor, own=scaled)


def _partial(wanted: Sequence[torch.Tensor], firsts: Tensors, groups: Groups) -> Iterator[Found]:
    """A sum over ranks; where copies of each part are on several, over one of each. A number that is always the same, a
    counter say, is a multiple of any other: that tells nothing."""
    one_number = wanted[0].numel() == 1 and all(torch.equal(wanted[0], other) for other in wanted)
    if len(groups) > 1 and not one_number and all(part[0].shape == wanted[0].shape for part in firsts):
        sums = [torch.stack([part[draw] for part in firsts]).sum(0) for draw in range(len(wanted))]
        if (factor := _factor(wanted, sums)) is not None:
            told = "a sum over ranks that nobody took" if factor == 1 else f"{factor} of a sum over ranks"
            yield Found("partial", f"{told}{_copies(groups)}", groups, factor=factor)


def _scaled(wanted: Sequence[torch.Tensor], firsts: Tensors, groups: Groups) -> Iterator[Found]:
    """A multiple of the output, on every rank or cut."""
    if len(groups) == 1:
        if firsts[0][0].shape == wanted[0].shape and (times := _factor(firsts[0], wanted)) is not None:
            yield Found("scaled", f"{times} times the output{EVERY}", groups, factor=1 / times)
        return
    for dim in range(wanted[0].dim()):
        if all(_fits(part[0], wanted[0], dim) for part in firsts):
            whole = [torch.cat([part[draw] for part in firsts], dim) for draw in range(len(wanted))]
            if whole[0].shape == wanted[0].shape and (times := _factor(whole, wanted)) is not None:
                told = f"{times} times the output, sharded over dimension {dim}{_copies(groups)}"
                yield Found("scaled", told, groups, dim, 1 / times)


def _factor(multiple: Sequence[torch.Tensor], of: Sequence[torch.Tensor]) -> Fraction | None:
    """The number c, a fraction of small numbers, with multiple = c · of on every draw."""
    mine, yours = multiple[-1].double().flatten(), of[-1].double().flatten()
    at = int(yours.abs().argmax()) if yours.numel() else -1
    if at < 0 or float(yours[at]) == 0:
        return None
    ratio = float(mine[at] / yours[at])
    if ratio == 0 or ratio != ratio or abs(ratio) > _WHOLE:
        return None
    factor = Fraction(ratio).limit_denominator(_WHOLE)
    fits = factor != 0 and all(agree(a.double(), b.double() * float(factor)) for a, b in zip(multiple, of, strict=True))
    return factor if fits else None


def _nothing(wanted: Sequence[torch.Tensor], held: Held) -> str:
    """What the ranks hold instead, in words."""
    off = [rank for rank, tensors in held.items() if not all(map(agree, wanted, tensors))]
    if all(part[0].shape == wanted[0].shape for part in held.values()):
        worst = max(difference(a, b) for tensors in held.values() for a, b in zip(wanted, tensors, strict=True))
        ranks = "every rank holds" if len(off) == len(held) > 1 else f"{_spoken(off)} hold{'s' * (len(off) == 1)}"
        return f"{ranks} other numbers, by up to {worst:.2g} of the largest"
    if len(off) < len(held):
        there = _spoken([rank for rank in held if rank not in off])
        return f"{there} has it, and {_spoken(off)} something else under its name, {list(held[off[0]][0].shape)}"
    shapes = " and ".join(dict.fromkeys(str(list(part[0].shape)) for part in held.values()))
    return f"no piece, sum or multiple of the ranks' {shapes} makes the output's {list(wanted[0].shape)}"


# --------------------------------------------------------------------------------------------------- roots of the world


Make = Callable[[str, tuple[Any, ...], TensorType], Node]


def put_together(
    name: str, left: Node, ranks: Mapping[int, Node], found: Found, make: Make, *, holds: bool
) -> list[tuple[str, Node]]:
    """The sequential output made of the results of the ranks that return it: once for each rank, with its own result in
    it; pieces are compared one by one instead. `make` adds an operator to the world graph: name, arguments, type. An
    output whose placement does not hold is compared as it is, where the shapes let it.
    """
    whole = all(node.shape == left.shape for node in ranks.values())
    if not ranks or found.own or (found.kind == "none" and not whole):
        return []
    if found.kind in ("replicated", "none") or (whole and not holds):
        return [(f"{name} on rank {rank}", node) for rank, node in ranks.items()]
    kind = TensorType(left.shape, next(iter(ranks.values())).type.dtype)                   # type: ignore[union-attr]
    roots = []
    for rank in ranks:
        own = [next((r for r in group if r == rank), group[0]) for group in found.groups]
        node = _made(found, tuple(ranks[r] for r in own), left, kind, make)
        roots.append((f"{name} with rank {rank}'s part", _times(node, found.factor, make) if holds else node))
    return roots if any(len(group) > 1 for group in found.groups) else [(name, roots[0][1])]


def _made(found: Found, parts: tuple[Node, ...], left: Node, kind: TensorType, make: Make) -> Node:
    if found.kind == "strided":
        before, after = left.shape[: found.dim], left.shape[found.dim + 1 :]
        own = left.shape[found.dim] // len(parts) // found.parts
        apart = TensorType((*before, found.parts, 1, own, *after), kind.dtype)
        split = tuple(make("aten.reshape.default", (part, apart.shape), apart) for part in parts)
        joined = TensorType((*before, found.parts, len(parts), own, *after), kind.dtype)
        node = make("aten.cat.default", (split, found.dim + 1), joined)
        return make("aten.reshape.default", (node, left.shape), kind)
    if found.kind == "partial":
        node = parts[0]
        for part in parts[1:]:
            node = make("aten.add.Tensor", (node, part), kind)
        return node
    return parts[0] if len(parts) == 1 else make("aten.cat.default", (parts, found.dim), kind)


def _times(node: Node, factor: Fraction, make: Make) -> Node:
    """The tensor times a fraction, in whole numbers, which are exact."""
    kind = TensorType(node.shape, node.type.dtype)                                         # type: ignore[union-attr]
    if factor.numerator != 1:
        node = make("aten.mul.Scalar", (node, factor.numerator), kind)
    return node if factor.denominator == 1 else make("aten.div.Scalar", (node, factor.denominator), kind)


def with_roots(graph: Graph, nodes: Sequence[Node], roots: Sequence[tuple[str, Node]]) -> Graph:
    """The graph with nodes added at its end, and these roots."""
    return replace(graph, nodes=(*graph.nodes, *nodes), roots=tuple(roots))

