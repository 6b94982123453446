"""The block for an engine without roll and windows: one dense attention over all tokens with a mask and a bias table."""

import torch
from a import SwinBlock
from torch import nn
from torch.nn import functional as F


class DenseSwinBlock(nn.Module):
    def __init__(self, window=3, shift=1):
        super().__init__()
        theirs = SwinBlock(window=window, shift=shift)
        self.norm1, self.norm2, self.qkv, self.proj = theirs.norm1, theirs.norm2, theirs.qkv, theirs.proj
        self.fc1, self.fc2 = theirs.mlp[0], theirs.mlp[2]
        self.table, self.heads = theirs.relative_position_bias_table, theirs.heads
        H, W = theirs.resolution
        row = torch.arange(H)[:, None].expand(H, W).reshape(-1)
        col = torch.arange(W)[None, :].expand(H, W).reshape(-1)
        r, c = (row - shift) % H, (col - shift) % W                    # where a token lies after the roll
        # after the roll, tokens wrapped round the edge share a window with others, but are not neighbours of theirs
        wrapped_r, wrapped_c = row < shift, col < shift
        key = torch.stack([r // window, c // window, wrapped_r.long(), wrapped_c.long()], -1)
        self.register_buffer("together", (key[:, None] == key[None, :]).all(-1))
        dr = (r[:, None] - r[None, :]).clamp(1 - window, window - 1) + window - 1
        dc = (c[:, None] - c[None, :]).clamp(1 - window, window - 1) + window - 1
        self.register_buffer("index", dr * (2 * window - 1) + dc)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        q, k, v = (t.view(B, N, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        bias = self.table.t()[:, self.index]                             # [heads, N, N]
        bias = torch.where(self.together, bias, float("-inf"))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None].expand(B, -1, -1, -1))
        x = x + self.proj(out.transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))
