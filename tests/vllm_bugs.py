"""Twelve ways in which vLLM has differed from Transformers, each put back into vLLM's side of a tiny pair.

Every one was met in the wild (the number is of an issue of vLLM, unless it says otherwise) and mended since. Here the
mended model is loaded and one thing about it undone: a module, or an attribute of one, set to what the mistake had.
`operator` and `module` say which operator computes something else since; `mended` what a right diagnosis says. No side
is presumed right, so it may say what the other side would have to do to be as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from samesame.capture.checkpoints.folders import Checkpoint, tiny
from samesame.capture.checkpoints.transformers import load_hf
from samesame.capture.checkpoints.vllm import VllmProgram, load_vllm
from vllm_models import GROUPED, SOFT_CAPS


@dataclass(frozen=True)
class Bug:
    """One mistake: the model and config that show it, what undoes the mending, where it then differs, and how."""

    name: str
    issue: str
    model: str
    fields: dict[str, Any]
    inject: Callable[[VllmProgram], None]
    operator: str                              # that computes something else, or, on the left, that has no counterpart
    module: str                                # how the module path of that operator ends
    mended: str                                # a regular expression that the first diagnosis is to match in whole
    side: str = "right"
    overrides: dict[str, Any] = field(default_factory=dict)

    def pair(self, folder: Any) -> tuple[Any, VllmProgram]:
        """The model of Transformers, and that of vLLM with the mistake."""
        place = tiny({"model_type": self.model}, folder, self.fields)
        left = load_hf(Checkpoint("hf", place, {"attn": "eager"}, text=f"hf:{self.model}"))
        right = load_vllm(Checkpoint("vllm", place, overrides=self.overrides, text=f"vllm:{self.model}"))
        self.inject(right)
        return left, right


def each(program: VllmProgram, ending: str) -> Iterator[Any]:
    """The modules of the model whose path ends so, in the order of layers."""
    found = [module for name, module in program.model.named_modules() if name.endswith(f".{ending}")]
    assert found, f"no module ends in {ending}"
    yield from found


def global_rope_everywhere(program: VllmProgram) -> None:
    modules = list(each(program, "self_attn"))
    whole = next(module.rotary_emb for module in modules if not module.is_sliding)
    for module in modules:
        module.rotary_emb = whole


def no_soft_cap(program: VllmProgram) -> None:
    for layer in program.layers.values():
        layer.impl.logits_soft_cap = 0


def window_one_longer(program: VllmProgram) -> None:
    for layer in program.layers.values():
        layer.impl.sliding_window += layer.impl.sliding_window > 0


def exact_gelu(program: VllmProgram) -> None:
    for module in each(program, "mlp"):
        module.act = nn.GELU()


def no_attention_bias(program: VllmProgram) -> None:
    for module in each(program, "qkv_proj"):
        module.bias = None


def no_bias_of_the_head(program: VllmProgram) -> None:
    program.model.lm_head.bias = None


def no_logit_scale(program: VllmProgram) -> None:
    program.model.logits_processor.scale = 1.0


def scaled_attention_weights(program: VllmProgram) -> None:
    for layer in program.layers.values():
        layer.impl.scale = layer.impl.head_size**-0.5


def no_norm_of_queries_and_keys(program: VllmProgram) -> None:
    for module in each(program, "self_attn"):
        module.q_norm = module.k_norm = nn.Identity()


def scaled_experts_twice(program: VllmProgram) -> None:
    for module in each(program, "mlp.experts"):
        module.routed_scaling_factor **= 2


def attention_scaled_twice(program: VllmProgram) -> None:
    for layer in program.layers.values():
        layer.impl.scale **= 2


def nothing(program: VllmProgram) -> None:
    """The config that vLLM is given does it."""


ATTENTION = "samesame.paged_attention.default"
ROTARY, LINEAR = "_C.rotary_embedding.default", "aten.linear.default"
GLM_MOE = dict(head_dim=32, routed_scaling_factor=2.5, n_group=1, topk_group=1, first_k_dense_replace=1)

BUGS = [
    Bug("local layers get the global rope config", "#29111", "gemma3_text",
        GROUPED | dict(layer_types=["sliding_attention", "full_attention"]),
        global_rope_everywhere, ROTARY, "layers.0.self_attn.rotary_emb",
        r"left is hf:\S+rope_parameters\.sliding_attention\.rope_theta=1000000\.0, .*"),
    Bug("the soft cap of attention is omitted", "#5908", "gemma2", GROUPED | SOFT_CAPS,
        no_soft_cap, ATTENTION, "self_attn.attn", r"paged_attention caps its scores at 5, in all 4 places.*"),
    Bug("the window is off by one", "#3385", "mistral", GROUPED,
        window_one_longer, ATTENTION, "self_attn.attn",
        r"paged_attention looks back over a window of 4 instead of 5, in all 4 places.*"),
    Bug("GELU is exact, not by tanh", "#3653", "gpt2", {},
        exact_gelu, "aten.gelu.default", "mlp.act", r"gelu becomes gelu_tanh, in all 4 places.*"),
    Bug("attention_bias is ignored", "#3767", "llama", GROUPED | dict(attention_bias=True),
        no_attention_bias, LINEAR, "self_attn.qkv_proj",
        r"aten.linear adds \S+q_proj.bias, \S+k_proj.bias and \S+v_proj.bias side by side, in all 4 places.*"),
    Bug("the bias of lm_head is dropped", "#46835", "gptj", dict(rotary_dim=16),
        no_bias_of_the_head, LINEAR, "logits_processor",
        r"aten.linear does without model.lm_head.bias, in all 2 places.*"),
    Bug("the scale of the logits is dropped", "#52158", "cohere", GROUPED | dict(logit_scale=0.25),
        no_logit_scale, LINEAR, "logits_processor",
        r"(aten.mul is left out|aten.linear is multiplied by 0.25), in all 2 places.*"),
    Bug("scale_attn_weights is ignored", "#36637", "gpt2", dict(scale_attn_weights=False),
        scaled_attention_weights, ATTENTION, "attn.attn",
        r"paged_attention scales its scores by 1 instead of 0.176777, in all 4 places.*"),
    Bug("the norms of queries and keys are missing", "#37852", "qwen3", GROUPED,
        no_norm_of_queries_and_keys, "aten.mul.Tensor", "self_attn.q_norm",
        r"the module q_norm is left out, in all 8 places of \S+\.self_attn\.\*", side="left"),
    Bug("rope_theta is lost", "#56066", "qwen2",
        GROUPED | dict(rope_parameters=dict(rope_type="default", rope_theta=1e6)),
        nothing, ROTARY, "rotary_emb", r"left is hf:\S+rope_parameters\.rope_theta=10000\.0, .*",
        overrides=dict(rope_parameters=dict(rope_type="default", rope_theta=1e4))),
    Bug("the scale of the experts is applied twice", "#24132", "glm4_moe", GROUPED | GLM_MOE,
        scaled_experts_twice, "aten.mul.Tensor", "mlp.experts",
        r"aten.mul\(other = (2.5|6.25)\) takes (6.25|2.5), in all 2 places.*"),
    Bug("queries are scaled twice", "transformers #38290", "opt", {},
        attention_scaled_twice, ATTENTION, "self_attn.attn",
        r"paged_attention scales its scores by 0.176777 instead of 0.03125, in all 4 places.*"),
]
