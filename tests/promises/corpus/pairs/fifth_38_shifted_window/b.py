import torch
from torch import nn

from a import program as original


class WindowAttention(nn.Module):
    """The windows stay in the image's own axes; the table of biases is unrolled once."""

    def __init__(self, swin):
        super().__init__()
        self.heads, self.ws, self.shift = swin.heads, swin.ws, swin.shift
        self.qkv, self.proj = swin.qkv, swin.proj
        self.table = nn.Parameter(swin.table.detach().clone())
        place = torch.arange(self.ws**2)
        row, column = place // self.ws, place % self.ws
        dy = row[:, None] - row[None, :] + self.ws - 1
        dx = column[:, None] - column[None, :] + self.ws - 1
        self.register_buffer("where", dy * (2 * self.ws - 1) + dx)

    def forward(self, x):
        b, h, w, c = x.shape
        s, a = self.shift, self.ws
        x = x.roll((-s, -s), dims=(1, 2)).unflatten(1, (h // a, a)).unflatten(3, (w // a, a))
        x = x.transpose(2, 3).flatten(3, 4)
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(-3)
        scores = torch.einsum("byxqhd,byxkhd->byxhqk", q, k) * q.shape[-1] ** -0.5
        scores = scores + self.table[self.where].permute(2, 0, 1)
        rows, columns = torch.arange(h), torch.arange(w)
        band = (rows >= h - s)[:, None] ^ (columns >= w - s)[None, :]
        band = band.view(h // a, a, w // a, a).transpose(1, 2).reshape(h // a, w // a, 1, a * a)
        scores = scores - 100.0 * (band[..., :, None] ^ band[..., None, :]).to(scores.dtype)
        y = torch.einsum("byxhqk,byxkhd->byxqhd", scores.softmax(-1), v).flatten(-2)
        y = self.proj(y).unflatten(3, (a, a)).transpose(2, 3).reshape(b, h, w, c)
        return y.roll((s, s), dims=(1, 2))


program = WindowAttention(original).eval()
