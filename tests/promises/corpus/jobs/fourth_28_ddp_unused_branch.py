"""DDP whose auxiliary head is not used in this call: find_unused_parameters, gradients as views of buckets."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

TRUTH = "refines"
WHY = "DDP marks the unused head ready, averages the other gradients, and leaves the unused head as it was"

world_size = 3
relations = {"x": "shard(0)", "target": "shard(0)"}


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(12)
        self.trunk = nn.Linear(5, 8)
        self.main = nn.Linear(8, 4)
        self.auxiliary = nn.Linear(8, 3)

    def forward(self, x, auxiliary=False):
        h = F.relu(self.trunk(x))
        return self.auxiliary(h) if auxiliary else self.main(h)


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

    def forward(self, x, target):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), target, label_smoothing=0.1)
        loss.backward()
        self.optimizer.step()
        loss = loss.detach()
        if isinstance(self.model, DDP):
            dist.all_reduce(loss)
            loss = loss / dist.get_world_size()
        return loss


def sequential():
    return Step(TwoHeads())


def distributed(rank, world_size):
    return Step(DDP(TwoHeads(), find_unused_parameters=True, gradient_as_bucket_view=True))


def inputs():
    torch.manual_seed(13)
    return {"x": torch.randn(9, 5), "target": torch.randint(0, 4, (9,))}
