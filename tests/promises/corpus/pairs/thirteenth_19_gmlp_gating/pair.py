"""A gMLP block: lucidrains' layout, and a compact rewrite."""
import torch
from torch import nn
import torch.nn.functional as F


class SpatialGatingUnit(nn.Module):
    def __init__(self, dim_half, seq_len):
        super().__init__()
        self.norm = nn.LayerNorm(dim_half)
        self.proj = nn.Conv1d(seq_len, seq_len, kernel_size=1)
        nn.init.normal_(self.norm.weight, 1.0, 0.1)
        nn.init.normal_(self.proj.weight, 0.0, 0.3)
        nn.init.ones_(self.proj.bias)

    def forward(self, x):
        u, v = x.chunk(2, dim=-1)
        v = self.proj(self.norm(v))
        return u * v


class GMLP(nn.Module):
    def __init__(self, dim=8, dim_ff=12, seq_len=5):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj_in = nn.Linear(dim, dim_ff)
        self.sgu = SpatialGatingUnit(dim_ff // 2, seq_len)
        self.proj_out = nn.Linear(dim_ff // 2, dim)

    def forward(self, x):
        y = F.gelu(self.proj_in(self.norm(x)))
        return x + self.proj_out(self.sgu(y))


class Compact(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        m = self.block
        v, u = F.gelu(m.proj_in(m.norm(x))).chunk(2, dim=-1)
        v = m.sgu.norm(v)
        v = torch.einsum("st,btd->bsd", m.sgu.proj.weight[:, :, 0], v) + m.sgu.proj.bias[:, None]
        return x + m.proj_out(u * v)


torch.manual_seed(0)
left = GMLP()
right = Compact(left)
inputs = (torch.randn(2, 5, 8),)
