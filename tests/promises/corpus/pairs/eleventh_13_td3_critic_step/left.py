import torch
from torch import nn
from torch.nn import functional as F


class Critic(nn.Module):
    def __init__(self, obs=5, act=2, hidden=8):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.q2 = nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, obs, act):
        x = torch.cat([obs, act], dim=-1)
        return self.q1(x), self.q2(x)


class Left:
    def __init__(self):
        torch.manual_seed(0)
        self.actor_target = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2), nn.Tanh())
        self.critic, self.critic_target = Critic(), Critic()
        self.optimizer = torch.optim.SGD(self.critic.parameters(), lr=0.05)

    def __call__(self, obs, act, reward, next_obs, done, noise):
        with torch.no_grad():
            next_act = (self.actor_target(next_obs) + (noise * 0.2).clamp(-0.5, 0.5)).clamp(-1, 1)
            t1, t2 = self.critic_target(next_obs, next_act)
            target = reward + (~done) * 0.99 * torch.min(t1, t2)
        q1, q2 = self.critic(obs, act)
        loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        with torch.no_grad():
            for p, t in zip(self.critic.parameters(), self.critic_target.parameters()):
                t.data.mul_(1 - 0.005).add_(0.005 * p.data)
        return loss.detach()


def inputs():
    done = torch.tensor([[False], [True], [False], [False]])
    return torch.randn(4, 5), torch.randn(4, 2).tanh(), torch.randn(4, 1), torch.randn(4, 5), done, torch.randn(4, 2)
