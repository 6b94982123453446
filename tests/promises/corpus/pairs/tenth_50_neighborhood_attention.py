# EQUAL
# 1D neighbourhood attention (NATTEN): the window is shifted at the borders so that every token sees `k` others
import torch
from torch import nn


class GatherNA(nn.Module):
    def __init__(self, dim=8, heads=2, kernel=3):
        super().__init__()
        self.heads, self.kernel = heads, kernel
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.rpb = nn.Parameter(torch.randn(heads, 2 * kernel - 1))

    def heads_of(self, x):
        B, N, C = x.shape
        return self.qkv(x).view(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.heads_of(x)
        assert N >= self.kernel
        pos = torch.arange(N)
        start = (pos - self.kernel // 2).clamp(0, N - self.kernel)
        idx = start[:, None] + torch.arange(self.kernel)                      # [N, k]
        scores = (q.unsqueeze(3) * k[:, :, idx]).sum(-1) * (C // self.heads) ** -0.5
        scores = scores + self.rpb[:, idx - pos[:, None] + self.kernel - 1]
        out = (scores.softmax(-1).unsqueeze(-1) * v[:, :, idx]).sum(3)
        return self.proj(out.transpose(1, 2).reshape(B, N, C))


class MaskedNA(GatherNA):
    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.heads_of(x)
        assert N >= self.kernel
        i, j = torch.arange(N)[:, None], torch.arange(N)[None, :]
        r = self.kernel // 2
        centre = i.clamp(r, N - 1 - r)
        visible = (j - centre).abs() <= r
        offset = (j - i).clamp(1 - self.kernel, self.kernel - 1) + self.kernel - 1
        bias = torch.where(visible, self.rpb[:, offset], float("-inf"))
        out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(B, -1, -1, -1))
        return self.proj(out.transpose(1, 2).flatten(2))


left, right = GatherNA, MaskedNA


def inputs():
    return (torch.randn(2, 7, 8),)
