"""BLOOM's attention as Transformers writes it: ALiBi is built from key positions alone and added to the scores."""

import math

import torch
from torch import nn


def alibi_slopes(heads: int) -> torch.Tensor:
    base = 2 ** (-(2 ** -(math.log2(heads) - 3)))
    return torch.pow(torch.tensor(base), torch.arange(1, heads + 1))


class BloomAttention(nn.Module):
    def __init__(self, hidden=24, heads=4):
        super().__init__()
        self.heads, self.head_dim = heads, hidden // heads
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.dense = nn.Linear(hidden, hidden)
        self.input_layernorm = nn.LayerNorm(hidden)
        nn.init.normal_(self.input_layernorm.weight)
        nn.init.normal_(self.input_layernorm.bias)

    def build_alibi(self, attention_mask):
        slopes = alibi_slopes(self.heads).to(self.dense.weight.dtype)
        mask = attention_mask.long()
        positions = ((mask.cumsum(-1) - 1) * mask)[:, None, :]
        alibi = slopes[None, :, None] * positions                       # [B, H, T]
        return alibi[:, :, None, :]

    def forward(self, hidden_states, attention_mask):
        residual = hidden_states
        x = self.input_layernorm(hidden_states)
        B, T, _ = x.shape
        fused = self.query_key_value(x).view(B, T, self.heads, 3, self.head_dim)
        q, k, v = fused[..., 0, :], fused[..., 1, :], fused[..., 2, :]
        q = q.transpose(1, 2).reshape(B * self.heads, T, self.head_dim)
        k = k.permute(0, 2, 3, 1).reshape(B * self.heads, self.head_dim, T)
        v = v.transpose(1, 2).reshape(B * self.heads, T, self.head_dim)
        alibi = self.build_alibi(attention_mask).reshape(B * self.heads, 1, T)
        scores = alibi.baddbmm(q, k, beta=1.0, alpha=self.head_dim**-0.5).view(B, self.heads, T, T)
        causal = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
        hide = causal[None, None] | ~attention_mask[:, None, None, :]
        probs = scores.masked_fill(hide, float("-inf")).softmax(-1)
        context = torch.bmm(probs.view(B * self.heads, T, T), v)
        context = context.view(B, self.heads, T, self.head_dim).permute(0, 2, 1, 3).reshape(B, T, -1)
        return self.dense(context) + residual


def inputs():
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[0, 5:] = False
    return torch.randn(2, 7, 24), mask
