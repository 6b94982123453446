# EQUAL
# XCiT cross-covariance attention (timm's layout), and written without transposing tokens and channels
import torch
from torch import nn
import torch.nn.functional as F


class XCA(nn.Module):
    def __init__(self, dim=12, num_heads=3):
        super().__init__()
        self.num_heads = num_heads
        self.temperature = nn.Parameter(torch.rand(num_heads, 1, 1) + 0.5)
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 4, 1)
        q, k, v = qkv.unbind(0)                                  # each [B, H, d, N]
        q = F.normalize(q, dim=-1)
        k = F.normalize(k, dim=-1)
        attn = ((q @ k.transpose(-2, -1)) * self.temperature).softmax(dim=-1)
        x = (attn @ v).permute(0, 3, 1, 2).reshape(B, N, C)
        return self.proj(x)


class ChannelAttention(nn.Module):
    def __init__(self):
        super().__init__()
        src = XCA()
        h = src.num_heads
        self.w = nn.Parameter(src.qkv.weight.detach().view(3, h, -1, 12).clone())
        self.tau = nn.Parameter(src.temperature.detach().flatten())
        self.proj = src.proj

    def forward(self, x):
        q, k, v = torch.einsum("bnc,ahdc->abnhd", x, self.w)
        qn = q.square().sum(1, keepdim=True).sqrt().clamp(min=1e-12)
        kn = k.square().sum(1, keepdim=True).sqrt().clamp(min=1e-12)
        cov = torch.einsum("bnhd,bnhe->bhde", q / qn, k / kn)
        weights = torch.softmax(self.tau[None, :, None, None] * cov, dim=3)
        out = torch.einsum("bnhe,bhde->bnhd", v, weights)
        return self.proj(out.flatten(2))


left, right = XCA, ChannelAttention


def inputs():
    return (torch.randn(2, 5, 12),)
