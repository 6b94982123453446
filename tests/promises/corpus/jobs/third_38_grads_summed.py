import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

TRUTH = "does not refine"
WHY = 'gradient accumulation under data parallelism with momentum SGD: gradients are summed over ranks but never divided by their number'
world_size = 3

ACCUMULATE = 2


class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def sync(self, loss):
        return loss

    def forward(self, x, y):
        self.optimizer.zero_grad()
        total = torch.zeros((), dtype=x.dtype)
        for xs, ys in zip(x.unbind(1), y.unbind(1)):      # micro-batches lie in dimension 1
            loss = F.mse_loss(self.model(xs).squeeze(-1), ys) / ACCUMULATE
            loss.backward()
            total += loss.detach()
        total = self.sync(total)
        self.optimizer.step()
        return total


class DPTrainer(Trainer):
    def sync(self, loss):
        for p in self.model.parameters():
            dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
        dist.all_reduce(loss)
        return loss / dist.get_world_size()


def sequential():
    return Trainer()


def distributed(rank, world_size):
    return DPTrainer()


def inputs():
    torch.manual_seed(3)
    return torch.randn(6, ACCUMULATE, 4), torch.randn(6, ACCUMULATE)


relations = {"x": "shard(0)", "y": "shard(0)"}
