"""Two explicit Euler steps of u_t = u_xx - c u_x on a circle, cells cut over 4 ranks."""
import torch
import torch.distributed as dist

world_size = 4
relations = {"u": "shard(0)"}
expected = {"0": "shard(0)"}
DIFFUSION, DRIFT = 0.2, 0.15


def stencil(u, left, right):
    w = torch.cat([left, u, right])
    return u + DIFFUSION * (w[2:] - 2 * w[1:-1] + w[:-2]) - DRIFT * (w[2:] - w[:-2]) / 2


def sequential():
    def evolve(u):
        for _ in range(2):
            u = stencil(u, u[-1:], u[:1])
        return u
    return evolve


def distributed(rank, world_size):
    before, after = (rank - 1) % world_size, (rank + 1) % world_size

    def exchange(u):
        left, right = torch.empty_like(u[:1]), torch.empty_like(u[:1])
        ops = [
            dist.P2POp(dist.isend, u[:1].clone(), after, tag=1),
            dist.P2POp(dist.irecv, right, before, tag=1),
            dist.P2POp(dist.isend, u[-1:].clone(), before, tag=2),
            dist.P2POp(dist.irecv, left, after, tag=2),
        ]
        for r in dist.batch_isend_irecv(ops):
            r.wait()
        return left, right

    def evolve(u):
        for _ in range(2):
            u = stencil(u, *exchange(u))
        return u
    return evolve


def inputs():
    torch.manual_seed(0)
    return (torch.randn(16),)


TRUTH = "differs"
