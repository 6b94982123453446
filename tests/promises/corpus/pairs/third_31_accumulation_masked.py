# DIFFERENT: Gradient accumulation over two micro-batches with padded labels: mean of micro means instead of total over total tokens
import torch
from torch import nn
import torch.nn.functional as F

D, V = 6, 7


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.head = nn.Linear(D, V)

    def logits(self, ids):
        return self.head(torch.tanh(self.emb(ids)))

    def forward(self, ids, labels):
        params = list(self.parameters())
        loss = F.cross_entropy(self.logits(ids).flatten(0, 1), labels.flatten(), ignore_index=-100)
        return loss, torch.autograd.grad(loss, params)


class Accumulated(Whole):
    def forward(self, ids, labels):
        params = list(self.parameters())
        steps = 2
        total, acc = 0.0, None
        for i, l in zip(ids.chunk(steps), labels.chunk(steps)):
            loss = F.cross_entropy(self.logits(i).flatten(0, 1), l.flatten(), ignore_index=-100) / steps
            grads = torch.autograd.grad(loss, params)
            acc = grads if acc is None else tuple(a + g for a, g in zip(acc, grads))
            total = total + loss
        return total, acc


left = Whole()
right = Accumulated()
right.load_state_dict(left.state_dict())


def inputs():
    labels = torch.randint(0, V, (4, 5))
    labels[0, 2:] = -100
    labels[1, 4:] = -100
    return torch.randint(0, V, (4, 5)), labels
