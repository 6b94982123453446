"""torch.distributed.pipelining: two stages, Schedule1F1B over four micro-batches, then an SGD step of each stage's
own weights. Nothing is returned but the loss (mean over micro-batches), by the last stage."""
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

world_size = 2
MICRO = 4


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.front = nn.Sequential(nn.Linear(5, 6), nn.Tanh())
        self.back = nn.Sequential(nn.Linear(6, 6), nn.SiLU(), nn.Linear(6, 3))


class Train(nn.Module):
    def __init__(self):
        super().__init__()
        s = Stack()
        self.front, self.back = s.front, s.back

    def forward(self, x, y):
        loss = nn.functional.cross_entropy(self.back(self.front(x)), y)
        params = list(self.parameters())
        for p, g in zip(params, torch.autograd.grad(loss, params)):
            p.data.sub_(0.5 * g)
        return loss.detach()


class Stage(nn.Module):
    def __init__(self, rank, n):
        super().__init__()
        s = Stack()
        self.rank = rank
        if rank == 0:
            self.front = s.front
        else:
            self.back = s.back
        part = self.front if rank == 0 else self.back
        stage = PipelineStage(part, rank, n, torch.device("cpu"))
        self.schedule = (Schedule1F1B(stage, n_microbatches=MICRO, loss_fn=nn.functional.cross_entropy),)
        self.opt = torch.optim.SGD(part.parameters(), lr=0.5)

    def forward(self, x, y):
        result = None
        if self.rank == 0:
            self.schedule[0].step(x)
        else:
            losses = []
            self.schedule[0].step(target=y, losses=losses)
            result = torch.stack([l.detach() for l in losses]).mean()
        self.opt.step()
        self.opt.zero_grad()
        return result


def sequential():
    return Train()


def distributed(rank, world_size):
    return Stage(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return {"x": torch.randn(8, 5), "y": torch.randint(0, 3, (8,))}


TRUTH = "refines"
