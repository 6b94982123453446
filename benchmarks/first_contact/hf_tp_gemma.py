"""Transformers' tensor-parallel plan of Gemma 2, loaded by from_pretrained."""
import torch
from torch import nn
import torch.distributed as dist

import tempfile
from transformers import Gemma2Config, Gemma2ForCausalLM, AutoModelForCausalLM
world_size = 2
FOLDER = tempfile.mkdtemp()
torch.manual_seed(0)
Gemma2ForCausalLM(Gemma2Config(vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=4, max_position_embeddings=32, use_cache=False)).save_pretrained(FOLDER)
class L(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m
    def forward(self, ids):
        return self.m(input_ids=ids).logits
def sequential():
    return L(AutoModelForCausalLM.from_pretrained(FOLDER))
def distributed(rank, world_size):
    return L(AutoModelForCausalLM.from_pretrained(FOLDER, tp_plan="auto"))
def inputs():
    return (torch.randint(0, 32, (2, 5)),)
