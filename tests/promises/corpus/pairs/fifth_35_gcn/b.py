import torch
from torch import nn


class DenseGCN(nn.Module):
    """Kipf and Welling's formula: D^(-1/2) (A + I) D^(-1/2) X W."""

    def __init__(self, inside=6, outside=5):
        super().__init__()
        self.lin = nn.Linear(inside, outside, bias=False)
        self.bias = nn.Parameter(torch.randn(outside) * 0.1)

    def forward(self, x, edge_index):
        nodes = torch.arange(x.shape[0])
        at_source = (edge_index[0][:, None] == nodes).to(x.dtype)
        at_target = (edge_index[1][:, None] == nodes).to(x.dtype)
        adjacency = at_target.T @ at_source + torch.eye(x.shape[0], dtype=x.dtype)
        root = adjacency.sum(dim=1).rsqrt()
        smoothed = root[:, None] * (adjacency @ (root[:, None] * x))
        return (self.lin(smoothed) + self.bias).clamp(min=0)


torch.manual_seed(0)
program = DenseGCN().eval()
