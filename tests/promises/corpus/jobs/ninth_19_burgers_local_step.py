"""Burgers' equation on a ring of cells, Rusanov fluxes, steps as long as the fastest cell allows; cells cut over ranks."""
import torch
import torch.distributed as dist

DX, CFL, STEPS = 0.1, 0.4, 3


def flux(left, right):
    speed = torch.maximum(left.abs(), right.abs())
    return 0.25 * (left**2 + right**2) - 0.5 * speed * (right - left)


def solve(u):
    elapsed = torch.zeros(())
    for _ in range(STEPS):
        dt = CFL * DX / u.abs().amax()
        f = flux(u, torch.roll(u, -1))                       # between a cell and the next
        u = u - dt / DX * (f - torch.roll(f, 1))
        elapsed = elapsed + dt
    return u, elapsed


def sequential():
    return solve


def distributed(rank, world_size):
    right, left = (rank + 1) % world_size, (rank - 1) % world_size

    def ghosts(u):
        from_left, from_right = torch.empty_like(u[:1]), torch.empty_like(u[:1])
        works = dist.batch_isend_irecv(
            [
                dist.P2POp(dist.isend, u[-1:].contiguous(), right),
                dist.P2POp(dist.irecv, from_left, left),
                dist.P2POp(dist.isend, u[:1].contiguous(), left),
                dist.P2POp(dist.irecv, from_right, right),
            ]
        )
        for work in works:
            work.wait()
        return torch.cat([from_left, u, from_right])

    def solve_part(u):
        elapsed = torch.zeros(())
        for _ in range(STEPS):
            padded = ghosts(u)
            dt = CFL * DX / padded.abs().amax()
            f = flux(padded[:-1], padded[1:])
            u = u - dt / DX * (f[1:] - f[:-1])
            elapsed = elapsed + dt
        dist.all_reduce(elapsed, op=dist.ReduceOp.MIN)
        return u, elapsed

    return solve_part


def inputs():
    return torch.randn(12)


world_size = 3
relations = {"u": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "does not refine"
