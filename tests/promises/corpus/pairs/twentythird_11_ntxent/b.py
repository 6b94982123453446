"""The same in four blocks, as it is written for data parallel training: no masks, the diagonal is cut out by a view."""
import torch
from a import TEMPERATURE, SimCLR
from torch import nn


def off_diagonal(square):
    """The elements beside the diagonal of [n, n], as [n, n - 1]."""
    n = square.shape[0]
    return square.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten().view(n, n - 1)


class BlockedSimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = SimCLR().projector
        self.w1 = nn.Parameter(theirs[0].weight.detach().t().contiguous())
        self.b1 = nn.Parameter(theirs[0].bias.detach().clone())
        self.w2 = nn.Parameter(theirs[2].weight.detach().t().contiguous())
        self.b2 = nn.Parameter(theirs[2].bias.detach().clone())

    def embed(self, x):
        z = (x @ self.w1 + self.b1).clamp(min=0) @ self.w2 + self.b2
        return z / torch.linalg.vector_norm(z, dim=-1, keepdim=True).clamp_min(1e-12)

    def forward(self, first, second):
        a, b = self.embed(first), self.embed(second)
        across = torch.einsum("id,jd->ij", a, b) / TEMPERATURE
        within_a, within_b = off_diagonal(a @ a.T) / TEMPERATURE, off_diagonal(b @ b.T) / TEMPERATURE
        positive = (a * b).sum(-1) / TEMPERATURE
        total_a = across.exp().sum(1) + within_a.exp().sum(1)
        total_b = across.exp().sum(0) + within_b.exp().sum(1)
        return 0.5 * (total_a.log() + total_b.log()).mean() - positive.mean()
