"""Fine-tuning with masked labels: every rank and microbatch divides by its own number of tokens, and the means are averaged as if they weighed the same."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, DIM, HIDDEN, BATCH, LENGTH = 11, 6, 8, 4, 5


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.hidden, self.head = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, VOCAB)

    def forward(self, ids):
        return self.head(torch.relu(self.hidden(self.embed(ids))))


def loss_of(model, ids, labels):
    return F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100)


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = LM()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)

    def forward(self, ids, labels):
        self.optimizer.zero_grad()
        loss = loss_of(self.model, ids, labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ParallelStep(Step):
    def __init__(self, world_size, accumulate=2):
        super().__init__()
        self.world_size, self.accumulate = world_size, accumulate

    def forward(self, ids, labels):
        self.optimizer.zero_grad()
        total = 0.0
        for i, l in zip(ids.chunk(self.accumulate), labels.chunk(self.accumulate)):
            loss = loss_of(self.model, i, l) / self.accumulate
            loss.backward()
            total = total + loss.detach()
        for p in self.model.parameters():
            dist.all_reduce(p.grad)
            p.grad.div_(self.world_size)
        self.optimizer.step()
        dist.all_reduce(total)
        return total / self.world_size


def sequential():
    return Step()


def distributed(rank, world_size):
    return ParallelStep(world_size)


def inputs():
    labels = torch.randint(0, VOCAB, (BATCH, LENGTH))
    for row, prompt in enumerate((1, 3, 2, 4)):
        labels[row, :prompt] = -100
    return torch.randint(0, VOCAB, (BATCH, LENGTH)), labels


world_size = 2
relations = {"ids": "shard(0)", "labels": "shard(0)"}
TRUTH = "broken"
