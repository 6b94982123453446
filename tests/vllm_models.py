"""Tiny models that Transformers and vLLM both have: which config of each architecture, and whether vLLM is here.

Sizes are those of `samesame.capture.checkpoints.folders.tiny`; what stands here are the flags and scales that a default
config leaves at values that hide them.
"""

from __future__ import annotations

from typing import Any

import pytest

from samesame.capture.checkpoints.folders import Checkpoint, tiny
from samesame.capture.checkpoints.transformers import load_hf
from samesame.capture.checkpoints.vllm import installed, load_vllm
from samesame.evidence import Refused

GROUPED = dict(num_key_value_heads=2)
SOFT_CAPS = dict(attn_logit_softcapping=5.0, final_logit_softcapping=3.0)
GRANITE = dict(embedding_multiplier=2.0, logits_scaling=3.0, residual_multiplier=0.5, attention_multiplier=0.3)

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "llama": GROUPED,
    "qwen2": GROUPED,
    "qwen3": GROUPED,
    "mistral": GROUPED,
    "gemma2": GROUPED | SOFT_CAPS | dict(query_pre_attn_scalar=24),
    "gemma3_text": GROUPED | dict(query_pre_attn_scalar=24),
    "mixtral": GROUPED,
    "qwen3_moe": GROUPED,
    "phi3": GROUPED,
    "gpt2": {},
    "opt": {},
    "granite": GROUPED | GRANITE,
    "cohere": GROUPED | dict(logit_scale=0.25),
    "glm4": GROUPED,
    "stablelm": GROUPED,
}


def missing() -> str:
    """Why there is no vLLM to test with; nothing where there is one."""
    try:
        installed()
    except Refused as reason:
        return str(reason)
    return ""


needs_vllm = pytest.mark.skipif(bool(missing()), reason=missing() or "vLLM is here")


def pair(folder, name: str, seed: int = 0, attention: str = "eager", **overrides: Any):
    """The same tiny model from Transformers and from vLLM."""
    place = tiny({"model_type": name}, folder, ARCHITECTURES[name] | overrides, seed=seed)
    left = load_hf(Checkpoint("hf", place, {"attn": attention}, text=f"hf:{name}"))
    return left, load_vllm(Checkpoint("vllm", place, text=f"vllm:{name}"))
