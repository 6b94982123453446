# DIFFERENT.
"""One AdamW step from given state. DIFFERENT, a little: by hand, eps is added to sqrt(v) before the bias correction (as TF
does), torch adds it after."""
import torch

LR, B1, B2, EPS, WD, STEP = 1e-2, 0.9, 0.99, 1e-4, 0.05, 3


def left(p, g, m, v2):
    p = p.clone()
    v = v2.square()
    opt = torch.optim.AdamW([p], lr=LR, betas=(B1, B2), eps=EPS, weight_decay=WD, foreach=False)
    p.grad = g.clone()
    opt.state[p] = {"step": torch.tensor(float(STEP - 1)), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    opt.step()
    return p, opt.state[p]["exp_avg"], opt.state[p]["exp_avg_sq"]


def right(p, g, m, v2):
    v = v2.square()
    p = p * (1 - LR * WD)
    m = B1 * m + (1 - B1) * g
    v = B2 * v + (1 - B2) * g * g
    alpha = LR * (1 - B2 ** STEP) ** 0.5 / (1 - B1 ** STEP)
    return p - alpha * m / (v.sqrt() + EPS), m, v


inputs = (torch.randn(4, 3), torch.randn(4, 3), 0.1 * torch.randn(4, 3), 0.3 * torch.randn(4, 3))
