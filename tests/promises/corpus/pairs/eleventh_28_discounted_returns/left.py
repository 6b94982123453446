import torch


def returns(rewards, dones, last_value, gamma=0.97):
    out = torch.zeros_like(rewards)
    running = last_value
    for t in reversed(range(rewards.shape[0])):
        running = rewards[t] + gamma * running * (~dones[t])
        out[t] = running
    return out


def inputs():
    dones = torch.tensor([[0, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]).bool()
    return torch.randn(6, 3), dones, torch.randn(3)
