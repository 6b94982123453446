"""The same by its formula, with one output layer for all parameters of the mixture."""
import math

import torch
from a import MIXTURES, SIZE, MixtureDensity
from torch import nn


class FlatMixture(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = MixtureDensity()
        self.hidden = theirs.hidden
        heads = (theirs.sigma, theirs.pi, theirs.mu)
        self.out = nn.Linear(8, MIXTURES * (1 + 2 * SIZE))
        self.out.weight.data = torch.cat([head.weight.detach() for head in heads])
        self.out.bias.data = torch.cat([head.bias.detach() for head in heads])

    def forward(self, x, y):
        out = self.out(self.hidden(x).tanh())
        raw, logits, mu = out.tensor_split((MIXTURES * SIZE, MIXTURES * SIZE + MIXTURES), dim=1)
        sigma = torch.where(raw > 0, raw + 1, raw.exp()).unflatten(1, (MIXTURES, SIZE)) + 1e-3
        mu = mu.unflatten(1, (MIXTURES, SIZE))
        squares = (((y[:, None] - mu) / sigma) ** 2).sum(-1)
        log_density = -0.5 * squares - torch.log(sigma.prod(-1)) - 0.5 * SIZE * math.log(2 * math.pi)
        likelihood = torch.logsumexp(logits + log_density, dim=1) - torch.logsumexp(logits, dim=1)
        probability = logits.softmax(1)
        return -likelihood.mean(), torch.einsum("bm,bmd->bd", probability, mu)
