import torch


def make(seed=0, batch=2, height=5, width=6):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(batch, height, width, generator=g), torch.randn(height, width, generator=g)
