# FSDP2 with matrices cut along their second dimension (shard_placement_fn), as one does for optimizers that
# want whole rows. A step of SGD with Nesterov momentum.
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard


class Residual(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.fc2(nn.functional.mish(self.fc1(x)))


class Regressor(nn.Module):
    def __init__(self, dim=4, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Residual(dim) for _ in range(depth))
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


class Trainer(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)

    def forward(self, x, y):
        loss = nn.functional.huber_loss(self.model(x), y)
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        return loss.detach()


def columns(param):
    return Shard(1) if param.ndim == 2 else None


def sequential():
    return Trainer(Regressor())


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,), mesh_dim_names=("fsdp",))
    model = Regressor()
    for block in model.blocks:
        fully_shard(block, mesh=mesh, shard_placement_fn=columns, reshard_after_forward=True)
    fully_shard(model, mesh=mesh, shard_placement_fn=columns)
    return Trainer(model)


def inputs():
    return torch.randn(8, 4), torch.randn(8)


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"0": "partial(avg)"}
TRUTH = "refines"
