"""Megatron's vocabulary-parallel cross entropy, its shards in one process."""
import torch
from torch import nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, hidden=8, vocab=24):
        super().__init__()
        self.lm_head = nn.Linear(hidden, vocab, bias=False)

    def forward(self, hidden, labels):
        logits = self.lm_head(hidden)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))


class ShardedHead(nn.Module):
    def __init__(self, head, world_size=4):
        super().__init__()
        self.shards = nn.ParameterList(
            [nn.Parameter(w.clone()) for w in head.lm_head.weight.detach().chunk(world_size)]
        )

    def forward(self, hidden, labels):
        local_logits = [hidden @ w.T for w in self.shards]
        # all-reduce max
        logits_max = torch.stack([x.amax(-1) for x in local_logits]).amax(0)

        sum_exp = torch.zeros_like(logits_max)
        predicted = torch.zeros_like(logits_max)
        for rank, logits in enumerate(local_logits):
            logits = logits - logits_max.unsqueeze(-1)
            size = logits.shape[-1]
            start, end = rank * size, (rank + 1) * size
            outside = (labels < start) | (labels >= end)
            local_label = (labels - start).masked_fill(outside, 0)
            target_logit = logits.gather(-1, local_label.unsqueeze(-1)).squeeze(-1)
            # all-reduce sum of both
            predicted = predicted + target_logit.masked_fill(outside, 0.0)
            sum_exp = sum_exp + logits.exp().sum(-1)
        return (sum_exp.log() - predicted).mean()


torch.manual_seed(0)
left = Head()
right = ShardedHead(left)


def inputs():
    return torch.randn(2, 5, 8), torch.randint(0, 24, (2, 5))
