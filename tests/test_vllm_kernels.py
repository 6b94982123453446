"""Kernels of vLLM that stay opaque are tested against what they should compute, and a kernel that does not is found."""

import pytest
import torch

from samesame import check
from samesame.capture import capture
from samesame.capture.checkpoints import vllm_tests
from samesame.evidence import Refused, Rung
from samesame.operators.definitions import STANDING_IN
from vllm_models import needs_vllm, pair

pytestmark = [pytest.mark.models, needs_vllm]


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return pair(tmp_path_factory.mktemp("llama"), "llama")


@pytest.fixture
def layer(llama, monkeypatch):
    monkeypatch.setattr(vllm_tests, "_accounts", {})
    found = next(iter(llama[1].layers.values()))
    return found, llama[1].config


def test_the_account_says_how_the_kernel_was_tested(layer):
    told = vllm_tests.account(*layer, "here")
    for part in ("CPU_ATTN, float32", "blocks of 128", "4 query and 2 key heads of 32", "6 draws", "124+3", "126+3",
                 "positions increasing, slots distinct", "scales 0.02, 1.0, 6.0", "worst difference"):
        assert part in told.text, told.text


def test_lengths_lie_on_both_sides_of_the_window_and_of_a_block():
    lengths = {past + new for past, new in vllm_tests.requests(9, 32)}
    assert {8, 9, 10, 31, 32, 33, 19} <= lengths
    assert {past > 0 for past, _ in vllm_tests.requests(9, 32)} == {True, False}


@pytest.mark.parametrize("setting, value", [
    ("scale", 0.2), ("logits_soft_cap", 3.0), ("sliding_window", 5), ("sliding_window", 130),
    ("alibi_slopes", torch.tensor([0.5, 0.25, 0.125, 0.0625])), ("sinks", torch.tensor([0.5, -1.0, 2.0, 0.0])),
])
def test_the_kernel_computes_its_definition_with_every_setting(layer, monkeypatch, setting, value):
    monkeypatch.setattr(layer[0].impl, setting, value)
    assert "worst difference" in vllm_tests.account(*layer, "here").text


@pytest.mark.parametrize("setting, off", [
    ("scale", 0.176), ("logits_soft_cap", 30.0), ("sliding_window", 7), ("sinks", torch.tensor([0.0, 0.0, 0.0, -2.0])),
])
def test_a_kernel_with_another_setting_than_it_says_is_found(layer, monkeypatch, setting, off):
    impl = layer[0].impl
    own = type(impl).forward

    def otherwise(self, *args, **kwargs):
        said = getattr(self, setting)
        setattr(self, setting, off)
        try:
            return own(self, *args, **kwargs)
        finally:
            setattr(self, setting, said)

    if setting == "sliding_window":
        monkeypatch.setattr(impl, setting, 8)
    monkeypatch.setattr(type(impl), "forward", otherwise)
    with pytest.raises(Refused, match="here: vLLM's attention kernel does not compute"):
        vllm_tests.account(*layer, "here")


@pytest.mark.long
def test_a_kernel_that_was_not_tested_is_no_evidence(llama):
    left, right = (capture(program, program.example) for program in llama)
    for node in right.nodes:
        if node.operator in STANDING_IN:
            object.__setattr__(node, "args", (*node.args[:-1], ""))
    verdict = check(left, right, (), timeout=15)
    assert verdict.verdict == "undecided" and verdict.evidence is Rung.UNDECIDED


def test_the_kernel_for_experts_computes_its_definition_and_another_activation_is_found(monkeypatch):
    import vllm._custom_ops

    monkeypatch.setattr(vllm_tests, "_experts", {})
    w13, w2 = torch.randn(4, 128, 64), torch.randn(4, 64, 64)
    text = vllm_tests.experts_account(w13, w2, None, "silu", "vec", 2, "here")
    assert "4 experts of 64 × 64, 2 of them for a token" in text and "18 draws" in text
    monkeypatch.setattr(vllm_tests, "fused_experts", lambda *given: 1.001 * definition(*given))
    with pytest.raises(Refused, match="here: vLLM's kernel for fused experts does not compute"):
        vllm_tests.experts_account(w13, w2, None, "gelu", "vec", 2, "here")
    assert vllm._custom_ops


definition = vllm_tests.fused_experts
