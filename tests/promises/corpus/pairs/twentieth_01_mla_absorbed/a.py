"""Multi-head latent attention as DeepSeek trains it: keys and values are brought up from the latent."""
import torch
from torch import nn

HEADS, NOPE, ROPE, VALUE, RANK, WIDTH = 2, 4, 4, 6, 8, 16


def rope(x, positions):
    half = x.shape[-1] // 2
    inv = 10000.0 ** (-torch.arange(half, device=x.device) / half)
    angle = positions[:, None] * inv
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class LatentAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(WIDTH, HEADS * (NOPE + ROPE), bias=False)
        self.kv_a = nn.Linear(WIDTH, RANK + ROPE, bias=False)
        self.kv_norm = nn.Parameter(1 + 0.1 * torch.randn(RANK))
        self.kv_b = nn.Linear(RANK, HEADS * (NOPE + VALUE), bias=False)
        self.o_proj = nn.Linear(HEADS * VALUE, WIDTH, bias=False)
        self.scale = (NOPE + ROPE) ** -0.5

    def forward(self, x):
        batch, length, _ = x.shape
        positions = torch.arange(length, device=x.device)
        q = self.q_proj(x).view(batch, length, HEADS, NOPE + ROPE).transpose(1, 2)
        q_nope, q_rope = q.split([NOPE, ROPE], dim=-1)
        latent, k_rope = self.kv_a(x).split([RANK, ROPE], dim=-1)
        latent = latent * torch.rsqrt(latent.pow(2).mean(-1, keepdim=True) + 1e-6) * self.kv_norm
        kv = self.kv_b(latent).view(batch, length, HEADS, NOPE + VALUE).transpose(1, 2)
        k_nope, v = kv.split([NOPE, VALUE], dim=-1)
        q_rope = rope(q_rope, positions)
        k_rope = rope(k_rope[:, None], positions).expand(-1, HEADS, -1, -1)
        q = torch.cat((q_nope, q_rope), dim=-1)
        k = torch.cat((k_nope, k_rope), dim=-1)
        scores = q @ k.transpose(-1, -2) * self.scale
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        out = (weights @ v).transpose(1, 2).reshape(batch, length, HEADS * VALUE)
        return self.o_proj(out)


def inputs():
    return (torch.randn(2, 5, WIDTH),)
