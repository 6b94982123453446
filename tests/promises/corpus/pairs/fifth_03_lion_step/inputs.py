import torch


def make(seed=0, rows=4, cols=6):
    g = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(rows, cols, generator=g) for _ in range(3))


inputs = make()
