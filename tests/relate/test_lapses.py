"""A fault of ours in generalising costs the general form alone, and is told: the verdict on these sizes stands."""

from __future__ import annotations

import pytest
import torch
from test_generalise import blocks
from test_learnt_rules import opened
from test_rank_rules import block as of_a_rank

from samesame import check
from samesame.evidence import Evidence, Refused, Rung
from samesame.operators.table import REAL
from samesame.relate.lapses import lapse
from samesame.relate.rank_rules import RankRules
from samesame.relate.rules import Rulebook

X = torch.randn(3, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def twice(x):
    return torch.sinh(x) * 2


def added(x):
    return torch.sinh(x) + torch.sinh(x)


@pytest.fixture
def slip(monkeypatch):
    """A meaning that counts on sizes being numbers."""
    right = REAL["aten.sinh"]

    def counting(x):
        for size in x.shape:
            range(size)
        return right(x)

    monkeypatch.setitem(REAL, "aten.sinh", counting)


@pytest.mark.parametrize("kept", [True, False], ids=["with a store", "without one"])
def test_a_fault_in_generalising_costs_no_verdict_and_is_told(slip, kept):
    verdict = check(twice, added, (X,), store=opened() if kept else None)
    assert verdict.verdict == "same" and verdict.evidence is Rung.PROVED_HERE
    told = [note for note in verdict.notes if "was generalised" in note]
    assert len(told) == 1 and "TypeError" in told[0] and "test_lapses.py" in told[0]
    assert any("samesame failed at test_lapses.py" in why for why in verdict.sizes.fixed)


def test_what_was_proved_is_a_rule_as_it_is(slip):
    (block,) = blocks(twice, added, X)
    book = Rulebook(opened())
    book.learn(block, Evidence(Rung.PROVED_HERE, "normal form"), lambda wide: len(None))
    assert [*book.known] == [block.key] and len(book.lapses) == 1
    assert book.find(block, lambda wide: len(None))[0].rung is Rung.PROVED_HERE


def test_a_rule_of_ranks_that_fails_leaves_each_rank_its_own_proof():
    piece = of_a_rank(4 * 97, 97, 97)
    book = RankRules()
    assert book.find(piece, lambda wide: len(None)) is None and len(book.notes()) == 1
    assert book.find(piece, lambda wide: pytest.fail("it was tried before")) is None


def test_what_is_meant_for_the_user_is_no_lapse():
    with pytest.raises(Refused):
        lapse(Refused("give inputs"))
