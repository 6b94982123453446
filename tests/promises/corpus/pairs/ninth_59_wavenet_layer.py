# EQUAL
import torch
from torch import nn

C, SKIP, DILATION = 6, 5, 2


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter = nn.Conv1d(C, C, 2, dilation=DILATION)
        self.gate = nn.Conv1d(C, C, 2, dilation=DILATION)
        self.residual = nn.Conv1d(C, C, 1)
        self.skip = nn.Conv1d(C, SKIP, 1)

    def forward(self, x):
        past = nn.functional.pad(x, (DILATION, 0))
        h = torch.tanh(self.filter(past)) * torch.sigmoid(self.gate(past))
        return x + self.residual(h), self.skip(h)


class FusedLayer(nn.Module):
    """One convolution in, one matmul out, as NVIDIA's kernels have it."""

    def __init__(self, src):
        super().__init__()
        self.in_layer = nn.Conv1d(C, 2 * C, 2, dilation=DILATION, padding=DILATION)
        self.res_skip = nn.Linear(C, C + SKIP)
        sd = src.state_dict()
        self.in_layer.weight.data = torch.cat([sd["filter.weight"], sd["gate.weight"]])
        self.in_layer.bias.data = torch.cat([sd["filter.bias"], sd["gate.bias"]])
        self.res_skip.weight.data = torch.cat([sd["residual.weight"], sd["skip.weight"]]).squeeze(-1)
        self.res_skip.bias.data = torch.cat([sd["residual.bias"], sd["skip.bias"]])

    def forward(self, x):
        acts = self.in_layer(x)[:, :, : x.shape[-1]]
        t, s = acts[:, :C], acts[:, C:]
        h = (2 * torch.sigmoid(2 * t) - 1) * torch.sigmoid(s)
        both = self.res_skip(h.transpose(1, 2)).transpose(1, 2)
        return x + both[:, :C], both[:, C:].clone()


torch.manual_seed(12)
left = Layer()
right = FusedLayer(left)
inputs = (torch.randn(2, C, 9),)
