# EQUAL. RWKV-4's wkv: numerically stable recurrence (running maximum) vs plain sums of exponentials
import torch


def left(w, u, k, v):
    # w: time_decay (C), u: time_first (C), k, v: B T C
    w = -torch.exp(w)
    Bsz, T, C = k.shape
    num = torch.zeros(Bsz, C, dtype=k.dtype)
    den = torch.zeros(Bsz, C, dtype=k.dtype)
    mx = torch.zeros(Bsz, C, dtype=k.dtype) - 1e38
    out = torch.zeros_like(v)
    for t in range(T):
        kt, vt = k[:, t], v[:, t]
        m = torch.maximum(mx, kt + u)
        e1, e2 = torch.exp(mx - m), torch.exp(kt + u - m)
        out[:, t] = (e1 * num + e2 * vt) / (e1 * den + e2)
        m = torch.maximum(mx + w, kt)
        e1, e2 = torch.exp(mx + w - m), torch.exp(kt - m)
        num, den, mx = e1 * num + e2 * vt, e1 * den + e2, m
    return out


def right(w, u, k, v):
    T = k.shape[1]
    t = torch.arange(T)
    gap = (t[:, None] - 1 - t[None, :]).to(k.dtype)               # steps of decay, -1 on the diagonal
    decay = -w.exp()[None, None] * gap[..., None]                 # T S C
    logw = torch.where((t[:, None] == t[None, :])[..., None], u, decay)
    logw = logw.masked_fill((t[None, :] > t[:, None])[..., None], -float("inf"))
    a = torch.exp(logw[None] + k[:, None])                        # B T S C
    return (a * v[:, None]).sum(2) / a.sum(2)


torch.manual_seed(0)
inputs = (torch.randn(3), torch.randn(3), torch.randn(2, 4, 3), torch.randn(2, 4, 3))
