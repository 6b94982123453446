"""Addressing and reading of a neural Turing machine's head."""
import torch
from torch.nn import functional as F


def left(memory, key, strength, gate, shift, gamma, previous):
    beta = F.softplus(strength)
    g = torch.sigmoid(gate)
    s = torch.softmax(shift, dim=-1)
    sharp = 1 + F.softplus(gamma)
    w_prev = torch.softmax(previous, dim=-1)

    similarity = F.cosine_similarity(memory + 1e-6, key.unsqueeze(1) + 1e-6, dim=-1)
    content = torch.softmax(beta * similarity, dim=-1)
    w = g * content + (1 - g) * w_prev
    w = s[:, 0:1] * torch.roll(w, -1, 1) + s[:, 1:2] * w + s[:, 2:3] * torch.roll(w, 1, 1)
    w = w**sharp
    w = w / w.sum(dim=-1, keepdim=True)
    return torch.bmm(w.unsqueeze(1), memory).squeeze(1), w


def right(memory, key, strength, gate, shift, gamma, previous):
    n = memory.shape[1]
    m_hat = F.normalize(memory + 1e-6, dim=-1, eps=1e-8)
    k_hat = F.normalize(key + 1e-6, dim=-1, eps=1e-8)
    content = (F.softplus(strength) * torch.einsum("bnd,bd->bn", m_hat, k_hat)).softmax(-1)
    w = torch.lerp(previous.softmax(-1), content, gate.sigmoid())

    # row i gathers from slots i + 1, i and i - 1
    around = (torch.arange(n)[:, None] + torch.tensor([1, 0, -1])) % n
    w = (w[:, around] * shift.softmax(-1)[:, None, :]).sum(-1)
    w = torch.softmax((1 + F.softplus(gamma)) * torch.log(w), dim=-1)
    return torch.einsum("bn,bnd->bd", w, memory), w


def inputs():
    b, n, d = 2, 6, 4
    return (
        torch.randn(b, n, d),
        torch.randn(b, d),
        torch.randn(b, 1),
        torch.randn(b, 1),
        torch.randn(b, 3),
        torch.randn(b, 1),
        torch.randn(b, n),
    )
