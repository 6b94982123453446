# EQUAL
# R-GCN with basis decomposition: one weight per relation from the bases, and messages through the bases first
import torch
from torch import nn


class RGCNConv(nn.Module):
    def __init__(self, nin=5, nout=4, relations=3, bases=2):
        super().__init__()
        self.basis = nn.Parameter(torch.randn(bases, nin, nout))
        self.comp = nn.Parameter(torch.randn(relations, bases))
        self.root = nn.Linear(nin, nout)
        self.R = relations

    def forward(self, x, edge_index, edge_type):
        src, dst = edge_index
        weight = torch.einsum("rb,bio->rio", self.comp, self.basis)
        out = self.root(x)
        for r in range(self.R):
            sel = (edge_type == r).to(x.dtype)
            agg = torch.zeros_like(x).index_add(0, dst, x[src] * sel[:, None])
            count = torch.zeros(x.size(0), dtype=x.dtype).index_add(0, dst, sel)
            out = out + (agg / count.clamp(min=1)[:, None]) @ weight[r]
        return out


class EdgewiseRGCN(RGCNConv):
    def forward(self, x, edge_index, edge_type):
        src, dst = edge_index[0], edge_index[1]
        n = x.size(0)
        slot = dst * self.R + edge_type                                      # one counter for each (node, relation)
        ones = torch.ones(edge_type.numel(), dtype=x.dtype)
        degree = torch.zeros(n * self.R, dtype=x.dtype).scatter_add(0, slot, ones)
        norm = 1.0 / degree[slot]
        projected = torch.einsum("ni,bio->nbo", x, self.basis)
        coeff = self.comp[edge_type] * norm[:, None]
        messages = (coeff.unsqueeze(-1) * projected[src]).sum(1)
        agg = torch.zeros(n, messages.size(1), dtype=x.dtype)
        agg = agg.scatter_add(0, dst[:, None].expand_as(messages), messages)
        return agg + self.root(x)


left, right = RGCNConv, EdgewiseRGCN


def inputs():
    return torch.randn(6, 5), torch.randint(0, 6, (2, 11)), torch.randint(0, 3, (11,))
