"""Two graph convolutions (Kipf and Welling) in the manner of PyG: messages along a list of edges, added up at their targets."""
import torch
from torch import nn

FEATURES, HIDDEN, CLASSES = 6, 8, 3


class GCNConv(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.lin = nn.Linear(inside, outside, bias=False)
        self.bias = nn.Parameter(torch.randn(outside))

    def forward(self, x, edge_index):
        nodes = x.shape[0]
        loops = torch.arange(nodes)
        source, target = torch.cat([edge_index, torch.stack([loops, loops])], dim=1)
        degree = torch.zeros(nodes).scatter_add(0, target, torch.ones(target.shape[0]))
        inverse = degree.pow(-0.5)
        norm = inverse[source] * inverse[target]
        messages = norm[:, None] * self.lin(x)[source]
        out = torch.zeros(nodes, messages.shape[1])
        out = out.scatter_add(0, target[:, None].expand_as(messages), messages)
        return out + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(FEATURES, HIDDEN), GCNConv(HIDDEN, CLASSES)

    def forward(self, x, edge_index):
        h = self.conv1(x, edge_index).relu()
        return self.conv2(h, edge_index).log_softmax(-1)


def inputs():
    nodes = 7
    return torch.randn(nodes, FEATURES), torch.randint(0, nodes, (2, 11))
