# DIFFERENT
"""One step of TD(0) with a value network."""
import torch
from torch import nn

GAMMA = 0.95


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1988)
        self.body = nn.Linear(5, 8)
        self.value = nn.Linear(8, 1)
        self.sgd = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)

    def v(self, s):
        return self.value(torch.tanh(self.body(s))).squeeze(-1)

    def forward(self, s, r, s2, done):
        self.sgd.zero_grad()
        with torch.no_grad():
            target = r + GAMMA * (1 - done) * self.v(s2)
        loss = 0.5 * (self.v(s) - target).pow(2).mean()
        loss.backward()
        self.sgd.step()
        return loss.detach()


class CriticBatched(Critic):
    def forward(self, s, r, s2, done):
        both = self.v(torch.cat([s, s2]))
        now, later = both.split([s.shape[0], s2.shape[0]])
        delta = r + GAMMA * later * (1 - done) - now
        loss = delta.square().sum() / (2 * delta.shape[0])
        self.sgd.zero_grad()
        loss.backward()
        self.sgd.step()
        return loss.detach()


left = Critic
right = CriticBatched


def inputs():
    torch.manual_seed(3)
    done = (torch.rand(6) < 0.3).to(torch.get_default_dtype())
    return torch.randn(6, 5), torch.randn(6), torch.randn(6, 5), done
