"""The same as an engine has it: penalty by a mask over the vocabulary, exclusive cumulative sum, renormalised probabilities."""
import torch
from a import PENALTY, TEMPERATURE, TOP_P, VOCABULARY, Sampler
from torch import nn


class EngineSampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.unembed = nn.Parameter(Sampler().lm_head.weight.detach().t().contiguous())

    def forward(self, hidden, previous):
        logits = hidden @ self.unembed
        vocabulary = torch.arange(VOCABULARY)
        repeated = (previous[:, :, None] == vocabulary).any(dim=1)
        penalised = torch.where(logits > 0, logits / PENALTY, logits * PENALTY)
        logits = torch.where(repeated, penalised, logits) / TEMPERATURE
        ordered, order = logits.sort(dim=-1, descending=True)
        p = torch.exp(ordered - ordered[:, :1])
        p = p / p.sum(-1, keepdim=True)
        before = p.cumsum(-1) - p
        kept = torch.where(before > TOP_P, 0.0, p)
        kept = kept / kept.sum(-1, keepdim=True)
        return torch.zeros_like(kept).scatter_(1, order, kept)
