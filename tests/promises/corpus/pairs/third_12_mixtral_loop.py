# EQUAL: Mixtral: softmax, top-2, renormalise, loop over experts with torch.where and index_add_ vs all experts dense with a scattered routing matrix
import torch
from torch import nn
import torch.nn.functional as F

D, FF, E, K = 8, 12, 4, 2


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3 = nn.Linear(D, FF, bias=False), nn.Linear(D, FF, bias=False)
        self.w2 = nn.Linear(FF, D, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Mixtral(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(E))

    def forward(self, hidden_states):
        b, t, d = hidden_states.shape
        hidden_states = hidden_states.view(-1, d)
        router_logits = self.gate(hidden_states)
        routing_weights = F.softmax(router_logits, dim=1)
        routing_weights, selected = torch.topk(routing_weights, K, dim=-1)
        routing_weights /= routing_weights.sum(dim=-1, keepdim=True)
        final = torch.zeros_like(hidden_states)
        expert_mask = F.one_hot(selected, num_classes=E).permute(2, 1, 0)
        for e in range(E):
            idx, top_x = torch.where(expert_mask[e])
            current = hidden_states[None, top_x].reshape(-1, d)
            current = self.experts[e](current) * routing_weights[top_x, idx, None]
            final.index_add_(0, top_x, current)
        return final.reshape(b, t, d)


class Dense(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.router = nn.Parameter(src.gate.weight.detach().t().clone())
        self.up = nn.Parameter(torch.stack([torch.cat([e.w1.weight, e.w3.weight]) for e in src.experts]).detach())
        self.down = nn.Parameter(torch.stack([e.w2.weight for e in src.experts]).detach())

    def forward(self, x):
        top, idx = (x @ self.router).topk(K, dim=-1)
        w = torch.zeros(*x.shape[:-1], E, dtype=x.dtype).scatter(-1, idx, top.softmax(-1))
        h = torch.einsum("btd,efd->btef", x, self.up)
        g, u = h.chunk(2, -1)
        y = torch.einsum("btef,edf->bted", F.silu(g) * u, self.down)
        return (w.unsqueeze(-1) * y).sum(-2)


left = Mixtral()
right = Dense(left)


def inputs():
    return (torch.randn(2, 5, D),)
