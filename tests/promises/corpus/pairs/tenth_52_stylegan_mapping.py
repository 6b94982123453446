# EQUAL
# StyleGAN2 mapping network with equalised learning rate, and its export with all gains folded into the weights
import math
import torch
from torch import nn
import torch.nn.functional as F

LR_MUL = 0.01


class EqualLinear(nn.Module):
    def __init__(self, in_dim, out_dim, lr_mul=LR_MUL):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_dim, in_dim) / lr_mul)
        self.bias = nn.Parameter(torch.randn(out_dim))
        self.scale = lr_mul / math.sqrt(in_dim)
        self.lr_mul = lr_mul

    def forward(self, x):
        out = F.linear(x, self.weight * self.scale)
        return F.leaky_relu(out + self.bias * self.lr_mul, 0.2) * math.sqrt(2)


class MappingNetwork(nn.Module):
    def __init__(self, z_dim=6, w_dim=8, layers=3, num_ws=4):
        super().__init__()
        self.num_ws = num_ws
        dims = [z_dim] + [w_dim] * layers
        self.layers = nn.ModuleList(EqualLinear(a, b) for a, b in zip(dims, dims[1:]))
        self.register_buffer("w_avg", torch.randn(w_dim))

    def forward(self, z, psi=0.7):
        x = z * (z.square().mean(1, keepdim=True) + 1e-8).rsqrt()
        for layer in self.layers:
            x = layer(x)
        x = x.unsqueeze(1).repeat(1, self.num_ws, 1)
        return self.w_avg.lerp(x, psi)


class ExportedMapping(nn.Module):
    def __init__(self):
        super().__init__()
        net = MappingNetwork()
        self.fcs = nn.ModuleList()
        for layer in net.layers:
            fc = nn.Linear(layer.weight.shape[1], layer.weight.shape[0])
            fc.weight.data = layer.weight.detach() * (layer.scale * math.sqrt(2))
            fc.bias.data = layer.bias.detach() * (layer.lr_mul * math.sqrt(2))
            self.fcs.append(fc)
        self.num_ws = net.num_ws
        self.register_buffer("w_avg", net.w_avg)

    def forward(self, z):
        x = z / torch.sqrt(torch.mean(z ** 2, dim=1, keepdim=True) + 1e-8)
        for fc in self.fcs:
            y = fc(x)
            x = torch.maximum(y, 0.2 * y)
        w = self.w_avg + 0.7 * (x - self.w_avg)
        return torch.stack([w] * self.num_ws, dim=1)


left, right = MappingNetwork, ExportedMapping


def inputs():
    return (torch.randn(3, 6),)
