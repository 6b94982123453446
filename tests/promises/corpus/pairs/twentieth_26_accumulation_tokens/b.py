"""The same in two micro-batches, gradients accumulated."""
import torch
from torch.nn import functional as F

from a import IGNORE, VOCAB, head

MICRO = 2


class Accumulated:
    def __init__(self):
        self.model = head()

    def __call__(self, hidden, labels):
        self.model.zero_grad()
        total = 0.0
        parts = list(zip(hidden.chunk(MICRO), labels.chunk(MICRO)))
        for states, targets in parts:
            logits = self.model(states).flatten(0, 1)
            loss = F.cross_entropy(logits, targets.flatten(), ignore_index=IGNORE) / len(parts)
            loss.backward()
            total = total + loss.detach()
        return total, self.model[1].weight.grad.clone()
