import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

TRUTH = "refines"
WHY = 'a whole data-parallel SGD step by hand: backward, gradients all-reduced and divided, weights updated'
world_size = 4


class Step(nn.Module):
    """One step of training; returns the loss and leaves new weights behind."""

    def __init__(self, world_size=1):
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 3))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.world_size = world_size

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        loss = loss.detach()
        if self.world_size > 1:
            for p in self.net.parameters():
                dist.all_reduce(p.grad)
                p.grad /= self.world_size
            dist.all_reduce(loss)
            loss = loss / self.world_size
        self.opt.step()
        return loss


def sequential():
    return Step()


def distributed(rank, world_size):
    return Step(world_size)


def inputs():
    torch.manual_seed(9)
    return {"x": torch.randn(8, 6), "y": torch.randn(8, 3)}


relations = {"x": "shard(0)", "y": "shard(0)"}
