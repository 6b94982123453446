"""CD-1 for a Bernoulli RBM: autograd of the difference of free energies, SGD with momentum and weight decay."""
import torch
from torch import nn
from torch.nn import functional as F


class RBM(nn.Module):
    def __init__(self, visible=7, hidden=5):
        super().__init__()
        self.W = nn.Parameter(torch.randn(hidden, visible) * 0.3)
        self.v_bias = nn.Parameter(torch.randn(visible) * 0.1)
        self.h_bias = nn.Parameter(torch.randn(hidden) * 0.1)

    def free_energy(self, v):
        vbias_term = v.mv(self.v_bias)
        hidden_term = F.softplus(F.linear(v, self.W, self.h_bias)).sum(1)
        return -hidden_term - vbias_term

    @torch.no_grad()
    def gibbs(self, v, noise_h, noise_v):
        h = (torch.sigmoid(F.linear(v, self.W, self.h_bias)) > noise_h).to(v.dtype)
        p_v = torch.sigmoid(F.linear(h, self.W.t(), self.v_bias))
        return p_v, (p_v > noise_v).to(v.dtype)


class Autograd:
    def __init__(self):
        self.rbm = RBM()
        self.opt = torch.optim.SGD(self.rbm.parameters(), lr=0.1, momentum=0.5, weight_decay=1e-3)

    def __call__(self, v, noise_h, noise_v):
        mean, v_k = self.rbm.gibbs(v, noise_h, noise_v)
        loss = self.rbm.free_energy(v).mean() - self.rbm.free_energy(v_k).mean()
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        return F.mse_loss(mean, v)


def inputs():
    return torch.rand(4, 7), torch.rand(4, 5), torch.rand(4, 7)
