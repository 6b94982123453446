"""word2vec skip-gram with negative sampling: two log-sigmoid terms, and one BCE-with-logits over [positive, negatives]."""
import torch
from torch import nn
from torch.nn import functional as F


class left(nn.Module):
    def __init__(self, vocab=11, dim=4):
        super().__init__()
        self.u, self.v = nn.Embedding(vocab, dim), nn.Embedding(vocab, dim)

    def forward(self, centre, context, negatives):
        c = self.u(centre)
        pos = torch.sum(c * self.v(context), dim=1)
        neg = torch.bmm(self.v(negatives), c.unsqueeze(2)).squeeze(2)
        loss = -F.logsigmoid(pos) - F.logsigmoid(-neg).sum(1)
        return loss.mean()


class right(nn.Module):
    def __init__(self, vocab=11, dim=4):
        super().__init__()
        ref = left(vocab, dim)
        self.table = nn.Parameter(torch.stack([ref.u.weight, ref.v.weight], 1).detach().clone())    # (vocab, 2, dim)

    def forward(self, centre, context, negatives):
        words = torch.cat([context[:, None], negatives], 1)
        logits = torch.einsum("bd,bkd->bk", self.table[centre, 0], self.table[words, 1])
        labels = torch.zeros_like(logits)
        labels[:, 0] = 1
        return F.binary_cross_entropy_with_logits(logits, labels, reduction="sum") / len(centre)


def inputs():
    return torch.randint(0, 11, (5,)), torch.randint(0, 11, (5,)), torch.randint(0, 11, (5, 3))
