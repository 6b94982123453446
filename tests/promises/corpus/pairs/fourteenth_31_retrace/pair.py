"""Retrace(λ) targets: the backward recursion, and a matrix of trace products in log space that starts one step early (c_t instead of c_{t+1})."""
import math

import torch
from torch import nn

GAMMA, LAM = 0.97, 0.9


class left(nn.Module):
    def __init__(self, obs=4, actions=3):
        super().__init__()
        self.q, self.pi = nn.Linear(obs, actions), nn.Linear(obs, actions)

    def parts(self, obs, action, reward, logmu):
        q, logpi = self.q(obs), self.pi(obs).log_softmax(-1)
        value = (logpi.exp() * q).sum(-1)
        taken = q[:, :-1].gather(-1, action.unsqueeze(-1)).squeeze(-1)
        logp = logpi[:, :-1].gather(-1, action.unsqueeze(-1)).squeeze(-1)
        delta = reward + GAMMA * value[:, 1:] - taken
        return taken, delta, logp - logmu

    def forward(self, obs, action, reward, logmu):
        taken, delta, ratio = self.parts(obs, action, reward, logmu)
        c = LAM * torch.exp(ratio).clamp(max=1.0)
        n = delta.shape[1]
        acc, out = delta[:, -1], [delta[:, -1]]
        for t in range(n - 2, -1, -1):
            acc = delta[:, t] + GAMMA * c[:, t + 1] * acc
            out.append(acc)
        return taken + torch.stack(out[::-1], 1)


class right(left):
    def forward(self, obs, action, reward, logmu):
        taken, delta, ratio = self.parts(obs, action, reward, logmu)
        n = delta.shape[1]
        logc = math.log(LAM * GAMMA) + ratio.clamp(max=0.0)
        total = torch.cumsum(logc, 1) - logc               # products before each step
        trace = total[:, None, :] - total[:, :, None]      # [t, s]: from t to s
        keep = torch.ones(n, n, dtype=torch.bool).triu()
        weights = torch.where(keep, trace.exp(), 0.0)
        return taken + torch.einsum("bts,bs->bt", weights, delta)


def inputs():
    return torch.randn(2, 5, 4), torch.randint(0, 3, (2, 4)), torch.randn(2, 4), torch.randn(2, 4) * 0.3 - 1.1
