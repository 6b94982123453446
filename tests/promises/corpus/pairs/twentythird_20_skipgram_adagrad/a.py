"""A step of word2vec (skip-gram with negative samples, or items that are bought together) by autograd and torch's Adagrad."""
import torch
from torch import nn
from torch.nn import functional as F

WORDS, SIZE, RATE, EPSILON = 9, 4, 0.1, 1e-6


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center, self.context = nn.Embedding(WORDS, SIZE), nn.Embedding(WORDS, SIZE)

    def forward(self, words, positives, negatives):
        v = self.center(words)
        positive = (v * self.context(positives)).sum(-1)
        negative = torch.bmm(self.context(negatives), v.unsqueeze(-1)).squeeze(-1)
        return -(F.logsigmoid(positive) + F.logsigmoid(-negative).sum(-1)).mean()


class Trainer:
    def __init__(self):
        self.model = SkipGram()
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=RATE, eps=EPSILON)

    def __call__(self, words, positives, negatives):
        self.optimizer.zero_grad()
        loss = self.model(words, positives, negatives)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def inputs():
    return torch.randint(0, WORDS, (5,)), torch.randint(0, WORDS, (5,)), torch.randint(0, WORDS, (5, 3))
