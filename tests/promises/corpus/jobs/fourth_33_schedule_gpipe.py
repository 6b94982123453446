"""torch.distributed.pipelining: three stages, GPipe over four microbatches, forward only."""
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

TRUTH = "refines"
WHY = "the stages hold consecutive layers, and the last rank joins the microbatches in order"

world_size = 3


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gate, self.up = nn.Linear(width, 6), nn.Linear(width, 6)
        self.down = nn.Linear(6, width)

    def forward(self, x):
        h = self.norm(x)
        return x + self.down(torch.sigmoid(self.gate(h)) * self.up(h))


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(22)
        self.layers = nn.ModuleDict({str(i): Layer(4) for i in range(3)})

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


class Piped(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        whole = Stack()
        whole.layers = nn.ModuleDict({str(rank): whole.layers[str(rank)]})
        self.part, self.rank, self.last = whole, rank, world_size - 1
        self.schedule = ScheduleGPipe(PipelineStage(whole, rank, world_size, torch.device("cpu")), n_microbatches=4)

    def forward(self, x):
        with torch.no_grad():
            out = self.schedule.step(x) if self.rank == 0 else self.schedule.step()
        return {"y": out} if self.rank == self.last else {}


class Sequential(Stack):
    def forward(self, x):
        with torch.no_grad():
            return {"y": super().forward(x)}


def sequential():
    return Sequential()


def distributed(rank, world_size):
    return Piped(rank, world_size)


def inputs():
    torch.manual_seed(23)
    return (torch.randn(8, 4),)
