"""NoisyNet Q head with factorised noise: noisy weights, or noise around the activations."""
import torch
from torch import nn


def squash(e):
    return e.sign() * e.abs().sqrt()


class NoisyLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(n_out, n_in) / n_in**0.5)
        self.sigma = nn.Parameter(torch.rand(n_out, n_in) * 0.5)
        self.mu_bias = nn.Parameter(torch.randn(n_out))
        self.sigma_bias = nn.Parameter(torch.rand(n_out) * 0.5)

    def forward(self, x, e_in, e_out):
        noise = torch.outer(squash(e_out), squash(e_in))
        bias = self.mu_bias + self.sigma_bias * squash(e_out)
        return nn.functional.linear(x, self.mu + self.sigma * noise, bias)


class FactoredLinear(NoisyLinear):
    def forward(self, x, e_in, e_out):
        f_in, f_out = squash(e_in), squash(e_out)
        mean = x @ self.mu.T + self.mu_bias
        return mean + f_out * ((x * f_in) @ self.sigma.T + self.sigma_bias)


class Head(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.one, self.two = layer(6, 9), layer(9, 4)

    def forward(self, x, a, b, c):
        return self.two(torch.relu(self.one(x, a, b)), b, c)


def left():
    return Head(NoisyLinear)


def right():
    return Head(FactoredLinear)


def inputs():
    return torch.randn(3, 6), torch.randn(6), torch.randn(9), torch.randn(4)
