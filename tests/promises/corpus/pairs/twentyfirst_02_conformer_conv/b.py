import torch
from torch import nn
from torch.nn import functional as F

import a


class StreamingConv(nn.Module):
    """Channels stay last; the pointwise convolutions are matmuls; batch norm is folded into the taps."""

    def __init__(self, m):
        super().__init__()
        c = m.depthwise_conv.weight.shape[0]
        self.norm_weight, self.norm_bias, self.eps = m.layer_norm.weight, m.layer_norm.bias, m.layer_norm.eps
        self.value = nn.Parameter(m.pointwise_conv1.weight.detach()[:c, :, 0].clone())
        self.gate = nn.Parameter(m.pointwise_conv1.weight.detach()[c:, :, 0].clone())
        scale = m.batch_norm.weight.detach() / torch.sqrt(m.batch_norm.running_var + m.batch_norm.eps)
        self.taps = nn.Parameter((m.depthwise_conv.weight.detach()[:, 0] * scale[:, None]).T.contiguous())
        self.shift = nn.Parameter(m.batch_norm.bias.detach() - m.batch_norm.running_mean * scale)
        self.out = nn.Parameter(m.pointwise_conv2.weight.detach()[:, :, 0].clone())

    def forward(self, hidden, pad_mask):
        h = F.layer_norm(hidden, (hidden.shape[-1],), self.norm_weight, self.norm_bias, self.eps)
        h = torch.where(pad_mask[..., None], torch.zeros_like(h), h)
        h = (h @ self.value.T) * torch.sigmoid(h @ self.gate.T)
        k, t = self.taps.shape[0], h.shape[1]
        padded = F.pad(h, (0, 0, k // 2, k // 2))
        y = self.shift.expand_as(h)
        for i in range(k):
            y = y + padded[:, i:i + t] * self.taps[i]
        y = y * torch.sigmoid(y)
        return hidden + F.linear(y, self.out)


def make():
    return StreamingConv(a.make()).eval()
