import torch
from torch import nn

from left import Left


class Right(nn.Module):
    """positions[j] is the embedding of distance t - 1 - j, so query i and key j read row t - 1 - (i - j)."""

    def __init__(self, dim=8, heads=2):
        super().__init__()
        theirs = Left(dim, heads)
        self.heads, self.size = heads, dim // heads
        self.qkv, self.r, self.out = theirs.qkv, theirs.r, theirs.out
        self.content_bias, self.position_bias = theirs.r_w_bias, theirs.r_r_bias

    def forward(self, x, positions):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
        steps = torch.arange(t, device=x.device)
        row = (t - 1 - steps[:, None] + steps[None, :]).clamp(max=t - 1)
        relative = self.r(positions)[row].view(t, t, self.heads, self.size)
        scores = (q + self.content_bias[:, None]) @ k.transpose(-1, -2)
        scores = scores + torch.einsum("bhid,ijhd->bhij", q + self.position_bias[:, None], relative)
        scores = scores * self.size**-0.5
        scores = torch.where(steps[None, :] <= steps[:, None], scores, float("-inf"))
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, d))


def inputs():
    return torch.randn(2, 5, 8), torch.randn(5, 8)
