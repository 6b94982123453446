"""A diagonal state space layer, h_t = a_t h_{t-1} + b_t, with time cut over 8 ranks. Each rank scans from zero, ranks
tell each other (product of a, last h), and everyone folds what came before it. Forward and backward; the loss is a sum
over time, so each rank has its part of it, and of the gradients of the weights."""
import torch
import torch.distributed.nn.functional as dnn
from torch import nn

world_size = 8
backward = True
relations = {"x": "shard(1)"}
expected = {"0": "partial"}
expected.update({f"grad.{w}": "partial" for w in ("decay.weight", "decay.bias", "drive.weight", "read.weight")})
D, S = 3, 4


class SSM(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.decay = nn.Linear(D, S)
        self.drive = nn.Linear(D, S, bias=False)
        self.read = nn.Linear(S, D, bias=False)

    def scan(self, a, b):
        h, p = torch.zeros_like(b[:, 0]), torch.ones_like(a[:, 0])
        hs, ps = [], []
        for t in range(a.shape[1]):
            h = a[:, t] * h + b[:, t]
            p = a[:, t] * p
            hs.append(h)
            ps.append(p)
        return torch.stack(hs, 1), torch.stack(ps, 1)

    def forward(self, x):
        a, b = torch.sigmoid(self.decay(x)), self.drive(x)
        h, _ = self.scan(a, b)
        return (self.read(h) - x).square().sum()


class SSMTime(SSM):
    def __init__(self, rank):
        super().__init__()
        self.rank = rank

    def forward(self, x):
        a, b = torch.sigmoid(self.decay(x)), self.drive(x)
        h, p = self.scan(a, b)
        last = torch.stack([p[:, -1], h[:, -1]])
        summaries = dnn.all_gather(last.contiguous())
        carry = torch.zeros_like(h[:, 0])
        for prod, state in summaries[: self.rank]:
            carry = prod * carry + state
        # the first rank needs nobody, but has to take part in the backward of the gather all the same
        carry = carry + 0 * torch.stack(list(summaries)).sum()
        h = h + p * carry.unsqueeze(1)
        return (self.read(h) - x).square().sum()


def sequential():
    return SSM()


def distributed(rank, world_size):
    return SSMTime(rank)


def inputs():
    torch.manual_seed(5)
    return (torch.randn(2, 16, D),)


TRUTH = "refines"
