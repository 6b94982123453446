"""Gray-Scott reaction and diffusion on a torus, two explicit Euler steps."""
import torch
import torch.nn.functional as F

DU, DV, FEED, KILL, DT = 0.16, 0.08, 0.035, 0.065, 1.0


def lap(a):
    out = -a
    for d in (-1, 1):
        out = out + 0.2 * (torch.roll(a, d, -1) + torch.roll(a, d, -2))
        for e in (-1, 1):
            out = out + 0.05 * torch.roll(a, (d, e), (-2, -1))
    return out


def left(u, v):
    for _ in range(2):
        uvv = u * v * v
        u, v = (u + DT * (DU * lap(u) - uvv + FEED * (1 - u)),
                v + DT * (DV * lap(v) + uvv - (FEED + KILL) * v))
    return u, v


def right(u, v):
    k = torch.tensor([[0.05, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]], dtype=u.dtype)
    k = torch.stack([DU * k, DV * k]).unsqueeze(1)
    s = torch.stack([u, v], 1)
    for _ in range(2):
        diff = F.conv2d(F.pad(s, (1, 1, 1, 1), mode="circular"), k, groups=2)
        a, b = s[:, 0], s[:, 1]
        r = a * b.square()
        react = torch.stack([FEED - FEED * a - r, r - FEED * b - KILL * b], 1)
        s = s + DT * (diff + react)
    a, b = s.unbind(1)
    return a.clone(), b.clone()


inputs = (torch.rand(2, 8, 9), torch.rand(2, 8, 9))
