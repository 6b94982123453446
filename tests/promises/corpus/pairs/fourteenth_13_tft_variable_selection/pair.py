"""Temporal Fusion Transformer: variable selection network with gated residual networks, module by variable and batched over variables."""
import torch
from torch import nn
from torch.nn import functional as F


class GRN(nn.Module):
    def __init__(self, d_in, d, d_out, ctx=None):
        super().__init__()
        self.lin1 = nn.Linear(d_in, d)
        self.ctx = nn.Linear(ctx, d, bias=False) if ctx else None
        self.lin2 = nn.Linear(d, d_out)
        self.gate = nn.Linear(d_out, 2 * d_out)
        self.skip = nn.Linear(d_in, d_out) if d_in != d_out else None
        self.norm = nn.LayerNorm(d_out)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x, c=None):
        h = self.lin1(x)
        if c is not None:
            h = h + self.ctx(c)
        h = F.glu(self.gate(self.lin2(F.elu(h))), dim=-1)
        return self.norm((self.skip(x) if self.skip else x) + h)


class left(nn.Module):
    def __init__(self, nvar=3, d=4, ctx=2):
        super().__init__()
        self.vars = nn.ModuleList([GRN(d, d, d) for _ in range(nvar)])
        self.weights = GRN(nvar * d, d, nvar, ctx)

    def forward(self, x, c):                      # x (B, nvar, d)
        w = self.weights(x.flatten(1), c).softmax(-1)
        per = torch.stack([g(x[:, i]) for i, g in enumerate(self.vars)], dim=-1)
        return (per * w.unsqueeze(1)).sum(-1), w


class right(nn.Module):
    def __init__(self, nvar=3, d=4, ctx=2):
        super().__init__()
        ref = left(nvar, d, ctx)

        def stack(get):
            return nn.Parameter(torch.stack([get(g).detach() for g in ref.vars]))
        self.w1, self.b1 = stack(lambda g: g.lin1.weight.T), stack(lambda g: g.lin1.bias)
        self.w2, self.b2 = stack(lambda g: g.lin2.weight.T), stack(lambda g: g.lin2.bias)
        self.wg, self.bg = stack(lambda g: g.gate.weight.T), stack(lambda g: g.gate.bias)
        self.scale, self.shift = stack(lambda g: g.norm.weight), stack(lambda g: g.norm.bias)
        self.weights = ref.weights

    def forward(self, x, c):
        w = torch.softmax(self.weights(x.reshape(x.shape[0], -1), c), -1)
        h = torch.einsum("bvi,vio->bvo", x, self.w1) + self.b1
        h = torch.where(h > 0, h, h.exp() - 1)
        h = torch.einsum("bvi,vio->bvo", h, self.w2) + self.b2
        a, g = (torch.einsum("bvi,vio->bvo", h, self.wg) + self.bg).chunk(2, -1)
        y = F.layer_norm(x + a * g.sigmoid(), x.shape[-1:]) * self.scale + self.shift
        return torch.einsum("bvd,bv->bd", y, w), w


def inputs():
    return torch.randn(5, 3, 4), torch.randn(5, 2)
