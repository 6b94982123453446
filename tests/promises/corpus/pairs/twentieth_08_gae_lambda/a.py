"""Generalised advantages as in CleanRL's PPO, then normalised."""
import torch

GAMMA, LAMBDA = 0.99, 0.95


def by_deltas(rewards, values, dones, next_value, next_done):
    """rewards, values [T, N]; dones [T, N] bool: the episode ended before this step."""
    steps = rewards.shape[0]
    done = dones.to(rewards.dtype)
    advantages = torch.zeros_like(rewards)
    last = 0
    for t in reversed(range(steps)):
        if t == steps - 1:
            alive, following = 1.0 - next_done.to(rewards.dtype), next_value
        else:
            alive, following = 1.0 - done[t + 1], values[t + 1]
        delta = rewards[t] + GAMMA * following * alive - values[t]
        advantages[t] = last = delta + GAMMA * LAMBDA * alive * last
    returns = advantages + values
    flat = advantages.reshape(-1)
    normalised = (flat - flat.mean()) / (flat.std() + 1e-8)
    return returns, normalised


def inputs():
    return torch.randn(6, 3), torch.randn(6, 3), torch.rand(6, 3) < 0.3, torch.randn(3), torch.rand(3) < 0.3
