"""Generalised advantage estimation as in most PPO codebases."""
import torch


def gae(rewards, values, last_value, dones, gamma=0.99, lam=0.95):
    """rewards, values, dones: (T, N); last_value: (N,)."""
    steps = rewards.shape[0]
    advantages = torch.zeros_like(rewards)
    running = torch.zeros_like(last_value)
    for t in reversed(range(steps)):
        following = last_value if t == steps - 1 else values[t + 1]
        alive = 1.0 - dones[t].to(rewards.dtype)
        delta = rewards[t] + gamma * following * alive - values[t]
        running = delta + gamma * lam * alive * running
        advantages[t] = running
    return advantages, advantages + values


def inputs():
    return torch.randn(5, 3), torch.randn(5, 3), torch.randn(3), torch.rand(5, 3) < 0.3
