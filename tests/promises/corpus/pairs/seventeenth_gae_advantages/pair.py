"""Generalised advantage estimation: the rollout buffer of CleanRL, and our refactored one."""
import torch

GAMMA, LAM = 0.99, 0.95
T, N = 6, 3


def left(rewards, values, dones, next_value, next_done):
    num_steps = rewards.shape[0]
    advantages = torch.zeros_like(rewards)
    lastgaelam = 0
    for t in reversed(range(num_steps)):
        if t == num_steps - 1:
            nextnonterminal = 1.0 - next_done
            nextvalues = next_value
        else:
            nextnonterminal = 1.0 - dones[t + 1]
            nextvalues = values[t + 1]
        delta = rewards[t] + GAMMA * nextvalues * nextnonterminal - values[t]
        advantages[t] = lastgaelam = delta + GAMMA * LAM * nextnonterminal * lastgaelam
    returns = advantages + values
    return advantages, returns


def right(rewards, values, dones, next_value, next_done):
    alive = 1.0 - torch.cat([dones[1:], next_done[None]])
    value_after = torch.cat([values[1:], next_value[None]])
    delta = rewards + GAMMA * alive * value_after - values
    carry, out = torch.zeros_like(next_value), []
    for d, a in zip(delta.flip(0).unbind(0), alive.flip(0).unbind(0)):
        carry = torch.addcmul(d, a, carry, value=GAMMA * LAM)
        out.append(carry)
    advantages = torch.stack(out[::-1])
    return advantages, values + advantages


def inputs():
    dones = (torch.rand(T, N) < 0.3).to(torch.get_default_dtype())
    next_done = torch.zeros(N)
    next_done[0] = 1.0
    return torch.randn(T, N), torch.randn(T, N), dones, torch.randn(N), next_done
