"""Transformers' own expert-parallel plan for Qwen3-MoE."""
import torch, tempfile
from torch import nn
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig
from hf_tiny import qwen_moe

world_size = 2
FOLDER = tempfile.mkdtemp()
qwen_moe().save_pretrained(FOLDER)


class Logits(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids).logits


def sequential():
    return Logits(AutoModelForCausalLM.from_pretrained(FOLDER))


def distributed(rank, world_size):
    return Logits(AutoModelForCausalLM.from_pretrained(FOLDER, distributed_config=DistributedConfig(enable_expert_parallel=True)))


def inputs():
    return (torch.randint(0, 32, (2, 5)),)
