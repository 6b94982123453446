# EQUAL
"""DGCNN's EdgeConv: per edge, or two linears per node and a maximum over the neighbours before the activation."""
import torch
from torch import nn


class EdgeConv(nn.Module):
    def __init__(self, c_in=4, c_out=7):
        super().__init__()
        self.lin = nn.Linear(2 * c_in, c_out)

    def forward(self, x, nbr):                      # x: N c, nbr: N k
        centre = x.unsqueeze(1).expand(-1, nbr.shape[1], -1)
        feature = torch.cat([centre, x[nbr] - centre], dim=-1)
        return nn.functional.leaky_relu(self.lin(feature), 0.2).amax(dim=1)


class NodewiseEdgeConv(nn.Module):
    def __init__(self, other):
        super().__init__()
        self.weight = nn.Parameter(other.lin.weight.detach().clone())
        self.bias = nn.Parameter(other.lin.bias.detach().clone())

    def forward(self, x, nbr):
        w_centre, w_diff = self.weight.chunk(2, dim=1)
        mine = x @ (w_centre - w_diff).T + self.bias
        theirs = x @ w_diff.T
        best = theirs[nbr].max(dim=1).values
        z = mine + best
        return torch.where(z > 0, z, 0.2 * z)


torch.manual_seed(14)
left = EdgeConv()
right = NodewiseEdgeConv(left)
inputs = {"x": torch.randn(6, 4), "nbr": torch.randint(0, 6, (6, 3))}
