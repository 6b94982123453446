"""What every Megatron job needs: the library's process groups, and weights dealt out from whole ones."""
import torch
from megatron.core import parallel_state
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.transformer_config import TransformerConfig


def groups(tp=1, ep=1):
    parallel_state.destroy_model_parallel()
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=tp, expert_model_parallel_size=ep)


def config(**more):
    return TransformerConfig(**{**dict(num_layers=2, hidden_size=16, num_attention_heads=4, ffn_hidden_size=32, use_cpu_initialization=True,
                             hidden_dropout=0.0, attention_dropout=0.0, bias_dropout_fusion=False, masked_softmax_fusion=False,
                             gradient_accumulation_fusion=False, apply_rope_fusion=False, persist_layer_norm=False), **more})
