"""Local attention with a window as wide as a block: dense with a band, or in blocks."""
import torch
from torch import nn
from torch.nn import functional as F

W = 4


class Banded(nn.Module):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def split(self, x):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        return (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))

    def forward(self, x):
        q, k, v = self.split(x)
        i = torch.arange(x.shape[1])
        visible = (i[:, None] >= i[None, :]) & (i[:, None] - i[None, :] < W)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        return self.to_out(y.transpose(1, 2).flatten(2))


class Blocked(Banded):
    def forward(self, x):
        b, t, _ = x.shape
        n = t // W
        q, k, v = (s.reshape(b, self.heads, n, W, -1) for s in self.split(x))
        k = torch.cat([F.pad(k, (0, 0, 0, 0, 1, 0))[:, :, :-1], k], dim=3)
        v = torch.cat([F.pad(v, (0, 0, 0, 0, 1, 0))[:, :, :-1], v], dim=3)
        scores = torch.einsum("bhnqd,bhnkd->bhnqk", q, k) * q.shape[-1] ** -0.5

        rows, cols = torch.arange(W)[:, None], torch.arange(2 * W)[None, :]
        outside = (cols > rows + W) | (cols <= rows)
        padding = (torch.arange(n) == 0)[:, None, None] & (cols < W)
        scores = scores.masked_fill(outside | padding, torch.finfo(scores.dtype).min)
        y = torch.einsum("bhnqk,bhnkd->bhnqd", scores.softmax(-1), v)
        return self.to_out(y.reshape(b, self.heads, t, -1).permute(0, 2, 1, 3).reshape(b, t, -1))


left = Banded
right = Blocked
inputs = (torch.randn(2, 12, 8),)
