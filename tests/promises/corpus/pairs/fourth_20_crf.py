# EQUAL
"""Linear-chain CRF: the forward algorithm of pytorch-crf, and the brute force over all tag sequences of its unit test."""
import itertools

import torch
from torch import nn

torch.manual_seed(20)


class CRF(nn.Module):
    def __init__(self, num_tags):
        super().__init__()
        self.start_transitions = nn.Parameter(torch.randn(num_tags))
        self.end_transitions = nn.Parameter(torch.randn(num_tags))
        self.transitions = nn.Parameter(torch.randn(num_tags, num_tags))

    def forward(self, emissions, tags):
        # seq_len, batch first, as in the original
        numerator = self._compute_score(emissions, tags)
        denominator = self._compute_normalizer(emissions)
        return (numerator - denominator).mean()

    def _compute_score(self, emissions, tags):
        seq_length, batch_size = tags.shape
        score = self.start_transitions[tags[0]]
        score = score + emissions[0, torch.arange(batch_size), tags[0]]
        for i in range(1, seq_length):
            score = score + self.transitions[tags[i - 1], tags[i]]
            score = score + emissions[i, torch.arange(batch_size), tags[i]]
        return score + self.end_transitions[tags[-1]]

    def _compute_normalizer(self, emissions):
        score = self.start_transitions + emissions[0]
        for i in range(1, emissions.size(0)):
            next_score = score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)
            score = torch.logsumexp(next_score, dim=1)
        return torch.logsumexp(score + self.end_transitions, dim=1)


class BruteForce(nn.Module):
    def __init__(self, crf):
        super().__init__()
        self.crf = crf

    def path(self, emissions, tags):
        total = self.crf.start_transitions[tags[0]] + self.crf.end_transitions[tags[-1]]
        for t, tag in enumerate(tags):
            total = total + emissions[t, tag]
        for a, b in zip(tags, tags[1:]):
            total = total + self.crf.transitions[a, b]
        return total

    def forward(self, emissions, tags):
        partitions = []
        for n in range(emissions.shape[1]):
            e = emissions[:, n]
            every = [self.path(e, p) for p in itertools.product(range(e.shape[1]), repeat=e.shape[0])]
            partitions.append(torch.stack(every).logsumexp(0))
        c = self.crf
        gold = emissions.gather(2, tags.unsqueeze(-1)).squeeze(-1).sum(0)
        gold = gold + c.start_transitions[tags[0]] + c.end_transitions[tags[-1]] + c.transitions[tags[:-1], tags[1:]].sum(0)
        return (gold - torch.stack(partitions)).mean()


left = CRF(3)
right = BruteForce(left)
inputs = (torch.randn(3, 2, 3), torch.randint(0, 3, (3, 2)))
