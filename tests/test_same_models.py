"""Real models: the two attentions of Transformers are the same, and so is what torch.export makes of a model."""

import pytest

from models import MODELS, build
from samesame import check
from samesame.capture import capture
from samesame.evidence import Refused, Rung

pytestmark = pytest.mark.models


@pytest.mark.parametrize("name", MODELS)
def test_eager_and_sdpa_attention_are_proved_the_same(name):
    (eager, inputs), (sdpa, _) = build(name, "eager"), build(name, "sdpa")
    verdict = check(eager, sdpa, inputs)
    assert verdict.verdict == "same", [root.evidence for root in verdict.roots]
    assert verdict.evidence >= Rung.PROVED_HERE


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("name", MODELS)
def test_the_exported_and_decomposed_model_is_proved_the_same(name, attention):
    model, inputs = build(name, attention)
    try:
        exported = capture(model, inputs, how="export+decompose", name="right")
    except Refused as refusal:
        pytest.skip(f"torch cannot decompose it: {refusal}")
    verdict = check(model, exported, inputs)
    assert verdict.verdict == "same", [root.evidence for root in verdict.roots]
    assert verdict.evidence >= Rung.PROVED_HERE


@pytest.mark.long
def test_a_cap_that_one_attention_drops_is_found():
    """Transformers' own sdpa path leaves Gemma 2's soft cap out: the paths differ, and the report says so."""
    (eager, inputs), (sdpa, _) = build("gemma2_capped", "eager"), build("gemma2_capped", "sdpa")
    assert check(eager, sdpa, inputs).verdict == "different"
