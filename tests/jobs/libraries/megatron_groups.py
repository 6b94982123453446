"""What every job on Megatron-core needs: its process groups, a config, and weights dealt out from whole ones."""

import torch
from megatron.core import parallel_state
from megatron.core.transformer.transformer_config import TransformerConfig


def config(world_size, **more):
    """The library's groups for so many ranks of tensor parallelism, and the config of a small model on them."""
    parallel_state.destroy_model_parallel()
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=world_size)
    return TransformerConfig(
        num_layers=1, hidden_size=16, num_attention_heads=4, ffn_hidden_size=32, use_cpu_initialization=True,
        gradient_accumulation_fusion=False, tensor_model_parallel_size=world_size, **more,
    )


def deal(own, whole, rank, world_size):
    """Give each weight of `own` its part of the one of this name in `whole`, along the dimension that was cut."""
    state = dict(whole.named_parameters())
    with torch.no_grad():
        for name, weight in own.named_parameters():
            full = state[name]
            cut = [d for d in range(full.dim()) if full.shape[d] != weight.shape[d]]
            weight.copy_(full.chunk(world_size, cut[0])[rank] if cut else full)
