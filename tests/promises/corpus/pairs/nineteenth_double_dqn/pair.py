"""Double DQN with dueling heads and importance weights: loss and new priorities."""
import torch
from torch import nn
from torch.nn import functional as F

ACTIONS, GAMMA = 3, 0.99


class Dueling(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 8)
        self.value, self.advantage = nn.Linear(8, 1), nn.Linear(8, ACTIONS)

    def forward(self, s):
        h = F.relu(self.body(s))
        a = self.advantage(h)
        return self.value(h) + a - a.mean(-1, keepdim=True)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.online, self.target = Dueling(), Dueling()


class Gather(Agent):
    def forward(self, s, a, r, s2, done, weight):
        with torch.no_grad():
            best = self.online(s2).argmax(1, keepdim=True)
            bootstrap = self.target(s2).gather(1, best).squeeze(1)
            y = r + GAMMA * (1 - done.to(r.dtype)) * bootstrap
        q = self.online(s).gather(1, a[:, None]).squeeze(1)
        loss = (weight * F.smooth_l1_loss(q, y, reduction="none")).mean()
        return loss, (q - y).detach().abs() + 1e-6


class OneHot(Agent):
    def forward(self, s, a, r, s2, done, weight):
        n = s.shape[0]
        both = self.online(torch.cat([s, s2]))                       # one pass for both states
        q = (both[:n] * F.one_hot(a, ACTIONS)).sum(-1)
        chosen = F.one_hot(both[n:].max(-1).indices, ACTIONS)
        bootstrap = (self.target(s2) * chosen).sum(-1)
        y = torch.where(done, r, r + GAMMA * bootstrap).detach()
        error = q - y
        size = error.abs()
        huber = torch.where(size <= 1, error**2 / 2, size - 0.5)
        return torch.dot(weight, huber) / n, size.detach() + 1e-6


left, right = Gather, OneHot


def inputs():
    return (torch.randn(6, 5), torch.randint(0, ACTIONS, (6,)), torch.randn(6), torch.randn(6, 5),
            torch.rand(6) < 0.4, torch.rand(6))
