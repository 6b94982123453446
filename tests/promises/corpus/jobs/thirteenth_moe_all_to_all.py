"""Expert parallel MoE: top-2 router, capacity slots by cumsum, all-to-all to the experts and back, load balancing loss over all ranks' tokens; loss declared partial, router gradient all-reduced."""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dnn
import torch.nn.functional as F
from torch import nn

HIDDEN, FFN, EXPERTS, TOP, AUX = 6, 8, 4, 2, 0.1


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(EXPERTS, HIDDEN) * 0.5)

    def forward(self, x, weight=None):
        probs = F.linear(x, self.weight if weight is None else weight).softmax(-1)
        top, index = probs.topk(TOP, -1)
        top = top / top.sum(-1, keepdim=True)
        chosen = F.one_hot(index, EXPERTS).to(x.dtype)                  # t, top, e
        return probs, chosen.sum(1), (chosen * top[..., None]).sum(1)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Parameter(torch.randn(EXPERTS, HIDDEN, FFN) * 0.3)
        self.down = nn.Parameter(torch.randn(EXPERTS, FFN, HIDDEN) * 0.3)

    def forward(self, x):                                               # e, slots, h
        return F.silu(x @ self.up) @ self.down


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router, self.experts = Router(), Experts()

    def forward(self, x, y):
        probs, mask, gates = self.router(x)
        each = self.experts(x.expand(EXPERTS, -1, -1))                  # every expert on every token
        out = x + torch.einsum("te,eth->th", gates, each)
        aux = EXPERTS * (mask.mean(0) / TOP * probs.mean(0)).sum()
        return (out - y).square().mean() + AUX * aux


class SumGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        return w.view_as(w)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


def exchange(x):
    x = x.contiguous()
    return dnn.all_to_all_single(torch.empty_like(x), x)


class ExpertParallel(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        self.n, self.router, self.experts = n, full.router, full.experts
        for name in ("up", "down"):
            piece = getattr(full.experts, name).detach().chunk(n)[rank].clone()
            setattr(self.experts, name, nn.Parameter(piece))

    def forward(self, x, y):
        n, tokens = self.n, x.shape[0]
        probs, mask, gates = self.router(x, SumGradient.apply(self.router.weight))
        capacity = tokens                                               # nothing is dropped
        slot = (mask.cumsum(0) - 1).long().clamp(min=0)
        dispatch = F.one_hot(slot, capacity).to(x.dtype) * mask[..., None]        # t, e, c
        sent = torch.einsum("tec,th->ech", dispatch, x)
        got = exchange(sent.view(n, EXPERTS // n, capacity, -1))        # from, local e, c, h
        done = self.experts(got.transpose(0, 1).flatten(1, 2))
        back = exchange(done.unflatten(1, (n, capacity)).transpose(0, 1)).flatten(0, 1)
        out = x + torch.einsum("tec,te,ech->th", dispatch, gates, back)

        total = tokens * n
        fraction = mask.sum(0) / total
        dist.all_reduce(fraction)
        mean_probs = dnn.all_reduce(probs.sum(0) / total)
        aux = EXPERTS * (fraction / TOP * mean_probs).sum()
        return (out - y).square().sum() / (total * x.shape[1]) + AUX * aux / n


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ExpertParallel(MoE(), rank, world_size)


def inputs():
    return torch.randn(8, HIDDEN), torch.randn(8, HIDDEN)


world_size = 2
backward = True
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"0": "partial"}
TRUTH = "refines"
