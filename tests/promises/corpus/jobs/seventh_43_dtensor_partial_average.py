# Multi-head latent pooling: heads over ranks, the output projection is row-parallel, and the ranks' parts
# are declared to DTensor, which then does the collective.
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate

DIM, HEADS = 8, 4


class LatentPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.latent = nn.Parameter(torch.randn(HEADS, DIM // HEADS))
        self.kv = nn.Parameter(torch.randn(2, HEADS, DIM, DIM // HEADS) * 0.4)
        self.out = nn.Parameter(torch.randn(HEADS, DIM // HEADS, DIM) * 0.4)

    def pool(self, x):
        k, v = torch.einsum("btd,zhde->zbhte", x, self.kv)
        att = torch.einsum("he,bhte->bht", self.latent, k).softmax(-1)
        return torch.einsum("bht,bhte,hed->bd", att, v, self.out)

    def forward(self, x):
        return torch.tanh(self.pool(x))


class LatentPoolTP(LatentPool):
    def __init__(self, rank, world_size):
        super().__init__()
        self.mesh = init_device_mesh("cpu", (world_size,), mesh_dim_names=("tp",))
        h = HEADS // world_size
        cut = slice(rank * h, rank * h + h)
        self.latent = nn.Parameter(self.latent.data[cut].clone())
        self.kv = nn.Parameter(self.kv.data[:, cut].clone())
        self.out = nn.Parameter(self.out.data[cut].clone())

    def forward(self, x):
        part = DTensor.from_local(self.pool(x), self.mesh, [Partial("avg")], run_check=False)
        return torch.tanh(part.redistribute(self.mesh, [Replicate()]).to_local())


def sequential():
    return LatentPool()


def distributed(rank, world_size):
    return LatentPoolTP(rank, world_size)


def inputs():
    return (torch.randn(3, 5, DIM),)


world_size = 2
TRUTH = "differs"
