# Maximum mean discrepancy between two samples that both lie in pieces. One block of each travels around the
# ring; kernel sums are accumulated against the resident block.
import torch
import torch.distributed as dist


def rbf(a, b, bandwidths=(0.5, 1.0, 2.0)):
    d2 = (a.unsqueeze(1) - b.unsqueeze(0)).square().sum(-1)
    return sum(torch.exp(-d2 / (2 * h * h)) for h in bandwidths)


def sequential():
    def mmd2(x, y):
        m, n = x.shape[0], y.shape[0]
        kxx, kyy, kxy = rbf(x, x), rbf(y, y), rbf(x, y)
        # unbiased: the diagonals are left out
        within_x = (kxx.sum() - kxx.diagonal().sum()) / (m * (m - 1))
        within_y = (kyy.sum() - kyy.diagonal().sum()) / (n * (n - 1))
        return within_x + within_y - 2 * kxy.mean()
    return mmd2


def distributed(rank, world_size):
    def shift(t):
        incoming = torch.empty_like(t)
        after, before = (rank + 1) % world_size, (rank - 1) % world_size
        # even ranks send first; with three ranks nobody waits in a circle
        if rank % 2 == 0:
            dist.send(t, after)
            dist.recv(incoming, before)
        else:
            dist.recv(incoming, before)
            dist.send(t, after)
        return incoming

    def mmd2(x, y):
        m, n = x.shape[0] * world_size, y.shape[0] * world_size
        sums = x.new_zeros(3)
        visitors = torch.cat([x, y])
        for step in range(world_size):
            vx, vy = visitors.split([x.shape[0], y.shape[0]])
            kxx, kyy = rbf(x, vx), rbf(y, vy)
            sxx, syy = kxx.sum(), kyy.sum()
            if step == 0:
                sxx = sxx - kxx.diagonal().sum()
                syy = syy - kyy.diagonal().sum()
            sums = sums + torch.stack([sxx, syy, rbf(x, vy).sum()])
            if step + 1 < world_size:
                visitors = shift(visitors)
        dist.all_reduce(sums)
        return sums[0] / (m * (m - 1)) + sums[1] / (n * (n - 1)) - 2 * sums[2] / (m * n)
    return mmd2


def inputs():
    return torch.randn(6, 3), torch.randn(9, 3) + 0.5


world_size = 3
relations = {"x": "shard(0)", "y": "shard(0)"}
TRUTH = "refines"
