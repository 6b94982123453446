"""Norms that ranks write by hand, against torch's own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from samesame.capture import capture
from samesame.evidence import Refinement
from samesame.operators.defaults import with_defaults
from samesame.operators.execute import execute
from samesame.refine import refine
from samesame.refine.norms import OPENED, with_open_norms
from samesame.report.refinement import plain_text

EPS = 1e-5


def mean(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    dist.all_reduce(x)
    return x / dist.get_world_size()


def two_passes(g: torch.Tensor) -> torch.Tensor:
    middle = mean(g.mean(-1, keepdim=True))
    return (g - middle) * torch.rsqrt(mean(((g - middle) ** 2).mean(-1, keepdim=True)) + EPS)


def moments(g: torch.Tensor) -> torch.Tensor:
    first, second = mean(g.mean(-1, keepdim=True)), mean((g * g).mean(-1, keepdim=True))
    return (g - first) / torch.sqrt(second - first * first + EPS)


def merged(g: torch.Tensor) -> torch.Tensor:
    own, spread = g.mean(-1, keepdim=True), g.var(-1, unbiased=False, keepdim=True)
    middle = mean(own)
    return (g - middle) * torch.rsqrt(mean(spread + (own - middle) ** 2) + EPS)


def unmerged(g: torch.Tensor) -> torch.Tensor:
    own, spread = g.mean(-1, keepdim=True), g.var(-1, unbiased=False, keepdim=True)
    return (g - mean(own)) * torch.rsqrt(mean(spread) + EPS)


def outside(g: torch.Tensor) -> torch.Tensor:
    middle = mean(g.mean(-1, keepdim=True))
    return (g - middle) / (torch.sqrt(mean(((g - middle) ** 2).mean(-1, keepdim=True))) + EPS)


def groups(way: Callable[[torch.Tensor], torch.Tensor]) -> Refinement:
    """A group norm over an image cut into strips."""

    def distributed(rank: int, ranks: int) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda x: way(x.reshape(1, 2, -1)).reshape(x.shape)

    return refine(lambda: lambda x: F.group_norm(x, 2, eps=EPS), distributed, (torch.randn(1, 4, 4, 2),), timeout=60,
                  relations={"x": "shard(2)"}, expected={"0": "shard(2)"})


@pytest.mark.parametrize("way", [two_passes, moments, merged])
def test_moments_of_strips_make_a_group_norm(way: Callable[[torch.Tensor], torch.Tensor]) -> None:
    found = groups(way)
    assert found.verdict == "refines", plain_text(found)


@pytest.mark.parametrize("way", [unmerged, outside])
def test_other_moments_do_not(way: Callable[[torch.Tensor], torch.Tensor]) -> None:
    assert groups(way).verdict == "does not refine"


class Roots(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.rsqrt(x.square() + 1)


@pytest.mark.parametrize("norm", [
    nn.LayerNorm(4), nn.LayerNorm((3, 4), bias=False), nn.LayerNorm(4, elementwise_affine=False), nn.GroupNorm(3, 3),
    nn.RMSNorm(4, eps=1e-3), nn.RMSNorm((3, 4)),
])
def test_an_opened_norm_is_the_norm(norm: nn.Module) -> None:
    x = torch.randn(2, 3, 4)
    graph, plain = (with_defaults(capture(program, (x,))) for program in (norm, Roots()))
    assert with_open_norms(graph, graph) == (graph, graph), "no roots are taken by hand"
    opened, _ = with_open_norms(graph, plain)
    assert not any(node.operator in OPENED for node in opened.nodes) and len(opened.nodes) > len(graph.nodes)
    feeds = {node.name: graph.tensors.get(node.name, x) for node in graph.nodes if node.operator == "parameter"}
    feeds |= {node.name: x for node in graph.sources("input")}
    (_, root), (_, other) = graph.roots[0], opened.roots[0]
    torch.testing.assert_close(execute(opened, feeds)[other.name], execute(graph, feeds)[root.name])
