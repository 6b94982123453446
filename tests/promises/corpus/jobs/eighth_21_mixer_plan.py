"""MLP-Mixer with a tensor-parallel plan: both of its MLPs, the one over tokens and the one over channels, are cut Megatron-style."""

import torch
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

TOKENS, CHANNELS, CLASSES = 6, 8, 5


class MLP(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)
        self.act = nn.GELU()

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(CHANNELS)
        self.token_mix = MLP(TOKENS, 4)
        self.norm2 = nn.LayerNorm(CHANNELS)
        self.channel_mix = MLP(CHANNELS, 12)

    def forward(self, x):
        x = x + self.token_mix(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel_mix(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(10, CHANNELS)
        self.blocks = nn.ModuleList(MixerBlock() for _ in range(2))
        self.norm = nn.LayerNorm(CHANNELS)
        self.head = nn.Linear(CHANNELS, CLASSES)

    def forward(self, patches):
        x = self.stem(patches)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


sequential = Mixer

plan = {
    "blocks.*.token_mix.fc1": ColwiseParallel(),
    "blocks.*.token_mix.fc2": RowwiseParallel(),
    "blocks.*.channel_mix.fc1": ColwiseParallel(),
    "blocks.*.channel_mix.fc2": RowwiseParallel(),
}


def inputs():
    return (torch.randn(3, TOKENS, 10),)


world_size = 4

TRUTH = "refines"
