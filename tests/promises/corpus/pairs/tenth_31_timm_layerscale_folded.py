# EQUAL
# A timm-like ViT block with LayerScale, and the block for deployment: gammas folded into the projections, qk-norm kept
import torch
from torch import nn
import torch.nn.functional as F


class LayerScale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.randn(dim) * 0.5)

    def forward(self, x):
        return x * self.gamma


class Attention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.q_norm, self.k_norm = nn.LayerNorm(self.head_dim), nn.LayerNorm(self.head_dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.norm1, self.attn, self.ls1 = nn.LayerNorm(dim, eps=1e-6), Attention(dim, heads), LayerScale(dim)
        self.norm2, self.ls2 = nn.LayerNorm(dim, eps=1e-6), LayerScale(dim)
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        for m in self.modules():
            if isinstance(m, nn.LayerNorm):
                nn.init.normal_(m.weight, 1.0, 0.3)
                nn.init.normal_(m.bias)

    def forward(self, x):
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.fc2(F.gelu(self.fc1(self.norm2(x)))))


def fold(linear, gamma):
    out = nn.Linear(linear.in_features, linear.out_features)
    out.weight.data = (gamma[:, None] * linear.weight).detach()
    out.bias.data = (gamma * linear.bias).detach()
    return out


class DeployedBlock(nn.Module):
    def __init__(self):
        super().__init__()
        block = Block()
        a = block.attn
        self.norm1, self.norm2, self.fc1 = block.norm1, block.norm2, block.fc1
        self.qkv, self.q_norm, self.k_norm = a.qkv, a.q_norm, a.k_norm
        self.proj, self.fc2 = fold(a.proj, block.ls1.gamma), fold(block.fc2, block.ls2.gamma)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (2, 4)) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        w = torch.einsum("bihd,bjhd->bhij", self.q_norm(q), self.k_norm(k)).mul(0.5).softmax(-1)
        x = x + self.proj(torch.einsum("bhij,bjhd->bihd", w, v).flatten(-2))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


left, right = Block, DeployedBlock


def inputs():
    return (torch.randn(2, 5, 8),)
