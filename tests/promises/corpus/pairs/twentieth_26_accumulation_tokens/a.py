"""Gradient of a language model head over a batch with padding: the loss is per token of the whole batch."""
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, VOCAB, IGNORE = 6, 9, -100


def head():
    torch.manual_seed(5)
    return nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB))


class Whole:
    def __init__(self):
        self.model = head()

    def __call__(self, hidden, labels):
        self.model.zero_grad()
        logits = self.model(hidden)
        loss = F.cross_entropy(logits.view(-1, VOCAB), labels.view(-1), ignore_index=IGNORE)
        loss.backward()
        return loss.detach(), self.model[1].weight.grad.clone()


def inputs():
    labels = torch.randint(0, VOCAB, (4, 5))
    labels[0, 1:], labels[1, 3:], labels[3, 4:] = IGNORE, IGNORE, IGNORE
    return torch.randn(4, 5, WIDTH), labels
