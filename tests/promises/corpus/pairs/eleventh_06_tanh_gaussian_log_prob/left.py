import torch

from torch.distributions import Normal


def sample(mean, log_std, noise):
    std = log_std.clamp(-5, 2).exp()
    u = mean + std * noise
    action = torch.tanh(u)
    log_prob = Normal(mean, std).log_prob(u) - torch.log(1 - action.pow(2))
    return action, log_prob.sum(-1, keepdim=True)


def inputs():
    return torch.randn(5, 3), 0.3 * torch.randn(5, 3), torch.randn(5, 3)
