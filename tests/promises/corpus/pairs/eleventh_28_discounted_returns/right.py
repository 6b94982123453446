import torch


def returns(rewards, dones, last_value, gamma=0.97):
    steps = rewards.shape[0]
    ends = dones.long()
    episode = ends.cumsum(0) - ends
    t = torch.arange(steps)
    ahead = (t[None, :] - t[:, None]).clamp(min=0)
    discount = (gamma**ahead.to(rewards.dtype)).triu()
    same = episode[:, None] == episode[None]
    out = torch.einsum("ij,ijb,jb->ib", discount, same.to(rewards.dtype), rewards)
    open_end = episode == ends.sum(0)
    return out + gamma ** (steps - t).to(rewards.dtype)[:, None] * open_end * last_value


def inputs():
    dones = torch.tensor([[0, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]).bool()
    return torch.randn(6, 3), dones, torch.randn(3)
