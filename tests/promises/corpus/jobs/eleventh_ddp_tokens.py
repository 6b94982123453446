"""Data-parallel fine-tuning step with the loss per token over all ranks; gradients in one bucket, momentum SGD."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, DIM, LR, IGNORE = 9, 6, 0.5, -100


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        return self.head(F.silu(self.norm(self.embed(ids))))


def token_loss_sum(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE, reduction="sum")


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = LM()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=LR, momentum=0.9)

    def forward(self, ids, labels):
        self.optimizer.zero_grad()
        loss = token_loss_sum(self.model(ids), labels) / (labels != IGNORE).sum()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class DataParallelStep(nn.Module):
    def __init__(self, step, world_size):
        super().__init__()
        self.model, self.optimizer, self.world_size = step.model, step.optimizer, world_size

    def reduce_gradients(self):
        grads = [p.grad for p in self.model.parameters()]
        bucket = torch.cat([g.flatten() for g in grads])
        dist.all_reduce(bucket)
        bucket.div_(self.world_size)
        for g, new in zip(grads, bucket.split([g.numel() for g in grads])):
            g.copy_(new.view_as(g))

    def forward(self, ids, labels):
        self.optimizer.zero_grad()
        tokens = (labels != IGNORE).sum()
        dist.all_reduce(tokens)
        loss = token_loss_sum(self.model(ids), labels) / tokens
        loss.backward()
        self.reduce_gradients()
        self.optimizer.step()
        loss = loss.detach().clone()
        dist.all_reduce(loss)
        return loss


def sequential():
    return Step()


def distributed(rank, world_size):
    return DataParallelStep(Step(), world_size)


def inputs():
    ids, labels = torch.randint(0, VOCAB, (4, 5)), torch.randint(0, VOCAB, (4, 5))
    labels[0, :3] = IGNORE
    labels[3, 4] = IGNORE
    return ids, labels


world_size = 2
relations = {"ids": "shard(0)", "labels": "shard(0)"}


TRUTH = "broken"
