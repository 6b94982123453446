"""Soft actor-critic: actor loss with reparametrised noise and twin critics."""
import math

import torch
import torch.nn.functional as F
from torch import nn

OBS, ACT, HID = 5, 2, 16
LO, HI = -5.0, 2.0


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, HID), nn.ReLU(), nn.Linear(HID, o))


class SAC(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = mlp(OBS, 2 * ACT)
        self.q1, self.q2 = mlp(OBS + ACT, 1), mlp(OBS + ACT, 1)
        self.log_alpha = nn.Parameter(torch.tensor(-0.7))

    def forward(self, obs, eps):
        mu, ls = self.pi(obs).chunk(2, -1)
        ls = LO + 0.5 * (HI - LO) * (torch.tanh(ls) + 1)
        std = ls.exp()
        u = mu + std * eps
        logp = (-((u - mu) ** 2) / (2 * std ** 2) - ls - 0.5 * math.log(2 * math.pi)).sum(-1)
        logp = logp - (2 * (math.log(2) - u - F.softplus(-2 * u))).sum(-1)
        a = torch.tanh(u)
        sa = torch.cat([obs, a], -1)
        q = torch.min(self.q1(sa), self.q2(sa)).squeeze(-1)
        return (self.log_alpha.exp() * logp - q).mean(), a, logp


class Batched(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.mu_ls_1, self.mu_ls_2 = nn.Linear(OBS, HID), nn.Linear(HID, 2 * ACT)
        self.mu_ls_1.load_state_dict(s.pi[0].state_dict())
        self.mu_ls_2.load_state_dict(s.pi[2].state_dict())
        both = lambda i, n: torch.stack([getattr(q[i], n).detach() for q in (s.q1, s.q2)])
        self.W1 = nn.Parameter(both(0, "weight").mT.contiguous())
        self.b1 = nn.Parameter(both(0, "bias").unsqueeze(1))
        self.W2 = nn.Parameter(both(2, "weight").mT.contiguous())
        self.b2 = nn.Parameter(both(2, "bias").unsqueeze(1))
        self.log_alpha = nn.Parameter(s.log_alpha.detach().clone())

    def forward(self, obs, eps):
        out = self.mu_ls_2(self.mu_ls_1(obs).relu())
        mean, raw = out[:, :ACT], out[:, ACT:]
        log_std = 0.5 * (LO + HI) + 0.5 * (HI - LO) * raw.tanh()
        pre = torch.addcmul(mean, torch.exp(log_std), eps)
        gauss = -0.5 * eps.square().sum(-1) - log_std.sum(-1) - ACT * 0.5 * math.log(2 * math.pi)
        jac = F.logsigmoid(2 * pre) + F.logsigmoid(-2 * pre) + math.log(4)
        logp = gauss - jac.sum(-1)
        a = pre.tanh()
        x = torch.cat((obs, a), 1).expand(2, -1, -1)
        h = torch.baddbmm(self.b1, x, self.W1).relu()
        q = torch.baddbmm(self.b2, h, self.W2).amin(0)[:, 0]
        return torch.mean(logp * self.log_alpha.exp() - q), a, logp


left = SAC()
right = Batched(left)
inputs = (torch.randn(6, OBS), torch.randn(6, ACT))
