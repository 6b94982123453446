# EQUAL
# minGRU ("Were RNNs all we needed?"): step by step, and the parallel form in log space (Heinsen scan)
import torch
from torch import nn
import torch.nn.functional as F


def g(x):
    return torch.where(x >= 0, x + 0.5, torch.sigmoid(x))


def log_g(x):
    return torch.where(x >= 0, (F.relu(x) + 0.5).log(), -F.softplus(-x))


class MinGRU(nn.Module):
    def __init__(self, dim=4, hidden=5):
        super().__init__()
        self.to_z = nn.Linear(dim, hidden)
        self.to_h = nn.Linear(dim, hidden)

    def forward(self, x, h0):
        h = g(h0)
        out = []
        for t in range(x.shape[1]):
            z = torch.sigmoid(self.to_z(x[:, t]))
            h = (1 - z) * h + z * g(self.to_h(x[:, t]))
            out.append(h)
        return torch.stack(out, 1)


class ParallelMinGRU(MinGRU):
    def forward(self, x, h0):
        k = self.to_z(x)
        log_z = -F.softplus(-k)
        log_coeffs = -F.softplus(k)
        log_values = torch.cat([log_g(h0).unsqueeze(1), log_z + log_g(self.to_h(x))], dim=1)
        a_star = F.pad(torch.cumsum(log_coeffs, dim=1), (0, 0, 1, 0))
        log_h = a_star + torch.logcumsumexp(log_values - a_star, dim=1)
        return log_h.exp()[:, 1:]


left, right = MinGRU, ParallelMinGRU


def inputs():
    return torch.randn(2, 5, 4), torch.randn(2, 5)
