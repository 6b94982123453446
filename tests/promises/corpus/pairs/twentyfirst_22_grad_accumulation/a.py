"""Fine-tuning step of a small classifier over tokens: the whole batch at once, prompt tokens ignored."""
import torch
from torch import nn
from torch.nn import functional as F


class Step:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Embedding(9, 6), nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 9))

    def __call__(self, ids, labels):
        self.model.zero_grad()
        logits = self.model(ids)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        loss.backward()
        grads = [p.grad for p in self.model.parameters()]
        norm = torch.sqrt(sum(g.square().sum() for g in grads))
        return loss.detach(), norm


def inputs():
    ids = torch.randint(0, 9, (4, 5))
    labels = torch.randint(0, 9, (4, 5))
    labels[0, :1], labels[1, :3], labels[2, :2], labels[3, :4] = -100, -100, -100, -100
    return ids, labels
