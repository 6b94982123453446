"""Switch Transformer layer with a capacity: GShard's einsums, or a dense reference."""
import torch
from torch import nn
from torch.nn import functional as F

EXPERTS, CAPACITY = 3, 2


class GShard(nn.Module):
    def __init__(self, dim=6, hidden=10):
        super().__init__()
        self.router = nn.Linear(dim, EXPERTS, bias=False)
        self.w1 = nn.Parameter(torch.randn(EXPERTS, dim, hidden) * 0.3)
        self.b1 = nn.Parameter(torch.randn(EXPERTS, hidden))
        self.w2 = nn.Parameter(torch.randn(EXPERTS, hidden, dim) * 0.3)

    def forward(self, x):
        gates = F.softmax(self.router(x), dim=-1)
        index = gates.argmax(-1)
        mask = F.one_hot(index, EXPERTS)
        load_balance = EXPERTS * (gates.mean(0) * mask.to(x.dtype).mean(0)).sum()
        position = (torch.cumsum(mask, 0) - 1) * mask
        mask = mask * (position < CAPACITY)
        gate = (gates * mask).sum(-1)
        slot = F.one_hot((position * mask).sum(-1), CAPACITY).to(x.dtype)
        dispatch = mask.to(x.dtype)[:, :, None] * slot[:, None, :]
        buffer = torch.einsum("tec,td->ecd", dispatch, x)
        buffer = torch.relu(torch.bmm(buffer, self.w1) + self.b1[:, None])
        buffer = torch.bmm(buffer, self.w2)
        return torch.einsum("tec,ecd->td", dispatch * gate[:, None, None], buffer), load_balance


class Dense(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        self.router = theirs.router
        self.w1, self.b1, self.w2 = theirs.w1, theirs.b1, theirs.w2

    def forward(self, x):
        log_gates = self.router(x).log_softmax(-1)
        best = log_gates.exp().max(-1)
        out = torch.zeros_like(x)
        share = []
        for e in range(EXPERTS):
            mine = best.indices == e
            served = mine & (mine.cumsum(0) <= CAPACITY)
            y = torch.relu(x @ self.w1[e] + self.b1[e]) @ self.w2[e]
            out = out + torch.where(served, best.values, 0.0)[:, None] * y
            share.append(mine.sum() / x.shape[0])
        return out, EXPERTS * torch.stack(share) @ log_gates.exp().mean(0)


left = GShard()
right = Dense(left)
inputs = (torch.randn(8, 6),)
