"""Graph attention on a dense boolean adjacency (adj[i, j]: j sends to i)."""
import torch
from torch import nn
from torch.nn import functional as F

D, H, O = 5, 2, 4
weight = nn.Parameter(torch.randn(D, H * O))
att_src = nn.Parameter(torch.randn(H, O))
att_dst = nn.Parameter(torch.randn(H, O))


def left(x, adj):
    n = x.shape[0]
    h = (x @ weight).view(n, H, O)
    e = (h * att_dst).sum(-1)[:, None, :] + (h * att_src).sum(-1)[None, :, :]
    e = F.leaky_relu(e, 0.2)
    adj = adj | torch.eye(n, dtype=torch.bool)
    alpha = e.masked_fill(~adj[:, :, None], float("-inf")).softmax(dim=1)
    return torch.einsum("ijh,jho->iho", alpha, h).reshape(n, H * O)


def right(x, adj):
    n = x.shape[0]
    h = (x @ weight).view(n, H, O).transpose(0, 1)
    recv = torch.einsum("hno,ho->hn", h, att_dst)
    send = torch.einsum("hno,ho->hn", h, att_src)
    e = recv[:, :, None] + send[:, None, :]
    e = torch.maximum(e, 0.2 * e)
    keep = torch.logical_or(adj, torch.eye(n, dtype=torch.bool))
    alpha = torch.where(keep, e, torch.full_like(e, float("-inf"))).softmax(dim=1)
    return (alpha @ h).transpose(0, 1).flatten(1)


inputs = (torch.randn(7, D), torch.rand(7, 7) < 0.4)
