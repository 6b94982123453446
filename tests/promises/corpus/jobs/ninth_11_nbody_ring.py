"""Gravity between all pairs of bodies: each rank has some bodies, copies of the others go round a ring. Leapfrog."""
import torch
import torch.distributed as dist

SOFTENING, DT, STEPS = 0.1, 0.05, 2


def pull(at, bodies, masses):
    d = bodies[None, :, :] - at[:, None, :]
    r2 = d.square().sum(dim=-1) + SOFTENING**2
    return (masses[None, :, None] * d * r2.pow(-1.5)[..., None]).sum(dim=1)


def whole(position, velocity, mass):
    a = pull(position, position, mass)
    for _ in range(STEPS):
        velocity = velocity + 0.5 * DT * a
        position = position + DT * velocity
        a = pull(position, position, mass)
        velocity = velocity + 0.5 * DT * a
    kinetic = 0.5 * (mass * velocity.square().sum(dim=-1)).sum()
    return position, velocity, kinetic


def sequential():
    return whole


def distributed(rank, world_size):
    after, before = (rank + 1) % world_size, (rank - 1) % world_size

    def round_trip(position, mass):
        a = torch.zeros_like(position)
        travelling = torch.cat([position, mass[:, None]], dim=1)
        for step in range(world_size):
            if step + 1 < world_size:
                arriving = torch.empty_like(travelling)
                works = dist.batch_isend_irecv(
                    [dist.P2POp(dist.isend, travelling, after), dist.P2POp(dist.irecv, arriving, before)]
                )
            a = a + pull(position, travelling[:, :3], travelling[:, 3])
            if step + 1 < world_size:
                for work in works:
                    work.wait()
                travelling = arriving
        return a

    def ranked(position, velocity, mass):
        a = round_trip(position, mass)
        for _ in range(STEPS):
            velocity = velocity + 0.5 * DT * a
            position = position + DT * velocity
            a = round_trip(position, mass)
            velocity = velocity + 0.5 * DT * a
        kinetic = 0.5 * (mass * velocity.square().sum(dim=-1)).sum()
        dist.all_reduce(kinetic)
        return position, velocity, kinetic

    return ranked


def inputs():
    return torch.randn(8, 3), torch.randn(8, 3), torch.rand(8) + 0.5


world_size = 4
relations = {"position": "shard(0)", "velocity": "shard(0)", "mass": "shard(0)"}
expected = {"0": "shard(0)", "1": "shard(0)"}


TRUTH = "refines"
