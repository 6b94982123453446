"""The same from λ-returns: R[t] = r[t] + γ·alive·((1 − λ) V[t+1] + λ R[t+1])."""
import torch

GAMMA, LAMBDA = 0.99, 0.95


def by_returns(rewards, values, dones, next_value, next_done):
    ended = torch.cat((dones[1:], next_done.unsqueeze(0)))
    following = torch.cat((values[1:], next_value.unsqueeze(0)))
    discount = torch.where(ended, 0.0, GAMMA)
    base = rewards + discount * (1 - LAMBDA) * following
    running = next_value
    returns = []
    for t in range(rewards.shape[0] - 1, -1, -1):
        running = base[t] + discount[t] * LAMBDA * running
        returns.append(running)
    returns = torch.stack(returns[::-1])
    advantages = returns - values
    centred = (advantages - advantages.mean()).flatten()
    deviation = (centred.square().sum() / (centred.numel() - 1)).sqrt()
    return returns, centred / (deviation + 1e-8)
