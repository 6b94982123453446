"""Two graph convolutions: as PyTorch Geometric does them, and with nodes scaled before and after."""
import torch
from torch import nn

F_IN, HID, OUT = 5, 8, 3
N, E = 6, 14


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(F_IN, HID, bias=False), nn.Linear(HID, OUT, bias=False)
        self.bias1, self.bias2 = nn.Parameter(torch.randn(HID)), nn.Parameter(torch.randn(OUT))

    def gcn_norm(self, edge_index, n, dtype):
        loops = torch.arange(n).repeat(2, 1)
        edge_index = torch.cat([edge_index, loops], dim=1)
        row, col = edge_index[0], edge_index[1]
        deg = torch.zeros(n, dtype=dtype).scatter_add_(0, col, torch.ones(col.shape[0], dtype=dtype))
        deg_inv_sqrt = deg.pow(-0.5)
        deg_inv_sqrt = deg_inv_sqrt.masked_fill(deg_inv_sqrt == float("inf"), 0)
        return row, col, deg_inv_sqrt[row] * deg_inv_sqrt[col]

    def propagate(self, x, row, col, norm):
        message = norm.view(-1, 1) * x[row]
        return torch.zeros_like(x).index_add_(0, col, message)

    def forward(self, x, edge_index):
        row, col, norm = self.gcn_norm(edge_index, x.shape[0], x.dtype)
        h = torch.relu(self.propagate(self.lin1(x), row, col, norm) + self.bias1)
        return self.propagate(self.lin2(h), row, col, norm) + self.bias2


class ScaledGCN(nn.Module):
    def __init__(self, gcn):
        super().__init__()
        self.weights = nn.ParameterList([gcn.lin1.weight, gcn.lin2.weight])
        self.biases = nn.ParameterList([gcn.bias1, gcn.bias2])

    def forward(self, x, edge_index):
        source, target = edge_index
        ones = x.new_ones(x.shape[0])
        degree = ones.index_add(0, target, x.new_ones(target.shape[0]))         # the loop counts, too
        scale = degree.rsqrt()[:, None]
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases)):
            h = (x * scale) @ weight.t()
            h = h.index_add(0, target, h[source])
            x = h * scale + bias
            if i == 0:
                x = x.relu()
        return x


left = GCN()
right = ScaledGCN(left)


def inputs():
    return torch.randn(N, F_IN), torch.randint(0, N, (2, E))
