import torch


def make(seed=0, batch=3, length=5):
    g = torch.Generator().manual_seed(seed)
    padding = torch.zeros(batch, length, dtype=torch.bool)
    padding[1:, -1] = True
    padding[2:, -2] = True
    return torch.randn(batch, length, 16, generator=g), padding


inputs = make()
