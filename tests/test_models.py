"""The tiny models are fit to test with: both attention implementations agree, and every parameter matters."""

import pytest
import torch

from models import DIFFERING, MODELS, build

pytestmark = pytest.mark.models


def logits(name, attention, **options):
    model, inputs = build(name, attention, **options)
    with torch.inference_mode():
        return model(**inputs).logits


@pytest.mark.parametrize("name", MODELS)
def test_eager_and_sdpa_agree(name):
    eager, sdpa = logits(name, "eager"), logits(name, "sdpa")
    assert eager.std() > 0.1
    torch.testing.assert_close(eager, sdpa, rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", DIFFERING)
def test_eager_and_sdpa_differ_where_transformers_drops_a_setting(name):
    assert (logits(name, "eager") - logits(name, "sdpa")).abs().max() > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_the_only_output(name):
    model, inputs = build(name)
    with torch.inference_mode():
        assert list(model(**inputs).keys()) == ["logits"]


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_is_random_and_takes_part(name):
    model, inputs = build(name)
    model(**inputs).logits.square().sum().backward()
    for parameter in model.parameters():
        assert parameter.grad is not None
        assert parameter.unique().numel() > parameter.numel() // 2


@pytest.mark.parametrize("name", ["qwen2", "qwen3", "mistral", "gemma2", "gemma3", "phi3", "mixtral"])
def test_the_window_is_shorter_than_the_sequence(name):
    model, inputs = build(name)
    with torch.inference_mode():
        before = model(**inputs).logits
        model.config.sliding_window += 1
        after = model(**inputs).logits
    assert (before - after).abs().max() > 1e-3
