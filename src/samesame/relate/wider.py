"""Wider draws: larger numbers than the example and the weights have.

Draws of inputs have the example's spread, and a clamp, a maximum or a case that only larger numbers reach shows on none
of them: boxes of a narrow example all overlap, and a net whose weights are new never reaches what a trained one does.
Where no proof was found, both programs ran on such numbers, too, and a difference there is one, as proofs are about all
reals. Rounding must not explain it. Where a function comes to its limit it does, and no noise shows it: tanh 20
is 1 in floating point, and so is tanh 30, and which of them is larger is lost. So numbers stay small, weights grow by
few factors, and a draw tells nothing on which an exponential, a quotient or the like is exactly 0 or ±1 that was
not on the example. Numbers that all lie between 0 and 1 stay as they are: probabilities and shares are no others, and
neither are masks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import torch

from samesame.evidence import SamesameError
from samesame.graph import Graph, Node
from samesame.operators.kept import Over
from samesame.operators.table import packet
from samesame.relate.draws import Draw, Run, run_both
from samesame.relate.flags import is_flag
from samesame.relate.layout import Layout, values, wholes
from samesame.relate.noise import rounding_decides
from samesame.relate.propose import reals
from samesame.relate.roots import ROUNDED, difference_of_roots

TIMES = (4.0, 16.0)                # as large as the example's numbers
GROWN = (2.0, 4.0)                 # … and weights: what is made of several grows with each of them
PLAIN = 0.05                       # of the largest value: what larger weights must part, as they may make terms cancel
SECONDS = 2.0                      # in which a draw is begun
LARGEST = 6.0                      # of what is drawn: e⁶ and 1/(1 + e⁶) are far from where floating point ends
SPREADS = 2.0                      # as far from 0 as numbers are drawn
WEIGHTS = 1 << 20                  # elements of all weights that are made larger
LIMITED = frozenset(
    f"aten.{name}"
    for name in [
        *("exp", "exp2", "expm1", "sigmoid", "log_sigmoid_forward", "tanh", "erf", "erfc", "erfinv", "softplus"),
        *("special_ndtr", "special_log_ndtr", "special_expit", "special_erfcx", "special_i0e", "special_i1e"),
        *("_softmax", "softmax", "_log_softmax", "log_softmax", "prod", "cumprod", "div", "reciprocal", "pow"),
        *("atan", "atan2", "sinh", "cosh", "gelu", "silu", "mish", "elu", "celu", "selu"),
    ]
)


@dataclass
class Larger:
    """Larger draws of two programs, which run when what they part is first asked for. `before` are the values of all
    nodes on the example, and `layouts` say of right weights what they are of left ones."""

    graphs: tuple[Graph, Graph]
    example: Draw
    before: tuple[Run, Run]
    layouts: Mapping[str, Layout]
    seed: int
    tried: bool = False

    @cached_property
    def parted(self) -> tuple[Draw, tuple[Run, Run]] | None:
        self.tried = True
        return parted_by_larger(self.graphs, self.example, self.before, self.layouts, self.seed)


def parted_by_larger(
    graphs: tuple[Graph, Graph], example: Draw, before: tuple[Run, Run], layouts: Mapping[str, Layout], seed: int
) -> tuple[Draw, tuple[Run, Run]] | None:
    """A draw of larger numbers on which the programs part, and every node's value on it; None if there is none.
    `before` are the values on the example. The inputs are the left's on both sides, in order."""
    until = time.monotonic() + SECONDS
    of_inputs = ((fresh, ROUNDED) for fresh in _drawn(graphs, example, seed))
    for fresh, least in chain(of_inputs, ((fresh, PLAIN) for fresh in _of_weights(graphs[0], example, layouts))):
        if time.monotonic() > until:
            return None
        try:
            runs = run_both(graphs, fresh)
        except SamesameError:              # a number is no index, say
            continue
        if runs is None or not _finite(graphs, runs):
            continue
        if max(difference_of_roots(graphs, ([runs[0]], [runs[1]]))) <= least:
            continue
        limits = any(_comes_to_a_limit(graph, *both) for graph, *both in zip(graphs, before, runs, strict=True))
        if not limits and not rounding_decides(graphs, (fresh.left, fresh.right), runs):
            return fresh, runs
    return None


def _drawn(graphs: tuple[Graph, Graph], example: Draw, seed: int) -> Iterator[Draw]:
    generator = torch.Generator().manual_seed(seed)
    names = [[node.name for node in graph.sources("input")] for graph in graphs]
    for times in TIMES:
        wide = [_larger(example.left[name], times, generator) for name in names[0]]
        if all(value is None for value in wide):
            return
        mine, yours = ({name: value for name, value in zip(own, wide, strict=True) if value is not None}
                       for own in names)
        yield Draw(f"numbers up to {times:g} times as large", Over(mine, example.left), Over(yours, example.right))


def _of_weights(left: Graph, example: Draw, layouts: Mapping[str, Layout]) -> Iterator[Draw]:
    """Larger weights, the same on both sides, where there are not too many of them to be made in time."""
    shared = {name for layout in layouts.values() for name in wholes(layout)}
    weights = {node.name: example.left[node.name] for node in left.sources("parameter") if node.name in shared}
    if sum(value.numel() for value in weights.values()) > WEIGHTS:
        return
    short = {name for right, layout in layouts.items() if example.right[right].element_size() < 2
             for name in wholes(layout)}                   # which may not hold what is larger
    larger = {name: value for name, value in weights.items() if _may_be_larger(value) and name not in short}
    for times in GROWN if larger else ():
        now = Over({name: value * times for name, value in larger.items()}, example.left)
        yours = {name: values(layout, now.__getitem__).to(example.right[name].dtype)
                 for name, layout in layouts.items() if not larger.keys().isdisjoint(wholes(layout))}
        yield Draw(f"weights {times:g} times as large", now, Over(yours, example.right))


def _may_be_larger(value: torch.Tensor) -> bool:
    return (value.dtype.is_floating_point and value.element_size() > 1 and value.numel() > 0 and not is_flag(value)
            and not (float(value.min()) >= 0 and float(value.max()) <= 1))


def _larger(value: torch.Tensor, times: float, generator: torch.Generator) -> torch.Tensor | None:
    """New numbers, of one sign where the example's are; None for what stays as it is."""
    if not _may_be_larger(value):
        return None
    low, high = float(value.min()), float(value.max())
    spread = float(value.double().pow(2).mean().sqrt())
    most = min(times, LARGEST / (SPREADS * spread)) if 0 < spread < LARGEST else 0.0
    if most <= 1:
        return None
    noise = torch.randn(value.shape, generator=generator, dtype=torch.float64).clamp(-SPREADS, SPREADS)
    signed = noise.abs() if low >= 0 else -noise.abs() if high <= 0 else noise
    return (signed * most * spread).to(value.dtype)


def _comes_to_a_limit(graph: Graph, before: Run, after: Run) -> bool:
    """Whether some function is exactly 0 or ±1 now, and was not on the example."""
    limited = (node for node in graph.nodes if packet(node.operator) in LIMITED)
    return any(_is_at_limit(node, after) and not _is_at_limit(node, before) for node in limited)


def _is_at_limit(node: Node, run: Run) -> bool:
    """Whether an element is exactly 0 or ±1, and no element that it is made of is that itself."""
    value = run.get(node.name)
    if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point:
        return False
    limit = _is_exact(value)
    for held in (run.get(part.name) for part in node.inputs):
        if isinstance(held, torch.Tensor) and held.dtype.is_floating_point and bool(_is_exact(held).any()):
            own = zip(reversed(held.shape), reversed(value.shape), strict=False)
            alike = held.dim() <= value.dim() and all(m in (1, n) for m, n in own)
            limit = limit & ~_is_exact(held) if alike else torch.zeros_like(limit)
    return bool(limit.any())


def _is_exact(value: torch.Tensor) -> torch.Tensor:
    return (value == 0) | (value.abs() == 1)


def _finite(graphs: tuple[Graph, Graph], runs: tuple[Run, Run]) -> bool:
    values = (run[root.name] for graph, run in zip(graphs, runs, strict=True) for _, root in graph.roots)
    return all(bool(reals(value, value)[0].isfinite().all()) for value in values if isinstance(value, torch.Tensor))
