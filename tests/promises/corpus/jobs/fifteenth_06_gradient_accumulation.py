"""Fine-tuning with ignored prompt tokens, data parallelism and gradient accumulation: each micro-batch is divided by its own count of labels instead of the count of the whole batch."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, BATCH, POSITIONS, PROMPT = 11, 8, 8, 5, 2
ACCUMULATE = 2
world_size = 2
relations = {"tokens": "shard(0)", "labels": "shard(0)"}


class TinyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.hidden, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        return self.head(torch.tanh(self.hidden(self.embed(tokens))))


def cross_entropy(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


class Trainer(nn.Module):
    """One step on the whole batch."""

    def __init__(self):
        super().__init__()
        self.model = TinyModel()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def forward(self, tokens, labels):
        loss = cross_entropy(self.model(tokens), labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


class DataParallelTrainer(nn.Module):
    """The same step on this rank's rows, ACCUMULATE micro-batches one after the other."""

    def __init__(self, rank, world_size):
        super().__init__()
        self.model = TinyModel()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.world_size = world_size

    def average_gradients(self):
        handles = []
        for parameter in self.model.parameters():
            handles.append(dist.all_reduce(parameter.grad, async_op=True))
        for handle, parameter in zip(handles, self.model.parameters(), strict=True):
            handle.wait()
            parameter.grad /= self.world_size

    def forward(self, tokens, labels):
        total = torch.zeros(())
        for t, y in zip(tokens.chunk(ACCUMULATE), labels.chunk(ACCUMULATE), strict=True):
            loss = cross_entropy(self.model(t), y) / ACCUMULATE
            loss.backward()
            total += loss.detach()
        self.average_gradients()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        dist.all_reduce(total)
        return total / self.world_size


def sequential():
    return Trainer()


def distributed(rank, world_size):
    return DataParallelTrainer(rank, world_size)


def inputs():
    tokens = torch.randint(0, VOCABULARY, (BATCH, POSITIONS))
    labels = tokens.roll(-1, dims=1).clone()
    labels[:, :PROMPT] = -100                                           # no loss on the prompt
    return tokens, labels

TRUTH = "broken"
