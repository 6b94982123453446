# EQUAL.
"""torch.autograd.grad through F.layer_norm vs the formula of the kernel books. EQUAL."""
import torch
import torch.nn.functional as F

EPS = 1e-5


def left(x, w, b, dy):
    with torch.enable_grad():
        x, w, b = (t.detach().requires_grad_(True) for t in (x, w, b))
        y = F.layer_norm(x, (x.shape[-1],), w, b, EPS)
        dx, dw, db = torch.autograd.grad(y, (x, w, b), dy)
    return dx, dw, db


def right(x, w, b, dy):
    mu = x.mean(-1, keepdim=True)
    rstd = (x.var(-1, keepdim=True, correction=0) + EPS).rsqrt()
    xhat = (x - mu) * rstd
    g = dy * w
    dx = rstd * (g - g.mean(-1, keepdim=True) - xhat * (g * xhat).mean(-1, keepdim=True))
    return dx, (dy * xhat).flatten(0, -2).sum(0), dy.flatten(0, -2).sum(0)


inputs = (torch.randn(4, 3, 9), torch.randn(9), torch.randn(9), torch.randn(4, 3, 9))
