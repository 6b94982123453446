import torch
from torch import distributed as dist

# Power iteration on the covariance of data whose ROWS are distributed. X^T X v is never formed as a matrix:
# each rank does X_r^T (X_r v), the sum is all-reduced. Then the Rayleigh quotient.
world_size = 4
relations = {"X": "shard(0)"}
STEPS = 3


def sequential():
    def pca(X, v):
        Xc = X - X.mean(0, keepdim=True)
        cov = Xc.T @ Xc / X.shape[0]
        for _ in range(STEPS):
            v = cov @ v
            v = v / v.norm()
        return v, v @ (cov @ v)
    return pca


def distributed(rank, world_size):
    def allsum(t):
        dist.all_reduce(t)
        return t

    def pca(X, v):
        n = X.shape[0] * world_size
        Xc = X - allsum(X.sum(0, keepdim=True)) / n
        mul = lambda v: allsum(Xc.T @ (Xc @ v)) / n
        for _ in range(STEPS):
            v = mul(v)
            v = v / v.norm()
        return v, (v * mul(v)).sum()
    return pca


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 4), torch.randn(4))


TRUTH = "refines"
