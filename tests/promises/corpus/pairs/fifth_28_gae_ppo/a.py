import torch


def program(rewards, values, log_prob, old_log_prob):
    """Generalised advantages by the backward recursion, and the clipped objective on them."""
    gamma, lam, clip = 0.99, 0.95, 0.2
    batch, steps = rewards.shape
    advantage = torch.zeros(batch, dtype=rewards.dtype)
    advantages = []
    for t in reversed(range(steps)):
        delta = rewards[:, t] + gamma * values[:, t + 1] - values[:, t]
        advantage = delta + gamma * lam * advantage
        advantages.insert(0, advantage)
    advantages = torch.stack(advantages, dim=1)
    returns = advantages + values[:, :-1]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = torch.exp(log_prob - old_log_prob)
    unclipped = ratio * advantages
    clipped = torch.clamp(ratio, 1 - clip, 1 + clip) * advantages
    return -torch.min(unclipped, clipped).mean(), returns
