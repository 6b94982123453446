# EQUAL.
"""SwiGLU with a hand-written autograd.Function (recomputes in backward) vs plain ops under checkpoint; outputs and
gradients. EQUAL."""
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class SiluMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * torch.sigmoid(a) * b

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        s = torch.sigmoid(a)
        silu = a * s
        return dc * b * (silu * (1 - s) + s), dc * silu


def left(x, wg, wu, wd, dy):
    with torch.enable_grad():
        ts = [t.detach().requires_grad_() for t in (x, wg, wu, wd)]
        x, wg, wu, wd = ts
        y = SiluMul.apply(x @ wg, x @ wu) @ wd
        grads = torch.autograd.grad(y, ts, dy)
    return (y.detach(), *grads)


def right(x, wg, wu, wd, dy):
    def mlp(x, wg, wu, wd):
        return (F.silu(x @ wg) * (x @ wu)) @ wd

    with torch.enable_grad():
        ts = [t.detach().requires_grad_() for t in (x, wg, wu, wd)]
        y = checkpoint(mlp, *ts, use_reentrant=False)
        grads = torch.autograd.grad(y, ts, dy)
    return (y.detach(), *grads)


inputs = (torch.randn(4, 5), torch.randn(5, 7), torch.randn(5, 7), torch.randn(7, 3), torch.randn(4, 3))
