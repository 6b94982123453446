import torch
from torch import nn

from a import program as original


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


class SublayerConnection(nn.Module):
    def __init__(self, features=12):
        super().__init__()
        self.norm = LayerNorm(features)
        self.w_1 = nn.Linear(features, 24)
        self.w_2 = nn.Linear(24, features)

    def forward(self, x):
        return x + self.w_2(torch.relu(self.w_1(self.norm(x))))


program = SublayerConnection().eval()
state = original.state_dict()
state["norm.a_2"], state["norm.b_2"] = state.pop("norm.weight"), state.pop("norm.bias")
program.load_state_dict(state)
