"""Adaptive softmax of torch for scoring, and as one matrix with tails multiplied out."""
import torch
from torch import nn

WIDTH, VOCAB, CUTOFFS = 16, 22, [6, 13]


class Library(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(WIDTH, VOCAB, CUTOFFS, div_value=2.0, head_bias=True)

    def forward(self, h):
        return self.softmax.log_prob(torch.relu(self.mix(h)))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        base = Library()
        self.mix = base.mix
        head = base.softmax.head
        tails = [(t[1].weight @ t[0].weight).detach() for t in base.softmax.tail]
        self.sizes = [head.out_features] + [t.shape[0] for t in tails]
        self.weight = nn.Parameter(torch.cat([head.weight.detach(), *tails]))
        self.bias = nn.Parameter(head.bias.detach().clone())

    def forward(self, h):
        logits = self.mix(h).relu() @ self.weight.T
        head, *tails = logits.split(self.sizes, dim=-1)
        head = head + self.bias
        head = head - torch.logsumexp(head, -1, keepdim=True)
        words, clusters = head.split([CUTOFFS[0], len(tails)], dim=-1)
        parts = [words]
        for i, tail in enumerate(tails):
            parts.append(tail - tail.logsumexp(-1, keepdim=True) + clusters[:, i : i + 1])
        return torch.cat(parts, dim=-1)


def left():
    return Library()


def right():
    return Dense()


def inputs():
    return (torch.randn(3, WIDTH),)
