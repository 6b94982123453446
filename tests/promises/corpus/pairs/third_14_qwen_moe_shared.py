# EQUAL: Qwen2-MoE with gated shared expert: dense loop over experts with gathered weights vs experts chosen by gathered weight tensors
import torch
from torch import nn
import torch.nn.functional as F

D, FF, SF, E, K = 8, 6, 10, 4, 2


class MLP(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = nn.Linear(D, f, bias=False), nn.Linear(D, f, bias=False), nn.Linear(f, D, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.experts = nn.ModuleList(MLP(FF) for _ in range(E))
        self.shared_expert = MLP(SF)
        self.shared_expert_gate = nn.Linear(D, 1, bias=False)

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        w, idx = probs.topk(K, -1)  # norm_topk_prob = False
        y = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            share = (w * (idx == e)).sum(-1, keepdim=True)
            y = y + share * expert(x)
        return y + torch.sigmoid(self.shared_expert_gate(x)) * self.shared_expert(x)


class Gathered(nn.Module):
    def __init__(self, src):
        super().__init__()
        # the shared gate sits as one more row of the router, as in some serving engines
        self.router = nn.Linear(D, E + 1, bias=False)
        self.router.weight.data = torch.cat([src.gate.weight, src.shared_expert_gate.weight]).detach()
        self.w13 = nn.Parameter(torch.stack([torch.cat([e.gate_proj.weight, e.up_proj.weight]) for e in src.experts]).detach())
        self.w2 = nn.Parameter(torch.stack([e.down_proj.weight for e in src.experts]).detach())
        self.s13 = nn.Linear(D, 2 * SF, bias=False)
        self.s13.weight.data = torch.cat([src.shared_expert.gate_proj.weight, src.shared_expert.up_proj.weight]).detach()
        self.s2 = nn.Linear(SF, D, bias=False)
        self.s2.weight.data = src.shared_expert.down_proj.weight.detach().clone()

    def forward(self, x):
        logits = self.router(x)
        w, idx = torch.topk(F.softmax(logits[..., :E], dim=-1), K)
        h = torch.einsum("nkfd,nd->nkf", self.w13[idx], x)
        h = F.silu(h[..., :FF]) * h[..., FF:]
        y = torch.einsum("nkdf,nkf,nk->nd", self.w2[idx], h, w)
        a, b = self.s13(x).split(SF, -1)
        return y + logits[:, E:].sigmoid() * self.s2(F.silu(a) * b)


left = Block()
right = Gathered(left)


def inputs():
    return (torch.randn(5, D),)
