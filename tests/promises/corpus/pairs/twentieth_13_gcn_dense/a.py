"""Two graph convolutions over an edge list, with self loops, as in PyTorch Geometric."""
import torch
from torch import nn
from torch.nn import functional as F


class GCNLayer(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.lin = nn.Linear(width, out, bias=False)
        self.bias = nn.Parameter(torch.randn(out))

    def forward(self, x, edges):
        nodes = x.shape[0]
        loops = torch.arange(nodes)
        source = torch.cat((edges[0], loops))
        target = torch.cat((edges[1], loops))
        degree = torch.zeros(nodes, dtype=x.dtype).scatter_add_(0, target, torch.ones(target.shape[0], dtype=x.dtype))
        root = degree.pow(-0.5)
        norm = root[source] * root[target]
        message = self.lin(x)[source] * norm[:, None]
        out = torch.zeros(nodes, message.shape[1], dtype=x.dtype).index_add_(0, target, message)
        return out + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = GCNLayer(6, 8), GCNLayer(8, 3)

    def forward(self, x, edges):
        hidden = F.relu(self.one(x, edges))
        return F.log_softmax(self.two(hidden, edges), dim=-1)


def inputs():
    return torch.randn(7, 6), torch.randint(0, 7, (2, 12))
