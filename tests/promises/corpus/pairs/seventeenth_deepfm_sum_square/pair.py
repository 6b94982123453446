"""DeepFM: tables and pairs by field, and one concatenated table with the sum-square trick."""
import torch
from torch import nn

FIELDS, DIM = (7, 5, 11, 4), 6
B = 5


class DeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(n, DIM) for n in FIELDS)
        self.linears = nn.ModuleList(nn.Embedding(n, 1) for n in FIELDS)
        self.bias = nn.Parameter(torch.randn(1))
        self.mlp = nn.Sequential(nn.Linear(len(FIELDS) * DIM, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        vectors = [table(x[:, i]) for i, table in enumerate(self.embeddings)]
        first = sum(table(x[:, i]) for i, table in enumerate(self.linears)) + self.bias
        second = 0
        for i in range(len(vectors)):
            for j in range(i + 1, len(vectors)):
                second = second + (vectors[i] * vectors[j]).sum(dim=1, keepdim=True)
        deep = self.mlp(torch.cat(vectors, dim=1))
        return torch.sigmoid(first + second + deep).squeeze(1)


class FusedDeepFM(nn.Module):
    def __init__(self, model):
        super().__init__()
        total = sum(FIELDS)
        self.table, self.linear = nn.Embedding(total, DIM), nn.Embedding(total, 1)
        self.table.weight.data = torch.cat([t.weight.data for t in model.embeddings])
        self.linear.weight.data = torch.cat([t.weight.data for t in model.linears])
        self.bias, self.mlp = model.bias, model.mlp
        self.register_buffer("offsets", torch.tensor([0, *FIELDS[:-1]]).cumsum(0))

    def forward(self, x):
        ids = x + self.offsets
        v = self.table(ids)                                     # [B, F, DIM]
        square_of_sum = v.sum(dim=1).square()
        sum_of_square = v.square().sum(dim=1)
        fm = 0.5 * (square_of_sum - sum_of_square).sum(dim=1)
        wide = self.linear(ids).sum(dim=1).squeeze(-1) + self.bias
        return torch.sigmoid(wide + fm + self.mlp(v.flatten(1)).squeeze(-1))


left = DeepFM()
right = FusedDeepFM(left)


def inputs():
    return (torch.stack([torch.randint(0, n, (B,)) for n in FIELDS], dim=1),)
