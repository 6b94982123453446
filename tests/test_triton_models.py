"""Triton kernels inside programs that `check` compares: a launch is an operator whose meaning is the lifted formula."""

from __future__ import annotations

import copy

import pytest

pytest.importorskip("triton")

import torch

from kernel_corpus import broken_variants, target
from samesame import check
from samesame.capture import capture
from samesame.evidence import Refused, Rung
from samesame.programs.named import named

torch.manual_seed(0)
X, WEIGHT = torch.randn(6, 20), torch.randn(20)


def normed(file: str):
    """RMSNorm by the kernel in a file of the corpus, as a function over tensors."""
    kernel = named(file.removesuffix(":launch") + ":rms_norm_kernel")

    def norm(x, weight):
        out = torch.empty_like(x)
        kernel[(x.shape[0],)](x, weight, out, x.stride(0), x.shape[1], 1e-6, BLOCK=32)
        return out

    return norm


def broken(name: str):
    return normed(next(v.target for v in broken_variants() if v.kernel == "rms_norm" and v.name == name))


def reference(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def test_a_launch_is_one_operator_of_what_the_kernel_reads() -> None:
    graph = capture(normed(target("rms_norm")), (X, WEIGHT))
    nodes = [node for node in graph.nodes if node.operator.startswith("triton.")]
    assert len(nodes) == 1 and nodes[0].operator.startswith("triton.rms_norm_kernel_")
    assert [part.name for part in nodes[0].inputs] == ["x", "weight"]
    assert "rms_norm_kernel[" in nodes[0].origin.code or nodes[0].origin.function == "norm"


def test_a_kernel_is_the_reference_for_every_number_of_rows() -> None:
    verdict = check(normed(target("rms_norm")), reference, (X, WEIGHT))
    assert verdict.verdict == "same"
    assert verdict.evidence >= Rung.PROVED_HERE
    assert any("x.shape[0]" in size for size in verdict.sizes.varying)


@pytest.mark.long
def test_a_kernel_that_both_sides_launch_is_told() -> None:
    """Patching a module changes it for the plain model too, which then proves nothing."""
    norm = normed(target("rms_norm"))
    told = "Both sides launch rms_norm_kernel: if only one was meant to, a patch of a module changed both."
    assert told in check(norm, norm, (X, WEIGHT)).notes
    assert told not in check(norm, reference, (X, WEIGHT)).notes


def test_a_kernel_that_computes_something_else_is_different() -> None:
    assert check(broken("weight_forgotten"), reference, (X, WEIGHT)).verdict == "different"


def test_a_kernel_that_leaves_its_memory_is_refused_with_the_line() -> None:
    with pytest.raises(Refused, match=r"rms_norm_mask_le\.py:\d+: (load|store) out of bounds"):
        capture(broken("mask_le"), (X, WEIGHT))


def test_a_kernel_whose_arguments_share_memory_is_refused() -> None:
    kernel = named(target("vector_add", "add_kernel"))

    def doubled(x):
        kernel[(1,)](x, x, x[2:], x.shape[0], BLOCK=32)
        return x

    with pytest.raises(Refused, match="the same memory as x_ptr and y_ptr"):
        capture(doubled, (torch.randn(20),))


@pytest.mark.models
def test_liger_kernels_in_a_llama_are_the_plain_model() -> None:
    transformers = pytest.importorskip("transformers")
    patch = pytest.importorskip("liger_kernel.transformers.monkey_patch")
    from liger_kernel.transformers.swiglu import LigerSwiGLUMLP

    config = transformers.LlamaConfig(
        hidden_size=48, intermediate_size=80, num_hidden_layers=1, num_attention_heads=3, num_key_value_heads=3,
        vocab_size=97, max_position_embeddings=64, head_dim=16, attn_implementation="eager",
    )
    torch.manual_seed(0)
    plain = transformers.LlamaForCausalLM(config).eval()
    patched = copy.deepcopy(plain)
    for layer in patched.model.layers:
        patch._patch_rms_norm_module(layer.input_layernorm)
        patch._patch_rms_norm_module(layer.post_attention_layernorm)
        patch._patch_swiglu_module(layer.mlp, LigerSwiGLUMLP)
    patch._patch_rms_norm_module(patched.model.norm)
    verdict = check(logits(plain), logits(patched), (torch.randint(0, 97, (2, 7)),))
    assert verdict.verdict == "same"
    assert verdict.evidence >= Rung.PROVED_HERE


def logits(model):
    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids):
            return self.model(ids, use_cache=False).logits

    return Logits()
