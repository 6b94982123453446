# EQUAL.
"""Mixtral block: transformers-4.4x style loop over experts with where/index_add vs dense einsum over stacked weights.
EQUAL (up to ties in the router, where topk is anyone's choice)."""
import torch
from torch import nn
import torch.nn.functional as F

E, K, D, I = 5, 2, 8, 11


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(D, I, bias=False)
        self.w2 = nn.Linear(I, D, bias=False)
        self.w3 = nn.Linear(D, I, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoe(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.experts = nn.ModuleList([Expert() for _ in range(E)])

    def forward(self, hidden_states):
        b, s, d = hidden_states.shape
        hidden_states = hidden_states.view(-1, d)
        router_logits = self.gate(hidden_states)
        routing_weights = F.softmax(router_logits, dim=1)
        routing_weights, selected = torch.topk(routing_weights, K, dim=-1)
        routing_weights /= routing_weights.sum(dim=-1, keepdim=True)
        final = torch.zeros_like(hidden_states)
        expert_mask = F.one_hot(selected, num_classes=E).permute(2, 1, 0)
        for e in range(E):
            idx, top_x = torch.where(expert_mask[e])
            current = self.experts[e](hidden_states[top_x]) * routing_weights[top_x, idx, None]
            final.index_add_(0, top_x, current)
        return final.reshape(b, s, d), router_logits


class DenseMoe(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.router = nn.Parameter(m.gate.weight.data.clone())
        self.w13 = nn.Parameter(torch.stack([torch.cat([e.w1.weight, e.w3.weight]) for e in m.experts]).data)
        self.w2 = nn.Parameter(torch.stack([e.w2.weight for e in m.experts]).data)

    def forward(self, hidden_states):
        x = hidden_states.flatten(0, 1)
        logits = x @ self.router.T
        top, idx = logits.topk(K, -1)
        combine = torch.zeros_like(logits).scatter(-1, idx, top.softmax(-1))
        g, u = torch.einsum("td,eid->tei", x, self.w13).chunk(2, -1)
        y = torch.einsum("tei,edi->ted", F.silu(g) * u, self.w2)
        return (combine[..., None] * y).sum(1).view_as(hidden_states), logits


left = SparseMoe()
right = DenseMoe(left)
inputs = (torch.randn(2, 5, D),)
