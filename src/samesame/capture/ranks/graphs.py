"""What one rank computes, as a graph, and what is known of it beside its operators."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from samesame.capture.ranks.placements import Placed
from samesame.graph import Graph, Origin


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program asked of data, and decided by: the node that holds it, by name, what it did to see it (`calls
    .item() on a tensor`), where, and what it was told: a number or a truth, or several."""

    node: str
    does: str
    origin: Origin
    value: tuple[float, ...]


def told_by(tensor: torch.Tensor) -> tuple[float, ...]:
    """What a tensor tells who asks it."""
    return tuple(tensor.detach().flatten().tolist())


@dataclass(frozen=True, slots=True)
class RankGraph(Graph):
    """What one rank computes. `placed` says of each parameter, input and root that is a DTensor's local tensor which
    part of the whole it is, by the name it has in the graph. `idle` are the weights that have no gradient, where
    gradients were asked for. `answers` are what it asked of data."""

    rank: int = 0
    world_size: int = 1
    placed: dict[str, Placed] = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()


def idle_weights(graph: Graph) -> tuple[str, ...]:
    """The weights of a rank that have no gradient, where gradients were asked for."""
    return graph.idle if isinstance(graph, RankGraph) else ()


def placements(graph: Graph) -> dict[str, Placed]:
    """Which part of which whole the local tensors of a rank's graph are, as far as DTensor tells."""
    return graph.placed if isinstance(graph, RankGraph) else {}


def answers(graph: Graph) -> tuple[Answer, ...]:
    """What the program asked of data."""
    return graph.answers if isinstance(graph, RankGraph) else ()
