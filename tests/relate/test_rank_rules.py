"""One rule serves every piece, wherever it starts; and no claim about pieces that is false of one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.graph import Graph, Node, TensorType
from samesame.relate.blocks import Block, key_of
from samesame.relate.prove import Prover
from samesame.relate.rank_rules import RankRules


def block(
    whole: int, start: int, kept: int, left_by: int = 3, right_by: int = 3, left_start: int | None = None
) -> Block:
    """slice(left_by · x) = right_by · slice(x): true where the numbers are the same and the pieces too."""
    full, part = TensorType((5, whole), "float64"), TensorType((5, kept), "float64")
    mine = start if left_start is None else left_start
    x = Node("x0", "input", type=full)
    scaled = Node("t1", "aten.mul.Scalar", (x, left_by), type=full)
    left = Node("t2", "aten.slice.Tensor", (scaled, 1, mine, mine + kept), type=part)
    piece = Node("t3", "aten.slice.Tensor", (x, 1, start, start + kept), type=part)
    right = Node("t4", "aten.mul.Scalar", (piece, right_by), type=part)
    graph = Graph("block", (x, scaled, left, piece, right), (("left", left), ("right", right)))
    return Block(graph, {"x0": 0}, {}, False, key_of(graph, {}))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(2, 4), st.data())
def test_one_proof_serves_every_rank(kept: int, ranks: int, data: st.DataObject) -> None:
    prover = Prover(book=RankRules())
    order = data.draw(st.permutations(range(ranks)))
    for rank in order:
        evidence = prover.decide(block(97 * kept * ranks, 97 * rank * kept, 97 * kept, 2, 2))
        assert evidence is not None
    assert prover.proofs == 1 and prover.attempts == 0 and prover.by_rule == ranks - 1


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(2, 9), st.integers(2, 9), st.integers(0, 9))
def test_a_claim_that_holds_of_one_piece_only_is_proved_of_no_other(
    start: int, kept: int, left_by: int, right_by: int, left_start: int
) -> None:
    whole = start + kept + left_start
    prover = Prover(book=RankRules())
    for by in (right_by, left_by):
        claim = block(whole, start, kept, left_by, by, min(left_start, whole - kept))
        true = by == left_by and min(left_start, whole - kept) == start
        assert (prover.decide(claim) is not None) == true
