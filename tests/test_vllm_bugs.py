"""Twelve mistakes that vLLM once made, put back one at a time: each is told, traced to its operator, and mended."""

import re
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from samesame import check
from samesame.evidence import Verdict
from vllm_bugs import BUGS, Bug
from vllm_models import needs_vllm, pair

pytestmark = [pytest.mark.models, needs_vllm]

NAMES = {bug.name: bug for bug in BUGS}
FOLDER = Path(mkdtemp(prefix="samesame-bugs-"))


@cache
def verdict_on(name: str) -> Verdict:
    return check(*NAMES[name].pair(FOLDER / re.sub(r"\W+", "_", name)), None, timeout=60)


def is_localised(bug: Bug) -> bool:
    """Is the operator that the report names the one that computes something else?"""
    divergence = verdict_on(bug.name).divergence
    site = divergence and (divergence.left if bug.side == "left" else divergence.right)
    return bool(site) and site.operator == bug.operator and f".{site.origin.module}".endswith(f".{bug.module}")


def is_mended(bug: Bug) -> bool:
    """Does the first diagnosis say what the mistake is?"""
    edits = verdict_on(bug.name).diagnosis
    return bool(edits) and re.fullmatch(bug.mended, edits[0].description) is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_of_old_is_told(name):
    verdict = verdict_on(name)
    assert verdict.verdict == "different"
    assert verdict.effect is not None and verdict.effect.max_error > 1e-6
    assert verdict.effect.argmax_total == 22


@pytest.mark.long
def test_nearly_all_are_traced_to_their_operator_and_most_are_understood_at_once():
    told = [bug.name for bug in BUGS if verdict_on(bug.name).verdict == "different"]
    localised = [bug.name for bug in BUGS if is_localised(bug)]
    mended = [bug.name for bug in BUGS if is_mended(bug)]
    print(f"{len(BUGS)} mistakes: {len(told)} told, {len(localised)} localised, {len(mended)} mended by the first edit")
    assert len(BUGS) == len(told) == 12
    assert len(localised) >= 11, set(NAMES) - set(localised)
    assert len(mended) >= 9, set(NAMES) - set(mended)


@pytest.mark.long
def test_that_ways_of_transformers_to_compute_attention_disagree_is_said(tmp_path):
    """Its sdpa knows no soft cap."""
    left, right = pair(tmp_path, "gemma2", attention="sdpa")
    verdict = check(left, right, None, timeout=60)
    assert verdict.verdict == "different"
    told = [note for note in verdict.notes if note.startswith("Transformers' own ways to compute attention disagree")]
    assert len(told) == 1 and "with attn=eager" in told[0] and told[0].endswith("and agrees with the right.")
    assert not [note for note in verdict_on("rope_theta is lost").notes if "own ways" in note]


@pytest.mark.long
def test_some_change_no_choice_of_a_token_and_are_told_all_the_same():
    assert [name for name in NAMES if verdict_on(name).effect.argmax_changed == 0]
