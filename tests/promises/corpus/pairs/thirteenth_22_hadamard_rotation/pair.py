"""QuaRot: the residual stream in a Hadamard basis, with the norms' weights taken into the projections."""
import torch
from torch import nn
import torch.nn.functional as F

DIM, HIDDEN, VOCAB = 16, 24, 20


def hadamard(n):
    h = torch.ones(1, 1)
    while h.shape[0] < n:
        h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)], 0)
    return h / n**0.5


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.norm = nn.RMSNorm(DIM, eps=1e-6)
        self.gate = nn.Linear(DIM, HIDDEN, bias=False)
        self.up = nn.Linear(DIM, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, DIM, bias=False)
        self.final_norm = nn.RMSNorm(DIM, eps=1e-6)
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)
        nn.init.normal_(self.norm.weight, 1.0, 0.2)
        nn.init.normal_(self.final_norm.weight, 1.0, 0.2)

    def forward(self, ids):
        x = self.embed(ids)
        y = self.norm(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return self.lm_head(self.final_norm(x))


class Rotated(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.register_buffer("h", hadamard(DIM))

    def read(self, linear, norm):
        return (linear.weight * norm.weight) @ self.h

    @staticmethod
    def rms(x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def forward(self, ids):
        m = self.model
        x = F.embedding(ids, m.embed.weight @ self.h)
        y = self.rms(x)
        act = F.silu(F.linear(y, self.read(m.gate, m.norm))) * F.linear(y, self.read(m.up, m.norm))
        x = x + F.linear(act, self.h.T @ m.down.weight)
        return F.linear(self.rms(x), self.read(m.lm_head, m.final_norm))


torch.manual_seed(0)
left = Model()
right = Rotated(left)


def inputs():
    return (torch.randint(0, VOCAB, (2, 5)),)
