# Row-wise Adagrad, as recommenders train embedding tables: one accumulator per row. Rows of the table are cut
# over the ranks; pooled embeddings are summed over ranks; the dense tower is the same on each rank.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

ROWS, DIM = 12, 4


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(ROWS, DIM) * 0.5)
        self.register_buffer("accumulator", torch.rand(ROWS) * 0.1)
        self.tower = nn.Linear(DIM, 1)


@torch.no_grad()
def rowwise_adagrad_(table, accumulator, lr=0.05, eps=1e-4):
    accumulator += table.grad.square().mean(dim=1)
    table -= lr * table.grad / (accumulator.sqrt() + eps).unsqueeze(1)
    table.grad = None


class TrainSequential(Table):
    def forward(self, ids, clicks):
        pooled = F.embedding(ids, self.table).sum(1)
        loss = F.binary_cross_entropy_with_logits(self.tower(pooled).squeeze(1), clicks)
        loss.backward()
        rowwise_adagrad_(self.table, self.accumulator)
        return loss.detach()


class TrainRowWise(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        full = Table()
        self.per = ROWS // world_size
        self.low = rank * self.per
        self.table = nn.Parameter(full.table.data.narrow(0, self.low, self.per).clone())
        self.register_buffer("accumulator", full.accumulator.narrow(0, self.low, self.per).clone())
        self.tower = full.tower

    def forward(self, ids, clicks):
        local = ids - self.low
        mine = (local >= 0) & (local < self.per)
        rows = F.embedding(local.clamp(0, self.per - 1), self.table)
        partial = (rows * mine.unsqueeze(-1)).sum(1)
        pooled = partial.detach().clone()
        dist.all_reduce(pooled)
        pooled.requires_grad_()
        loss = F.binary_cross_entropy_with_logits(self.tower(pooled).squeeze(1), clicks)
        loss.backward()                       # tower and pooled: the same on every rank
        partial.backward(pooled.grad)         # own rows
        rowwise_adagrad_(self.table, self.accumulator)
        return loss.detach()


def sequential():
    return TrainSequential()


def distributed(rank, world_size):
    return TrainRowWise(rank, world_size)


def inputs():
    return torch.randint(0, ROWS, (6, 3)), torch.randint(0, 2, (6,)).to(torch.get_default_dtype())


world_size = 3
TRUTH = "refines"
