"""DLRM: bags and batched dot interaction as in the reference, and the port to an engine without EmbeddingBag."""
import torch
from torch import nn
from torch.nn import functional as F

TABLES, DIM, DENSE, HOT = (9, 6, 12), 4, 5, 3
B = 4


class DLRM(nn.Module):
    def __init__(self):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(DENSE, 8), nn.ReLU(), nn.Linear(8, DIM), nn.ReLU())
        self.bags = nn.ModuleList(nn.EmbeddingBag(n, DIM, mode="sum") for n in TABLES)
        f = len(TABLES) + 1
        self.top = nn.Sequential(nn.Linear(DIM + f * (f - 1) // 2, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, dense, ids, weights):
        x = self.bottom(dense)
        ly = [bag(ids[:, i], per_sample_weights=weights[:, i]) for i, bag in enumerate(self.bags)]
        stacked = torch.cat([x] + ly, dim=1).view(x.shape[0], -1, DIM)
        z = torch.bmm(stacked, stacked.transpose(1, 2))
        _, ni, nj = z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)])
        lj = torch.tensor([j for i in range(nj) for j in range(i)])
        return torch.sigmoid(self.top(torch.cat([x, z[:, li, lj]], dim=1)))


class Port(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.bottom, self.top = model.bottom, model.top
        self.tables = nn.ParameterList([bag.weight for bag in model.bags])

    def forward(self, dense, ids, weights):
        x = self.bottom(dense)
        features = [x]
        for i, table in enumerate(self.tables):
            rows = F.embedding(ids[:, i], table)                # [B, HOT, DIM]
            features.append((rows * weights[:, i, :, None]).sum(1))
        dots = [(features[i] * features[j]).sum(-1, keepdim=True) for i in range(1, len(features)) for j in range(i)]
        first, act, last = self.top
        h = act(F.linear(torch.cat([x, *dots], -1), first.weight, first.bias))
        return last(h).sigmoid()


left = DLRM()
right = Port(left)


def inputs():
    ids = torch.stack([torch.randint(0, n, (B, HOT)) for n in TABLES], dim=1)
    return torch.randn(B, DENSE), ids, torch.randn(B, len(TABLES), HOT)
