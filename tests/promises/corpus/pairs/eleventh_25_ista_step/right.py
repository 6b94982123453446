import torch
from torch.nn import functional as F


def step(code, dictionary, signal, rate=0.05, penalty=0.3):
    gram = dictionary.T @ dictionary
    z = code - rate * (code @ gram) + rate * (signal @ dictionary)
    t = rate * penalty
    return F.relu(z - t) - F.relu(-z - t)


def inputs():
    return torch.randn(4, 7), torch.randn(5, 7), torch.randn(4, 5)
