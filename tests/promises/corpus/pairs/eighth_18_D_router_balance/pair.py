import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(28)
DIM, E, TOPK, COEF = 10, 6, 2, 0.02


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(DIM, E, bias=False)


class OneHotBalance(Router):
    def forward(self, h):
        logits = self.gate(h.view(-1, DIM))
        weights = F.softmax(logits, dim=-1)
        _, selected = torch.topk(weights, TOPK, dim=-1)
        mask = F.one_hot(selected, E).to(weights.dtype)
        tokens_per_expert = mask.mean(dim=0)
        prob_per_expert = weights.mean(dim=0)
        aux = (tokens_per_expert * prob_per_expert.unsqueeze(0)).sum() * E
        return selected, COEF * aux


class CountBalance(Router):
    def forward(self, h):
        logits = h.flatten(0, -2) @ self.gate.weight.t()
        probs = logits.softmax(-1)
        idx = logits.topk(TOPK, dim=-1).indices
        n = idx.shape[0]
        counts = probs.new_zeros(E).index_add_(0, idx.reshape(-1), probs.new_ones(n * TOPK))
        scale = E * COEF / (n * n * TOPK)
        return idx, (probs.sum(0) * counts).sum() * scale


left, right = OneHotBalance(), CountBalance()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 7, DIM),)
