"""Four-bit weights, eight to an int32, with a scale and a zero for each group of inputs; column then row parallel."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Columns are cut between packed words, and rows between groups, so that each rank dequantises exactly its part of both matrices."

world_size = 2

D, HIDDEN, GROUP = 16, 32, 4
SHIFTS = torch.arange(0, 32, 4)


def unpack(words):
    return ((words[..., None] >> SHIFTS) & 15).flatten(-2)


class Quantised(nn.Module):
    def __init__(self, words, zeros, scales):
        super().__init__()
        self.register_buffer("words", words)                       # inputs, outputs / 8
        self.register_buffer("zeros", zeros)                       # groups, outputs / 8
        self.register_buffer("scales", scales)                     # groups, outputs

    def forward(self, x):
        codes = unpack(self.words) - unpack(self.zeros).repeat_interleave(GROUP, 0)
        return x @ (codes * self.scales.repeat_interleave(GROUP, 0))

    def columns(self, rank, size):
        return Quantised(*(t.chunk(size, 1)[rank].contiguous() for t in (self.words, self.zeros, self.scales)))

    def rows(self, rank, size):
        return Quantised(*(t.chunk(size, 0)[rank].contiguous() for t in (self.words, self.zeros, self.scales)))


def random_layer(inputs, outputs):
    words = torch.randint(-(2**31), 2**31, (inputs, outputs // 8), dtype=torch.int64).to(torch.int32)
    zeros = torch.randint(-(2**31), 2**31, (inputs // GROUP, outputs // 8), dtype=torch.int64).to(torch.int32)
    return Quantised(words, zeros, 0.02 + 0.02 * torch.rand(inputs // GROUP, outputs))


class MLP(nn.Module):
    def __init__(self, gate, up, down):
        super().__init__()
        self.gate, self.up, self.down = gate, up, down

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class ParallelMLP(MLP):
    def forward(self, x):
        out = super().forward(x)
        dist.all_reduce(out)
        return out


def sequential():
    torch.manual_seed(27)
    return MLP(random_layer(D, HIDDEN), random_layer(D, HIDDEN), random_layer(HIDDEN, D))


def distributed(rank, world_size):
    full = sequential()
    return ParallelMLP(full.gate.columns(rank, world_size), full.up.columns(rank, world_size), full.down.rows(rank, world_size))


def inputs():
    torch.manual_seed(28)
    return (torch.randn(3, D),)
