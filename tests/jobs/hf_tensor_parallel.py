"""Transformers models with the tensor-parallel plans they come with."""

import torch
import transformers
from transformers.distributed.tensor_parallel import apply_tensor_parallelism

world_size = 2
mesh = {"tp": 2}
backward = True
SIZES = dict(
    vocab_size=24, hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=4,
    num_key_value_heads=2, head_dim=4, max_position_embeddings=16, bos_token_id=1, eos_token_id=2, pad_token_id=0,
    use_cache=False, tie_word_embeddings=False,
)
EXPERTS = dict(num_local_experts=4, num_experts_per_tok=2)
MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SIZES)),
    "mixtral": lambda: batched(transformers.MixtralForCausalLM, transformers.MixtralConfig(**SIZES, **EXPERTS)),
    "qwen3_moe": lambda: batched(
        transformers.Qwen3MoeForCausalLM,
        transformers.Qwen3MoeConfig(**SIZES, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=8),
    ),
}


def batched(kind, config):
    """Experts computed for all tokens at once, whose shapes do not depend on the routing."""
    config._experts_implementation = "batched_mm"
    return kind(config)


def sequential(name="llama"):
    model = MODELS[name]().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape) * 0.3 + (1.0 if weight.dim() == 1 else 0.0))
    return model


def distributed(rank, world_size, mesh, fault=None, name="llama"):
    model = sequential(name)
    return apply_tensor_parallelism(model, mesh, dict(model.tp_plan))


def inputs():
    return {"input_ids": torch.randint(3, 24, (2, 5))}


faults = ()
