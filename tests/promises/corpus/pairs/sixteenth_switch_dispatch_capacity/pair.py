"""Mesh-TensorFlow's one-hot dispatch (capacity = tokens) against the plain loop over experts."""
import torch
from torch import nn
from torch.nn import functional as F

E, D, M = 4, 6, 10
router = nn.Parameter(torch.randn(D, E))
w_in = nn.Parameter(torch.randn(E, D, M) * 0.4)
w_out = nn.Parameter(torch.randn(E, M, D) * 0.4)


def left(x):
    probs = F.softmax(x @ router, dim=-1)
    chosen = probs.argmax(-1)
    gate = probs.amax(-1, keepdim=True)
    out = torch.zeros_like(x)
    for e in range(E):
        y = F.relu(x @ w_in[e]) @ w_out[e]
        out = out + torch.where((chosen == e).unsqueeze(-1), gate * y, torch.zeros_like(y))
    return out


def right(x):
    n = x.shape[0]
    probs = F.softmax(x @ router, dim=-1)
    chosen = probs.argmax(-1)
    gate = probs.gather(1, chosen[:, None]).squeeze(1)
    hot = F.one_hot(chosen, E)
    place = ((hot.cumsum(0) - 1) * hot).sum(-1)
    dispatch = hot.to(x.dtype)[:, :, None] * F.one_hot(place, n).to(x.dtype)[:, None, :]
    slots = torch.einsum("nec,nd->ecd", dispatch, x)
    slots = torch.bmm(torch.bmm(slots, w_in).relu(), w_out)
    return torch.einsum("nec,ecd->nd", dispatch * gate[:, None, None], slots)


inputs = (torch.randn(9, D),)
