# EQUAL
import torch
import torch.nn.functional as F

GROUPS, EPS = 2, 1e-5


def left(x, weight, bias, grad_out):
    x, weight, bias = (t.detach().requires_grad_() for t in (x, weight, bias))
    with torch.enable_grad():
        y = F.silu(F.group_norm(x, GROUPS, weight, bias, EPS))
        return torch.autograd.grad(y, (x, weight, bias), grad_out)


def right(x, weight, bias, grad_out):
    b, c, h, w = x.shape
    xg = x.reshape(b, GROUPS, -1)
    mean = xg.mean(-1, keepdim=True)
    rstd = torch.rsqrt(xg.square().mean(-1, keepdim=True) - mean.square() + EPS)
    xhat = ((xg - mean) * rstd).view_as(x)
    z = xhat * weight[:, None, None] + bias[:, None, None]
    sig = torch.sigmoid(z)
    dz = grad_out * sig * (1 + z * (1 - sig))
    dweight = torch.einsum("bchw,bchw->c", dz, xhat)
    dbias = dz.sum((0, 2, 3))
    dxhat = (dz * weight[:, None, None]).reshape(b, GROUPS, -1)
    xh = xhat.reshape(b, GROUPS, -1)
    dx = rstd * (dxhat - dxhat.mean(-1, keepdim=True) - xh * (dxhat * xh).mean(-1, keepdim=True))
    return dx.reshape(b, c, h, w), dweight, dbias


def inputs():
    g = torch.Generator().manual_seed(606)
    return (
        torch.randn(2, 6, 3, 4, generator=g),
        torch.randn(6, generator=g),
        torch.randn(6, generator=g),
        torch.randn(2, 6, 3, 4, generator=g),
    )
