import torch


def make(seed=0, rays=3, samples=5):
    g = torch.Generator().manual_seed(seed)
    depths = 2 + torch.cumsum(0.1 + torch.rand(rays, samples, generator=g), dim=-1)
    far = depths[:, -1] + 0.5
    return torch.randn(rays, samples, generator=g), torch.randn(rays, samples, 3, generator=g), depths, far


inputs = make()
