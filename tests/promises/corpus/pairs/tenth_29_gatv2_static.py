# DIFFERENT
import torch
from torch import nn
import torch.nn.functional as F


class GATv2Layer(nn.Module):
    """Dense GATv2: e_ij = a . LeakyReLU(W_l h_i + W_r h_j)."""
    def __init__(self, nin=5, nout=4, heads=2):
        super().__init__()
        self.heads = heads
        self.lin_l = nn.Linear(nin, heads * nout)
        self.lin_r = nn.Linear(nin, heads * nout)
        self.att = nn.Parameter(torch.randn(heads, nout))
        self.bias = nn.Parameter(torch.randn(heads * nout))

    def forward(self, h, adj):
        N = h.size(0)
        xl = self.lin_l(h).view(N, self.heads, -1)
        xr = self.lin_r(h).view(N, self.heads, -1)
        pair = F.leaky_relu(xl[:, None] + xr[None], 0.2)
        e = (pair * self.att).sum(-1)                                   # [N, N, H]
        e = e.masked_fill(adj[..., None] == 0, float("-inf"))
        alpha = torch.softmax(e, dim=1)
        return torch.einsum("ijh,jhd->ihd", alpha, xr).flatten(1) + self.bias


class FastGATv2(GATv2Layer):
    """Does not build the [N, N, H, D] tensor: scores of the two ends, then added."""
    def forward(self, h, adj):
        xl = self.lin_l(h).unflatten(1, (self.heads, -1))
        xr = self.lin_r(h).unflatten(1, (self.heads, -1))
        score_l = torch.einsum("nhd,hd->nh", xl, self.att)
        score_r = torch.einsum("nhd,hd->nh", xr, self.att)
        e = F.leaky_relu(score_l.unsqueeze(1) + score_r.unsqueeze(0), negative_slope=0.2)
        alpha = e.where(adj.unsqueeze(-1) != 0, float("-inf")).softmax(1)
        out = (alpha.unsqueeze(-1) * xr.unsqueeze(0)).sum(1)
        return out.reshape(h.size(0), -1) + self.bias


left, right = GATv2Layer, FastGATv2


def inputs():
    adj = (torch.rand(6, 6) < 0.5).long()
    adj.fill_diagonal_(1)
    return torch.randn(6, 5), adj
