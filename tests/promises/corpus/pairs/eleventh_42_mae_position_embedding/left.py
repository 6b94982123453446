import torch
from torch import nn


def sincos_1d(dim, pos):
    omega = 1.0 / 10000 ** (torch.arange(dim // 2, dtype=pos.dtype) / (dim / 2.0))
    out = torch.einsum("m,d->md", pos.reshape(-1), omega)
    return torch.cat([torch.sin(out), torch.cos(out)], dim=1)


def sincos_2d(dim, height, width, dtype):
    grid_h = torch.arange(height, dtype=dtype)
    grid_w = torch.arange(width, dtype=dtype)
    grid = torch.meshgrid(grid_w, grid_h, indexing="xy")
    emb_h = sincos_1d(dim // 2, grid[0])
    emb_w = sincos_1d(dim // 2, grid[1])
    return torch.cat([emb_h, emb_w], dim=1)


class Left(nn.Module):
    def __init__(self, channels=6, dim=8):
        super().__init__()
        self.dim, self.proj = dim, nn.Linear(channels, dim)

    def forward(self, x):
        b, c, h, w = x.shape
        x = self.proj(x.flatten(2).transpose(1, 2))
        return x + sincos_2d(self.dim, h, w, x.dtype)


def inputs():
    return (torch.randn(2, 6, 3, 4),)
