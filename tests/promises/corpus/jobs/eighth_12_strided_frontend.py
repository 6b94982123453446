"""The two convolutions in front of a speech encoder (Whisper's), with long audio cut along time. Each convolution fetches the
frames it needs from the neighbours; the second one has stride 2 and needs one on the left only."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

MELS, DIM, FRAMES = 5, 8, 24


class Frontend(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(MELS, DIM, 3, padding=1)
        self.conv2 = nn.Conv1d(DIM, DIM, 3, stride=2, padding=1)
        self.positions = nn.Embedding(FRAMES // 2, DIM)
        self.norm = nn.LayerNorm(DIM)

    def forward(self, mel):
        h = F.gelu(self.conv1(mel))
        h = F.gelu(self.conv2(h)).transpose(1, 2)
        return self.norm(h + self.positions.weight)


class TimeParallelFrontend(Frontend):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size

    def edges(self, h):
        """last frame of the rank on the left and first frame of the rank on the right"""
        mine = torch.stack([h[..., 0], h[..., -1]])
        everyones = [torch.empty_like(mine) for _ in range(self.world_size)]
        dist.all_gather(everyones, mine)
        zeros = torch.zeros_like(mine[0])
        left = everyones[self.rank - 1][1] if self.rank > 0 else zeros
        right = everyones[self.rank + 1][0] if self.rank + 1 < self.world_size else zeros
        return left.unsqueeze(-1), right.unsqueeze(-1)

    def forward(self, mel):
        left, right = self.edges(mel)
        h = F.gelu(F.conv1d(torch.cat([left, mel, right], -1), self.conv1.weight, self.conv1.bias))
        left, _ = self.edges(h)
        h = F.gelu(F.conv1d(torch.cat([left, h], -1), self.conv2.weight, self.conv2.bias, stride=2)).transpose(1, 2)
        length = h.shape[1]
        positions = torch.arange(self.rank * length, (self.rank + 1) * length)
        return self.norm(h + self.positions(positions))


def sequential():
    return Frontend()


def distributed(rank, world_size):
    return TimeParallelFrontend(rank, world_size)


def inputs():
    return torch.randn(2, MELS, FRAMES)


world_size = 3
relations = {"mel": "shard(2)"}
expected = {"0": "shard(1)"}

TRUTH = "refines"
