"""DDP step on labels with -100, two microbatches with no_sync; the reported loss is normalised by all ranks' tokens, but (bug) what is differentiated is normalised by this rank's tokens only."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

VOCAB, HIDDEN, LR = 11, 6, 0.2


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, HIDDEN), nn.Linear(HIDDEN, VOCAB)

    def forward(self, ids):
        return self.head(torch.tanh(self.embed(ids)))


def token_loss(model, ids, labels):
    return F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = LM()

    def forward(self, ids, labels):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=LR)
        loss = token_loss(self.model, ids, labels) / (labels != -100).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()


class ParallelStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = DistributedDataParallel(LM())

    def forward(self, ids, labels):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=LR)
        tokens = (labels != -100).sum()
        (ids1, ids2), (labels1, labels2) = ids.chunk(2), labels.chunk(2)
        with self.model.no_sync():
            first = token_loss(self.model, ids1, labels1)
            (first / tokens).backward()
        second = token_loss(self.model, ids2, labels2)
        (second / tokens).backward()
        optimizer.step()
        optimizer.zero_grad()
        stats = torch.stack([(first + second).detach(), tokens.to(first.dtype)])
        dist.all_reduce(stats)
        return stats[0] / stats[1]


def sequential():
    return Step()


def distributed(rank, world_size):
    return ParallelStep()


def inputs():
    labels = torch.randint(0, VOCAB, (8, 5))
    labels[0, 3:] = -100
    labels[1, 1:] = -100
    labels[6, 4:] = -100
    return torch.randint(0, VOCAB, (8, 5)), labels


world_size = 2
relations = {"ids": "shard(0)", "labels": "shard(0)"}
TRUTH = "broken"
