import copy
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

torch.manual_seed(16)


@dataclass
class VAEOutput:
    loss: torch.Tensor
    kl: torch.Tensor
    mean: torch.Tensor
    hidden: torch.Tensor | None = None


class VAE(nn.Module):
    def __init__(self, x_dim=7, z_dim=3, hidden=8):
        super().__init__()
        self.enc = nn.Linear(x_dim, hidden)
        self.stats = nn.Linear(hidden, 2 * z_dim)
        self.dec = nn.Linear(z_dim, hidden)
        self.out = nn.Linear(hidden, x_dim)

    def forward(self, x, noise):
        mu, log_var = self.stats(F.elu(self.enc(x))).chunk(2, -1)
        q = Normal(mu, torch.exp(0.5 * log_var), validate_args=False)
        prior = Normal(torch.zeros_like(mu), torch.ones_like(mu), validate_args=False)
        z = q.loc + q.scale * noise
        logits = self.out(F.elu(self.dec(z)))
        likelihood = Independent(Bernoulli(logits=logits, validate_args=False), 1, validate_args=False)
        kl = kl_divergence(q, prior).sum(-1)
        return VAEOutput((kl - likelihood.log_prob(x)).mean(), kl.mean(), likelihood.mean)


class PlainVAE(VAE):
    def forward(self, x, noise):
        h = self.enc(x)
        h = torch.where(h > 0, h, torch.expm1(h))
        s = self.stats(h)
        mu, log_var = s[:, :3], s[:, 3:]
        z = mu + noise * (log_var / 2).exp()
        h = self.dec(z)
        h = torch.where(h > 0, h, h.exp() - 1)
        logits = self.out(h)
        rec = (F.softplus(logits) - x * logits).sum(1)
        kl = -0.5 * (1 + log_var - mu**2 - log_var.exp()).sum(1)
        return VAEOutput(kl=kl.mean(), mean=logits.sigmoid(), loss=rec.mean() + kl.mean())


left = VAE()
right = PlainVAE()
right.load_state_dict(copy.deepcopy(left.state_dict()))


def inputs():
    return torch.bernoulli(torch.full((4, 7), 0.5)), torch.randn(4, 3)
