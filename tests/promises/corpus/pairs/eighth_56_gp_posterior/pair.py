"""Exact Gaussian process regression with an ARD squared-exponential kernel."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class GP(nn.Module):
    def __init__(self, d=2):
        super().__init__()
        self.raw_ls = nn.Parameter(torch.randn(d) * 0.3 + 0.5)
        self.raw_var = nn.Parameter(torch.tensor(0.4))
        self.raw_noise = nn.Parameter(torch.tensor(-0.3))
        self.mean = nn.Parameter(torch.tensor(0.2))

    def kernel(self, a, b):
        ls = F.softplus(self.raw_ls)
        d2 = (((a[:, None] - b[None]) / ls) ** 2).sum(-1)
        return F.softplus(self.raw_var) * torch.exp(-0.5 * d2)

    def forward(self, X, y, Xs):
        n = X.shape[0]
        K = self.kernel(X, X) + F.softplus(self.raw_noise) * torch.eye(n, dtype=X.dtype)
        Ks, r = self.kernel(X, Xs), y - self.mean
        L = torch.linalg.cholesky(K)
        alpha = torch.cholesky_solve(r[:, None], L)
        mu = self.mean + (Ks.T @ alpha).squeeze(1)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        var = F.softplus(self.raw_var) - (v ** 2).sum(0)
        nll = 0.5 * (r[:, None] * alpha).sum() + L.diagonal().log().sum() + 0.5 * n * math.log(2 * math.pi)
        return mu, var, nll


class GPDirect(nn.Module):
    def __init__(self, g):
        super().__init__()
        self.raw = nn.Parameter(torch.cat([g.raw_ls.detach(), torch.stack([g.raw_var, g.raw_noise, g.mean]).detach()]))

    def forward(self, X, y, Xs):
        d = X.shape[1]
        ls, amp, noise, m = F.softplus(self.raw[:d]), F.softplus(self.raw[d]), F.softplus(self.raw[d + 1]), self.raw[d + 2]
        A, B = X / ls, Xs / ls

        def k(p, q):
            e = p @ q.T - 0.5 * p.square().sum(1)[:, None] - 0.5 * q.square().sum(1)
            return amp * e.exp()

        K = k(A, A)
        K.diagonal().add_(noise)
        Ks = k(A, B)
        resid = (y - m).unsqueeze(1)
        sol = torch.linalg.solve(K, torch.cat([resid, Ks], 1))
        w, W = sol[:, 0], sol[:, 1:]
        mu = m + w @ Ks
        var = amp - torch.einsum("ns,ns->s", Ks, W)
        nll = (resid[:, 0] @ w + torch.logdet(K) + len(y) * math.log(2 * math.pi)) / 2
        return mu, var, nll


left = GP()
right = GPDirect(left)
inputs = (torch.randn(5, 2), torch.randn(5), torch.randn(4, 2))
