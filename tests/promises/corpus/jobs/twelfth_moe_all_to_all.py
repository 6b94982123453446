"""Top-2 mixture of experts with expert parallelism: tokens go to their experts and back by all-to-all; router gradients averaged, expert gradients scaled."""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as distF
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN, EXPERTS, TOP = 5, 7, 4, 2


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(DIM, EXPERTS, bias=False)
        self.w1 = nn.Parameter(torch.randn(EXPERTS, DIM, HIDDEN) * DIM**-0.5)
        self.w2 = nn.Parameter(torch.randn(EXPERTS, HIDDEN, DIM) * HIDDEN**-0.5)

    def route(self, x):
        probs = self.router(x).softmax(-1)
        weight, chosen = probs.topk(TOP, dim=-1)
        mask = F.one_hot(chosen, EXPERTS)                          # token, choice, expert
        weight = weight / weight.sum(-1, keepdim=True)
        return probs, mask.sum(1), (mask * weight.unsqueeze(-1)).sum(1)

    def forward(self, x, target):
        probs, mask, gates = self.route(x)
        out = torch.zeros_like(x)
        for e in range(EXPERTS):
            out = out + gates[:, e : e + 1] * (F.silu(x @ self.w1[e]) @ self.w2[e])
        balance = EXPERTS * (mask.to(x.dtype).mean(0) * probs.mean(0)).sum()
        return F.mse_loss(x + out, target) + 0.01 * balance


class ExpertParallelMoE(MoE):
    def __init__(self, rank, world_size):
        super().__init__()
        self.world = world_size
        self.local = EXPERTS // world_size
        mine = slice(rank * self.local, (rank + 1) * self.local)
        self.w1 = nn.Parameter(self.w1.data[mine].clone())
        self.w2 = nn.Parameter(self.w2.data[mine].clone())
        self.router.weight.register_hook(self.average)
        self.w1.register_hook(lambda grad: grad / self.world)        # has come from all ranks' tokens
        self.w2.register_hook(lambda grad: grad / self.world)

    def average(self, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad / self.world

    def exchange(self, x):
        return distF.all_to_all_single(torch.empty_like(x), x.contiguous())

    def forward(self, x, target):
        tokens = x.shape[0]                                        # capacity: nothing is ever dropped
        probs, mask, gates = self.route(x)
        place = (mask.cumsum(0) - 1) * mask
        dispatch = (F.one_hot(place, tokens) * mask.unsqueeze(-1)).to(x.dtype)    # token, expert, slot
        sent = torch.einsum("tec,td->ecd", dispatch, x)
        got = self.exchange(sent).view(self.world, self.local, tokens, DIM)
        h = got.transpose(0, 1).reshape(self.local, self.world * tokens, DIM)
        h = torch.bmm(F.silu(torch.bmm(h, self.w1)), self.w2)
        h = h.view(self.local, self.world, tokens, DIM).transpose(0, 1).reshape(EXPERTS, tokens, DIM)
        out = torch.einsum("tec,te,ecd->td", dispatch, gates, self.exchange(h))
        load = mask.to(x.dtype).mean(0)
        dist.all_reduce(load)
        importance = distF.all_reduce(probs.mean(0))
        balance = EXPERTS * (load / self.world * importance / self.world).sum()
        return F.mse_loss(x + out, target) + 0.01 * balance


def sequential():
    return MoE()


def distributed(rank, world_size):
    return ExpertParallelMoE(rank, world_size)


def inputs():
    return torch.randn(6, DIM), torch.randn(6, DIM)


world_size = 2
backward = True
relations = {"x": "shard(0)", "target": "shard(0)"}
expected = {"0": "partial(avg)"}
TRUTH = "refines"
