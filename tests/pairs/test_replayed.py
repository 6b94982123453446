"""What check calls proved, replay calls proved: the corpus through certificates.

Replaying takes as long as proving, so the suite takes every fifth pair; all of them with SAMESAME_LONG=1.
"""

import os

import pytest

from pairs.corpus import PAIRS
from samesame import check
from samesame.certificate.replay import replay

CHOSEN = PAIRS if os.environ.get("SAMESAME_LONG") else PAIRS[::5]


@pytest.mark.parametrize("pair", CHOSEN, ids=lambda pair: pair.name)
def test_what_is_proved_is_replayed(pair):
    verdict = check(pair.left, pair.right, pair.inputs, certify=True)
    assert verdict.verdict == "same"
    checked, _ = replay(verdict.certificate)
    assert checked[0].startswith(f"every output {verdict.evidence}")
