"""Draws: the values that both programs run on, so that equal tensors show and unequal ones part.

The first draw is the user's own: example inputs and loaded weights. The others move away from coincidences: new
inputs, and weights that are jittered so that all-ones norm weights and all-zero biases say something; one of them
is small in magnitude, because an epsilon shows only there. Where new inputs leave a program's domain (a logarithm
of a negative number), a draw near the example stands in. Both sides get the same values through the input relation:
a right weight is the layout of the jittered left weights. Integer inputs stay within the range of the example's
values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Node
from samesame.operators.execute import execute, is_torchs
from samesame.relate.extremes import ASKED_FOR, OF_INTEGERS, OF_REALS, Inputs, asking, extreme, is_asking
from samesame.relate.joint import is_uniform
from samesame.relate.layout import Layout, values, wholes
from samesame.relate.propose import TOLERANCE, Values, agree

_DRAWS = 3
_SMALL = 1e-2
_APART = 7919              # between the seeds of the two sides' own weights
_NEAR = 1e-2
LABELS = ("the example", "jittered", "small", "near the example")


@dataclass(frozen=True, slots=True)
class Draw:
    """Values of the sources of each side, by node name, and what is special about them."""

    label: str
    left: dict[str, torch.Tensor]
    right: dict[str, torch.Tensor]


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
) -> Draw:
    """One draw, by label. `layouts` gives right parameters and inputs, by node name, as layouts over left ones; inputs
    that have none are the left's, in order. Left sources that are `kept` stay as they are; so do weights
    of either side without a partner, unless they are among the `loose` ones of their side. A `bold` draw takes other
    numbers than one where an input of integers or of truth values holds only that."""
    number = seed * len(LABELS) + LABELS.index(label)
    generator, other = (torch.Generator().manual_seed(number + apart) for apart in (0, _APART))
    mine = {a.name: _input(label, left.tensors[a.name], generator, bold) for a in left.sources("input")}
    mine |= {name: left.tensors[name] for name in mine if name in kept}
    yours: dict[str, torch.Tensor] = {}
    placed = [b for b in right.sources("input") if b.name in layouts]
    if not placed:
        pairs = zip(left.sources("input"), right.sources("input"), strict=True)
        yours = {b.name: mine[a.name] for a, b in pairs}
    held = {node.name: right.tensors[node.name] for node in (*placed, *right.sources("parameter"))}
    shared = _shared_dtypes(left, held, layouts)
    for node in left.sources("parameter"):
        value = left.tensors[node.name]
        if label != LABELS[0] and (node.name in shared or node.name in loose[0]):
            fresh = _new_weight(value, generator).to(shared.get(node.name, value.dtype)).to(value.dtype)
            value = value if node.name in kept else fresh
        mine[node.name] = value
    for name, value in held.items():
        layout = layouts.get(name)
        if layout is not None:
            value = values(layout, mine.__getitem__).to(value.dtype).contiguous()
        elif name in loose[1] and label != LABELS[0]:
            value = _new_weight(value, other)
        yours[name] = value
    return Draw(label, mine, yours)


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


def _input(label: str, value: torch.Tensor, generator: torch.Generator, bold: bool) -> torch.Tensor:
    match label:
        case "jittered":
            return _new_input(value, 1.0, generator, bold)
        case "small":
            return _new_input(value, _SMALL, generator, bold)
        case "near the example":
            return _jitter(value, _NEAR, generator)
    return value


def _new_input(value: torch.Tensor, scale: float, generator: torch.Generator, bold: bool) -> torch.Tensor:
    if bold and holds_one_number(value):
        return _near_one_number(value, generator)
    if value.dtype == torch.bool:
        return value
    if not value.dtype.is_floating_point:
        if value.numel() == 0 or value.dtype.is_complex:
            return value
        low, high = int(value.min()), int(value.max())
        if low < 0:                              # such as a label that stands for none: other numbers may mean nothing
            return value.flatten()[torch.randint(value.numel(), value.shape, generator=generator)]
        return torch.randint(low, high + 1, value.shape, generator=generator).to(value.dtype)
    if not bool(torch.isfinite(value).all()):
        return value  # a mask of zeros and −∞, say: its pattern means something
    noise = torch.randn(value.shape, generator=generator, dtype=torch.float64)
    spread = _spread(value)
    positive = value.numel() > 0 and float(value.min()) >= 0
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
    size = float(value.double().pow(2).mean().sqrt()) if value.numel() else 0.0
    return size if size > 0 else 1.0


def _jitter(value: torch.Tensor, amount: float, generator: torch.Generator) -> torch.Tensor:
    """Near the given value, sign kept, but generic: relative noise, and a little absolute noise where there are
    zeros.
    """
    if not value.dtype.is_floating_point or value.numel() == 0 or not bool(torch.isfinite(value).all()):
        return value
    noise = torch.randn(value.shape, generator=generator, dtype=torch.float64).clamp(-2, 2)
    moved = value.detach().double() * (1 + amount * noise)
    if bool((value == 0).any()):
        other = torch.randn(value.shape, generator=generator, dtype=torch.float64)
        moved = moved + torch.where(value == 0, 0.2 * amount * _spread(value) * other, torch.zeros_like(other))
    return moved.to(value.dtype)


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
    first: tuple[dict[str, Any], dict[str, Any]] | None = None,
    kept: Collection[str] = (),
    loose: tuple[Collection[str], Collection[str]] = ((), ()),
    bold: bool = False,
) -> tuple[list[Draw], tuple[Values, Values]]:
    """The draws, and every node's float64 value on each, for both sides.

    The first is the example, on which neither side may compute NaN; `first` has its values where they are known. A draw
    on which a side computes NaN, or fails, has left a program's domain and is passed over; one near the example then
    stands in. `kept`, `loose` and `bold` are as for `draw`; what is too bold for
    a program is drawn again.
    """
    taken: list[Draw] = []
    runs: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
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
        if both is None:
            continue
        if _undefined(graphs, both):
            if not taken:
                _refuse_nan(graphs, both)
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
    values: tuple[dict[str, Any], ...] = ()


def at_extremes(
    graphs: tuple[Graph, Graph], taken: list[Draw], values: tuple[Values, Values], seed: int
) -> Extremes:
    """Both programs on integers at the ends of short dtypes, and, if either asks for them, on NaN and infinities. The
    inputs are the left's on both sides, in order."""
    first = next(filter(is_asking, _asking(graphs, values)), None)
    roots = [(a.name, b.name) for (_, a), (_, b) in zip(graphs[0].roots, graphs[1].roots, strict=True)]
    theirs = [node.name for node in graphs[1].sources("input")]
    agreeing = list[str]()

    def in_order(mine: Inputs) -> Inputs:
        return dict(zip(theirs, mine.values(), strict=True))

    for fresh, runs in extreme_runs(graphs, taken[0], values, seed, in_order):
        if not all(agree(runs[0][a], runs[1][b], TOLERANCE) for a, b in roots):
            return Extremes(first, tuple(agreeing), fresh, runs)
        agreeing.append(fresh.label)
    return Extremes(first, tuple(agreeing))


def extreme_runs(
    graphs: tuple[Graph, Graph],
    example: Draw,
    values: tuple[Values, Values],
    seed: int,
    theirs: Callable[[Inputs], Inputs],
) -> Iterator[tuple[Draw, tuple[dict[str, Any], dict[str, Any]]]]:
    """The example with extreme inputs, and both sides' values on it: integers at the ends of short dtypes, and, if
    either side asks for them, NaN and infinities. `theirs` makes the right's inputs of the left's."""
    found = _asking(graphs, values)
    changes = OF_INTEGERS + (OF_REALS if found else ()) + (ASKED_FOR if any(map(is_asking, found)) else ())
    mine = {node.name: example.left[node.name] for node in graphs[0].sources("input")}
    for word, inputs in extreme(mine, changes, seed):
        fresh = Draw(word, {**example.left, **inputs}, {**example.right, **theirs(inputs)})
        try:
            yield fresh, (execute(graphs[0], fresh.left), execute(graphs[1], fresh.right))
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


def run_both(graphs: tuple[Graph, Graph], fresh: Draw) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Every node's value on this draw, for both sides; None where a drawn weight leads an operator out of its domain,
    as an index beyond a table does. On the example, which the programs ran, that is an error as any other."""
    try:
        return execute(graphs[0], fresh.left), execute(graphs[1], fresh.right)
    except Refused:
        if fresh.label == LABELS[0] or not _draws_integers(graphs, fresh):
            raise
        return None


def _draws_integers(graphs: tuple[Graph, Graph], fresh: Draw) -> bool:
    """Are there integers that the example does not hold, in a weight or an input?"""
    return any(
        not value.dtype.is_floating_point and not bool(torch.isin(value, graph.tensors[name]).all())
        for graph, drawn in zip(graphs, (fresh.left, fresh.right), strict=True) for name, value in drawn.items()
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
