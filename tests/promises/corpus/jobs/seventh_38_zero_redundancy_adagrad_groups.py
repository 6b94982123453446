# ZeroRedundancyOptimizer around Adagrad, two groups of parameters with different learning rates, under DDP.
import torch
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP


class TextCNN(nn.Module):
    def __init__(self, vocab=13, dim=4, classes=3):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.conv2 = nn.Conv1d(dim, 3, 2)
        self.conv3 = nn.Conv1d(dim, 3, 3)
        self.classify = nn.Linear(6, classes)

    def forward(self, tokens):
        e = self.embedding(tokens).transpose(1, 2)
        pooled = [torch.logsumexp(c(e), dim=-1) for c in (self.conv2, self.conv3)]
        return self.classify(torch.cat(pooled, dim=-1))


def groups(model):
    slow = [p for n, p in model.named_parameters() if "embedding" in n]
    rest = [p for n, p in model.named_parameters() if "embedding" not in n]
    return [{"params": slow, "lr": 0.01}, {"params": rest, "lr": 0.05}]


class Train(nn.Module):
    def __init__(self, model, optimizer):
        super().__init__()
        self.model, self.optimizer = model, optimizer

    def forward(self, tokens, label):
        loss = nn.functional.cross_entropy(self.model(tokens), label, label_smoothing=0.1)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()


def sequential():
    model = TextCNN()
    return Train(model, torch.optim.Adagrad(groups(model), initial_accumulator_value=0.1))


def distributed(rank, world_size):
    model = DDP(TextCNN())
    optimizer = ZeroRedundancyOptimizer(groups(model), torch.optim.Adagrad, initial_accumulator_value=0.1)
    return Train(model, optimizer)


def inputs():
    return torch.randint(0, 13, (6, 7)), torch.randint(0, 3, (6,))


world_size = 2
relations = {"tokens": "shard(0)", "label": "shard(0)"}
expected = {"0": "partial(avg)"}
TRUTH = "refines"
