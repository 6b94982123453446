"""Nothing false is proved: more than five hundred false claims of every family, each given to every way of proving.

`make soundness` runs twenty times as many; its figures are in benchmarks/soundness.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from random import Random

import pytest
from by_proof import TWINS, own_store, verdicts
from changes import PLACES
from every_claim import changes, laws, made
from false_claims import Sides, measured
from true_claims import sources

from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.expr import Size, index, maximum, sqrt
from samesame.formula.tensor import leaf
from samesame.store import Store

SEED = 0
CHANGES, CHANGE_PARTS, CHANGES_EACH = range(0, 64, 3), 64, 15          # which parts of 64, and how many each has
LAWS, LAW_PARTS, LAWS_EACH = range(0, 39, 3), 48, 17
TWIN_PARTS = 6
TWIN_SHARE = 20             # one in so many twins goes through the whole of `check`
SECONDS = 0.4

N = Size("N", 1)
i = index(N)
x, y = leaf("x", (N,)), leaf("y", (N,))


def test_they_are_more_than_five_hundred():
    assert len(CHANGES) * CHANGES_EACH + len(LAWS) * LAWS_EACH > 500


@pytest.mark.parametrize("part", CHANGES)
def test_a_true_claim_with_one_change_is_not_proved(part):
    claims = list(made(changes(), SEED, part, CHANGE_PARTS))
    assert sum(claim.everywhere for claim in claims) >= CHANGES_EACH
    for claim in claims:
        assert not claim.accepted(SECONDS), str(claim)


@pytest.mark.parametrize("part", LAWS)
def test_a_law_that_does_not_hold_is_not_proved(part):
    claims = list(made(laws(), SEED, part, LAW_PARTS))
    assert sum(claim.everywhere for claim in claims) >= LAWS_EACH
    for claim in claims:
        assert not claim.accepted(SECONDS), str(claim)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder, own_store(folder) as opened:
        yield opened


@pytest.mark.parametrize("part", range(TWIN_PARTS))
def test_a_wrong_program_is_not_the_same_by_proof_alone(part, store):
    for pair, twin in TWINS[:: TWIN_SHARE][part::TWIN_PARTS]:
        honest, alone = verdicts(pair, twin, store)
        assert honest == "different"
        assert alone != "same", f"{pair.name}: {twin.name}"


@pytest.mark.long
def test_every_family_and_every_kind_of_change_has_its_share():
    families = {source.family for source in sources()}
    assert len([family for family in families if family.startswith("claims")]) >= 8
    assert len([family for family in families if family.startswith("pairs")]) >= 39
    assert len([family for family in families if family.startswith("operators")]) >= 12
    kinds = {claim.change for part in CHANGES[:4] for claim in made(changes(), SEED, part, CHANGE_PARTS)}
    assert len(kinds & set(PLACES)) >= len(PLACES) - 2


# ------------------------------------------------------------------------------------------- what measures must do


@pytest.mark.parametrize(
    ("left", "right", "false", "everywhere"),
    [
        (x[i], y[i], True, True),
        (x[i] + y[i], y[i] + x[i], False, False),
        (sqrt(x[i] * x[i]), x[i], True, True),
        (x[i], x[(i + 1) % N], True, True),                # the same at N = 1, not at two other sizes
        (x[i] * ((N + 1) // 2), x[i] * (N // 2), True, False),
        (1 / (x[i] - x[i]), x[i], False, False),           # defined nowhere
    ],
)
def test_what_is_called_false_differs_in_numbers(left, right, false, everywhere):
    instances = [{"N": 1}, {"N": 4}, {"N": 6}]
    claim = measured("a claim", "here", "none", Sides((N,), (i,), left, right), Random(0), instances)
    assert (claim is not None) == false
    assert claim is None or claim.everywhere == everywhere


def test_a_true_claim_called_false_would_be_noticed():
    claim = measured("a claim", "here", "none", Sides((N,), (i,), x[i], y[i]), Random(0), [{"N": 2}, {"N": 3}])
    assert not claim.accepted()
    same = type(claim)("a claim", "here", "none", Sides((N,), (i,), x[i] + y[i], y[i] + x[i]), claim.differs_at)
    found = same.accepted()
    assert [found[0].startswith("all sizes, whole"), found[1].startswith("at {'N': 2}, whole")] == [True, True]


# ----------------------------------------------------------------------------------------- what these claims found


def test_pieces_of_a_maximum_that_add_up_to_zero():
    """Their sum was once taken to find what they share, and a sum of nothing has no content."""
    pieces = x[i], y[i] - x[i], -y[i]
    assert isinstance(prove_equal(maximum(*pieces), maximum(*reversed(pieces))), Proved)
    assert isinstance(prove_equal(maximum(*pieces), x[i]), NotProved)
