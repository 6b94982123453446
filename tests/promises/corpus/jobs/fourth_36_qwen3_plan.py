"""A tiny Qwen3 of Transformers under a plan of torch.distributed.tensor.parallel."""
import torch
from torch import nn
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
from transformers import Qwen3Config, Qwen3ForCausalLM

TRUTH = "refines"
WHY = "heads, gates and vocabulary are cut whole; norms of queries and keys are per head and thus local"

world_size = 2


class Logits(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(28)
        config = Qwen3Config(
            vocab_size=20, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=4, max_position_embeddings=32, tie_word_embeddings=False, use_cache=False,
            attn_implementation="eager",
        )
        self.lm = Qwen3ForCausalLM(config).eval()

    def forward(self, input_ids):
        return self.lm(input_ids=input_ids, use_cache=False).logits


plan = {
    "lm.model.embed_tokens": RowwiseParallel(input_layouts=Replicate()),
    "lm.model.layers.*.self_attn.q_proj": ColwiseParallel(),
    "lm.model.layers.*.self_attn.k_proj": ColwiseParallel(),
    "lm.model.layers.*.self_attn.v_proj": ColwiseParallel(),
    "lm.model.layers.*.self_attn.o_proj": RowwiseParallel(),
    "lm.model.layers.*.mlp.gate_proj": ColwiseParallel(),
    "lm.model.layers.*.mlp.up_proj": ColwiseParallel(),
    "lm.model.layers.*.mlp.down_proj": RowwiseParallel(),
    "lm.lm_head": ColwiseParallel(output_layouts=Replicate()),
}


def sequential():
    return Logits()


def inputs():
    torch.manual_seed(29)
    return {"input_ids": torch.randint(0, 20, (2, 5))}
