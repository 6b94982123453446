# DIFFERENT: right takes the degree without self loops (adj.sum(1).clamp(min=1)); left with (deg + 1). Place: d = adj.sum(1).clamp(min=1).rsqrt()
"""Two-layer GCN: by messages along the edges (as PyG does), and with a dense adjacency for the TPU."""
import torch
from torch import nn

torch.manual_seed(14)
N, F_IN, HID, OUT = 9, 5, 8, 3


class GCNConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout, bias=False)
        self.bias = nn.Parameter(torch.randn(cout) * 0.1)

    def forward(self, x, edge_index):
        n = x.shape[0]
        loops = torch.arange(n)
        row = torch.cat([edge_index[0], loops])
        col = torch.cat([edge_index[1], loops])
        deg = torch.zeros(n).index_add_(0, col, torch.ones(col.shape[0]))
        dis = deg.pow(-0.5)
        norm = dis[row] * dis[col]
        x = self.lin(x)
        out = torch.zeros_like(x).index_add_(0, col, norm[:, None] * x[row])
        return out + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(F_IN, HID), GCNConv(HID, OUT)

    def forward(self, x, edge_index):
        h = self.conv1(x, edge_index).relu()
        return self.conv2(h, edge_index)


class DenseGCN(nn.Module):
    def __init__(self, gcn):
        super().__init__()
        self.w1 = nn.Parameter(gcn.conv1.lin.weight.detach().t().contiguous())
        self.w2 = nn.Parameter(gcn.conv2.lin.weight.detach().t().contiguous())
        self.b1 = nn.Parameter(gcn.conv1.bias.detach().clone())
        self.b2 = nn.Parameter(gcn.conv2.bias.detach().clone())

    def forward(self, x, edge_index):
        n = x.shape[0]
        adj = torch.zeros(n, n)
        adj = adj.index_put((edge_index[1], edge_index[0]), torch.ones(edge_index.shape[1]), accumulate=True)
        d = adj.sum(1).clamp(min=1).rsqrt()
        adj = d[:, None] * (adj + torch.eye(n)) * d[None, :]
        h = torch.relu(adj @ (x @ self.w1) + self.b1)
        return adj @ (h @ self.w2) + self.b2


left = GCN().eval()
right = DenseGCN(left).eval()


def inputs():
    src = torch.randint(N, (16,))
    dst = torch.randint(N, (16,))
    return torch.randn(N, F_IN), torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
