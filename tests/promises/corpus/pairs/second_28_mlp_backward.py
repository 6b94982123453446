# EQUAL.
"""loss.backward() of a two layer MLP vs gradients by hand. EQUAL."""
import torch
import torch.nn.functional as F


def left(x, y, w1, b1, w2, b2):
    with torch.enable_grad():
        ps = [p.detach().clone().requires_grad_() for p in (w1, b1, w2, b2)]
        h = torch.tanh(F.linear(x, ps[0], ps[1]))
        loss = F.mse_loss(F.linear(h, ps[2], ps[3]), y)
        loss.backward()
    return loss.detach(), [p.grad for p in ps]


def right(x, y, w1, b1, w2, b2):
    h = torch.tanh(x @ w1.T + b1)
    out = h @ w2.T + b2
    err = out - y
    loss = (err ** 2).mean()
    d = 2 * err / err.numel()
    gw2, gb2 = d.T @ h, d.sum(0)
    dh = (d @ w2) * (1 - h * h)
    return loss, [dh.T @ x, dh.sum(0), gw2, gb2]


inputs = (torch.randn(5, 4), torch.randn(5, 3), torch.randn(7, 4), torch.randn(7), torch.randn(3, 7), torch.randn(3))
