import torch


def make(seed=0, n=6):
    g = torch.Generator().manual_seed(seed)
    p, grad, m = (torch.randn(n, 5, generator=g) for _ in range(3))
    return p, 1e-3 * grad, 2e-4 * m, 3e-9 * torch.rand(n, 5, generator=g)


inputs = make()
