"""Tabular head: BatchNorm1d -> Linear -> ReLU -> Linear, exported with the norm folded forwards."""
import torch
from torch import nn


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(10, eps=1e-3)
        self.fc = nn.Linear(10, 7)
        self.head = nn.Linear(7, 3)
        nn.init.normal_(self.bn.weight)
        nn.init.normal_(self.bn.bias)
        self.bn.running_mean.normal_()
        self.bn.running_var.uniform_(0.5, 2.0)

    def forward(self, x):
        return self.head(torch.relu(self.fc(self.bn(x))))


class Deployed(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.fc, self.head = nn.Linear(10, 7), nn.Linear(7, 3)
        self.head.load_state_dict(ref.head.state_dict())
        with torch.no_grad():
            scale = ref.bn.weight / torch.sqrt(ref.bn.running_var + ref.bn.eps)
            shift = ref.bn.bias - ref.bn.running_mean * scale
            self.fc.weight.copy_(ref.fc.weight * scale)
            self.fc.bias.copy_(ref.fc.bias + ref.fc.weight @ shift)

    def forward(self, x):
        return self.head(self.fc(x).clamp(min=0))


left = Trained().eval()
right = Deployed(left).eval()
inputs = (torch.randn(6, 10),)
