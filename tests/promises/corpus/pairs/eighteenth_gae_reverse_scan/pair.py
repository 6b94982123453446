import torch

GAMMA, LAMBDA = 0.99, 0.95


def reverse_scan(rewards, values, last_value, dones):
    """CleanRL / Stable-Baselines: one pass from the end."""
    steps = rewards.shape[0]
    advantages = torch.zeros_like(rewards)
    running = torch.zeros_like(last_value)
    for t in reversed(range(steps)):
        alive = 1.0 - dones[t]
        following = last_value if t == steps - 1 else values[t + 1]
        delta = rewards[t] + GAMMA * following * alive - values[t]
        running = delta + GAMMA * LAMBDA * alive * running
        advantages[t] = running
    return advantages, advantages + values


def by_definition(rewards, values, last_value, dones):
    """The sum of discounted errors, each weighted by how far the episode still runs."""
    alive = 1.0 - dones
    following = torch.cat([values[1:], last_value[None]])
    deltas = rewards - values + GAMMA * alive * following
    decay = GAMMA * LAMBDA * alive
    rows = []
    for t in range(rewards.shape[0]):
        weights = torch.cumprod(torch.cat([torch.ones_like(decay[:1]), decay[t:-1]]), dim=0)
        rows.append((weights * deltas[t:]).sum(dim=0))
    advantages = torch.stack(rows)
    return advantages, advantages + values


def example(T=5, N=3):
    return torch.randn(T, N), torch.randn(T, N), torch.randn(N), (torch.rand(T, N) < 0.3).to(torch.get_default_dtype())


def inputs():
    return example()
