"""RotatE scores of triples with corrupted tails, in complex and in real numbers."""
import math

import torch
from torch import nn
from torch.nn import functional as F

ENTITIES, RELATIONS, DIM, GAMMA = 13, 5, 6, 9.0


class Tables(nn.Module):
    def __init__(self):
        super().__init__()
        self.entity = nn.Embedding(ENTITIES, 2 * DIM)
        self.relation = nn.Embedding(RELATIONS, DIM)
        self.span = (GAMMA + 2.0) / DIM


class ComplexRotation(Tables):
    def forward(self, head, relation, tails):
        def as_complex(e):
            re, im = e.chunk(2, -1)
            return torch.complex(re, im)

        h, t = as_complex(self.entity(head)), as_complex(self.entity(tails))
        phase = self.relation(relation) / (self.span / math.pi)
        r = torch.polar(torch.ones_like(phase), phase)
        distance = ((h * r).unsqueeze(1) - t).abs().sum(-1)
        score = GAMMA - distance
        return -F.logsigmoid(score[:, 0]) - F.logsigmoid(-score[:, 1:]).mean(-1)


class RealRotation(Tables):
    def forward(self, head, relation, tails):
        phase = self.relation(relation) * (math.pi / self.span)
        cos, sin = phase.cos(), phase.sin()
        hr, hi = self.entity(head).split(DIM, -1)
        turned = torch.stack([hr * cos - hi * sin, hr * sin + hi * cos], dim=1)
        tail = self.entity(tails).unflatten(-1, (2, DIM))
        distance = torch.linalg.vector_norm(tail - turned[:, None], dim=2).sum(-1)
        positive, negative = (GAMMA - distance).split([1, tails.shape[1] - 1], dim=1)
        return F.softplus(-positive).squeeze(1) + F.softplus(negative).mean(1)


def left():
    return ComplexRotation()


def right():
    return RealRotation()


def inputs():
    return (torch.randint(0, ENTITIES, (3,)), torch.randint(0, RELATIONS, (3,)), torch.randint(0, ENTITIES, (3, 4)))
