"""An LSTM whose four gates are cut over the ranks: each holds its hidden units of every gate, and h is gathered at every step (Megatron-style autograd functions)."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

IN, HID, OUT = 6, 8, 3


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(IN, HID)
        self.head = nn.Linear(HID, OUT)

    def forward(self, x, target):
        h, c, ys = x.new_zeros(x.shape[1], HID), x.new_zeros(x.shape[1], HID), []
        for x_t in x:
            h, c = self.cell(x_t, (h, c))
            ys.append(self.head(h))
        return F.mse_loss(torch.stack(ys), target)


def total(t):
    t = t.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(t)
    return t


class CopyToRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return total(grad)


class ReduceFromRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return total(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


class GatherHidden(torch.autograd.Function):
    """All-gather along the last dimension; what comes back is a sum over the ranks, of which each keeps its own part."""

    @staticmethod
    def forward(ctx, h):
        parts = [torch.empty_like(h) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, h.contiguous())
        return torch.cat(parts, dim=-1)

    @staticmethod
    def backward(ctx, grad):
        return total(grad).chunk(dist.get_world_size(), dim=-1)[dist.get_rank()].contiguous()


class TensorParallelTagger(nn.Module):
    def __init__(self, full, rank, world):
        super().__init__()
        def gates(t):                                   # rows of i, f, g and o that belong to this rank
            return nn.Parameter(torch.cat([g.chunk(world)[rank] for g in t.detach().chunk(4)]))
        self.w_ih, self.w_hh = gates(full.cell.weight_ih), gates(full.cell.weight_hh)
        self.b_ih, self.b_hh = gates(full.cell.bias_ih), gates(full.cell.bias_hh)
        self.head_weight = nn.Parameter(full.head.weight.detach().chunk(world, dim=1)[rank].clone())
        self.head_bias = nn.Parameter(full.head.bias.detach().clone())
        self.local = HID // world

    def forward(self, x, target):
        h, c, ys = x.new_zeros(x.shape[1], self.local), x.new_zeros(x.shape[1], self.local), []
        for x_t in CopyToRegion.apply(x).unbind(0):
            z = F.linear(x_t, self.w_ih, self.b_ih) + F.linear(GatherHidden.apply(h), self.w_hh, self.b_hh)
            i, f, g, o = z.chunk(4, dim=-1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            ys.append(ReduceFromRegion.apply(F.linear(h, self.head_weight)) + self.head_bias)
        return F.mse_loss(torch.stack(ys), target)


sequential = Tagger
distributed = lambda rank, world_size: TensorParallelTagger(Tagger(), rank, world_size)
inputs = lambda: {"x": torch.randn(4, 3, IN), "target": torch.randn(4, 3, OUT)}
backward = True
world_size = 2

TRUTH = "refines"
