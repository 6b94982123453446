"""Negative binomial likelihood of counts in scVI: by mean and dispersion, and by torch's logits."""
import torch
from torch import nn
from torch.distributions import NegativeBinomial

GENES, LATENT = 7, 4


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.scale = nn.Linear(LATENT, 9), nn.Linear(9, GENES)
        self.px_r = nn.Parameter(torch.randn(GENES) * 0.5)


class MeanDispersion(Decoder):
    def forward(self, z, library, counts):
        mu = torch.exp(library) * torch.softmax(self.scale(torch.relu(self.hidden(z))), dim=-1)
        theta = torch.exp(self.px_r)
        log_sum = torch.log(theta + mu)
        log_prob = (
            theta * (torch.log(theta) - log_sum)
            + counts * (torch.log(mu) - log_sum)
            + torch.lgamma(counts + theta)
            - torch.lgamma(theta)
            - torch.lgamma(counts + 1)
        )
        return -log_prob.sum(-1)


class Logits(Decoder):
    def forward(self, z, library, counts):
        log_mu = library + torch.log_softmax(self.scale(self.hidden(z).relu()), dim=-1)
        nb = NegativeBinomial(self.px_r.exp(), logits=log_mu - self.px_r, validate_args=False)
        return -nb.log_prob(counts).sum(-1)


def left():
    return MeanDispersion()


def right():
    return Logits()


def inputs():
    counts = torch.randint(0, 9, (3, GENES)).to(torch.get_default_dtype())
    return torch.randn(3, LATENT), torch.rand(3, 1) + 2, counts
