"""The same net sample by sample, as a vocoder streams: each layer keeps a queue of its last inputs (Fast WaveNet)."""

from collections import deque

import torch
from a import WaveNet
from torch import nn


class StreamingWaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = WaveNet()

    @staticmethod
    def pointwise(conv, x):
        return x @ conv.weight.squeeze(-1).t() + conv.bias

    def step(self, x, queues):
        h = self.pointwise(self.net.entry, x)                            # [B, channels]
        skips = []
        for block, queue in zip(self.net.blocks, queues):
            old = queue.popleft()
            queue.append(h)
            w = block.dilated.weight
            pre = old @ w[:, :, 0].t() + h @ w[:, :, 1].t() + block.dilated.bias
            C = h.shape[1]
            z = pre[:, :C].tanh() * pre[:, C:].sigmoid()
            skips.append(self.pointwise(block.skip, z))
            h = h + self.pointwise(block.residual, z)
        y = torch.stack(skips).sum(0).relu()
        return self.pointwise(self.net.out2, self.pointwise(self.net.out1, y).relu())

    def forward(self, x):
        B, T, _ = x.shape
        queues = []
        for block in self.net.blocks:
            channels = block.residual.in_channels
            queues.append(deque(x.new_zeros(B, channels) for _ in range(block.dilated.dilation[0])))
        steps = [self.step(x[:, t], queues) for t in range(T)]
        y = torch.stack(steps, dim=1)
        return y - y.exp().sum(-1, keepdim=True).log()
