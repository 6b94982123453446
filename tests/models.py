"""Tiny Transformers models, built on the spot: nothing is downloaded and the same seed gives the same weights.

Every parameter is random, biases and norm weights included: a norm weight of one or a bias of zero would hide a
dropped one. Sizes are small and generic: three query heads share a key and value head where the architecture allows it,
the head size is not hidden size / heads where it can be chosen, and windows are shorter than the sequence, so that a
wrong window, a wrong repetition of heads or a wrong scale changes the output.

    model, inputs = build("llama", attention="sdpa")        # 'eager' and 'sdpa' hold the same weights
    logits = model(**inputs).logits
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import transformers
from torch import nn
from transformers import AutoModelForCausalLM, AutoModelForImageClassification, AutoModelForMaskedLM

Example = tuple[nn.Module, dict[str, torch.Tensor]]

BATCH, SEQUENCE, WINDOW, VOCABULARY = 2, 9, 4, 53
TOKENS = dict(vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2, pad_token_id=0)
SHAPE = dict(hidden_size=30, intermediate_size=44, num_attention_heads=6, max_position_embeddings=32)
# RoPE needs an even head size, which 30 / 6 is not: either 36 / 6, or a head size of its own.
GROUPED = TOKENS | SHAPE | dict(num_key_value_heads=2, use_cache=False)
ROTARY = GROUPED | dict(hidden_size=36)
OWN_HEAD = GROUPED | dict(head_dim=10)


def alternating(layers: int) -> list[str]:
    """Sliding-window and full attention in turn, so that two layers already show a window on the wrong layer."""
    return ["sliding_attention" if layer % 2 == 0 else "full_attention" for layer in range(layers)]


def llama(layers: int) -> transformers.PreTrainedConfig:
    return transformers.LlamaConfig(**OWN_HEAD, num_hidden_layers=layers, tie_word_embeddings=False)


def qwen2(layers: int) -> transformers.PreTrainedConfig:
    return transformers.Qwen2Config(
        **ROTARY,
        num_hidden_layers=layers,
        layer_types=alternating(layers),
        use_sliding_window=True,
        sliding_window=WINDOW,
    )


def qwen3(layers: int) -> transformers.PreTrainedConfig:
    return transformers.Qwen3Config(
        **OWN_HEAD,
        num_hidden_layers=layers,
        layer_types=alternating(layers),
        use_sliding_window=True,
        sliding_window=WINDOW,
        attention_bias=True,
    )


def mistral(layers: int) -> transformers.PreTrainedConfig:
    return transformers.MistralConfig(**OWN_HEAD, num_hidden_layers=layers, sliding_window=WINDOW)


def gemma2(layers: int, attention_cap: float | None = None) -> transformers.PreTrainedConfig:
    """Without the cap on attention scores, which the sdpa implementation drops: see `gemma2_capped`."""
    return transformers.Gemma2Config(
        **OWN_HEAD,
        num_hidden_layers=layers,
        layer_types=alternating(layers),
        sliding_window=WINDOW,
        query_pre_attn_scalar=7,
        attn_logit_softcapping=attention_cap,
        final_logit_softcapping=3.0,
    )


def gemma3(layers: int) -> transformers.PreTrainedConfig:
    return transformers.Gemma3TextConfig(
        **OWN_HEAD,
        num_hidden_layers=layers,
        layer_types=alternating(layers),
        sliding_window=WINDOW,
        query_pre_attn_scalar=7,
    )


def phi3(layers: int) -> transformers.PreTrainedConfig:
    return transformers.Phi3Config(
        **ROTARY, num_hidden_layers=layers, sliding_window=WINDOW, original_max_position_embeddings=32
    )


def olmo2(layers: int) -> transformers.PreTrainedConfig:
    return transformers.Olmo2Config(**ROTARY, num_hidden_layers=layers, attention_bias=True)


def mixtral(layers: int) -> transformers.PreTrainedConfig:
    return transformers.MixtralConfig(
        **OWN_HEAD, num_hidden_layers=layers, sliding_window=WINDOW, num_local_experts=5, num_experts_per_tok=2
    )


def gpt2(layers: int) -> transformers.PreTrainedConfig:
    return transformers.GPT2Config(
        **TOKENS, n_positions=32, n_embd=30, n_inner=44, n_layer=layers, n_head=6, use_cache=False
    )


def opt(layers: int) -> transformers.PreTrainedConfig:
    sizes = dict(hidden_size=30, word_embed_proj_dim=22, ffn_dim=44, num_attention_heads=6, max_position_embeddings=32)
    return transformers.OPTConfig(**TOKENS, **sizes, num_hidden_layers=layers, use_cache=False)


def gpt_neox(layers: int) -> transformers.PreTrainedConfig:
    sizes = SHAPE | dict(hidden_size=48)                                     # a head of 8, of which RoPE turns half
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}
    return transformers.GPTNeoXConfig(
        **TOKENS, **sizes, num_hidden_layers=layers, rope_parameters=rope, use_cache=False
    )


def bert(layers: int) -> transformers.PreTrainedConfig:
    return transformers.BertConfig(**TOKENS, **SHAPE, num_hidden_layers=layers)


def vit(layers: int) -> transformers.PreTrainedConfig:
    sizes = dict(hidden_size=30, intermediate_size=44, num_attention_heads=6, image_size=(9, 12), patch_size=3)
    return transformers.ViTConfig(**sizes, num_channels=2, num_hidden_layers=layers, num_labels=7)


CONFIGS: dict[str, tuple[Callable[[int], transformers.PreTrainedConfig], Any]] = {
    "llama": (llama, AutoModelForCausalLM),
    "qwen2": (qwen2, AutoModelForCausalLM),
    "qwen3": (qwen3, AutoModelForCausalLM),
    "mistral": (mistral, AutoModelForCausalLM),
    "gemma2": (gemma2, AutoModelForCausalLM),
    "gemma3": (gemma3, AutoModelForCausalLM),
    "phi3": (phi3, AutoModelForCausalLM),
    "olmo2": (olmo2, AutoModelForCausalLM),
    "mixtral": (mixtral, AutoModelForCausalLM),
    "gpt2": (gpt2, AutoModelForCausalLM),
    "opt": (opt, AutoModelForCausalLM),
    "gpt_neox": (gpt_neox, AutoModelForCausalLM),
    "bert": (bert, AutoModelForMaskedLM),
    "vit": (vit, AutoModelForImageClassification),
}

# Found in the wild: the sdpa implementation ignores the cap on attention scores, so the two implementations differ.
DIFFERING = {"gemma2_capped": (partial(gemma2, attention_cap=0.5), AutoModelForCausalLM)}


def build(name: str, attention: str = "eager", layers: int = 2, seed: int = 0) -> Example:
    """A tiny model of architecture `name` in float32 and evaluation mode, and example inputs for it.

    `attention` is 'eager' or 'sdpa' and changes no weight. Inputs are `input_ids` [2, 9] int64, for `vit`
    `pixel_values` [2, 2, 9, 12] float32. The model returns an output object whose only tensor is `logits`. Experts
    (mixtral) gather their weights per token, so that no shape depends on the routing.
    """
    make_config, auto = (CONFIGS | DIFFERING)[name]
    config = make_config(layers)
    experts = {"experts_implementation": "batched_mm"} if name == "mixtral" else {}
    model = auto.from_config(config, attn_implementation=attention, **experts).float().eval()
    randomise(model, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    if name == "vit":
        height, width = config.image_size
        return model, {"pixel_values": torch.randn(BATCH, config.num_channels, height, width, generator=generator)}
    return model, {"input_ids": torch.randint(3, VOCABULARY, (BATCH, SEQUENCE), generator=generator)}


@torch.no_grad()
def randomise(model: nn.Module, seed: int = 0) -> None:
    """Give every parameter a random value of a size that keeps activations near one and softmax unsaturated."""
    generator = torch.Generator().manual_seed(seed)
    for module in model.modules():
        centre = 1.0 if is_norm(module) and not adds_one(module) else 0.0
        for name, parameter in module.named_parameters(recurse=False):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() == 1:
                parameter.copy_((centre if name == "weight" else 0.0) + 0.2 * noise)
            else:
                parameter.copy_(noise * parameter.shape[-1] ** -0.5)


def is_norm(module: nn.Module) -> bool:
    return "Norm" in type(module).__name__


def adds_one(module: nn.Module) -> bool:
    """Gemma's norms multiply by 1 + weight."""
    return "1.0 + self.weight" in inspect.getsource(type(module).forward)


MODELS: dict[str, Callable[..., Example]] = {name: partial(build, name) for name in CONFIGS}
