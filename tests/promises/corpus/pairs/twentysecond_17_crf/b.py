"""The CRF batch first: the gold path scored at once, the sum over all paths backwards from the end of each sentence."""

import torch
from torch import nn
from torch.nn import functional as F


class BackwardCRF(nn.Module):
    def __init__(self, features=7, tags=4):
        super().__init__()
        self.emission = nn.Linear(features, tags)
        self.start_transitions = nn.Parameter(torch.randn(tags))
        self.end_transitions = nn.Parameter(torch.randn(tags))
        self.transitions = nn.Parameter(torch.randn(tags, tags))
        self.K = tags

    def forward(self, x, tags, lengths):
        B, T, _ = x.shape
        e = self.emission(x)
        inside = torch.arange(T)[None] < torch.clamp(lengths, 1, T)[:, None]      # [B, T]
        # gold path
        gold = F.one_hot(tags, self.K).to(e.dtype)
        unary = (e * gold).sum(-1)
        pair = torch.einsum("btj,jk,btk->bt", gold[:, :-1], self.transitions, gold[:, 1:])
        path = unary[:, 0] + ((unary[:, 1:] + pair) * inside[:, 1:]).sum(1)
        last = tags.gather(1, inside.long().sum(1, keepdim=True) - 1)[:, 0]
        path = path + self.start_transitions[tags[:, 0]] + self.end_transitions[last]
        # all paths: beta[b, j] is the log-sum over what may follow tag j
        beta = self.end_transitions.expand(B, self.K)
        for t in range(T - 1, 0, -1):
            following = (e[:, t] + beta)[:, None, :] + self.transitions     # [B, from, to]
            beta = torch.where(inside[:, t, None], following.logsumexp(-1), beta)
        log_z = (self.start_transitions + e[:, 0] + beta).logsumexp(-1)
        return (log_z - path).sum() / B
