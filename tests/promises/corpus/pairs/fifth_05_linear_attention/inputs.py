import torch


def make(seed=0, batch=2, targets=4, sources=6):
    g = torch.Generator().manual_seed(seed)
    return (
        torch.randn(batch, targets, 3, 5, generator=g),
        torch.randn(batch, sources, 3, 5, generator=g),
        torch.randn(batch, sources, 3, 8, generator=g),
    )


inputs = make()
