# EQUAL
"""A diagonal state space layer (S4D, real): step by step, or its kernel once and a causal convolution."""
import torch
import torch.nn.functional as F


def discretise(log_dt, log_a, b):
    dt = log_dt.exp()[:, None]                       # channels, 1
    a = -log_a.exp()                                 # channels, state
    bar_a = torch.exp(dt * a)
    return bar_a, (bar_a - 1) / a * b                # zero-order hold


def left(u, log_dt, log_a, b, c, d):
    bar_a, bar_b = discretise(log_dt, log_a, b)
    state = u.new_zeros(u.shape[0], *bar_a.shape)
    ys = []
    for t in range(u.shape[-1]):
        state = bar_a * state + bar_b * u[:, :, t, None]
        ys.append((c * state).sum(-1) + d * u[:, :, t])
    return torch.stack(ys, dim=-1)


def right(u, log_dt, log_a, b, c, d):
    bar_a, bar_b = discretise(log_dt, log_a, b)
    channels, length = u.shape[1:]
    power = torch.arange(length, dtype=u.dtype)
    decay = torch.exp(torch.log(bar_a)[..., None] * power)
    kernel = torch.einsum("cn,cn,cnl->cl", c, bar_b, decay)
    y = F.conv1d(F.pad(u, (length - 1, 0)), kernel.flip(-1)[:, None], groups=channels)
    return torch.addcmul(y, d[:, None], u)


def inputs():
    g = torch.Generator().manual_seed(2206)
    r = lambda *s: torch.randn(*s, generator=g)
    return r(2, 3, 6), r(3) * 0.3 - 1, r(3, 4) * 0.4, r(3, 4), r(3, 4), r(3)
