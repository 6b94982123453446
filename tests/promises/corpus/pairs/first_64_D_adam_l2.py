# DIFFERENT. Adam(weight_decay=0.1) adds L2 to the gradient; by hand decoupled as in AdamW
import torch

LR, EPS, WD = 1e-2, 1e-8, 0.1


def left(w, x):
    p = torch.nn.Parameter(w.detach().clone())
    opt = torch.optim.Adam([p], lr=LR, eps=EPS, weight_decay=WD)
    with torch.enable_grad():
        (x @ p).pow(2).sum().backward()
    opt.step()
    return p.detach()


def right(w, x):
    g = 2 * x.T @ (x @ w)
    return w - LR * WD * w - LR * g / (g.abs() + EPS)


torch.manual_seed(0)
inputs = (torch.randn(4, 3), torch.randn(5, 4))
