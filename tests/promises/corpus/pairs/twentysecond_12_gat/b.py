"""As PyG and DGL compute it: all heads at once, the vector split into a source and a target part, scores by addition."""

import torch
from a import GAT
from torch import nn


class MultiHeadGATLayer(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.H = len(heads)
        self.lin = nn.Parameter(torch.stack([h.W.weight.detach() for h in heads]))           # [H, out, in]
        att = torch.stack([h.a.weight.detach()[0] for h in heads])                           # [H, 2 out]
        out = self.lin.shape[1]
        self.att_src = nn.Parameter(att[:, :out].clone())
        self.att_dst = nn.Parameter(att[:, out:].clone())

    def forward(self, x, bias):
        h = torch.einsum("ni,hoi->nho", x, self.lin)
        alpha_src = (h * self.att_src).sum(-1)                                               # [N, H]
        alpha_dst = (h * self.att_dst).sum(-1)
        e = alpha_src[:, None] + alpha_dst[None]
        e = torch.maximum(e, 0.2 * e) + bias
        alpha = torch.exp(e - e.amax(1, keepdim=True))
        alpha = alpha / alpha.sum(1, keepdim=True)                                           # [N, N, H]
        return torch.einsum("ijh,jho->iho", alpha, h)


class FastGAT(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = GAT()
        self.first = MultiHeadGATLayer(theirs.heads)
        self.second = MultiHeadGATLayer(theirs.out)

    def forward(self, x, adjacency):
        edges = adjacency.clone()
        edges.fill_diagonal_(True)
        bias = torch.zeros(edges.shape, dtype=x.dtype).masked_fill(~edges, -torch.inf).unsqueeze(-1)
        h = self.first(x, bias).flatten(1)
        h = torch.where(h > 0, h, torch.expm1(h))
        y = self.second(h, bias).mean(1)
        return y - torch.logsumexp(y, dim=-1, keepdim=True)
