import torch


def make(seed=0, batch=3):
    g = torch.Generator().manual_seed(seed)
    t = torch.randint(10, 50, (batch,), generator=g)
    x, v = torch.randn(2, batch, 3, 4, 5, generator=g)
    return x, v, t, t - 10


inputs = make()
