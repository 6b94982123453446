import torch


def make(seed=0, n=5):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, 2, generator=g), torch.rand(n, generator=g), 0.5 + torch.rand(n, generator=g)


inputs = make()
