import torch


def make(seed=0, batch=2, samples=80):
    g = torch.Generator().manual_seed(seed)
    return (torch.randn(batch, samples, generator=g),)


inputs = make()
