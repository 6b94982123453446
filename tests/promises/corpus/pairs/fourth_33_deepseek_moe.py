# EQUAL
"""DeepSeek-V3's expert layer: sigmoid router with a correction bias, groups of experts, shared expert; looped and dense."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(33)
D, E, GROUPS, TOPG, TOPK, INTER, SCALE = 8, 6, 3, 2, 2, 10, 2.5


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(D, INTER, bias=False)
        self.up_proj = nn.Linear(D, INTER, bias=False)
        self.down_proj = nn.Linear(INTER, D, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.randn(E, D) * D ** -0.5)
        self.e_score_correction_bias = nn.Parameter(torch.randn(E) * 0.1)
        self.experts = nn.ModuleList(MLP() for _ in range(E))
        self.shared_experts = MLP()

    def route(self, x):
        scores = F.linear(x, self.gate).sigmoid()
        choice = scores + self.e_score_correction_bias
        group_scores = choice.view(-1, GROUPS, E // GROUPS).topk(2, dim=-1)[0].sum(dim=-1)
        group_idx = torch.topk(group_scores, k=TOPG, dim=-1, sorted=False)[1]
        group_mask = torch.zeros_like(group_scores).scatter_(1, group_idx, 1)
        score_mask = group_mask.unsqueeze(-1).expand(-1, GROUPS, E // GROUPS).reshape(-1, E)
        choice = choice.masked_fill(~score_mask.bool(), float("-inf"))
        idx = torch.topk(choice, k=TOPK, dim=-1, sorted=False)[1]
        w = scores.gather(1, idx)
        w = w / (w.sum(dim=-1, keepdim=True) + 1e-20)
        return idx, w * SCALE

    def forward(self, hidden):
        shape = hidden.shape
        x = hidden.view(-1, D)
        idx, w = self.route(x)
        out = torch.zeros_like(x)
        mask = F.one_hot(idx, num_classes=E).permute(2, 0, 1)
        for e, expert in enumerate(self.experts):
            token, slot = torch.where(mask[e])
            out.index_add_(0, token, expert(x[token]) * w[token, slot, None])
        return out.view(shape) + self.shared_experts(hidden)


class DenseMoE(nn.Module):
    def __init__(self, moe):
        super().__init__()
        self.router = moe
        stack = lambda name: nn.Parameter(torch.stack([getattr(e, name).weight.detach() for e in moe.experts]))
        self.w1, self.w3, self.w2 = stack("gate_proj"), stack("up_proj"), stack("down_proj")

    def forward(self, hidden):
        x = hidden.flatten(0, 1)
        idx, w = self.router.route(x)
        combine = torch.zeros(x.shape[0], E).scatter(1, idx, w)
        h = F.silu(torch.einsum("td,eid->tei", x, self.w1)) * torch.einsum("td,eid->tei", x, self.w3)
        y = torch.einsum("tei,edi,te->td", h, self.w2, combine)
        return y.view_as(hidden) + self.router.shared_experts(hidden)


left = MoE().eval()
right = DenseMoE(left).eval()
inputs = (torch.randn(2, 4, D),)
