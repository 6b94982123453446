# EQUAL. top-2 of 4 experts: loop over experts with masks vs stacked (transposed) weights, dense einsum with scattered gates
import torch
from torch import nn
import torch.nn.functional as F

E, K, D, FF = 4, 2, 8, 12


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(D, FF, bias=False)
        self.w2 = nn.Linear(FF, D, bias=False)
        self.w3 = nn.Linear(D, FF, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(E))

    def forward(self, x):
        w = F.softmax(self.gate(x), dim=-1)
        w, idx = torch.topk(w, K, dim=-1)
        w = w / w.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            hit = ((idx == e) * w).sum(-1, keepdim=True)
            out += hit * expert(x)
        return out


class Stacked(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.router = nn.Parameter(m.gate.weight.data.t().contiguous())
        st = lambda n: torch.stack([getattr(e, n).weight.data.t() for e in m.experts])
        self.gate_up = nn.Parameter(torch.cat([st("w1"), st("w3")], dim=-1))     # E D 2FF
        self.down = nn.Parameter(st("w2"))                                     # E FF D

    def forward(self, x):
        top, i = (x @ self.router).topk(K, dim=-1)
        gates = torch.zeros(*x.shape[:-1], E, dtype=x.dtype).scatter(-1, i, top.softmax(-1))
        h = torch.einsum("nd,edf->enf", x, self.gate_up)
        g, u = h.chunk(2, -1)
        y = torch.bmm(F.silu(g) * u, self.down)
        return torch.einsum("ne,end->nd", gates, y)


torch.manual_seed(0)
left = MoE()
right = Stacked(left)
inputs = (torch.randn(6, D),)
