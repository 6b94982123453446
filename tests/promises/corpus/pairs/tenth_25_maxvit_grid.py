# DIFFERENT
# MaxViT block attention over windows or over a grid
import torch
from torch import nn


class PartitionAttention(nn.Module):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def attend(self, x):
        *lead, n, c = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(*lead, n, 3, self.heads, c // self.heads).movedim(-3, 0)
        q, k, v = q.transpose(-3, -2), k.transpose(-3, -2), v.transpose(-3, -2)
        a = (q @ k.mT * (c // self.heads) ** -0.5).softmax(-1)
        return self.proj((a @ v).transpose(-3, -2).reshape(*lead, n, c))


class GridAttention(PartitionAttention):
    def forward(self, x, grid=2):
        B, H, W, C = x.shape
        y = x.view(B, grid, H // grid, grid, W // grid, C)
        y = y.permute(0, 2, 4, 1, 3, 5).reshape(-1, grid * grid, C)      # tokens H/grid apart
        y = self.attend(y)
        y = y.view(B, H // grid, W // grid, grid, grid, C).permute(0, 3, 1, 4, 2, 5).reshape(B, H, W, C)
        return x + y


class GridAttentionEinops(PartitionAttention):
    """'b (h g1) (w g2) c -> (b h w) (g1 g2) c', by unflatten."""
    def forward(self, x, grid=2):
        B, H, W, C = x.shape
        y = x.unflatten(2, (W // grid, grid)).unflatten(1, (H // grid, grid))     # b h g1 w g2 c
        y = y.transpose(2, 3).reshape(B, H // grid, W // grid, grid * grid, C)
        y = self.attend(y)
        y = y.unflatten(3, (grid, grid)).transpose(2, 3).flatten(3, 4).flatten(1, 2)
        return y + x


left, right = GridAttention, GridAttentionEinops


def inputs():
    return (torch.randn(2, 6, 8, 8),)
