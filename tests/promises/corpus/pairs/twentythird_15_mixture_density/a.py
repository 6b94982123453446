"""Mixture density network: a hidden layer gives a mixture of diagonal normals, whose log density is the loss."""
import torch
from torch import distributions as D
from torch import nn
from torch.nn import functional as F

FEATURES, MIXTURES, SIZE = 4, 3, 2


class MixtureDensity(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(FEATURES, 8)
        self.pi = nn.Linear(8, MIXTURES)
        self.mu = nn.Linear(8, MIXTURES * SIZE)
        self.sigma = nn.Linear(8, MIXTURES * SIZE)

    def forward(self, x, y):
        h = torch.tanh(self.hidden(x))
        mu = self.mu(h).view(-1, MIXTURES, SIZE)
        sigma = F.elu(self.sigma(h)).view(-1, MIXTURES, SIZE) + 1 + 1e-3
        weights = D.Categorical(logits=self.pi(h), validate_args=False)
        normals = D.Independent(D.Normal(mu, sigma, validate_args=False), 1, validate_args=False)
        mixture = D.MixtureSameFamily(weights, normals, validate_args=False)
        return -mixture.log_prob(y).mean(), mixture.mean


def inputs():
    return torch.randn(5, FEATURES), torch.randn(5, SIZE)
