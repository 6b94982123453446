"""Nucleus (top-p) filtering with temperature and a penalty for repeated tokens, in the form of the well-known gist."""
import torch
from torch import nn

VOCABULARY, HIDDEN, TOP_P, TEMPERATURE, PENALTY = 11, 6, 0.8, 0.7, 1.3


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm_head = nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def forward(self, hidden, previous):
        logits = self.lm_head(hidden)
        score = torch.gather(logits, 1, previous)
        score = torch.where(score < 0, score * PENALTY, score / PENALTY)
        logits = logits.scatter(1, previous, score)
        logits = logits / TEMPERATURE
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        cumulative = torch.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
        remove = cumulative > TOP_P
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        remove = remove.scatter(1, sorted_indices, remove)
        return logits.masked_fill(remove, float("-inf")).softmax(-1)


def inputs():
    return 2 * torch.randn(3, HIDDEN), torch.randint(0, VOCABULARY, (3, 4))
