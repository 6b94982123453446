# DIFFERENT
"""LoRA on every Conv1D of the first GPT, and the adapters merged into the base weights."""
import copy

import torch
from torch import nn
from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel
from transformers.pytorch_utils import Conv1D

RANK, ALPHA = 4, 8


class LoraConv1D(nn.Module):
    """base(x) + alpha/r · B A x, with A: [r, in], B: [out, r] as peft stores them."""

    def __init__(self, base):
        super().__init__()
        n_in, n_out = base.weight.shape
        self.base = base
        self.lora_A = nn.Parameter(torch.randn(RANK, n_in) * 0.2)
        self.lora_B = nn.Parameter(torch.randn(n_out, RANK) * 0.2)     # trained, so not zero any more
        self.scaling = ALPHA / RANK

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


def replace(module, wrap, kind):
    for name, child in module.named_children():
        if isinstance(child, kind):
            setattr(module, name, wrap(child))
        else:
            replace(child, wrap, kind)
    return module


@torch.no_grad()
def merge(layer):
    base = copy.deepcopy(layer.base)
    delta = layer.lora_B @ layer.lora_A * layer.scaling
    if delta.shape != base.weight.shape:     # Conv1D stores [in, out]
        delta = delta.T
    base.weight.add_(delta)
    return base


class LM(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(ids).logits


def adapted():
    config = OpenAIGPTConfig(vocab_size=40, n_positions=16, n_embd=24, n_layer=2, n_head=3, initializer_range=0.1)
    return LM(replace(OpenAIGPTLMHeadModel(config), LoraConv1D, Conv1D)).eval()


left = adapted()
right = replace(copy.deepcopy(left), merge, LoraConv1D)


def inputs():
    return (torch.randint(0, 40, (2, 6)),)
