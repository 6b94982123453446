"""Mixture of experts of Llama 4: top-1 routing by a sigmoid, and one shared expert."""
import torch
from torch import nn
from torch.nn import functional as F

DIM, FFN, EXPERTS = 8, 12, 4


class Llama4MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(DIM, EXPERTS, bias=False)
        self.gate_up_proj = nn.Parameter(0.4 * torch.randn(EXPERTS, DIM, 2 * FFN))
        self.down_proj = nn.Parameter(0.4 * torch.randn(EXPERTS, FFN, DIM))
        self.shared_gate_up = nn.Linear(DIM, 2 * FFN, bias=False)
        self.shared_down = nn.Linear(FFN, DIM, bias=False)

    def shared(self, x):
        gate, up = self.shared_gate_up(x).chunk(2, dim=-1)
        return self.shared_down(F.silu(gate) * up)

    def forward(self, hidden_states):
        x = hidden_states.reshape(-1, DIM)
        logits = self.router(x)
        top_value, top_index = torch.topk(logits, 1, dim=1)
        scores = torch.full_like(logits, float("-inf")).scatter(1, top_index, top_value)
        scores = torch.sigmoid(scores).transpose(0, 1)
        routed_in = x.repeat(EXPERTS, 1).view(EXPERTS, -1, DIM) * scores.unsqueeze(-1)
        gate, up = torch.bmm(routed_in, self.gate_up_proj).chunk(2, dim=-1)
        routed = torch.bmm(F.silu(gate) * up, self.down_proj)
        return (self.shared(x) + routed.sum(dim=0)).view(hidden_states.shape)


class ServedMoE(Llama4MoE):
    """Loops over experts, as for Mixtral."""

    def forward(self, hidden_states):
        x = hidden_states.flatten(0, -2)
        best, expert = self.router(x).max(dim=-1)
        weight = best.sigmoid().unsqueeze(-1)
        out = self.shared(x)
        for e in range(EXPERTS):
            gate, up = (x @ self.gate_up_proj[e]).split(FFN, dim=-1)
            y = (F.silu(gate) * up) @ self.down_proj[e]
            out = out + torch.where((expert == e).unsqueeze(-1), weight * y, 0.0)
        return out.view_as(hidden_states)


left = Llama4MoE
right = ServedMoE
inputs = (torch.randn(2, 5, DIM),)
