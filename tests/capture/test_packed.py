"""What ranks pack into one tensor to add it up in one go is added up piece by piece."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist

from samesame.capture.ranks.record import capture_ranks
from samesame.capture.ranks.world import world
from samesame.graph import Graph, Node
from samesame.operators.execute import execute

A, B = torch.arange(4.0), torch.arange(10.0, 16.0)


def packed(op: Any, cut: tuple[int, int], swapped: bool = False) -> Graph:
    """Both inputs in one tensor, reduced, of which each rank takes a part; on rank 1 they may be packed `swapped`."""

    def program(rank: int, ranks: int) -> Any:
        def run(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            both = torch.cat([b, a] if swapped and rank else [a, b])
            dist.all_reduce(both, op=op)
            return both[slice(*cut)] * 2

        return run

    return world(capture_ranks(program, lambda rank, ranks: (A + rank, B - rank), 2))


def read_by(node: Node) -> set[str]:
    return {node.name} if node.is_source else set().union(*map(read_by, node.inputs))


def result(graph: Graph) -> torch.Tensor:
    root = graph.roots[0][1]
    return execute(graph, graph.tensors)[root.name]


@pytest.mark.parametrize("op, whole", [
    (dist.ReduceOp.SUM, torch.cat([2 * A + 1, 2 * B - 1])), (dist.ReduceOp.AVG, torch.cat([A + 0.5, B - 0.5])),
    (dist.ReduceOp.MAX, torch.cat([A + 1, B])),
], ids=["sum", "avg", "max"])
@pytest.mark.parametrize("cut, reads", [
    ((0, 4), {"a"}), ((4, 10), {"b"}), ((0, 10), {"a", "b"}), ((3, 5), {"a", "b"}), ((5, 8), {"a", "b"}),
])
def test_a_piece_has_nothing_to_do_with_the_others(op, whole, cut, reads):
    graph = packed(op, cut)
    assert {name.partition(".")[2] for name in read_by(graph.roots[0][1])} == reads
    assert torch.equal(result(graph), 2 * whole[slice(*cut)].double())


def test_pieces_that_ranks_have_in_another_order_are_not_mixed_up():
    wanted = torch.cat([A, B]) + torch.cat([B - 1, A + 1])
    assert torch.equal(result(packed(dist.ReduceOp.SUM, (0, 4), swapped=True)), 2 * wanted[:4].double())


def test_pieces_that_the_pack_holds_in_another_dtype_are_none():
    """200 + 100 is 44 in bytes, and 300 in what they are packed with."""

    def program(rank: int, ranks: int) -> Any:
        def run(n: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            both = torch.cat([n, x])
            dist.all_reduce(both)
            return both[:1] > 250

        return run

    counts = [torch.tensor([n], dtype=torch.uint8) for n in (200, 100)]
    assert bool(result(world(capture_ranks(program, lambda rank, ranks: (counts[rank], A), 2))))
