"""DeepSeek-V3 routing: sigmoid scores, a bias for balance that chooses, gates renormalised and scaled."""
import torch
from torch import nn
from torch.nn import functional as F

D, E, K, M = 6, 5, 2, 7


class Reference(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.e_score_correction_bias = nn.Parameter(torch.rand(E) * 0.5)
        self.up = nn.Parameter(torch.randn(E, D, M))
        self.down = nn.Parameter(torch.randn(E, M, D))

    def experts(self, x):
        return torch.einsum("nem,emd->ned", F.silu(torch.einsum("nd,edm->nem", x, self.up)), self.down)

    def forward(self, x):
        scores = self.gate(x).sigmoid()
        idx = torch.topk(scores + self.e_score_correction_bias, K, dim=-1).indices
        w = scores.gather(1, idx)
        w = w / (w.sum(-1, keepdim=True) + 1e-20) * 2.5
        y = self.experts(x).gather(1, idx[:, :, None].expand(-1, -1, D))
        return (y * w.unsqueeze(-1)).sum(1)


class Port(Reference):
    def forward(self, x):
        scores = torch.sigmoid(x @ self.gate.weight.T) + self.e_score_correction_bias
        w, idx = scores.topk(K, dim=-1)
        w = 2.5 * w / (w.sum(-1, keepdim=True) + 1e-20)
        dense = torch.zeros_like(scores).scatter(1, idx, w)
        return torch.einsum("ne,ned->nd", dense, self.experts(x))


left = Reference()
right = Port()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(9, D),)
