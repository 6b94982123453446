import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, dim=8, heads=2, ratio=2):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2, self.sr_norm = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q, self.kv, self.proj = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)
        self.sr = nn.Conv2d(dim, dim, kernel_size=ratio, stride=ratio)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        for norm in (self.norm1, self.norm2, self.sr_norm):
            nn.init.normal_(norm.weight, 1.0, 0.3)
            nn.init.normal_(norm.bias, 0.0, 0.3)

    def attention(self, x, h, w):
        b, n, c = x.shape
        q = self.q(x).reshape(b, n, self.heads, c // self.heads).permute(0, 2, 1, 3)
        x = x.permute(0, 2, 1).reshape(b, c, h, w)
        x = self.sr_norm(self.sr(x).reshape(b, c, -1).permute(0, 2, 1))
        k, v = self.kv(x).reshape(b, -1, 2, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        x = (attn.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x)

    def forward(self, image):
        b, c, h, w = image.shape
        x = image.flatten(2).transpose(1, 2)
        x = x + self.attention(self.norm1(x), h, w)
        x = x + self.fc2(F.gelu(self.fc1(self.norm2(x))))
        return x.transpose(1, 2).reshape(b, c, h, w)


def inputs():
    return (torch.randn(2, 8, 4, 6),)
