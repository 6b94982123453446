# EQUAL. one AdamW step by torch.optim vs by hand
import torch

LR, B1, B2, EPS, WD = 1e-2, 0.9, 0.95, 1e-8, 0.1


def left(w, x):
    p = torch.nn.Parameter(w.detach().clone())
    opt = torch.optim.AdamW([p], lr=LR, betas=(B1, B2), eps=EPS, weight_decay=WD)
    with torch.enable_grad():
        loss = (x @ p).square().mean()
        loss.backward()
    opt.step()
    return p.detach()


def right(w, x):
    z = x @ w
    g = x.t() @ (2 * z / z.numel())
    m = (1 - B1) * g
    v = (1 - B2) * g * g
    mhat, vhat = m / (1 - B1), v / (1 - B2)
    return w * (1 - LR * WD) - LR * mhat / (vhat.sqrt() + EPS)


torch.manual_seed(0)
inputs = (torch.randn(4, 3), torch.randn(5, 4))
