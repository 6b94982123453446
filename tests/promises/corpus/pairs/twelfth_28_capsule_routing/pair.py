"""Dynamic routing between capsules (Sabour et al.), three rounds."""
import torch
from torch import nn

ROUNDS = 3


def squash(s, eps=1e-8):
    n2 = (s**2).sum(dim=-1, keepdim=True)
    return (n2 / (1 + n2)) * s / torch.sqrt(n2 + eps)


class DigitCaps(nn.Module):
    def __init__(self, in_caps=6, in_dim=4, out_caps=3, out_dim=5):
        super().__init__()
        self.W = nn.Parameter(0.5 * torch.randn(1, in_caps, out_caps, out_dim, in_dim))

    def forward(self, u):
        u_hat = (self.W @ u[:, :, None, :, None]).squeeze(-1)
        b = torch.zeros(u_hat.shape[:3], dtype=u.dtype)
        for r in range(ROUNDS):
            c = torch.softmax(b, dim=2).unsqueeze(-1)
            v = squash((c * u_hat).sum(dim=1))
            if r < ROUNDS - 1:
                b = b + (u_hat * v.unsqueeze(1)).sum(dim=-1)
        return v, v.norm(dim=-1)


class FastCaps(nn.Module):
    """Weights as one big matrix; what is accumulated are the capsules, not the logits."""

    def __init__(self, ref):
        super().__init__()
        self.kernel = nn.Parameter(ref.W.detach()[0].permute(0, 3, 1, 2).reshape(6, 4, 15).clone())

    def forward(self, u):
        votes = torch.einsum("bni,nik->bnk", u, self.kernel).unflatten(-1, (3, 5))
        v = squash(votes.sum(1) / votes.shape[2])
        total = v
        for _ in range(ROUNDS - 1):
            coupling = torch.einsum("bnkd,bkd->bnk", votes, total).softmax(-1)
            v = squash(torch.einsum("bnk,bnkd->bkd", coupling, votes))
            total = total + v
        return v, v.square().sum(-1).sqrt()


torch.manual_seed(28)
left = DigitCaps()
right = FastCaps(left)
inputs = (torch.randn(2, 6, 4),)
