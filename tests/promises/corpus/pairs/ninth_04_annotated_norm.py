# DIFFERENT
import torch
from torch import nn


class LayerNorm(nn.Module):
    "The norm of a well-known tutorial."

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


torch.manual_seed(6)
left = nn.LayerNorm(10, eps=1e-6)
nn.init.normal_(left.weight)
nn.init.normal_(left.bias)
right = LayerNorm(10)
right.a_2.data.copy_(left.weight.data)
right.b_2.data.copy_(left.bias.data)
inputs = (torch.randn(3, 4, 10),)
