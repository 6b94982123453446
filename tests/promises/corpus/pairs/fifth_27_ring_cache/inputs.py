import torch


def make(seed=0, batch=2, window=5):
    g = torch.Generator().manual_seed(seed)
    return (
        torch.randn(batch, 12, generator=g),
        torch.randn(batch, 3, window, 4, generator=g),
        torch.randn(batch, 3, window, 4, generator=g),
    )


inputs = make()
