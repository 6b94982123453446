"""DeepAR's Student-t head: torch.distributions against the density written out."""
import math

import torch
from torch import nn
from torch.distributions import StudentT
from torch.nn import functional as F


class left(nn.Module):
    def __init__(self, dim=5):
        super().__init__()
        self.proj = nn.ModuleDict({k: nn.Linear(dim, 1) for k in ("df", "loc", "scale")})

    def forward(self, h, target):
        df = 2 + F.softplus(self.proj["df"](h)).squeeze(-1)
        loc = self.proj["loc"](h).squeeze(-1)
        scale = F.softplus(self.proj["scale"](h)).squeeze(-1)
        return -StudentT(df, loc, scale, validate_args=False).log_prob(target).mean()


class right(nn.Module):
    def __init__(self, dim=5):
        super().__init__()
        ref = left(dim)
        self.args = nn.Linear(dim, 3)
        self.args.weight.data = torch.cat([ref.proj[k].weight.data for k in ("df", "loc", "scale")])
        self.args.bias.data = torch.cat([ref.proj[k].bias.data for k in ("df", "loc", "scale")])

    def forward(self, h, target):
        a, mu, b = self.args(h).unbind(-1)
        nu, sigma = 2 + F.softplus(a), F.softplus(b)
        z2 = ((target - mu) / sigma) ** 2
        nll = (torch.lgamma(nu / 2) - torch.lgamma((nu + 1) / 2) + 0.5 * torch.log(nu * math.pi) + torch.log(sigma)
               + (nu + 1) / 2 * torch.log(1 + z2 / nu))
        return nll.mean()


def inputs():
    return torch.randn(3, 4, 5), torch.randn(3, 4)
