"""Multi-head latent attention, one decoded token over a latent cache: keys decompressed, or W_UK and W_UV absorbed."""
import torch
from torch import nn

HEADS, NOPE, ROPE, V, RANK, DIM = 2, 4, 4, 3, 5, 8


def layers(self):
    self.q = nn.Linear(DIM, HEADS * (NOPE + ROPE), bias=False)
    self.kv_a = nn.Linear(DIM, RANK + ROPE, bias=False)
    self.kv_b = nn.Linear(RANK, HEADS * (NOPE + V), bias=False)
    self.o = nn.Linear(HEADS * V, DIM, bias=False)


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Decompressed(nn.Module):
    def __init__(self):
        super().__init__()
        layers(self)

    def forward(self, x, latent, k_pe, cos, sin):
        q, q_pe = self.q(x).view(-1, HEADS, NOPE + ROPE).split([NOPE, ROPE], -1)
        c, pe = self.kv_a(x).split([RANK, ROPE], -1)
        latent = torch.cat([latent, c[:, None]], 1)
        k_pe = torch.cat([k_pe, rotate(pe, cos, sin)[:, None]], 1)
        k, v = self.kv_b(latent).unflatten(-1, (HEADS, NOPE + V)).split([NOPE, V], -1)
        keys = torch.cat([k, k_pe[:, :, None].expand(-1, -1, HEADS, -1)], -1)
        queries = torch.cat([q, rotate(q_pe, cos, sin)], -1)
        p = (torch.einsum("bhd,bshd->bhs", queries, keys) * (NOPE + ROPE) ** -0.5).softmax(-1)
        return self.o(torch.einsum("bhs,bshd->bhd", p, v).flatten(1)), latent, k_pe


class Absorbed(nn.Module):
    def __init__(self):
        super().__init__()
        layers(self)

    def forward(self, x, latent, k_pe, cos, sin):
        q = self.q(x).view(-1, HEADS, NOPE + ROPE)
        c, pe = self.kv_a(x).split([RANK, ROPE], -1)
        latent = torch.cat([latent, c.unsqueeze(1)], 1)
        k_pe = torch.cat([k_pe, rotate(pe, cos, sin).unsqueeze(1)], 1)
        up = self.kv_b.weight.view(HEADS, NOPE + V, RANK)
        q_latent = torch.einsum("bhd,hdr->bhr", q[..., :NOPE], up[:, :NOPE])
        scores = q_latent @ latent.mT + rotate(q[..., NOPE:], cos, sin) @ k_pe.mT
        mixed = (scores / (NOPE + ROPE) ** 0.5).softmax(-1) @ latent
        return self.o(torch.einsum("bhr,hvr->bhv", mixed, up[:, NOPE:]).flatten(1)), latent, k_pe


left, right = Decompressed, Absorbed


def inputs():
    angle = 7.0 / 100 ** (torch.arange(ROPE // 2) / (ROPE // 2))
    return torch.randn(3, DIM), torch.randn(3, 6, RANK), torch.randn(3, 6, ROPE), angle.cos(), angle.sin()
