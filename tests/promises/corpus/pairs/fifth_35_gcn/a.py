import torch
from torch import nn


class GCNLayer(nn.Module):
    """Messages along a list of edges (sources, targets), with self-loops, normalised by both degrees."""

    def __init__(self, inside=6, outside=5):
        super().__init__()
        self.lin = nn.Linear(inside, outside, bias=False)
        self.bias = nn.Parameter(torch.randn(outside) * 0.1)

    def forward(self, x, edge_index):
        n = x.shape[0]
        loops = torch.arange(n)
        source = torch.cat([edge_index[0], loops])
        target = torch.cat([edge_index[1], loops])
        degree = torch.zeros(n, dtype=x.dtype).scatter_add_(0, target, torch.ones_like(target, dtype=x.dtype))
        inverse_root = degree.pow(-0.5)
        norm = inverse_root[source] * inverse_root[target]
        messages = norm[:, None] * self.lin(x)[source]
        out = torch.zeros(n, messages.shape[1], dtype=x.dtype).index_add_(0, target, messages)
        return torch.relu(out + self.bias)


torch.manual_seed(0)
program = GCNLayer().eval()
