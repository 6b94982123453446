"""Backward of y = LayerNorm(x + r): what autograd gives, and what a fused kernel computes."""
import torch
from torch.nn import functional as F

EPS = 1e-5


def left(x, r, weight, bias, dy):
    with torch.enable_grad():
        x, r = x.detach().requires_grad_(), r.detach().requires_grad_()
        w, b = weight.detach().requires_grad_(), bias.detach().requires_grad_()
        y = F.layer_norm(x + r, (x.shape[-1],), w, b, EPS)
        dx, dw, db = torch.autograd.grad(y, (x, w, b), dy)
    return dx, dw, db


def right(x, r, weight, bias, dy):
    h = x + r
    n = h.shape[-1]
    mean = h.sum(-1, keepdim=True) / n
    rstd = torch.rsqrt((h * h).sum(-1, keepdim=True) / n - mean * mean + EPS)
    xhat = (h - mean) * rstd
    g = dy * weight
    c1 = (g * xhat).mean(-1, keepdim=True)
    c2 = g.mean(-1, keepdim=True)
    dx = (g - (xhat * c1 + c2)) * rstd
    return dx, torch.einsum("btd,btd->d", dy, xhat), dy.flatten(0, 1).sum(0)


inputs = (torch.randn(2, 3, 6), torch.randn(2, 3, 6), torch.randn(6), torch.randn(6), torch.randn(2, 3, 6))
