"""Generalised advantages as in CleanRL: dones[t] says whether the state at t began an episode."""
import torch

GAMMA, LAMBDA = 0.99, 0.95


def advantages(rewards, values, dones, next_value, next_done):
    steps = rewards.shape[0]
    out = []
    last = torch.zeros_like(next_value)
    for t in reversed(range(steps)):
        if t == steps - 1:
            nextnonterminal = 1.0 - next_done
            nextvalues = next_value
        else:
            nextnonterminal = 1.0 - dones[t + 1]
            nextvalues = values[t + 1]
        delta = rewards[t] + GAMMA * nextvalues * nextnonterminal - values[t]
        last = delta + GAMMA * LAMBDA * nextnonterminal * last
        out.append(last)
    adv = torch.stack(out[::-1])
    return adv, adv + values


def inputs():
    t, n = 5, 3
    dones = torch.zeros(t, n)
    dones[2, 0], dones[4, 1] = 1.0, 1.0
    return torch.randn(t, n), torch.randn(t, n), dones, torch.randn(n), torch.tensor([0.0, 0.0, 1.0])
