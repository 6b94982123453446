"""CD-1 the way Hinton's guide writes it: positive phase, negative phase, increments with momentum."""
import torch
from torch import nn


class Machine(nn.Module):
    def __init__(self, visible=7, hidden=5):
        super().__init__()
        self.W = nn.Parameter(torch.randn(hidden, visible) * 0.3, requires_grad=False)
        self.v_bias = nn.Parameter(torch.randn(visible) * 0.1, requires_grad=False)
        self.h_bias = nn.Parameter(torch.randn(hidden) * 0.1, requires_grad=False)


class ContrastiveDivergence:
    epsilon, momentum, cost = 0.1, 0.5, 1e-3

    def __init__(self):
        self.rbm = Machine()
        self.inc = [torch.zeros_like(p) for p in self.rbm.parameters()]

    def __call__(self, data, noise_h, noise_v):
        W, vb, hb = self.rbm.W, self.rbm.v_bias, self.rbm.h_bias
        cases = data.shape[0]
        # positive phase
        poshidprobs = torch.sigmoid(data @ W.T + hb)
        posprods = poshidprobs.T @ data
        poshidstates = (poshidprobs > noise_h).to(data.dtype)
        # negative phase
        negprobs = torch.sigmoid(poshidstates @ W + vb)
        negdata = (negprobs > noise_v).to(data.dtype)
        neghidprobs = torch.sigmoid(negdata @ W.T + hb)
        negprods = neghidprobs.T @ negdata
        error = (data - negprobs).square().sum() / data.numel()
        # update
        steps = (
            (posprods - negprods) / cases,
            (data.sum(0) - negdata.sum(0)) / cases,
            (poshidprobs.sum(0) - neghidprobs.sum(0)) / cases,
        )
        for p, inc, step in zip((W, vb, hb), self.inc, steps):
            inc.mul_(self.momentum).add_(self.epsilon * (step - self.cost * p))
            p.add_(inc)
        return error
