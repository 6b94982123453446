"""Direct preference optimisation as TRL writes it: two forwards, log probabilities of tokens by gather, smoothed loss."""

import torch
from torch import nn
from torch.nn import functional as F


class TinyLM(nn.Module):
    """A language model small enough for a test: means of embeddings so far, a gated layer, a head."""

    def __init__(self, vocab=13, dim=8, hidden=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gate = nn.Linear(dim, hidden)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        e = self.embed(ids)
        context = e.cumsum(1) / torch.arange(1, ids.shape[1] + 1)[:, None]
        h = e + self.down(F.silu(self.gate(context)) * self.up(context))
        return self.head(h)


class DPO(nn.Module):
    def __init__(self, beta=0.1, smoothing=0.05):
        super().__init__()
        self.policy = TinyLM()
        self.beta, self.smoothing = beta, smoothing

    @staticmethod
    def log_probabilities(logits, labels):
        labels = labels[:, 1:].clone()
        logits = logits[:, :-1]
        loss_mask = labels != -100
        labels[labels == -100] = 0
        per_token = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
        return (per_token * loss_mask).sum(-1)

    def forward(self, chosen_ids, chosen_labels, rejected_ids, rejected_labels, ref_chosen, ref_rejected):
        chosen = self.log_probabilities(self.policy(chosen_ids), chosen_labels)
        rejected = self.log_probabilities(self.policy(rejected_ids), rejected_labels)
        logits = (chosen - rejected) - (ref_chosen - ref_rejected)
        losses = (
            -F.logsigmoid(self.beta * logits) * (1 - self.smoothing)
            - F.logsigmoid(-self.beta * logits) * self.smoothing
        )
        chosen_rewards = self.beta * (chosen - ref_chosen)
        rejected_rewards = self.beta * (rejected - ref_rejected)
        return losses.mean(), chosen_rewards, rejected_rewards


def inputs():
    ids = torch.randint(0, 13, (2, 3, 7))
    labels = ids.clone()
    labels[:, :, :3] = -100                                              # the prompt
    labels[1, 0, 5:] = -100                                              # padding
    return ids[0], labels[0], ids[1], labels[1], -10 - torch.rand(3), -10 - torch.rand(3)
