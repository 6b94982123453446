import torch
from torch import nn


class BatchNorm(nn.Module):
    def __init__(self, size, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight, self.bias = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        mean = x.mean(0)
        var = (x - mean).square().mean(0)
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(var, self.momentum)
        return (x - mean) / torch.sqrt(var + self.eps) * self.weight + self.bias


class Right(nn.Module):
    def __init__(self, dim=6, hidden=8):
        super().__init__()
        self.fc = nn.Linear(dim, hidden)
        self.bn = BatchNorm(hidden)
        nn.init.normal_(self.bn.weight)
        self.train()

    def forward(self, x):
        return torch.relu(self.bn(self.fc(x)))


def inputs():
    return (torch.randn(5, 6),)
