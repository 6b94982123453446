# EQUAL
import torch

GAMMA, LAM = 0.97, 0.9


def left(rewards, values, last_value, dones):
    steps = rewards.shape[0]
    adv = []
    running = torch.zeros_like(last_value)
    for t in reversed(range(steps)):
        nxt = last_value if t == steps - 1 else values[t + 1]
        alive = 1 - dones[t]
        delta = rewards[t] + GAMMA * nxt * alive - values[t]
        running = delta + GAMMA * LAM * alive * running
        adv.append(running)
    return torch.stack(adv[::-1])


def right(rewards, values, last_value, dones):
    steps = rewards.shape[0]
    nxt = torch.cat([values[1:], last_value[None]])
    delta = rewards + GAMMA * nxt * (1 - dones) - values
    decay = GAMMA * LAM * (1 - dones)
    # weight[i, j]: product of the decays of i … j − 1
    i, j = torch.arange(steps)[:, None, None], torch.arange(steps)[None, :, None]
    shifted = torch.cat([torch.ones_like(decay[:1]), decay[:-1]])[None]
    weight = torch.cumprod(torch.where(j > i, shifted, torch.ones_like(shifted)), dim=1)
    weight = torch.where(j >= i, weight, torch.zeros_like(weight))
    return torch.einsum("ijb,jb->ib", weight, delta)


def inputs():
    g = torch.Generator().manual_seed(5)
    dones = (torch.rand(6, 3, generator=g) < 0.3).to(torch.get_default_dtype())
    return (torch.randn(6, 3, generator=g), torch.randn(6, 3, generator=g), torch.randn(3, generator=g), dones)
