"""State-space duality: step by step, and as one masked matrix."""
import torch
from torch.nn import functional as F


def left(x, dt, a_log, b, c, d_skip):
    batch, t, heads, p = x.shape
    dt = F.softplus(dt)
    decay = torch.exp(-torch.exp(a_log) * dt)
    state = x.new_zeros(batch, heads, p, b.shape[-1])
    ys = []
    for i in range(t):
        update = (dt[:, i, :, None] * x[:, i])[..., None] * b[:, i, None, None, :]
        state = decay[:, i, :, None, None] * state + update
        ys.append((state * c[:, i, None, None, :]).sum(-1))
    return torch.stack(ys, dim=1) + d_skip[:, None] * x


def right(x, dt, a_log, b, c, d_skip):
    t = x.shape[1]
    dt = F.softplus(dt)
    run = torch.cumsum(-a_log.exp() * dt, dim=1).transpose(1, 2)
    seg = run[..., :, None] - run[..., None, :]
    seg = seg.masked_fill(~torch.ones(t, t, dtype=torch.bool).tril(), float("-inf"))
    scores = torch.einsum("bin,bjn->bij", c, b).unsqueeze(1) * seg.exp()
    y = torch.einsum("bhij,bjh,bjhp->bihp", scores, dt, x)
    return y + x * d_skip.view(1, 1, -1, 1)


inputs = (
    torch.randn(2, 6, 3, 4), torch.randn(2, 6, 3), torch.randn(3) * 0.5,
    torch.randn(2, 6, 5), torch.randn(2, 6, 5), torch.randn(3),
)
