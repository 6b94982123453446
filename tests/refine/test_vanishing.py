"""What is zero but for rounding tells nothing; what only looks small does."""

from __future__ import annotations

import pytest
import torch

from samesame.capture.ranks.record import capture_sequential
from samesame.operators.execute import execute
from samesame.refine import refine
from samesame.refine.vanishing import Total, vanishing


def zero(program: object) -> bool:
    """Whether the output of a program of x is zero."""
    graph = capture_sequential(program, (torch.randn(8, 3),))
    (_, root), run = graph.roots[0], execute(graph, graph.tensors)
    return bool(vanishing(graph, {"0": [Total((root.name,))]}, [run]))


def test_a_sum_that_cancels_is_zero():
    assert zero(lambda x: (x - x.mean(0)).sum(0))


def test_a_small_number_is_not():
    assert not zero(lambda x: x.sum(0))
    assert not zero(lambda x: (x * 1e-12).sum(0))
    assert not zero(lambda x: (x - x.mean(0)).sum(0) + 1e-12 * x.sum(0))


@pytest.mark.parametrize("declared, held, verdict", [
    ("shard(0)", lambda x, rank: x * 0, "refines"),
    ("shard(0)", lambda x, rank: x - x, "refines"),
    ("shard(0)", lambda x, rank: x * 0 if rank else x * 0 + 1, "does not refine"),
    ("shard(0)", lambda x, rank: (x * 0)[:1], "does not refine"),
    ("shard(0)", lambda x, rank: (x * 0)[:, :1], "does not refine"),
    ("shard(0)", lambda x, rank: (x * 0).sum(), "does not refine"),
    ("strided(0, 2)", lambda x, rank: x * 0, "refines"),
    ("shard(0) in the order of ranks 1, 0", lambda x, rank: x * 0, "refines"),
    ("replicated", lambda x, rank: x * 0, "does not refine"),
])
def test_zeros_may_be_cut(declared, held, verdict):
    def distributed(rank, world_size):
        return lambda x: held(x, rank)

    found = refine(lambda x: x - x, distributed, (torch.randn(4, 3),), relations={"x": "shard(0)"},
                   expected={"0": declared})
    assert found.verdict == verdict
