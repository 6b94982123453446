"""Shifted-window attention of Swin, as in the authors' code: roll, partition, attend with a relative bias, and back."""
import torch
from torch import nn

DIM, HEADS, WINDOW, SHIFT, HEIGHT, WIDTH = 8, 2, 3, 1, 6, 9


def window_partition(x):
    batch, height, width, channels = x.shape
    x = x.view(batch, height // WINDOW, WINDOW, width // WINDOW, WINDOW, channels)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, WINDOW * WINDOW, channels)


def window_reverse(windows, height, width):
    batch = windows.shape[0] // (height * width // WINDOW // WINDOW)
    x = windows.view(batch, height // WINDOW, width // WINDOW, WINDOW, WINDOW, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(batch, height, width, -1)


class ShiftedWindow(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * WINDOW - 1) ** 2, HEADS))
        coords = torch.stack(torch.meshgrid(torch.arange(WINDOW), torch.arange(WINDOW), indexing="ij")).flatten(1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
        relative += WINDOW - 1
        relative[:, :, 0] *= 2 * WINDOW - 1
        self.register_buffer("relative_position_index", relative.sum(-1))
        image, count = torch.zeros(1, HEIGHT, WIDTH, 1), 0
        slices = (slice(0, -WINDOW), slice(-WINDOW, -SHIFT), slice(-SHIFT, None))
        for rows in slices:
            for columns in slices:
                image[:, rows, columns] = count
                count += 1
        regions = window_partition(image).squeeze(-1)
        mask = regions[:, None, :] - regions[:, :, None]
        self.register_buffer("attn_mask", mask.masked_fill(mask != 0, -100.0))

    def forward(self, x):
        shifted = torch.roll(x, shifts=(-SHIFT, -SHIFT), dims=(1, 2))
        windows = window_partition(shifted)
        many, tokens, _ = windows.shape
        qkv = self.qkv(windows).reshape(many, tokens, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0] * (DIM // HEADS) ** -0.5, qkv[1], qkv[2]
        attn = q @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        attn = attn + bias.view(tokens, tokens, HEADS).permute(2, 0, 1).contiguous().unsqueeze(0)
        count = self.attn_mask.shape[0]
        attn = attn.view(many // count, count, HEADS, tokens, tokens) + self.attn_mask[None, :, None]
        attn = attn.view(-1, HEADS, tokens, tokens).softmax(-1)
        out = self.proj((attn @ v).transpose(1, 2).reshape(many, tokens, DIM))
        return torch.roll(window_reverse(out, HEIGHT, WIDTH), shifts=(SHIFT, SHIFT), dims=(1, 2))


def inputs():
    return (torch.randn(2, HEIGHT, WIDTH, DIM),)
