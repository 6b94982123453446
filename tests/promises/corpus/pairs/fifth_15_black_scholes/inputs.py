import torch


def make(seed=0, n=6):
    g = torch.Generator().manual_seed(seed)
    u = torch.rand(5, n, generator=g)
    return {
        "spot": 80 + 40 * u[0],
        "strike": 80 + 40 * u[1],
        "rate": 0.05 * u[2],
        "sigma": 0.1 + 0.4 * u[3],
        "maturity": 0.2 + 2 * u[4],
    }


inputs = make()
