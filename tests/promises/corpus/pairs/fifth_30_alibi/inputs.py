import torch


def make(seed=0, batch=2, length=6):
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(batch, length, 16, generator=g),)


inputs = make()
