"""What vLLM computes on an accelerator only: said before a model is loaded, where loading it would end in an error that
speaks of a missing compiler, or of nothing.

Each line was seen to fail with the vLLM of `OLDEST` to `NEWEST` on a CPU when its model was loaded or run; a line goes
when vLLM learns it. What depends on a checkpoint's config is a question to that config.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SCAN = "the selective scan of Mamba's first version has kernels for accelerators only"
DELTA = "the gated delta rule has kernels for accelerators only"
HALF = "its kernel for the gated delta rule computes in bfloat16 only, which hides differences behind rounding"
SPARSE = "sparse attention, where an indexer chooses the keys, has kernels for accelerators only"
ROUTER = "its router takes sigmoid scores only where experts stand in groups"

Question = Callable[[Any], bool]


def always(config: Any) -> bool:
    return True


LIMITS: dict[str, tuple[Question, str]] = {
    "DeepseekV32ForCausalLM": (always, SPARSE),
    "DeepseekV4ForCausalLM": (always, SPARSE),
    "GlmMoeDsaForCausalLM": (always, SPARSE),
    "HYV4ForCausalLM": (always, SPARSE),
    "Qwen4ExpForCausalLM": (always, SPARSE),
    "MambaForCausalLM": (always, SCAN),
    "FalconMambaForCausalLM": (always, SCAN),
    "JambaForCausalLM": (always, SCAN),
    "KimiLinearForCausalLM": (always, DELTA),
    "OlmoHybridForCausalLM": (always, DELTA),
    "Qwen3NextForCausalLM": (always, HALF),
    "Qwen3_5ForCausalLM": (always, HALF),
    "Qwen3_5MoeForCausalLM": (always, HALF),
    "LagunaForCausalLM": (always, ROUTER),
    "MiniMaxM2ForCausalLM": (always, ROUTER),
    "MiMoV2FlashForCausalLM": (
        lambda config: config.v_head_dim != config.head_dim,
        "attention whose values are narrower than its keys has kernels for accelerators only",
    ),
    "NemotronHForCausalLM": (
        lambda config: "moe" in config.layers_block_type,
        "experts without a gate have kernels for accelerators only",
    ),
}


def limit_of(architecture: str, config: Any) -> str:
    """Why vLLM does not run this model on a CPU; nothing where it may."""
    applies, reason = LIMITS.get(architecture, (None, ""))
    return reason if applies is not None and applies(config) else ""
