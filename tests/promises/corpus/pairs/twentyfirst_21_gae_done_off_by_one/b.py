"""Vectorised: all deltas at once, then the recurrence."""
import torch

GAMMA, LAMBDA = 0.99, 0.95


def advantages(rewards, values, dones, next_value, next_done):
    following = torch.cat([values[1:], next_value[None]])
    alive = 1 - dones
    delta = rewards + GAMMA * alive * following - values
    decay = GAMMA * LAMBDA * alive
    carry = torch.zeros_like(next_value)
    out = torch.empty_like(rewards)
    for t in range(rewards.shape[0] - 1, -1, -1):
        carry = delta[t] + decay[t] * carry
        out[t] = carry
    return out, out + values
