import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, dim=12, heads=3, inner=20):
        super().__init__()
        theirs = Left(dim, heads, inner)
        self.heads, self.sizes = heads, [dim, dim, dim, inner]
        self.norm = theirs.ln_1
        self.wi = nn.Linear(dim, 3 * dim + inner, bias=False)
        self.wo = nn.Linear(dim + inner, dim)
        parts = (theirs.q_proj, theirs.k_proj, theirs.v_proj, theirs.fc_in)
        self.wi.weight.data = torch.cat([p.weight.detach() for p in parts])
        self.wo.weight.data = torch.cat([theirs.out_proj.weight.detach(), theirs.fc_out.weight.detach()], dim=1)
        self.wo.bias.data = theirs.fc_out.bias.detach().clone()
        self.inner_bias = nn.Parameter(theirs.fc_in.bias.detach().clone())

    def forward(self, x):
        q, k, v, ff = self.wi(self.norm(x)).split(self.sizes, dim=-1)
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        ff = F.gelu(ff + self.inner_bias, approximate="tanh")
        return x + self.wo(torch.cat([y, ff], dim=-1))


def inputs():
    return (torch.randn(2, 5, 12),)
