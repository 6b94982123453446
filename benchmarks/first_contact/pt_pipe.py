"""torch's pipelining: two stages and GPipe's schedule, a loss on the last one."""
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

world_size = 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


class Part(nn.Module):
    def __init__(self, model, k):
        super().__init__()
        self.layers = nn.ModuleDict({str(k): model.layers[k]})

    def forward(self, x):
        for layer in self.layers.values():
            x = torch.tanh(layer(x))
        return x


def sequential():
    return Model()


def distributed(rank, world_size):
    stage = PipelineStage(Part(Model(), rank), rank, world_size, torch.device("cpu"), input_args=(torch.empty(2, 6),), output_args=(torch.empty(2, 6),))
    schedule = ScheduleGPipe(stage, n_microbatches=2)

    class Run(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = stage.submod

        def forward(self, x):
            with torch.no_grad():
                return schedule.eval(x) if rank == 0 else schedule.eval()
    return Run()


def inputs():
    return (torch.randn(4, 6),)
