"""Interleaved 1F1B with two virtual stages per rank, then one step of Adamax on what each rank holds."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import ScheduleInterleaved1F1B


class Embed(nn.Module):
    def __init__(self, vocab=11, dim=6):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)

    def forward(self, ids):
        return self.tok(ids)


class Mixer(nn.Module):
    def __init__(self, dim=6, length=5):
        super().__init__()
        self.over_time = nn.Linear(length, length)
        self.over_dim = nn.Linear(dim, dim)

    def forward(self, h):
        h = h + self.over_time(h.transpose(1, 2)).transpose(1, 2)
        return h + F.gelu(self.over_dim(h))


class Head(nn.Module):
    def __init__(self, dim=6, classes=3):
        super().__init__()
        self.out = nn.Linear(dim, classes)

    def forward(self, h):
        return self.out(h.mean(1))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([Embed(), Mixer(), Mixer(), Head()])


class TrainWhole(Classifier):
    def __init__(self):
        super().__init__()
        self.opt = torch.optim.Adamax(self.parameters(), lr=0.01)

    def forward(self, ids, labels):
        h = ids
        for stage in self.stages:
            h = stage(h)
        loss = F.cross_entropy(h, labels)
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        return {"loss": loss.detach()}


class TrainRank(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        model = Classifier()
        n = len(model.stages)
        self.first, self.last = rank == 0, rank == world_size - 1
        self.stages = nn.ModuleDict({str(i): model.stages[i] for i in range(rank, n, world_size)})
        self.schedule = ScheduleInterleaved1F1B(
            [PipelineStage(m, int(i), n, torch.device("cpu")) for i, m in self.stages.items()],
            n_microbatches=2,
            loss_fn=F.cross_entropy,
        )
        self.opt = torch.optim.Adamax(self.parameters(), lr=0.01)

    def forward(self, ids, labels):
        args = (ids,) if self.first else ()
        losses = [] if self.last else None
        self.schedule.step(*args, target=labels if self.last else None, losses=losses)
        self.opt.step()
        self.opt.zero_grad()
        return {"loss": sum(l.detach() for l in losses) / len(losses)} if self.last else {}


def sequential():
    return TrainWhole()


def distributed(rank, world_size):
    return TrainRank(rank, world_size)


def inputs():
    return torch.randint(0, 11, (4, 5)), torch.randint(0, 3, (4,))


world_size = 2
TRUTH = "refines"
