# EQUAL
# Deep Interest Network: the activation unit over [query, key, query - key, query * key], and its first layer split
import torch
from torch import nn


class Dice(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.alpha = nn.Parameter(torch.randn(dim))

    def forward(self, x):
        p = torch.sigmoid(x)
        return p * x + (1 - p) * self.alpha * x


class DIN(nn.Module):
    def __init__(self, dim=4, hidden=6, items=20):
        super().__init__()
        self.item = nn.Embedding(items, dim, padding_idx=0)
        self.fc1 = nn.Linear(4 * dim, hidden)
        self.act = Dice(hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, target, history):
        q = self.item(target)
        keys = self.item(history)
        mask = history != 0
        queries = q.unsqueeze(1).expand(-1, keys.size(1), -1)
        att_in = torch.cat([queries, keys, queries - keys, queries * keys], dim=-1)
        score = self.fc2(self.act(self.fc1(att_in))).squeeze(-1)
        score = score.masked_fill(~mask, 0.0)
        interest = (score.unsqueeze(-1) * keys).sum(dim=1)
        return torch.sigmoid((interest * q).sum(-1))


class FastDIN(DIN):
    def forward(self, target, history):
        q, k = self.item(target), self.item(history)
        d = q.size(-1)
        wq, wk, wd, wp = self.fc1.weight.split(d, dim=1)
        per_query = q @ (wq + wd).T + self.fc1.bias
        h = k @ (wk - wd).T + per_query[:, None] + torch.einsum("bd,bnd,hd->bnh", q, k, wp)
        h = h * (self.act.alpha + torch.sigmoid(h) * (1 - self.act.alpha))
        weight = (h @ self.fc2.weight[0] + self.fc2.bias) * (history > 0)
        interest = torch.bmm(weight.unsqueeze(1), k).squeeze(1)
        return (interest * q).sum(-1).sigmoid()


left, right = DIN, FastDIN


def inputs():
    history = torch.randint(1, 20, (3, 5))
    history[1, 3:] = 0
    return torch.tensor([4, 9, 17]), history
