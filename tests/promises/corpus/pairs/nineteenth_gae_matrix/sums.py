"""GAE as a weighted sum of TD errors, all steps at once."""
import torch


def advantages(rewards, values, last_value, dones):
    gamma, lam = 0.99, 0.95
    steps = rewards.shape[0]
    following = torch.cat([values[1:], last_value[None]])
    delta = torch.where(dones, rewards, rewards + gamma * following) - values
    total = delta
    weight = torch.ones_like(delta)
    for n in range(1, steps):
        # weight[t] = prod_{k<n} gamma * lam * alive[t + k], as long as t + n is inside
        weight = weight[:-1] * (gamma * lam) * ~dones[n - 1 : steps - 1]
        later = weight * delta[n:]
        total = total + torch.nn.functional.pad(later, (0, 0, 0, n))
    return total, values + total
