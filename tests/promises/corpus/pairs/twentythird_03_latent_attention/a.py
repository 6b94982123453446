"""Multi-head latent attention (DeepSeek-V2) as it is trained: keys and values are decompressed for every token."""
import torch
from torch import nn

DIM, HEADS, NOPE, ROPE, VALUE, RANK = 16, 3, 4, 2, 5, 7


def rotate(x, positions):
    """Turn neighbouring pairs of the last dimension of [batch, time, heads, size] by their angles."""
    size = x.shape[-1]
    frequency = 1.0 / (100.0 ** (torch.arange(0, size, 2) / size))
    angle = positions[:, None] * frequency
    cos, sin = angle.cos()[None, :, None], angle.sin()[None, :, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class LatentAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(DIM, HEADS * (NOPE + ROPE), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(DIM, RANK + ROPE, bias=False)
        self.kv_a_layernorm = nn.RMSNorm(RANK, eps=1e-6)
        self.kv_b_proj = nn.Linear(RANK, HEADS * (NOPE + VALUE), bias=False)
        self.o_proj = nn.Linear(HEADS * VALUE, DIM, bias=False)
        nn.init.normal_(self.kv_a_layernorm.weight)

    def forward(self, x):
        batch, time, _ = x.shape
        positions = torch.arange(time, device=x.device)
        q = self.q_proj(x).view(batch, time, HEADS, NOPE + ROPE)
        q_nope, q_pe = q.split([NOPE, ROPE], dim=-1)
        compressed, k_pe = self.kv_a_proj_with_mqa(x).split([RANK, ROPE], dim=-1)
        kv = self.kv_b_proj(self.kv_a_layernorm(compressed)).view(batch, time, HEADS, NOPE + VALUE)
        k_nope, value = kv.split([NOPE, VALUE], dim=-1)
        q = torch.cat([q_nope, rotate(q_pe, positions)], dim=-1).transpose(1, 2)
        k_pe = rotate(k_pe[:, :, None], positions).expand(-1, -1, HEADS, -1)
        k = torch.cat([k_nope, k_pe], dim=-1).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) * (NOPE + ROPE) ** -0.5
        hidden = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        out = (weights @ value.transpose(1, 2)).transpose(1, 2).reshape(batch, time, HEADS * VALUE)
        return self.o_proj(out)


def inputs():
    return (torch.randn(2, 6, DIM),)
