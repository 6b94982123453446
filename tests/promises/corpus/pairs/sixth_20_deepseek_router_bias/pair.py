import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(17)
E, K, D, I = 4, 2, 8, 6


class DeepseekMoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.randn(E, D))
        self.e_score_correction_bias = nn.Parameter(torch.zeros(E))
        self.gate_up = nn.Parameter(torch.randn(E, 2 * I, D) * 0.3)
        self.down = nn.Parameter(torch.randn(E, D, I) * 0.3)
        self.routed_scaling_factor = 2.5

    def route(self, x):
        scores = F.linear(x, self.gate).sigmoid()
        _, idx = torch.topk(scores + self.e_score_correction_bias, K, dim=-1, sorted=False)
        w = scores.gather(1, idx)
        w = w / w.sum(-1, keepdim=True)
        return torch.zeros_like(scores).scatter(1, idx, w * self.routed_scaling_factor)

    def forward(self, x):
        w = self.route(x)
        gate, up = torch.einsum("nd,eid->nei", x, self.gate_up).chunk(2, -1)
        y = torch.einsum("nei,edi->ned", F.silu(gate) * up, self.down)
        return (w[..., None] * y).sum(1)


class PortedMoE(DeepseekMoE):
    def route(self, x):
        scores = torch.sigmoid(x @ self.gate.T) + self.e_score_correction_bias
        w, idx = scores.topk(K, dim=-1, sorted=False)
        w = self.routed_scaling_factor * w / w.sum(-1, keepdim=True)
        return torch.zeros_like(scores).scatter(1, idx, w)


left = DeepseekMoE()
right = PortedMoE()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(6, D),)
