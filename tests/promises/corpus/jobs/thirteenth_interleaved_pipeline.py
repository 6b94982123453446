"""torch.distributed.pipelining's ScheduleInterleaved1F1B: four stages on two ranks, four microbatches, gradients (scaled by the schedule) left at each stage's own weights, loss on the last stage's rank."""
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B

HIDDEN, STAGES, MICRO = 6, 4, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, 8), nn.Linear(8, HIDDEN)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def loss_fn(out, y):
    return (out - y).square().mean()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(STAGES))

    def forward(self, x, y):
        for block in self.blocks:
            x = block(x)
        loss = loss_fn(x, y)
        loss.backward()
        return {"loss": loss.detach()}


class Pipeline(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        self.rank, self.n = rank, n
        self.blocks = nn.ModuleDict({str(i): full.blocks[i] for i in range(rank, STAGES, n)})

    def forward(self, x, y):
        stages = [
            PipelineStage(block, int(i), STAGES, torch.device("cpu")) for i, block in self.blocks.items()
        ]
        schedule = ScheduleInterleaved1F1B(stages, MICRO, loss_fn=loss_fn)
        losses = []
        args = (x,) if self.rank == 0 else ()
        if self.rank == self.n - 1:
            schedule.step(*args, target=y, losses=losses)
            return {"loss": torch.stack([loss.detach() for loss in losses]).mean()}
        schedule.step(*args)
        return {}


def sequential():
    return Model()


def distributed(rank, world_size):
    return Pipeline(Model(), rank, world_size)


def inputs():
    return torch.randn(8, HIDDEN), torch.randn(8, HIDDEN)


world_size = 2
TRUTH = "refines"
