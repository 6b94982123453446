"""Shifted window attention as in the Swin reference code."""
import torch
from torch import nn

SIDE, WINDOW, SHIFT, WIDTH, HEADS = 6, 3, 1, 8, 2


def partition(x):
    b, h, w, c = x.shape
    x = x.view(b, h // WINDOW, WINDOW, w // WINDOW, WINDOW, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, WINDOW * WINDOW, c)


def reverse(windows, b, h, w):
    x = windows.view(b, h // WINDOW, w // WINDOW, WINDOW, WINDOW, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(b, h, w, -1)


class SwinAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.table = nn.Parameter(torch.randn((2 * WINDOW - 1) ** 2, HEADS))
        coords = torch.stack(torch.meshgrid(torch.arange(WINDOW), torch.arange(WINDOW), indexing="ij")).flatten(1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous() + WINDOW - 1
        relative[..., 0] *= 2 * WINDOW - 1
        self.register_buffer("index", relative.sum(-1), persistent=False)
        region, count = torch.zeros(1, SIDE, SIDE, 1), 0
        slices = (slice(0, -WINDOW), slice(-WINDOW, -SHIFT), slice(-SHIFT, None))
        for rows in slices:
            for columns in slices:
                region[:, rows, columns] = count
                count += 1
        ids = partition(region).squeeze(-1)
        self.register_buffer("mask", (ids[:, None, :] - ids[:, :, None]) != 0, persistent=False)

    def forward(self, x):
        b, h, w, c = x.shape
        shifted = torch.roll(x, (-SHIFT, -SHIFT), (1, 2))
        windows = partition(shifted)
        n, t, _ = windows.shape
        qkv = self.qkv(windows).reshape(n, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        scores = (q * (c // HEADS) ** -0.5) @ k.transpose(-2, -1)
        bias = self.table[self.index.view(-1)].view(t, t, -1).permute(2, 0, 1)
        scores = scores + bias.unsqueeze(0)
        many = self.mask.shape[0]
        scores = scores.view(n // many, many, HEADS, t, t).masked_fill(self.mask[None, :, None], float("-inf"))
        weights = scores.view(-1, HEADS, t, t).softmax(-1)
        out = self.proj((weights @ v).transpose(1, 2).reshape(n, t, c))
        return torch.roll(reverse(out, b, h, w), (SHIFT, SHIFT), (1, 2))


def inputs():
    return (torch.randn(2, SIDE, SIDE, WIDTH),)
