"""Loss of a causal model with capped logits: all logits at once, and in chunks that never hold them all."""
import torch
from torch import nn
from torch.nn import functional as F

D, VOCAB, CAP, CHUNK = 16, 40, 30.0, 5
B, T = 2, 9


class FullLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm_head = nn.Linear(D, VOCAB, bias=False)

    def forward(self, hidden_states, labels):
        logits = self.lm_head(hidden_states)
        logits = torch.tanh(logits / CAP) * CAP
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = labels[..., 1:].contiguous()
        return F.cross_entropy(shift_logits.view(-1, VOCAB), shift_labels.view(-1), ignore_index=-100)


class ChunkedLoss(nn.Module):
    def __init__(self, full):
        super().__init__()
        self.weight = full.lm_head.weight

    def forward(self, hidden_states, labels):
        hidden = hidden_states[:, :-1].reshape(-1, D)
        target = labels[:, 1:].reshape(-1)
        total = hidden.new_zeros(())
        for h, y in zip(hidden.split(CHUNK), target.split(CHUNK)):
            logits = CAP * torch.tanh(h @ self.weight.t() / CAP)
            valid = y != -100
            picked = logits.gather(1, y.where(valid, 0)[:, None])[:, 0]
            nll = torch.logsumexp(logits, dim=-1) - picked
            total = total + (nll * valid).sum()
        return total / (target != -100).sum()


left = FullLoss()
right = ChunkedLoss(left)


def inputs():
    labels = torch.randint(0, VOCAB, (B, T))
    labels[0, :4] = -100
    labels[1, -2:] = -100
    return torch.randn(B, T, D), labels
