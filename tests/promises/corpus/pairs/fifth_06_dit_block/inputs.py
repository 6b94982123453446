import torch


def make(seed=0, batch=2, tokens=5):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(batch, tokens, 16, generator=g), torch.randn(batch, 16, generator=g)


inputs = make()
