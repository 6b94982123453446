# FSDP (the first) with SHARD_GRAD_OP, that is ZeRO-2, and RMSprop.
import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy


class HighwayLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.transform, self.carry = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        t = torch.sigmoid(self.carry(x))
        return t * torch.tanh(self.transform(x)) + (1 - t) * x


class Highway(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.first, self.second = HighwayLayer(dim), HighwayLayer(dim)
        self.out = nn.Linear(dim, 3)

    def forward(self, x):
        return self.out(self.second(self.first(x)))


class OneStep(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2, alpha=0.9, eps=1e-3)

    def forward(self, x, target):
        loss = nn.functional.cross_entropy(self.model(x), target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


def sequential():
    return OneStep(Highway())


def distributed(rank, world_size):
    model = Highway()
    cpu = torch.device("cpu")
    options = dict(device_id=cpu, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP, use_orig_params=True)
    model.first = FSDP(model.first, **options)
    model.second = FSDP(model.second, **options)
    return OneStep(FSDP(model, **options))


def inputs():
    return torch.randn(6, 6), torch.randint(0, 3, (6,))


world_size = 2
relations = {"x": "shard(0)", "target": "shard(0)"}
expected = {"0": "partial(avg)"}
TRUTH = "refines"
