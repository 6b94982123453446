import torch
from torch import nn

from a import program as original


def segsum(x):
    """S[i, j] = x[j + 1] + … + x[i], and −∞ above the diagonal."""
    length = x.shape[-1]
    total = torch.cumsum(x, dim=-1)
    difference = total[..., :, None] - total[..., None, :]
    mask = torch.tril(torch.ones(length, length, dtype=torch.bool))
    return difference.masked_fill(~mask, -torch.inf)


class SSD(nn.Module):
    """The same as attention: a lower triangular matrix of decays."""

    def __init__(self, scan):
        super().__init__()
        self.A_log = nn.Parameter(scan.A_log.detach().clone())
        self.dt_bias = nn.Parameter(scan.dt_bias.detach().clone())
        self.D = nn.Parameter(scan.D.detach().clone())

    def forward(self, x, dt, B, C):
        dt = torch.nn.functional.softplus(dt + self.dt_bias)
        L = torch.exp(segsum((-self.A_log.exp() * dt).transpose(1, 2)))
        y = torch.einsum("bln,bsn,bhls,bsh,bshp->blhp", C, B, L, dt, x)
        return y + x * self.D.view(1, 1, -1, 1)


program = SSD(original).eval()
