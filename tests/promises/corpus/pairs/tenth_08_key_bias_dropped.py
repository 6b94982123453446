# EQUAL
# A checkpoint with a bias on the keys, loaded into attention without one (as Whisper and BEiT do it):
# q.(k + b) = q.k + q.b, and the second term is the same for every key.
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim=12, heads=3):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)
        self.v_proj = nn.Linear(dim, dim)
        self.out_proj = nn.Linear(dim, dim)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        out = torch.softmax(scores, -1) @ v
        return self.out_proj(out.transpose(1, 2).flatten(2))


class QVBiasAttention(nn.Module):
    def __init__(self):
        super().__init__()
        old = Attention()
        self.heads = old.heads
        self.qkv = nn.Linear(12, 36, bias=False)
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([old.q_proj.weight, old.k_proj.weight, old.v_proj.weight]))
        self.q_bias = old.q_proj.bias
        self.v_bias = old.v_proj.bias
        self.proj = old.out_proj

    def forward(self, x, mask):
        B, N, C = x.shape
        bias = torch.cat((self.q_bias, torch.zeros_like(self.v_bias), self.v_bias))
        qkv = F.linear(x, self.qkv.weight, bias)
        q, k, v = qkv.reshape(B, N, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        return self.proj(out.transpose(1, 2).reshape(B, N, C))


left = Attention
right = QVBiasAttention


def inputs():
    mask = torch.ones(2, 5, dtype=torch.bool)
    mask[1, 3:] = False
    return torch.randn(2, 5, 12), mask
