# EQUAL.
"""Two steps of SGD (nesterov, momentum, weight decay) with clip_grad_norm_ vs by hand, on a linear regression. EQUAL."""
import torch
from torch import nn

LR, MOM, WD, CLIP = 0.1, 0.9, 0.01, 1.0


def left(w0, x, y):
    with torch.enable_grad():
        w = nn.Parameter(w0.clone())
        opt = torch.optim.SGD([w], lr=LR, momentum=MOM, nesterov=True, weight_decay=WD)
        for i in range(2):
            opt.zero_grad()
            loss = ((x @ w - y) ** 2).mean()
            loss.backward()
            nn.utils.clip_grad_norm_([w], CLIP)
            opt.step()
    return w.detach()


def right(w0, x, y):
    w, buf = w0, None
    for i in range(2):
        g = 2 * x.T @ (x @ w - y) / len(y)
        g = g * torch.clamp(CLIP / (g.norm() + 1e-6), max=1.0)
        g = g + WD * w
        buf = g if buf is None else MOM * buf + g
        w = w - LR * (g + MOM * buf)
    return w


inputs = (torch.randn(6), torch.randn(8, 6), torch.randn(8))
