# EQUAL.
"""DeepSeek-V3 routing: sigmoid scores, a correction bias used for the choice only, renormalised and scaled, one shared
expert; gathered expert weights (bmm) vs masks. EQUAL."""
import torch
from torch import nn
from torch.nn.functional import silu, one_hot

N, TOPK, SCALE = 6, 3, 2.5


class Gathered(nn.Module):
    def __init__(self, d=7, f=9):
        super().__init__()
        self.gate_w = nn.Parameter(torch.randn(N, d))
        self.correction = nn.Parameter(torch.randn(N) * 0.1)
        self.gate_up = nn.Parameter(torch.randn(N, d, 2 * f) / d ** 0.5)
        self.down = nn.Parameter(torch.randn(N, f, d) / f ** 0.5)
        self.shared = nn.Sequential(nn.Linear(d, f), nn.SiLU(), nn.Linear(f, d))

    def forward(self, x):
        s = (x @ self.gate_w.t()).sigmoid()
        idx = (s + self.correction).topk(TOPK, dim=-1, sorted=False).indices
        w = s.gather(1, idx)
        w = w / w.sum(-1, keepdim=True) * SCALE
        gu = torch.einsum("td,tkdf->tkf", x, self.gate_up[idx])
        g, u = gu.chunk(2, -1)
        y = torch.einsum("tkf,tkfd->tkd", silu(g) * u, self.down[idx])
        return torch.einsum("tk,tkd->td", w, y) + self.shared(x)


class Masked(nn.Module):
    """experts one by one, gate and up stored the other way round"""

    def __init__(self, g):
        super().__init__()
        f = g.down.shape[1]
        self.gate_w, self.correction = g.gate_w, g.correction
        self.up_gate = nn.ParameterList([torch.cat([w[:, f:], w[:, :f]], 1).data for w in g.gate_up])
        self.down = nn.ParameterList([w.data.clone() for w in g.down])
        self.shared = g.shared

    def forward(self, x):
        s = torch.sigmoid(torch.nn.functional.linear(x, self.gate_w))
        chosen = one_hot((s + self.correction).topk(TOPK, dim=-1).indices, N).sum(1).to(x.dtype)
        w = s * chosen
        w = SCALE * w / w.sum(-1, keepdim=True)
        out = self.shared(x)
        for e in range(N):
            u, g = (x @ self.up_gate[e]).chunk(2, -1)
            out = out + w[:, e, None] * ((u * silu(g)) @ self.down[e])
        return out


left = Gathered()
right = Masked(left)
inputs = (torch.randn(8, 7),)
