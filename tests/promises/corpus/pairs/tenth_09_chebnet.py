# EQUAL
import torch
from torch import nn


def scaled_laplacian(adj):
    """L~ = 2 L / lambda_max - I, with lambda_max taken as 2, so L~ = -D^-1/2 A D^-1/2."""
    deg = adj.sum(-1)
    inv = torch.rsqrt(deg + 1.0)
    eye = torch.eye(adj.shape[-1], dtype=adj.dtype)
    lap = eye - inv[:, None] * adj * inv[None, :]
    return lap - eye


class ChebConv(nn.Module):
    def __init__(self, in_dim=4, out_dim=3, K=4):
        super().__init__()
        self.lins = nn.ModuleList(nn.Linear(in_dim, out_dim, bias=False) for _ in range(K))
        self.bias = nn.Parameter(torch.randn(out_dim))

    def forward(self, x, adj):
        L = scaled_laplacian(adj.sigmoid())
        t0, t1 = x, L @ x
        out = self.lins[0](t0) + self.lins[1](t1)
        for lin in self.lins[2:]:
            t0, t1 = t1, 2.0 * (L @ t1) - t0
            out = out + lin(t1)
        return out + self.bias


class PolynomialConv(nn.Module):
    """The same filter in the monomial basis: T2 = 2L^2 - 1, T3 = 4L^3 - 3L."""
    def __init__(self):
        super().__init__()
        cheb = ChebConv()
        self.theta = nn.Parameter(torch.stack([l.weight.detach().T for l in cheb.lins]))   # [K, in, out]
        self.bias = cheb.bias

    def forward(self, x, adj):
        a = torch.sigmoid(adj)
        s = (a.sum(1) + 1).pow(-0.5)
        norm = s.unsqueeze(1) * a * s.unsqueeze(0)
        w = self.theta
        powers = [w[0] - w[2], w[1] - 3 * w[3], 2 * w[2], 4 * w[3]]
        out = self.bias
        h = x
        for k, coeff in enumerate(powers):
            out = out + (-1) ** k * (h @ coeff)
            h = norm @ h
        return out


left = ChebConv
right = PolynomialConv


def inputs():
    return torch.randn(5, 4), torch.randn(5, 5)
