import torch


def step(code, dictionary, signal, rate=0.05, penalty=0.3):
    residual = code @ dictionary.T - signal
    z = code - rate * (residual @ dictionary)
    return torch.sign(z) * torch.clamp(torch.abs(z) - rate * penalty, min=0)


def inputs():
    return torch.randn(4, 7), torch.randn(5, 7), torch.randn(4, 5)
