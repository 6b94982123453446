"""Two GCN layers with symmetric normalisation on a directed graph: degrees are of what comes in."""
import torch
from torch import nn


def gcn_norm(edge_index, n, dtype):
    loops = torch.arange(n, device=edge_index.device)
    row = torch.cat([edge_index[0], loops])
    col = torch.cat([edge_index[1], loops])
    weight = torch.ones(row.shape[0], dtype=dtype, device=row.device)
    deg = torch.zeros(n, dtype=dtype, device=row.device).scatter_add_(0, col, weight)
    inv = deg.pow(-0.5)
    return row, col, inv[row] * weight * inv[col]


class GCN(nn.Module):
    def __init__(self, cin=5, hidden=8, cout=3):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(cin, hidden, bias=False), nn.Linear(hidden, cout, bias=False)
        self.bias1, self.bias2 = nn.Parameter(torch.randn(hidden)), nn.Parameter(torch.randn(cout))

    def propagate(self, h, row, col, norm):
        return torch.zeros_like(h).index_add_(0, col, h[row] * norm[:, None])

    def forward(self, x, edge_index):
        row, col, norm = gcn_norm(edge_index, x.shape[0], x.dtype)
        h = torch.relu(self.propagate(self.lin1(x), row, col, norm) + self.bias1)
        return torch.log_softmax(self.propagate(self.lin2(h), row, col, norm) + self.bias2, dim=-1)


def inputs():
    return torch.randn(6, 5), torch.tensor([[0, 0, 0, 1, 2, 3, 5], [1, 2, 3, 4, 4, 5, 2]])
