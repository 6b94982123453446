import math

import torch
from torch import nn

from a import program as original


def normalise(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-6)


def gelu_tanh(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))


class Block(nn.Module):
    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        for name in ("q", "k", "v", "o", "shift1", "scale1", "gate1", "shift2", "scale2", "gate2"):
            setattr(self, name, nn.Linear(width, width))
        self.up, self.down = nn.Linear(width, 32), nn.Linear(32, width)

    @classmethod
    @torch.no_grad()
    def port(cls, dit):
        block = cls()
        pieces = dict(zip(("q", "k", "v"), zip(dit.attn.qkv.weight.chunk(3), dit.attn.qkv.bias.chunk(3))))
        ada = dit.adaLN_modulation[1]
        names = ("shift1", "scale1", "gate1", "shift2", "scale2", "gate2")
        pieces.update(zip(names, zip(ada.weight.chunk(6), ada.bias.chunk(6))))
        pieces["o"] = dit.attn.proj.weight, dit.attn.proj.bias
        pieces["up"] = dit.mlp[0].weight, dit.mlp[0].bias
        pieces["down"] = dit.mlp[2].weight, dit.mlp[2].bias
        for name, (weight, bias) in pieces.items():
            getattr(block, name).weight.copy_(weight)
            getattr(block, name).bias.copy_(bias)
        return block

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def attend(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        p = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
        return self.o((p @ v).transpose(1, 2).flatten(2))

    def forward(self, x, c):
        c = (c * torch.sigmoid(c))[:, None]
        h = normalise(x)
        x = x + self.gate1(c) * self.attend(h + h * self.scale1(c) + self.shift1(c))
        h = normalise(x)
        h = h + h * self.scale2(c) + self.shift2(c)
        return x + self.gate2(c) * self.down(gelu_tanh(self.up(h)))


program = Block.port(original).eval()
