"""The same attention for a serving engine: queries against the whole table, then a gather; F.scaled_dot_product_attention."""
import torch
from torch import nn
from torch.nn import functional as F


def axis_bias(q, table, n):
    """q [..., n, d] with the axis next to last -> [..., n, n], the bias of each key along this axis."""
    all_offsets = q @ table.t()                                   # [..., n, 2n-1]
    steps = torch.arange(n, device=q.device)
    index = steps.view(n, 1) - steps.view(1, n) + n - 1
    return all_offsets.gather(-1, index.expand(*all_offsets.shape[:-2], n, n))


class FastAttention(nn.Module):
    def __init__(self, dim=12, num_heads=2, input_size=(4, 3)):
        super().__init__()
        self.heads, self.size = num_heads, input_size
        d = dim // num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.rel_pos_h = nn.Parameter(torch.randn(2 * input_size[0] - 1, d))
        self.rel_pos_w = nn.Parameter(torch.randn(2 * input_size[1] - 1, d))

    def forward(self, x):
        b, (h, w) = x.shape[0], self.size
        tokens = x.flatten(1, 2)
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(tokens).chunk(3, dim=-1)
        )
        grid = q.unflatten(2, (h, w))                             # b, heads, h, w, d
        rows = axis_bias(grid.transpose(2, 3), self.rel_pos_h, h).transpose(2, 3)   # b, heads, h, w, kh
        columns = axis_bias(grid, self.rel_pos_w, w)                               # b, heads, h, w, kw
        bias = (rows.unsqueeze(-1) + columns.unsqueeze(-2)).reshape(b, self.heads, h * w, h * w)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.proj(out.transpose(1, 2).flatten(2)).unflatten(1, (h, w))
