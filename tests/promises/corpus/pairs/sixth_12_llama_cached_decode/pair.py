import copy

import torch
from torch import nn
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

torch.manual_seed(11)
cfg = LlamaConfig(
    vocab_size=50,
    hidden_size=32,
    intermediate_size=40,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    attn_implementation="eager",
)
model = LlamaForCausalLM(cfg).eval()


class Whole(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm = lm

    def forward(self, input_ids):
        return self.lm(input_ids=input_ids, use_cache=False).logits


class Incremental(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm = lm

    def forward(self, input_ids):
        cache = DynamicCache()
        steps = 3
        n = input_ids.shape[1] - steps
        out = self.lm(input_ids=input_ids[:, :n], past_key_values=cache, use_cache=True)
        logits = [out.logits]
        for t in range(steps):
            out = self.lm(input_ids=input_ids[:, n + t : n + t + 1], past_key_values=out.past_key_values, use_cache=True)
            logits.append(out.logits)
        return torch.cat(logits, dim=1)


left = Whole(model)
right = Incremental(copy.deepcopy(model))
inputs = (torch.randint(0, 50, (2, 8)),)
