"""A tiny Llama from Transformers against a rewrite of it, right and then with one mistake in one layer.

Run it with `make demo`. It exits with 0 if samesame calls the first pair the same and the second different.
"""

from __future__ import annotations

import sys

import torch
from fused_llama import FusedLlama
from transformers import LlamaConfig, LlamaForCausalLM

from samesame import check
from samesame.report import print_report


def tiny_llama() -> LlamaForCausalLM:
    """Three layers, six query heads on two key and value heads, all weights random: nothing is downloaded."""
    config = LlamaConfig(
        vocab_size=53,
        hidden_size=30,
        intermediate_size=44,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=10,
        max_position_embeddings=32,
        rms_norm_eps=1e-6,
        attention_bias=True,
        use_cache=False,
    )
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():                # norm weights of one and biases of zero would hide mistakes
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def main() -> int:
    torch.manual_seed(0)
    model = tiny_llama()
    inputs = {"input_ids": torch.randint(0, model.config.vocab_size, (2, 9))}

    print("1. Transformers' Llama, and the same model with fused projections, norms and grouped attention\n")
    right = check(model, FusedLlama.from_transformers(model), inputs)
    print_report(right)

    print("\n2. The same pair, with the epsilon of another model in the norms of one layer\n")
    fused = FusedLlama.from_transformers(model)
    fused.layers[1].eps = 1e-5
    wrong = check(model, fused, inputs)
    print_report(wrong)

    return 0 if (right.verdict, wrong.verdict) == ("same", "different") else 1


if __name__ == "__main__":
    sys.exit(main())
