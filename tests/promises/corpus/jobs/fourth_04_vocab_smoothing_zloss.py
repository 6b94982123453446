"""Cross entropy with label smoothing and z-loss over a vocabulary cut by rank, with its own backward."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Maximum, sum of exponentials, target logit and mean logit are reduced over ranks; the backward is the softmax of the whole vocabulary."

world_size = 2
backward = True

V, D, SMOOTH, Z = 12, 8, 0.1, 0.02


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(0.5 * torch.randn(V, D))

    def forward(self, hidden, labels):
        logits = F.linear(hidden, self.weight)
        loss = F.cross_entropy(logits, labels, label_smoothing=SMOOTH)
        return loss + Z * torch.logsumexp(logits, -1).square().mean()


class VocabParallelLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels):
        own = logits.shape[-1]
        start = dist.get_rank() * own
        top = logits.max(-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        shifted = logits - top[:, None]
        here = (labels >= start) & (labels < start + own)
        local = torch.where(here, labels - start, 0)
        target = shifted.gather(-1, local[:, None]).squeeze(-1).masked_fill(~here, 0.0)
        exps = shifted.exp()
        sums = torch.stack([target, exps.sum(-1), shifted.sum(-1)])
        dist.all_reduce(sums)
        target, total, mean = sums[0], sums[1], sums[2] / V
        lse = total.log()
        loss = lse - (1 - SMOOTH) * target - SMOOTH * mean + Z * (lse + top).square()
        ctx.save_for_backward(exps / total[:, None], lse + top, here, local)
        return loss

    @staticmethod
    def backward(ctx, grad):
        probs, lse, here, local = ctx.saved_tensors
        out = probs * (1 + 2 * Z * lse)[:, None] - SMOOTH / V
        out = out.scatter_add(-1, local[:, None], -(1 - SMOOTH) * here[:, None].to(out.dtype))
        return out * grad[:, None], None


class CopyTo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class ParallelHead(nn.Module):
    def __init__(self, full, rank, size):
        super().__init__()
        self.weight = nn.Parameter(full.weight.detach().chunk(size)[rank].clone())

    def forward(self, hidden, labels):
        logits = F.linear(CopyTo.apply(hidden), self.weight)
        return VocabParallelLoss.apply(logits, labels).mean()


def sequential():
    torch.manual_seed(7)
    return Head()


def distributed(rank, world_size):
    return ParallelHead(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(8)
    return torch.randn(6, D), torch.randint(0, V, (6,))
