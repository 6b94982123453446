import torch
from torch import nn
from torch.nn import functional as F


def window_partition(x, ws):
    b, h, w, c = x.shape
    x = x.view(b, h // ws, ws, w // ws, ws, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, ws * ws, c)


def window_reverse(windows, ws, h, w):
    x = windows.view(-1, h // ws, w // ws, ws, ws, windows.shape[-1])
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, h, w, windows.shape[-1])


def relative_index(ws):
    coords = torch.stack(torch.meshgrid(torch.arange(ws), torch.arange(ws), indexing="ij")).flatten(1)
    relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + ws - 1
    return relative[..., 0] * (2 * ws - 1) + relative[..., 1]


def shift_mask(h, w, ws, shift):
    image = torch.zeros(1, h, w, 1)
    count = 0
    cuts = (slice(0, -ws), slice(-ws, -shift), slice(-shift, None))
    for rows in cuts:
        for columns in cuts:
            image[:, rows, columns] = count
            count += 1
    regions = window_partition(image, ws).squeeze(-1)
    return (regions[:, None] != regions[:, :, None]).float() * -100.0


class ShiftedWindowAttention(nn.Module):
    def __init__(self, dim=8, heads=2, side=8, ws=4, shift=2):
        super().__init__()
        self.heads, self.ws, self.shift = heads, ws, shift
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.table = nn.Parameter(torch.randn((2 * ws - 1) ** 2, heads) * 0.2)
        self.register_buffer("index", relative_index(ws))
        self.register_buffer("mask", shift_mask(side, side, ws, shift))

    def forward(self, x):
        b, h, w, c = x.shape
        x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        x = window_partition(x, self.ws)
        n, tokens, _ = x.shape
        q, k, v = self.qkv(x).reshape(n, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = self.table[self.index.view(-1)].view(tokens, tokens, -1).permute(2, 0, 1)
        mask = self.mask.to(x.dtype).repeat(b, 1, 1).unsqueeze(1)
        x = F.scaled_dot_product_attention(q, k, v, attn_mask=bias + mask)
        x = self.proj(x.transpose(1, 2).reshape(n, tokens, c))
        return torch.roll(window_reverse(x, self.ws, h, w), (self.shift, self.shift), (1, 2))


torch.manual_seed(0)
program = ShiftedWindowAttention().eval()
