import torch
from torch import nn

torch.manual_seed(105)


class BiasedMF(nn.Module):
    def __init__(self, users=7, items=9, k=4):
        super().__init__()
        self.user = nn.Embedding(users, k)
        self.item = nn.Embedding(items, k)
        self.user_bias = nn.Embedding(users, 1)
        self.item_bias = nn.Embedding(items, 1)
        self.mean = nn.Parameter(torch.tensor(3.4))

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(dim=1)
        return dot + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1) + self.mean


class PackedMF(nn.Module):
    """One lookup per side: the last column is the bias."""

    def __init__(self, users=7, items=9, k=4):
        super().__init__()
        self.users = nn.Embedding(users, k + 1)
        self.items = nn.Embedding(items, k + 1)
        self.mu = nn.Parameter(torch.zeros(()))

    @classmethod
    def pack(cls, mf):
        new = cls()
        with torch.no_grad():
            new.users.weight.copy_(torch.cat([mf.user.weight, mf.user_bias.weight], dim=1))
            new.items.weight.copy_(torch.cat([mf.item.weight, mf.item_bias.weight], dim=1))
            new.mu.copy_(mf.mean)
        return new

    def forward(self, u, i):
        pu, qi = self.users(u), self.items(i)
        dot = torch.einsum("nk,nk->n", pu[:, :-1], qi[:, :-1])
        return self.mu + (dot + pu[:, -1] + qi[:, -1])


left = BiasedMF()
right = PackedMF.pack(left)
inputs = (torch.randint(0, 7, (6,)), torch.randint(0, 9, (6,)))
