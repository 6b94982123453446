"""The first FSDP: flat parameters, one inner unit, SGD with momentum; weights are gathered for the output."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

TRUTH = "refines"
WHY = "FSDP averages gradients over ranks and each rank steps its piece of the flat parameter; summoned whole they are the sequential ones"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


def net():
    torch.manual_seed(9)
    return nn.Sequential(nn.Linear(4, 7), nn.Sequential(nn.Tanh(), nn.Linear(7, 5)), nn.ReLU(), nn.Linear(5, 2))


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.detach(), "first": self.net[0].weight.detach().clone(), "last": self.net[3].bias.detach().clone()}


class FSDPStep(nn.Module):
    def __init__(self, world_size):
        super().__init__()
        self.world_size = world_size
        model = net()
        model[1] = FSDP(model[1], device_id=torch.device("cpu"), use_orig_params=True)
        self.net = FSDP(model, device_id=torch.device("cpu"), use_orig_params=True)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        loss = loss.detach().clone()
        dist.all_reduce(loss)
        with FSDP.summon_full_params(self.net, writeback=False):
            first = self.net.module[0].weight.detach().clone()
            last = self.net.module[3].bias.detach().clone()
        return {"loss": loss / self.world_size, "first": first, "last": last}


def sequential():
    return Step()


def distributed(rank, world_size):
    return FSDPStep(world_size)


def inputs():
    torch.manual_seed(10)
    return {"x": torch.randn(6, 4), "y": torch.randn(6, 2)}
