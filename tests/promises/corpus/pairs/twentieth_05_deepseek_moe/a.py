"""DeepSeek-V3's router (sigmoid, bias for choice only, limited groups) and its experts one by one."""
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, INNER, EXPERTS, GROUPS, KEPT, TOP, SCALE = 8, 6, 6, 3, 2, 2, 2.5


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(WIDTH, INNER, bias=False)
        self.up_proj = nn.Linear(WIDTH, INNER, bias=False)
        self.down_proj = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Parameter(torch.randn(EXPERTS, WIDTH))
        self.correction = nn.Parameter(0.1 * torch.randn(EXPERTS))
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))
        self.shared = Expert()

    def route(self, x):
        scores = F.linear(x, self.router).sigmoid()
        choice = scores + self.correction
        groups = choice.view(-1, GROUPS, EXPERTS // GROUPS).topk(2, dim=-1)[0].sum(-1)
        best = groups.topk(KEPT, dim=-1)[1]
        mask = torch.zeros_like(groups).scatter_(1, best, 1)
        mask = mask.unsqueeze(-1).expand(-1, GROUPS, EXPERTS // GROUPS).reshape(-1, EXPERTS)
        index = choice.masked_fill(~mask.bool(), float("-inf")).topk(TOP, dim=-1)[1]
        weights = scores.gather(1, index)
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
        return index, weights * SCALE

    def forward(self, hidden):
        x = hidden.view(-1, WIDTH)
        index, weights = self.route(x)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            tokens, slot = torch.where(index == e)
            out.index_add_(0, tokens, expert(x[tokens]) * weights[tokens, slot, None])
        return out.view_as(hidden) + self.shared(hidden)


def inputs():
    return (torch.randn(2, 3, WIDTH),)
