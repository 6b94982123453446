"""Late interaction of ColBERT: every query against every document, at once."""
import torch
from torch import nn
from torch.nn import functional as F


class ColBERT(nn.Module):
    def __init__(self, hidden=12, dim=8):
        super().__init__()
        self.linear = nn.Linear(hidden, dim, bias=False)

    def encode(self, hidden):
        return F.normalize(self.linear(hidden), p=2, dim=-1)

    def forward(self, q_hidden, q_mask, d_hidden, d_mask):
        Q, D = self.encode(q_hidden), self.encode(d_hidden)
        sim = torch.einsum("bqh,cdh->bcqd", Q, D)
        sim = sim.masked_fill(~d_mask[None, :, None, :], float("-inf"))
        best = sim.max(dim=-1).values
        best = best.masked_fill(~q_mask[:, None, :], 0.0)
        return best.sum(dim=-1)


def inputs():
    q_mask = torch.tensor([[True, True, True, False], [True, True, True, True]])
    d_mask = torch.ones(3, 5, dtype=torch.bool)
    d_mask[0, 3:] = False
    d_mask[2, 4:] = False
    return torch.randn(2, 4, 12), q_mask, torch.randn(3, 5, 12), d_mask
