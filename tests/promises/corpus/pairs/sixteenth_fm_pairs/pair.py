"""Click model: linear terms and pairwise interactions of field embeddings."""
import torch
from torch import nn

VOCAB, DIM = 23, 6
table = nn.Parameter(torch.randn(VOCAB, DIM))
first_order = nn.Parameter(torch.randn(VOCAB))
bias = nn.Parameter(torch.randn(()))


def left(ids):
    e = table[ids]
    fields = ids.shape[1]
    score = bias + first_order[ids].sum(1)
    for i in range(fields):
        for j in range(i + 1, fields):
            score = score + (e[:, i] * e[:, j]).sum(-1)
    return torch.sigmoid(score)


def right(ids):
    e = nn.functional.embedding(ids, table)
    linear = nn.functional.embedding(ids, first_order.unsqueeze(1)).sum(dim=(1, 2))
    cross = 0.5 * (e.sum(1).square() - e.square().sum(1)).sum(-1)
    return torch.sigmoid(linear + cross + bias)


inputs = (torch.randint(0, VOCAB, (4, 5)),)
