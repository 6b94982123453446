"""An attention layer with ALiBi, and the trick that lets a fused kernel without biases run it."""
import math

import torch
from torch import nn
from torch.nn import functional as F

HEADS, DIM = 4, 16


class BiasedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(DIM, DIM)
        self.k_proj = nn.Linear(DIM, DIM)
        self.v_proj = nn.Linear(DIM, DIM)
        self.o_proj = nn.Linear(DIM, DIM)
        self.slopes = [2 ** (-8 * (h + 1) / HEADS) for h in range(HEADS)]

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, HEADS, -1).transpose(1, 2)
        k = self.k_proj(x).view(B, T, HEADS, -1).transpose(1, 2)
        v = self.v_proj(x).view(B, T, HEADS, -1).transpose(1, 2)
        pos = torch.arange(T)
        distance = pos[:, None] - pos[None, :]
        bias = -torch.tensor(self.slopes)[:, None, None] * distance
        bias = bias.masked_fill(distance < 0, float("-inf"))
        probs = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(DIM // HEADS) + bias, dim=-1)
        return self.o_proj((probs @ v).transpose(1, 2).reshape(B, T, DIM))


class FusedKernelAttention(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM)
        parts = [ref.q_proj, ref.k_proj, ref.v_proj]
        self.qkv.weight.data = torch.cat([p.weight.data for p in parts])
        self.qkv.bias.data = torch.cat([p.bias.data for p in parts])
        self.out = nn.Linear(DIM, DIM)
        self.out.load_state_dict(ref.o_proj.state_dict())

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        slope = 2.0 ** (-2.0 * torch.arange(1, HEADS + 1)).to(x.dtype)
        q = torch.cat([q * (DIM // HEADS) ** -0.5, slope.view(1, HEADS, 1, 1).expand(B, -1, T, 1)], dim=-1)
        position = torch.arange(T, dtype=x.dtype).view(1, 1, T, 1)
        k = torch.cat([k, position.expand(B, HEADS, T, 1)], dim=-1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
        return self.out(y.transpose(1, 2).flatten(2))


torch.manual_seed(31)
left = BiasedAttention()
right = FusedKernelAttention(left)
inputs = (torch.randn(2, 6, DIM),)
