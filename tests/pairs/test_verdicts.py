"""Every pair is proved the same and every twin is told apart: the corpus through `check`, as a user would run it."""

import pytest

from pairs.corpus import PAIRS
from samesame import check
from samesame.evidence import Rung

# Pairs that are equal and for which no proof is found yet; at most two are acceptable.
UNDECIDED: frozenset[str] = frozenset()

# Training steps whose proofs take seconds.
LONG = frozenset(["gradients of each sample", "adam", "adamw", "adamw over lists", "adamw fused", "sgd over lists"])


def marked(pair):
    return pytest.mark.long if pair.name in LONG else ()


@pytest.mark.parametrize("pair", [pytest.param(pair, marks=marked(pair), id=pair.name) for pair in PAIRS])
def test_pair_is_proved_the_same(pair):
    verdict = check(pair.left, pair.right, pair.inputs)
    if pair.name in UNDECIDED:
        assert verdict.verdict == "undecided", "proved now: take it off the list"
        return
    assert verdict.verdict == "same", [root.evidence for root in verdict.roots]
    assert verdict.evidence >= Rung.PROVED_HERE


@pytest.mark.parametrize(
    ("pair", "twin"),
    [pytest.param(p, twin, marks=marked(p), id=f"{p.name}-{twin.name}") for p in PAIRS for twin in p.twins],
)
def test_twin_is_different(pair, twin):
    assert check(pair.left, twin.right, pair.inputs).verdict == "different"
