"""torch.distributed.pipelining: four stages, 1F1B over six microbatches, each rank steps its own layer."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

TRUTH = "refines"
WHY = "the schedule divides accumulated gradients by the number of microbatches, so that each stage takes the full batch's step"

world_size = 4


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(24)
        sizes = (3, 6, 5, 6, 2)
        self.layers = nn.ModuleDict({str(i): nn.Linear(sizes[i], sizes[i + 1]) for i in range(4)})

    def forward(self, x):
        for name, layer in self.layers.items():
            x = layer(x) if name == "3" else torch.tanh(layer(x))
        return x


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Stack()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.3)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return {"loss": loss.detach()}


class PipedStep(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.net = Stack()
        self.net.layers = nn.ModuleDict({str(rank): self.net.layers[str(rank)]})
        self.rank, self.last = rank, world_size - 1
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.3)
        stage = PipelineStage(self.net, rank, world_size, torch.device("cpu"))
        self.schedule = Schedule1F1B(stage, n_microbatches=6, loss_fn=F.mse_loss)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        losses = []
        if self.rank == 0:
            self.schedule.step(x)
        elif self.rank == self.last:
            self.schedule.step(target=y, losses=losses)
        else:
            self.schedule.step()
        self.optimizer.step()
        return {"loss": torch.stack(losses).mean().detach()} if self.rank == self.last else {}


def sequential():
    return Step()


def distributed(rank, world_size):
    return PipedStep(rank, world_size)


def inputs():
    torch.manual_seed(25)
    return {"x": torch.randn(12, 3), "y": torch.randn(12, 2)}
