"""GShard top-2 mixture of experts with capacity: expert parallel by all_to_all_single, global balance loss and number of dropped tokens, 2 ranks, forward."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, INNER, EXPERTS, CAPACITY = 6, 8, 4, 4


def top2_gating(logits):
    """logits: groups tokens experts. Capacity counts in each group."""
    probs = logits.softmax(-1)
    first = F.one_hot(probs.argmax(-1), EXPERTS)
    second = F.one_hot(probs.masked_fill(first.bool(), -1.0).argmax(-1), EXPERTS)
    place1 = (first.cumsum(1) - 1) * first
    place2 = (second.cumsum(1) - 1 + first.sum(1, keepdim=True)) * second
    keep1, keep2 = first * (place1 < CAPACITY), second * (place2 < CAPACITY)
    gate1, gate2 = (probs * first).sum(-1), (probs * second).sum(-1)
    total = gate1 + gate2
    slot1 = F.one_hot((place1 * keep1).sum(-1), CAPACITY) * keep1.sum(-1, keepdim=True)
    slot2 = F.one_hot((place2 * keep2).sum(-1), CAPACITY) * keep2.sum(-1, keepdim=True)
    combine = (torch.einsum("gs,gse,gsc->gsec", gate1 / total, keep1.float(), slot1.float())
               + torch.einsum("gs,gse,gsc->gsec", gate2 / total, keep2.float(), slot2.float()))
    dropped = (first - keep1).sum() + (second - keep2).sum()
    return combine, (keep1[..., None] * slot1[:, :, None] + keep2[..., None] * slot2[:, :, None]).float(), probs, first, dropped


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.w1 = nn.Parameter(torch.randn(EXPERTS, WIDTH, INNER) * 0.3)
        self.w2 = nn.Parameter(torch.randn(EXPERTS, INNER, WIDTH) * 0.3)

    def experts(self, x):                                  # experts, anything, width
        return torch.bmm(F.silu(torch.bmm(x, self.w1)), self.w2)

    def forward(self, x):                                  # groups tokens width
        combine, dispatch, probs, first, dropped = top2_gating(self.router(x))
        sent = torch.einsum("gsec,gsm->egcm", dispatch, x)
        back = self.experts(sent.flatten(1, 2)).view_as(sent)
        y = torch.einsum("gsec,egcm->gsm", combine, back)
        balance = (probs.mean((0, 1)) * first.float().mean((0, 1))).sum() * EXPERTS
        return y, balance, dropped


class ExpertParallelMoE(MoE):
    def __init__(self, rank, world_size):
        super().__init__()
        self.world = world_size
        self.w1 = nn.Parameter(self.w1.detach().chunk(world_size)[rank].clone())
        self.w2 = nn.Parameter(self.w2.detach().chunk(world_size)[rank].clone())

    def forward(self, x):
        combine, dispatch, probs, first, dropped = top2_gating(self.router(x))
        sent = torch.einsum("gsec,gsm->egcm", dispatch, x).contiguous()
        arrived = torch.empty_like(sent)
        dist.all_to_all_single(arrived, sent)              # (world, local experts) g c m, by source
        local = EXPERTS // self.world
        h = arrived.unflatten(0, (self.world, local)).transpose(0, 1)
        h = self.experts(h.flatten(1, 3)).view(h.shape).transpose(0, 1).flatten(0, 1).contiguous()
        back = torch.empty_like(h)
        dist.all_to_all_single(back, h)
        y = torch.einsum("gsec,egcm->gsm", combine, back)
        stats = torch.stack([probs.mean((0, 1)), first.float().mean((0, 1))])
        dist.all_reduce(stats)
        stats = stats / self.world
        dist.all_reduce(dropped)
        return y, (stats[0] * stats[1]).sum() * EXPERTS, dropped


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ExpertParallelMoE(rank, world_size)


def inputs():
    return (torch.randn(2, 8, WIDTH),)


world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}

TRUTH = "refines"
