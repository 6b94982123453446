"""PPO on environments spread over ranks: GAE per environment, advantages whitened over the whole rollout, clipped surrogate."""

import torch
import torch.distributed as dist
from torch import nn

GAMMA, LAMBDA, CLIP, VF = 0.99, 0.95, 0.2, 0.5


class ActorCritic(nn.Module):
    def __init__(self, obs=5, actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 16), nn.Tanh())
        self.pi = nn.Linear(16, actions)
        self.v = nn.Linear(16, 1)

    def forward(self, obs):
        h = self.body(obs)
        return torch.log_softmax(self.pi(h), -1), self.v(h).squeeze(-1)


def gae(rewards, values, last_value):
    steps = rewards.shape[1]
    advantages, running = [], torch.zeros_like(last_value)
    for t in reversed(range(steps)):
        following = values[:, t + 1] if t + 1 < steps else last_value
        delta = rewards[:, t] + GAMMA * following - values[:, t]
        running = delta + GAMMA * LAMBDA * running
        advantages.append(running)
    return torch.stack(advantages[::-1], 1)


def whiten(advantages):
    mean = advantages.mean()
    var = (advantages - mean).square().mean()
    return (advantages - mean) * torch.rsqrt(var + 1e-8)


def whiten_over_ranks(advantages):
    stats = torch.stack([advantages.mean(), advantages.var(unbiased=False)])
    dist.all_reduce(stats)
    mean, var = stats / dist.get_world_size()
    return (advantages - mean) * torch.rsqrt(var + 1e-8)


class PPOLoss(nn.Module):
    whiten = staticmethod(whiten)

    def __init__(self):
        super().__init__()
        self.net = ActorCritic()

    def forward(self, obs, actions, rewards, old_logp, old_values, last_value):
        advantages = gae(rewards, old_values, last_value)
        returns = advantages + old_values
        advantages = self.whiten(advantages)
        logp, values = self.net(obs)
        logp = logp.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        ratio = (logp - old_logp).exp()
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)
        policy_loss, value_loss = -surrogate.mean(), (values - returns).square().mean()
        return {"loss": policy_loss + VF * value_loss, "policy_loss": policy_loss, "value_loss": value_loss}


class DistributedPPOLoss(PPOLoss):
    whiten = staticmethod(whiten_over_ranks)

    def forward(self, *rollout):
        means = {}
        for name, value in super().forward(*rollout).items():
            value = value.detach()
            dist.all_reduce(value)
            means[name] = value / dist.get_world_size()
        return means


def sequential():
    return PPOLoss()


def distributed(rank, world_size):
    return DistributedPPOLoss()


def inputs():
    envs, steps = 6, 5
    return {
        "obs": torch.randn(envs, steps, 5),
        "actions": torch.randint(0, 3, (envs, steps)),
        "rewards": torch.randn(envs, steps),
        "old_logp": -torch.rand(envs, steps) - 0.5,
        "old_values": torch.randn(envs, steps),
        "last_value": torch.randn(envs),
    }


world_size = 3
relations = {name: "shard(0)" for name in ("obs", "actions", "rewards", "old_logp", "old_values", "last_value")}

TRUTH = "differs"
# WHY: the variance over all ranks is not the mean of the variances about each rank's own mean: the spread of the ranks' means is
# lost. E[a^2] - mean^2 (or a second reduction about the global mean) would be right.
