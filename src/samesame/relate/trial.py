"""Trials: both sides of a block run on fresh values of its frontier, where an operator has no formula.

A trial is no proof, so it says what it drew. Reals are normal at several scales, then values at which operators change
their minds: ties, integers and halves, zeros of both signs, rows in order, equal elements, denormals; NaN and
infinities where an operator asks for them. Integers run over their range and its ends. What makes torch fail is not
tried, and is named: that an index lies in a table is seldom known of a frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph, Node
from samesame.operators.demands import Range
from samesame.operators.execute import execute, is_torchs
from samesame.relate.extremes import is_asking
from samesame.relate.kinds import kind_of
from samesame.relate.propose import difference
from samesame.relate.propose import reals as in_reals

TOLERANCE = 1e-9
SCALES = (0.01, 0.1, 1.0, 10.0)
TURNS = (-2.0, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0)
DRAWS, SCALE, NEAR = 4, 0.3, 1e-6       # of what may part; that scale keeps functions from being flat or steep
WIDE = 1 << 15                          # a count of so many elements does not fill the memory
TINY = 1e-310
Reals = Callable[[tuple[int, ...], torch.Generator], torch.Tensor]
Integers = Callable[[Node, torch.Generator], torch.Tensor]


def _normal(scale: float) -> Reals:
    return lambda shape, generator: torch.randn(shape, generator=generator, dtype=torch.float64) * scale


def _chosen(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.tensor(TURNS, dtype=torch.float64)[torch.randint(len(TURNS), shape, generator=generator)]


def _in_order(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    drawn = _normal(1.0)(shape, generator)
    return drawn.sort(-1).values if shape else drawn


def _among(*few: float) -> Reals:
    """Normal values, a fifth of which are replaced by these."""

    def draw(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
        some = torch.tensor(few, dtype=torch.float64)[torch.randint(len(few), shape, generator=generator)]
        return torch.where(torch.rand(shape, generator=generator) < 0.2, some, _normal(1.0)(shape, generator))

    return draw


USUAL = tuple((f"normal values at scale {scale:g}", _normal(scale)) for scale in SCALES)
SPECIAL: tuple[tuple[str, Reals], ...] = (
    *(8 * [("integers and halves with ties and zeros of both signs", _chosen)]),
    ("rows in order", _in_order),
    ("equal elements", lambda shape, _: torch.full(shape, 0.75, dtype=torch.float64)),
    ("denormals", _among(TINY, -TINY)),
)
EXTREME = ("NaN and ±∞", _among(float("nan"), float("inf"), float("-inf")))


@dataclass(frozen=True, slots=True)
class Trial:
    """The worst difference of a trial that succeeded, and what was drawn, in words."""

    worst: float
    words: str


def trial(graph: Graph, left: str, right: str, ranges: Mapping[str, Range], seed: int) -> Trial | None:
    """Both sides, nodes of these names, on all draws. None where they part on one, or fail on ordinary values."""
    asking = any(map(is_asking, graph.nodes))
    kinds = [*USUAL, *SPECIAL, *([EXTREME] if asking else [])]
    inputs = graph.sources("input")
    has_reals = any(_kind(n) in ("real", "complex") for n in inputs)
    generator = torch.Generator().manual_seed(seed)
    for words, integers in _integers(graph, ranges):
        worst, failed, drawn = 0.0, [], 0
        for number, (name, reals) in enumerate(kinds):
            fresh = {n.name: _fresh(n, reals, integers, generator) for n in inputs}
            gap = _gap(graph, fresh, left, right)
            if gap is None and number < len(USUAL):
                break
            if gap is None:
                failed.append(name)
                continue
            if not gap <= TOLERANCE:
                return None
            worst, drawn = max(worst, gap), drawn + 1
        else:
            unasked = has_reals and not asking
            missing = [*dict.fromkeys(failed), *(["NaN and ±∞, which it does not ask for"] if unasked else [])]
            tried = [f"normal values at scales {SCALES[0]:g} to {SCALES[-1]:g}",
                     *dict.fromkeys(name for name, _ in kinds[len(USUAL):] if name not in failed)]
            parts = [f"{drawn} draws in float64 (seed {seed})", *([", ".join(tried)] if has_reals else []),
                     *([words] if any(_kind(n) == "int" for n in inputs) else []),
                     *([f"not tried: {', '.join(missing)}"] if missing else [])]
            return Trial(worst, "; ".join(parts))
    return None


def they_part(graph: Graph, left: str, right: str, ranges: Mapping[str, Range]) -> bool | None:
    """Whether both sides, nodes of these names, part on random values: on most elements of four draws, three of which
    are positive, as a claim may hold under a condition. None where torch cannot tell. This proves nothing; a claim of
    which it holds is true only of tensors that belong together, if of any."""
    inputs, apart, alike = graph.sources("input"), 0, 0
    known = {name: ends for name, ends in ranges.items() if all(isinstance(end, int) for end in ends)}
    generator = torch.Generator().manual_seed(0)
    for draw in range(DRAWS):
        reals = _normal(SCALE) if draw == 0 else _positive(SCALE)
        fresh = {n.name: _fresh(n, reals, _within(known, 0, 1), generator) for n in inputs}
        sides = _sides(graph, fresh, left, right)
        if sides is None:
            return None
        a, b = in_reals(*sides)
        told = torch.isfinite(a) & torch.isfinite(b)
        far = (a - b).abs() > NEAR * (1 + torch.maximum(a.abs(), b.abs()))
        apart, alike = apart + int((told & far).sum()), alike + int((told & ~far).sum())
        if draw and 0 in (apart, alike):
            break
    return apart > alike if apart or alike else None


def _positive(scale: float) -> Reals:
    return lambda shape, generator: _normal(scale)(shape, generator).abs()


def _gap(graph: Graph, fresh: Mapping[str, torch.Tensor], left: str, right: str) -> float | None:
    """How far the sides part; None where there is nothing to compare."""
    sides = _sides(graph, fresh, left, right)
    return None if sides is None else difference(*sides)


def _sides(
    graph: Graph, fresh: Mapping[str, torch.Tensor], left: str, right: str
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Both sides' values; None where there is nothing to compare."""
    try:
        results = execute(graph, fresh)
    except SamesameError:
        return None
    a, b = results[left], results[right]
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor) or a.shape != b.shape:
        return None
    return a, b


def _fresh(node: Node, reals: Reals, integers: Integers, generator: torch.Generator) -> torch.Tensor:
    shape, kind = node.shape, _kind(node)
    if kind == "bool":
        return torch.rand(shape, generator=generator) < 0.5
    if kind == "int":
        return integers(node, generator)
    drawn = reals(shape, generator)
    return torch.complex(drawn, reals(shape, generator)) if kind == "complex" else drawn


def _kind(node: Node) -> str:
    return kind_of(node.type.dtype)  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------------------------- integers


def _integers(graph: Graph, ranges: Mapping[str, Range]) -> Iterator[tuple[str, Integers]]:
    """Ways to draw integers, the widest first; a kernel that is not torch's may not look where an index lies."""
    known = {name: ends for name, ends in ranges.items() if all(isinstance(end, int) for end in ends)}
    if all(is_torchs(node) for node in graph.nodes if not node.is_source and node.operator != "getitem"):
        words = f"integers from {-WIDE} to {WIDE - 1}, or over their range, with its ends"
        yield words, _within(known, -WIDE, WIDE - 1)
        yield "integers from 0 to 20, as others fail", _within(known, 0, 20)
    yield "integers of 0 and 1 only", _within(known, 0, 1)


def _within(known: Mapping[str, Range], low: int, high: int) -> Integers:
    """Integers of a known range, or of these ends and within what their dtype holds; some are small, some at an end."""

    def draw(node: Node, generator: torch.Generator) -> torch.Tensor:
        dtype = getattr(torch, node.type.dtype)                                            # type: ignore[union-attr]
        held = torch.iinfo(dtype)
        ends = known.get(node.name, (max(low, held.min), min(high, held.max)))
        least, most = int(ends[0]), int(ends[1])                                           # type: ignore[arg-type]
        anywhere = torch.randint(least, most + 1, node.shape, generator=generator)
        near = torch.randint(-3, 4, node.shape, generator=generator).clamp(least, most)
        at_end = torch.where(torch.rand(node.shape, generator=generator) < 0.5, least, most)
        which = torch.rand(node.shape, generator=generator)
        return torch.where(which < 0.4, anywhere, torch.where(which < 0.8, near, at_end)).to(dtype)

    return draw
