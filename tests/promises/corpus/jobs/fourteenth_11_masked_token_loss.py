"""Data-parallel fine-tuning loss with ignored labels. Mistake: each rank divides by its own number of labelled tokens and the ranks' means are averaged."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH = 11, 8


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.rnn_like = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens):
        h = self.embed(tokens)
        h = h + torch.tanh(self.rnn_like(h.cumsum(1)))
        return self.head(h)


class Loss(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm = lm

    def forward(self, tokens, labels):
        logits = self.lm(tokens)[:, :-1]
        return F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


class DataParallelLoss(Loss):
    def __init__(self, lm, world_size):
        super().__init__(lm)
        self.world = world_size

        def average(grad):
            grad = grad.clone()
            dist.all_reduce(grad)
            return grad / world_size

        for p in self.parameters():
            p.register_hook(average)

    def forward(self, tokens, labels):
        loss = super().forward(tokens, labels)
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        return loss + (shown / self.world - loss.detach())      # the mean's value, this rank's gradient


def sequential():
    return Loss(TinyLM())


def distributed(rank, world_size):
    return DataParallelLoss(TinyLM(), world_size)


def inputs():
    tokens = torch.randint(0, VOCAB, (4, 6))
    labels = tokens.clone()
    labels[0, :2] = -100                                   # prompts
    labels[1, :4] = -100
    labels[2, :1] = -100
    labels[3, 3:] = -100                                   # padding
    return {"tokens": tokens, "labels": labels}


world_size = 2
backward = True
relations = {"tokens": "shard(0)", "labels": "shard(0)"}

TRUTH = "broken"
