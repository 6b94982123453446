import torch


def make(seed=0, batch=3, length=4):
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(batch, length, 12, generator=g),)


inputs = make()
