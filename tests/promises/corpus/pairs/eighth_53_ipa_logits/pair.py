"""Invariant point attention over residue frames (single representation only)."""
import torch
import torch.nn.functional as F
from torch import nn

NH, P, C, D = 2, 3, 4, 8


class IPA(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, NH * C, bias=False) for _ in range(3))
        self.qp, self.kp, self.vp = (nn.Linear(D, NH * P * 3, bias=False) for _ in range(3))
        self.gamma = nn.Parameter(torch.randn(NH))
        self.out = nn.Linear(NH * (C + P * 3), D)

    def forward(self, s, R, t):
        n = s.shape[0]
        q, k, v = (f(s).view(n, NH, C) for f in (self.q, self.k, self.v))
        glob = lambda f: torch.einsum("nij,nhpj->nhpi", R, f(s).view(n, NH, P, 3)) + t[:, None, None]
        qp, kp, vp = glob(self.qp), glob(self.kp), glob(self.vp)
        dist = ((qp[:, None] - kp[None]) ** 2).sum(-1).sum(-1)                    # n, n, NH
        wC = (2 / (9 * P)) ** 0.5
        logits = torch.einsum("ihc,jhc->ijh", q, k) / C ** 0.5 - 0.5 * wC * F.softplus(self.gamma) * dist
        a = torch.softmax((1 / 3) ** 0.5 * logits, dim=1)
        o = torch.einsum("ijh,jhc->ihc", a, v)
        op = torch.einsum("ijh,jhpx->ihpx", a, vp) - t[:, None, None]
        op = torch.einsum("nij,nhpi->nhpj", R, op)                                # inverse rotation
        return self.out(torch.cat([o.flatten(1), op.flatten(1)], -1))


class FusedIPA(nn.Module):
    """One projection; scalars and points of a head share one dot product."""

    def __init__(self, src):
        super().__init__()
        ws = [getattr(src, n).weight.detach() for n in ("q", "k", "v", "qp", "kp", "vp")]
        self.w = nn.Parameter(torch.cat(ws))
        self.gamma = nn.Parameter(src.gamma.detach().clone())
        self.out = nn.Linear(NH * (C + P * 3), D)
        self.out.load_state_dict(src.out.state_dict())

    def forward(self, s, R, t):
        n = s.shape[0]
        y = F.linear(s, self.w)
        scal, pts = y.split([3 * NH * C, 3 * NH * P * 3], -1)
        q, k, v = scal.view(n, 3, NH, C).permute(1, 2, 0, 3)                      # NH, n, C
        g = pts.view(n, 3 * NH * P, 3) @ R.transpose(1, 2) + t.unsqueeze(1)
        qp, kp, vp = g.view(n, 3, NH, P * 3).permute(1, 2, 0, 3)                  # NH, n, 3P
        coef = F.softplus(self.gamma).view(NH, 1, 1) * (2 / (9 * P)) ** 0.5
        cross = q @ k.mT * C ** -0.5 + coef * (qp @ kp.mT)
        bias = -0.5 * coef * kp.square().sum(-1).unsqueeze(1)
        a = F.softmax((cross + bias) * 3 ** -0.5, dim=-1)
        o = (a @ v).transpose(0, 1).reshape(n, -1)
        op = (a @ vp).view(NH, n, P, 3) - t.view(1, n, 1, 3)
        op = (op @ R).transpose(0, 1).reshape(n, -1)
        return self.out(torch.cat((o, op), 1))


def inputs():
    q, _ = torch.linalg.qr(torch.randn(5, 3, 3))
    return torch.randn(5, D), q, torch.randn(5, 3)


torch.manual_seed(4)
left = IPA()
right = FusedIPA(left)
