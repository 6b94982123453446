"""Ridge regression by conjugate gradients on the normal equations; rows of A on the ranks."""
import torch
import torch.distributed as dist


def cg(matvec, b, steps):
    x = torch.zeros_like(b)
    r = b.clone()
    p = r.clone()
    rs = r @ r
    for _ in range(steps):
        ap = matvec(p)
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        rs_new = r @ r
        p = r + (rs_new / rs) * p
        rs = rs_new
    return x, rs


def sequential():
    def fit(a, y):
        return cg(lambda v: a.T @ (a @ v) + 0.5 * v, a.T @ y, steps=2)
    return fit


def distributed(rank, world_size):
    def allsum(t):
        dist.all_reduce(t, op=dist.ReduceOp.SUM)
        return t

    def fit(a, y):
        # A^T A v is a sum over blocks of rows; the ridge term is replicated and added after the sum
        return cg(lambda v: allsum(a.T @ (a @ v)) + 0.5 * v, allsum(a.T @ y), steps=2)
    return fit


def inputs():
    return {"a": torch.randn(12, 4), "y": torch.randn(12)}


world_size = 4
relations = {"a": "shard(0)", "y": "shard(0)"}
TRUTH = "refines"
