import torch
from torch import nn

torch.manual_seed(5)
CARDINALITIES = [7, 4, 11]


class Dlrm(nn.Module):
    def __init__(self, dim=6, dense=5):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, dim) for n in CARDINALITIES])
        self.bottom = nn.Sequential(nn.Linear(dense, 8), nn.ReLU(), nn.Linear(8, dim))
        n = len(CARDINALITIES) + 1
        self.top = nn.Linear(dim + n * (n - 1) // 2 + dim, 1)

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        vectors = [x] + [t(sparse[:, i]) for i, t in enumerate(self.tables)]
        z = torch.stack(vectors, dim=1)
        dots = torch.bmm(z, z.transpose(1, 2))
        li, lj = torch.tril_indices(z.shape[1], z.shape[1], offset=-1)
        fm = 0.5 * (z.sum(1) ** 2 - (z**2).sum(1))
        r = torch.cat([x, dots[:, li, lj], fm], dim=1)
        return torch.sigmoid(self.top(r)).squeeze(1)


class FlatDlrm(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.emb = nn.Embedding(sum(CARDINALITIES), 6)
        self.emb.weight.data = torch.cat([t.weight.data for t in ref.tables])
        self.fc1, self.fc2, self.out = nn.Linear(5, 8), nn.Linear(8, 6), nn.Linear(18, 1)
        self.fc1.load_state_dict(ref.bottom[0].state_dict())
        self.fc2.load_state_dict(ref.bottom[2].state_dict())
        self.out.load_state_dict(ref.top.state_dict())
        self.offsets = [0, 7, 11]

    def forward(self, dense, sparse):
        x = self.fc2(torch.relu(self.fc1(dense)))
        ids = sparse + torch.tensor(self.offsets)
        e = self.emb(ids)
        z = [x, e[:, 0], e[:, 1], e[:, 2]]
        pairs, fm = [], 0
        for i in range(1, 4):
            for j in range(i):
                pairs.append((z[i] * z[j]).sum(-1, keepdim=True))
                fm = fm + z[i] * z[j]
        logit = self.out(torch.cat([x] + pairs + [fm], dim=-1))
        return (1 / (1 + torch.exp(-logit)))[:, 0]


left = Dlrm()
right = FlatDlrm(left)


def inputs():
    sparse = torch.stack([torch.randint(0, n, (4,)) for n in CARDINALITIES], dim=1)
    return {"dense": torch.randn(4, 5), "sparse": sparse}
