import torch

DH, BASE, SCALE_BASE, GAMMA = 8, 10000.0, 16.0, 0.4


# ---- table version -------------------------------------------------------
def rotate_every_two(x):
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def duplicate(m):
    return m.repeat_interleave(2, dim=-1)


class XPos(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", (torch.arange(0, DH, 2) + GAMMA * DH) / ((1 + GAMMA) * DH), persistent=False)
        self.register_buffer("inv_freq", BASE ** (-torch.arange(0, DH, 2) / DH), persistent=False)

    def apply(self, x, downscale):
        n = x.shape[-2]
        pos = torch.arange(n).to(x.dtype)
        scale = self.scale ** ((pos - n // 2) / SCALE_BASE)[:, None]
        if downscale:
            scale = 1 / scale
        ang = pos[:, None] * self.inv_freq
        sin, cos = duplicate(ang.sin() * scale), duplicate(ang.cos() * scale)
        return x * cos + rotate_every_two(x) * sin

    def forward(self, q, k, v):
        q, k = self.apply(q, False), self.apply(k, True)
        n = q.shape[-2]
        s = q @ k.transpose(-1, -2) * DH ** -0.5
        s = s + torch.full((n, n), float("-inf"), dtype=q.dtype).triu(1)
        return s.softmax(-1) @ v


# ---- complex version -----------------------------------------------------
def xpos_complex(q, k, v):
    n, half = q.shape[-2], torch.arange(0, DH, 2)
    t = torch.arange(n).to(q.dtype)
    zeta = (half + GAMMA * DH) / ((1 + GAMMA) * DH)
    mag = torch.pow(zeta[None, :], (t[:, None] - n // 2) / SCALE_BASE)
    theta = torch.outer(t, 1.0 / BASE ** (half / DH))
    zq = torch.view_as_complex(q.reshape(*q.shape[:-1], -1, 2)) * torch.polar(mag, theta)
    zk = torch.view_as_complex(k.reshape(*k.shape[:-1], -1, 2)) * torch.polar(1 / mag, theta)
    scores = torch.einsum("...ic,...jc->...ij", zq, zk.conj()).real / DH ** 0.5
    keep = torch.ones(n, n, dtype=torch.bool).tril()
    return torch.einsum("...ij,...jd->...id", scores.masked_fill(~keep, float("-inf")).softmax(-1), v)


left, right = XPos(), xpos_complex
inputs = tuple(torch.randn(2, 3, 5, DH) for _ in range(3))
