import torch


def make(seed=0, batch=3, steps=5):
    g = torch.Generator().manual_seed(seed)
    old = torch.randn(batch, steps, generator=g)
    return (
        torch.randn(batch, steps, generator=g),
        torch.randn(batch, steps + 1, generator=g),
        old + 0.3 * torch.randn(batch, steps, generator=g),
        old,
    )


inputs = make()
