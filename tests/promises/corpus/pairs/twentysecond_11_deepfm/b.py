"""The ranker of the serving team: a table for each field, all pairs of fields by their inner products, a split first layer."""

import torch
from a import FIELDS, DeepFM
from torch import nn


class ServedFM(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = DeepFM()
        tables = theirs.embedding.weight.detach().split(FIELDS)
        firsts = theirs.linear.weight.detach().split(FIELDS)
        self.tables = nn.ModuleList(nn.Embedding.from_pretrained(t.clone(), freeze=False) for t in tables)
        self.firsts = nn.ParameterList(nn.Parameter(f[:, 0].clone()) for f in firsts)
        self.bias = theirs.bias
        first, _, second, _, last = theirs.mlp
        self.dim = theirs.embedding.embedding_dim
        self.entry = nn.ParameterList(nn.Parameter(w.clone()) for w in first.weight.detach().split(self.dim, dim=1))
        self.entry_bias = first.bias
        self.second, self.last = second, last

    def forward(self, x):
        columns = x.unbind(1)
        rows = [table(c) for table, c in zip(self.tables, columns)]
        score = self.bias
        for weight, c in zip(self.firsts, columns):
            score = score + weight[c]
        for i in range(len(rows)):
            for j in range(i + 1, len(rows)):
                score = score + (rows[i] * rows[j]).sum(-1)
        hidden = self.entry_bias
        for row, weight in zip(rows, self.entry):
            hidden = hidden + row @ weight.t()
        hidden = self.second(hidden.relu()).relu()
        return torch.sigmoid(score + self.last(hidden)[:, 0])
