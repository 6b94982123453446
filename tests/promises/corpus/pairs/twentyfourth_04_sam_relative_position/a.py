"""Attention of Segment Anything's image encoder, with decomposed relative positions."""
import torch
from torch import nn


def get_rel_pos(q_size, k_size, rel_pos):
    q_coords = torch.arange(q_size)[:, None]
    k_coords = torch.arange(k_size)[None, :]
    relative_coords = (q_coords - k_coords) + (k_size - 1)
    return rel_pos[relative_coords.long()]


def add_decomposed_rel_pos(attn, q, rel_pos_h, rel_pos_w, size):
    h, w = size
    Rh = get_rel_pos(h, h, rel_pos_h)
    Rw = get_rel_pos(w, w, rel_pos_w)
    B, _, dim = q.shape
    r_q = q.reshape(B, h, w, dim)
    rel_h = torch.einsum("bhwc,hkc->bhwk", r_q, Rh)
    rel_w = torch.einsum("bhwc,wkc->bhwk", r_q, Rw)
    return (attn.view(B, h, w, h, w) + rel_h[:, :, :, :, None] + rel_w[:, :, :, None, :]).view(B, h * w, h * w)


class Attention(nn.Module):
    def __init__(self, dim=12, num_heads=2, input_size=(4, 3)):
        super().__init__()
        self.num_heads = num_heads
        head_dim = dim // num_heads
        self.scale = head_dim**-0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.rel_pos_h = nn.Parameter(torch.randn(2 * input_size[0] - 1, head_dim))
        self.rel_pos_w = nn.Parameter(torch.randn(2 * input_size[1] - 1, head_dim))

    def forward(self, x):
        B, H, W, _ = x.shape
        qkv = self.qkv(x).reshape(B, H * W, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, B * self.num_heads, H * W, -1).unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        attn = add_decomposed_rel_pos(attn, q, self.rel_pos_h, self.rel_pos_w, (H, W))
        attn = attn.softmax(dim=-1)
        x = (attn @ v).view(B, self.num_heads, H, W, -1).permute(0, 2, 3, 1, 4).reshape(B, H, W, -1)
        return self.proj(x)


def inputs():
    return (torch.randn(2, 4, 3, 12),)
