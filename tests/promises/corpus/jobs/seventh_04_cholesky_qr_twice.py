# CholeskyQR2 of a tall and skinny matrix. Rows lie on the ranks, R everywhere.
import torch
import torch.distributed as dist


def cholesky_qr(block, reduce):
    gram = reduce(block.T @ block)
    low = torch.linalg.cholesky(gram)
    # Q = A R^-1 with R = L^T, i.e. Q^T = L^-1 A^T
    q = torch.linalg.solve_triangular(low, block.T, upper=False).T
    return q, low.T


def cholesky_qr2(block, reduce=lambda g: g):
    q1, r1 = cholesky_qr(block, reduce)
    q2, r2 = cholesky_qr(q1, reduce)
    return q2, r2 @ r1


def sequential():
    def program(a):
        return cholesky_qr2(a)
    return program


def distributed(rank, world_size):
    def sum_gram(g):
        g = g.contiguous()
        work = dist.all_reduce(g, async_op=True)
        work.wait()
        return g

    def program(a):
        return cholesky_qr2(a, sum_gram)
    return program


def inputs():
    return (torch.randn(16, 3),)


world_size = 4
relations = {"a": "shard(0)"}
expected = {"0": "shard(0)"}
TRUTH = "refines"
