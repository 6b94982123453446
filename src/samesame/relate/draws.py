"""Draws: the values that both programs run on, so that equal tensors show and unequal ones part.

The first draw is the user's own: example inputs and loaded weights. The others move away from coincidences: new
inputs, and weights that are jittered so that all-ones norm weights and all-zero biases say something; one of them
is small in magnitude, because an epsilon shows only there. Where new inputs leave a program's domain (a logarithm
of a negative number), a draw near the example stands in. Both sides get the same values through the input relation:
a right weight is the layout of the jittered left weights. Integer inputs stay within the range of the example's
values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import torch

from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Node
from samesame.operators.execute import few_threads, is_finite, is_torchs, pieces
from samesame.operators.kept import Over, run_keeping
from samesame.relate.extremes import ASKED_FOR, OF_INTEGERS, OF_REALS, Inputs, asking, extreme, is_asking
from samesame.relate.flags import is_flag, moved
from samesame.relate.kinds import is_uniform
from samesame.relate.layout import Layout, values, wholes
from samesame.relate.noise import rounding_decides
from samesame.relate.propose import TOLERANCE, Values, agree

_DRAWS = 3
_SMALL = 1e-2
_APART = 7919              # between the seeds of the two sides' own weights
_NEAR = 1e-2
LARGE = 1 << 16            # elements of a weight that is drawn whenever it is asked for, and not kept
LABELS = ("the example", "jittered", "small", "near the example")
Run = Mapping[str, Any]    # values by node name


@dataclass(frozen=True, slots=True)
class Draw:
    """Values of the sources of each side, by node name, and what is special about them. Large ones are made anew
    whenever they are asked for."""

    label: str
    left: Mapping[str, torch.Tensor]
    right: Mapping[str, torch.Tensor]


class _Drawn(Mapping[str, torch.Tensor]):
    """Values of sources: those that are there, and ways to make the large ones."""

    def __init__(self) -> None:
        self._held: dict[str, torch.Tensor] = {}
        self._ways: dict[str, Callable[[], torch.Tensor]] = {}

    def put(self, name: str, size: int, way: Callable[[], torch.Tensor]) -> None:
        """A value with so many elements, and how to make it."""
        if size > LARGE:
            self._ways[name] = way
        else:
            self._held[name] = way()

    def __getitem__(self, name: str) -> torch.Tensor:
        return self._ways[name]() if name in self._ways else self._held[name]

    def __iter__(self) -> Iterator[str]:
        yield from [*self._held, *self._ways]

    def __contains__(self, name: object) -> bool:
        return name in self._held or name in self._ways

    def __len__(self) -> int:
        return len(self._held) + len(self._ways)


def draw(
    label: str,
    left: Graph,
    right: Graph,
    layouts: Mapping[str, Layout],
    *,
    seed: int = 0,
    kept: Collection[str] = (),
    loose: tuple[Collection[str], Collection[str]] = ((), ()),
    bold: bool = False,
    apart: int | None = None,
) -> Draw:
    """One draw, by label. `layouts` gives right parameters and inputs, by node name, as layouts over left ones; inputs
    that have none are the left's, in order. Left sources that are `kept` stay as they are; so do weights
    of either side without a partner, unless they are among the `loose` ones of their side. A `bold` draw takes other
    numbers than one where an input of integers or of truth values holds only that. Integers have a range of their own
    at each place of the dimension that is kept `apart`."""
    number = seed * len(LABELS) + LABELS.index(label)
    generator = torch.Generator().manual_seed(number)
    mine, yours = _Drawn(), _Drawn()
    for node in left.sources("input"):
        value = _input(label, left.tensors[node.name], generator, bold, apart)
        mine.put(node.name, 0, partial(_itself, left.tensors[node.name] if node.name in kept else value))
    placed = [b for b in right.sources("input") if b.name in layouts]
    if not placed:
        for a, b in zip(left.sources("input"), right.sources("input"), strict=True):
            yours.put(b.name, 0, partial(_itself, mine[a.name]))
    held = {node.name: right.tensors[node.name] for node in (*placed, *right.sources("parameter"))}
    shared = _shared_dtypes(left, held, layouts)
    for node in left.sources("parameter"):
        value, way = left.tensors[node.name], partial(_itself, left.tensors[node.name])
        if label != LABELS[0] and node.name not in kept and (node.name in shared or node.name in loose[0]):
            way = partial(_drawn, value, shared.get(node.name, value.dtype), (number, node.name))
        mine.put(node.name, value.numel(), way)
    for name, value in held.items():
        way, layout = partial(_itself, value), layouts.get(name)
        if layout is not None:
            way = partial(_laid_out, layout, mine, value.dtype)
        elif name in loose[1] and label != LABELS[0]:
            way = partial(_drawn, value, value.dtype, (number + _APART, name))
        yours.put(name, value.numel(), way)
    return Draw(label, mine, yours)


def _itself(value: torch.Tensor) -> torch.Tensor:
    return value


def _drawn(value: torch.Tensor, within: torch.dtype, seed: tuple[int, str]) -> torch.Tensor:
    """A new weight that fits this dtype; the same for the same seed."""
    generator = torch.Generator().manual_seed(int.from_bytes(sha256(repr(seed).encode()).digest()[:7]))
    with few_threads(()):
        return _new_weight(value, generator).to(within).to(value.dtype)


def _laid_out(layout: Layout, mine: Mapping[str, torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    return values(layout, mine.__getitem__).to(dtype).contiguous()


def _shared_dtypes(
    left: Graph, held: Mapping[str, torch.Tensor], layouts: Mapping[str, Layout]
) -> dict[str, torch.dtype]:
    """For each related left weight the coarsest dtype that either side keeps it in: a draw must fit both."""
    found: dict[str, torch.dtype] = {}
    for right, layout in layouts.items():
        for name in wholes(layout):
            before = found.get(name, left.tensors[name].dtype)
            found[name] = max(before, held[right].dtype, key=_step)
    return found


def _step(dtype: torch.dtype) -> float:
    """How far apart neighbouring numbers near 1 are."""
    return torch.finfo(dtype).eps if dtype.is_floating_point or dtype.is_complex else 0.0


def _input(
    label: str, value: torch.Tensor, generator: torch.Generator, bold: bool, apart: int | None
) -> torch.Tensor:
    if apart is not None and label != LABELS[0] and value.dim() > 1 and _is_whole(value):
        return _in_ranges_of_their_own(value, apart, generator)
    match label:
        case "jittered":
            return _new_input(value, 1.0, generator, bold)
        case "small":
            return _new_input(value, _SMALL, generator, bold)
        case "near the example":
            return _jitter(value, _NEAR, generator)
    return value


def _is_whole(value: torch.Tensor) -> bool:
    return not (value.dtype.is_floating_point or value.dtype.is_complex or value.dtype == torch.bool)


def _in_ranges_of_their_own(value: torch.Tensor, apart: int, generator: torch.Generator) -> torch.Tensor:
    """Integers between the least and the largest that the example has at the same place of a dimension: numbers of
    several fields, say, each a column."""
    if value.numel() == 0:
        return value
    others = [d for d in range(value.dim()) if d != apart % value.dim()]
    low, high = value.amin(others, keepdim=True), value.amax(others, keepdim=True)
    share = torch.rand(value.shape, generator=generator, dtype=torch.float64)
    return (low + (share * (high - low + 1)).long()).to(value.dtype)


def _new_input(value: torch.Tensor, scale: float, generator: torch.Generator, bold: bool) -> torch.Tensor:
    if bold and holds_one_number(value):
        return _near_one_number(value, generator)
    if value.dtype == torch.bool:
        return value
    if is_flag(value):
        return moved(value, generator)
    if not value.dtype.is_floating_point:
        if value.numel() == 0 or value.dtype.is_complex:
            return value
        low, high = int(value.min()), int(value.max())
        if low < 0:                              # such as a label that stands for none: other numbers may mean nothing
            return value.flatten()[torch.randint(value.numel(), value.shape, generator=generator)]
        return torch.randint(low, high + 1, value.shape, generator=generator).to(value.dtype)
    if not is_finite(value):
        return value  # a mask of zeros and −∞, say: its pattern means something
    noise = torch.randn(value.shape, generator=generator, dtype=torch.float64)
    spread = _spread(value)
    positive = value.numel() > 0 and float(value.double().min()) >= 0
    fresh = noise.abs() * spread if positive else noise * spread
    return (fresh * scale).to(value.dtype)


def holds_one_number(value: torch.Tensor) -> bool:
    """Is it a mask or a tensor of integers that says the same everywhere, so that a program may as well not read it?"""
    return not (value.dtype.is_floating_point or value.dtype.is_complex) and value.numel() > 1 and is_uniform(value)


def _near_one_number(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Some of them the number before, or after 0 the one behind: of a mask of ones some zeros."""
    other = torch.randint(2, value.shape, generator=generator)
    if value.dtype == torch.bool:
        return other.bool()
    return value + (other if int(value.flatten()[0]) == 0 else -other).to(value.dtype)


def _spread(value: torch.Tensor) -> float:
    squares = sum(float(piece.double().pow(2).sum()) for piece in pieces(value, LARGE))
    size = math.sqrt(squares / value.numel()) if value.numel() else 0.0
    return size if size > 0 else 1.0


def _jitter(value: torch.Tensor, amount: float, generator: torch.Generator) -> torch.Tensor:
    """Near the given value, sign kept, but generic: relative noise, and a little absolute noise where there are
    zeros.
    """
    if not value.dtype.is_floating_point or value.numel() == 0 or not is_finite(value):
        return value
    if value.numel() > LARGE and value.element_size() > 1:         # torch does not multiply shorter ones
        return _jitter_of_large(value, amount, generator)
    noise = torch.randn(value.shape, generator=generator, dtype=torch.float64).clamp(-2, 2)
    moved = value.detach().double() * (1 + amount * noise)
    if bool((value == 0).any()):
        other = torch.randn(value.shape, generator=generator, dtype=torch.float64)
        moved = moved + torch.where(value == 0, 0.2 * amount * _spread(value) * other, torch.zeros_like(other))
    return moved.to(value.dtype)


def _jitter_of_large(value: torch.Tensor, amount: float, generator: torch.Generator) -> torch.Tensor:
    """The same, piece by piece. Drawing so many numbers would take longer than all else: every piece has the same noise
    but from another place on."""
    noise = torch.randn(2 * LARGE, generator=generator, dtype=torch.float64).clamp(-2, 2)
    factors, spread = (1 + amount * noise).to(value.dtype), 0.0
    flat = value.detach().contiguous().view(-1)
    moved = torch.empty_like(flat)
    starts = torch.randint(LARGE, (-(-len(flat) // LARGE), 2), generator=generator).tolist()
    for old, new, (start, other) in zip(pieces(flat, LARGE), pieces(moved, LARGE), starts, strict=True):
        torch.mul(old, factors[start : start + len(old)], out=new)
        if int(torch.count_nonzero(old)) < len(old):
            spread = spread or _spread(value)
            there = 0.2 * amount * spread * noise[other : other + len(old)]
            new += torch.where(old == 0, there, 0).to(value.dtype)
    return moved.view(value.shape)


def _new_weight(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A generic weight near the given one; of integers, any in their range, and where they are all one number, that or
    the next."""
    if value.numel() == 0 or value.dtype.is_floating_point or value.dtype.is_complex:
        return _jitter(value, 0.25, generator)
    if value.dtype == torch.bool:
        return torch.randint(2, value.shape, generator=generator).bool()
    low, high = int(value.min()), int(value.max())
    if low == high:
        low, high = (low - 1, high) if high == torch.iinfo(value.dtype).max else (low, high + 1)
    return torch.randint(low, high + 1, value.shape, generator=generator).to(value.dtype)


def take_draws(
    graphs: tuple[Graph, Graph],
    layouts: Mapping[str, Layout],
    seed: int,
    *,
    first: tuple[Run, Run] | None = None,
    kept: Collection[str] = (),
    loose: tuple[Collection[str], Collection[str]] = ((), ()),
    bold: bool = False,
) -> tuple[list[Draw], tuple[Values, Values]]:
    """The draws, and every node's float64 value on each, for both sides.

    The first is the example, on which neither side may compute NaN; `first` has its values where they are known. A draw
    on which a side computes NaN, or fails, has left a program's domain and is passed over, and so is one on which two
    that agree on the example part by rounding alone; one near the example then stands in. `kept`, `loose` and `bold`
    are as for `draw`; what is too bold for a program is drawn again.
    """
    taken: list[Draw] = []
    runs: tuple[list[Run], list[Run]] = ([], [])
    for label in LABELS:
        if label == LABELS[-1] and len(taken) >= _DRAWS:
            break
        made = partial(draw, label, *graphs, layouts, seed=seed, kept=kept, loose=loose)
        fresh, both = made(), first if taken == [] else None
        if taken and bold and may_be_bold(graphs):
            fresh = made(bold=True)
            both = run_both(graphs, fresh)
            if both is None or _undefined(graphs, both):
                fresh, both = made(), None
        both = both or run_both(graphs, fresh)
        for dim in (-1, 0):
            if both is None:
                fresh = made(apart=dim)
                both = run_both(graphs, fresh)
        if both is None:
            continue
        if _undefined(graphs, both):
            if not taken:
                _refuse_nan(graphs, both)
            continue
        paired = len(graphs[0].roots) == len(graphs[1].roots)              # of ranks there are more
        if taken and paired and agree_at_roots(graphs, (runs[0][0], runs[1][0])) and rounding_decides(
                graphs, (fresh.left, fresh.right), both):
            continue
        taken.append(fresh)
        runs[0].append(both[0])
        runs[1].append(both[1])
    return taken, runs


@dataclass(frozen=True, slots=True)
class Extremes:
    """What came of extreme inputs: the operator that `asks` by name for what is no number, if any; words for each draw
    on which the programs `agree`; and the draw on which they part, if there is one, with every node's value on it."""

    asks: Node | None = None
    agree: tuple[str, ...] = ()
    draw: Draw | None = None
    values: tuple[Run, ...] = ()


def at_extremes(
    graphs: tuple[Graph, Graph], taken: list[Draw], values: tuple[Values, Values], seed: int
) -> Extremes:
    """Both programs on integers at the ends of short dtypes, and, if either asks for them, on NaN and infinities. The
    inputs are the left's on both sides, in order."""
    first = next(filter(is_asking, _asking(graphs, values)), None)
    theirs = [node.name for node in graphs[1].sources("input")]
    agreeing = list[str]()

    def in_order(mine: Inputs) -> Inputs:
        return dict(zip(theirs, mine.values(), strict=True))

    for fresh, runs in extreme_runs(graphs, taken[0], values, seed, in_order):
        if not agree_at_roots(graphs, runs):
            return Extremes(first, tuple(agreeing), fresh, runs)
        agreeing.append(fresh.label)
    return Extremes(first, tuple(agreeing))


def agree_at_roots(graphs: tuple[Graph, Graph], runs: tuple[Run, Run]) -> bool:
    pairs = zip(graphs[0].roots, graphs[1].roots, strict=True)
    return all(agree(runs[0][a.name], runs[1][b.name], TOLERANCE) for (_, a), (_, b) in pairs)


def extreme_runs(
    graphs: tuple[Graph, Graph],
    example: Draw,
    values: tuple[Values, Values],
    seed: int,
    theirs: Callable[[Inputs], Inputs],
) -> Iterator[tuple[Draw, tuple[Run, Run]]]:
    """The example with extreme inputs, and both sides' values on it: integers at the ends of short dtypes, and, if
    either side asks for them, NaN and infinities. `theirs` makes the right's inputs of the left's."""
    found = _asking(graphs, values)
    changes = OF_INTEGERS + (OF_REALS if found else ()) + (ASKED_FOR if any(map(is_asking, found)) else ())
    mine = {node.name: example.left[node.name] for node in graphs[0].sources("input")}
    for word, inputs in extreme(mine, changes, seed):
        fresh = Draw(word, Over(inputs, example.left), Over(theirs(inputs), example.right))
        try:
            yield fresh, (run_keeping(graphs[0], fresh.left), run_keeping(graphs[1], fresh.right))
        except SamesameError:              # a number made of NaN may be no index
            continue


def _asking(graphs: tuple[Graph, Graph], values: tuple[Values, Values]) -> list[Node]:
    return [node for graph, run in zip(graphs, values, strict=True) for node in asking(graph, run)]


def _undefined(graphs: tuple[Graph, Graph], both: tuple[Mapping[str, Any], Mapping[str, Any]]) -> bool:
    return any(has_nan(run[root.name]) for graph, run in zip(graphs, both, strict=True) for _, root in graph.roots)


def may_be_bold(graphs: tuple[Graph, Graph]) -> bool:
    """Is there an input of one number that may be drawn otherwise? Only torch's own operators look at every index."""
    inputs = (graphs[0].tensors[node.name] for node in graphs[0].sources("input"))
    known = all(node.is_source or node.operator == "getitem" or is_torchs(node) for g in graphs for node in g.nodes)
    return known and any(map(holds_one_number, inputs))


def run_both(graphs: tuple[Graph, Graph], fresh: Draw) -> tuple[Run, Run] | None:
    """Every node's value on this draw, for both sides; None where a drawn weight leads an operator out of its domain,
    as an index beyond a table does. On the example, which the programs ran, that is an error as any other."""
    try:
        return run_keeping(graphs[0], fresh.left), run_keeping(graphs[1], fresh.right)
    except Refused:
        if fresh.label == LABELS[0] or not _draws_integers(graphs, fresh):
            raise
        return None


def _draws_integers(graphs: tuple[Graph, Graph], fresh: Draw) -> bool:
    """Are there other integers than the example's, in a weight or an input?"""
    return any(
        (_is_whole(held) or held.dtype == torch.bool) and not torch.equal(drawn[name], held)
        for graph, drawn in zip(graphs, (fresh.left, fresh.right), strict=True)
        for name in drawn for held in [graph.tensors[name]]
    )


def _refuse_nan(graphs: tuple[Graph, Graph], runs: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    """A NaN made by a program on the user's own example is the user's to know about before anything is compared."""
    for side, graph, run in zip(("left", "right"), graphs, runs, strict=True):
        for name, root in graph.roots:
            if has_nan(run[root.name]):
                first = next(node for node in graph.nodes if has_nan(run.get(node.name)))
                if first.is_source:
                    raise Refused(f"the {first.operator} {first.name} of {side} holds NaN; give it numbers")
                raise Refused(
                    f"{side} computes NaN in output {name}: {first.operator} makes it first, at {first.origin}; "
                    "give inputs on which it computes numbers"
                )


def has_nan(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and bool(torch.isnan(value).any())
