"""DenseFormer: after each block the input of the next is a learnt mean of all block outputs so far."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
DIM, DEPTH = 10, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.RMSNorm(DIM, eps=1e-5)
        self.fc = nn.Linear(DIM, 2 * DIM)
        self.pj = nn.Linear(2 * DIM, DIM)

    def forward(self, x):
        return x + self.pj(F.relu(self.fc(self.ln(x))).square())


class DWA(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.alphas = nn.Parameter(torch.randn(n) * 0.3)

    def forward(self, history):
        total = self.alphas[0] * history[0]
        for a, h in zip(self.alphas[1:], history[1:]):
            total = total + a * h
        return total


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.dwa = nn.ModuleList(DWA(i + 2) for i in range(DEPTH))

    def forward(self, x):
        seen = [x]
        for block, mix in zip(self.blocks, self.dwa):
            seen.append(block(x))
            x = mix(seen)
        return x


class Stacked(nn.Module):
    def __init__(self, dense):
        super().__init__()
        self.layers = nn.ModuleList(Block() for _ in range(DEPTH))
        self.layers.load_state_dict(dense.blocks.state_dict())
        self.flat = nn.Parameter(torch.cat([m.alphas.data for m in dense.dwa]))

    def forward(self, x):
        memory = x.new_zeros(DEPTH + 1, *x.shape)
        memory[0] = x
        start = 0
        for i, layer in enumerate(self.layers):
            y = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * x * layer.ln.weight
            y = torch.clamp(layer.fc(y), min=0) ** 2
            memory[i + 1] = x + layer.pj(y)
            w = self.flat[start:start + i + 2]
            x = torch.tensordot(w, memory[:i + 2], dims=1)
            start += i + 2
        return x


left = Dense()
right = Stacked(left)
inputs = (torch.randn(3, 4, DIM),)
