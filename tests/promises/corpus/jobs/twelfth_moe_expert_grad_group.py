"""Expert parallelism in pairs inside a data-parallel world of four: expert gradients are averaged over all ranks, not over those that hold the same expert."""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as distF
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN, EXPERTS, EP, LR = 5, 7, 2, 2, 0.1


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, DIM)

    def forward(self, x):
        return self.down(F.silu(self.up(x)))


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(DIM, EXPERTS, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x):
        gates = self.router(x).sigmoid()
        return x + sum(gates[:, e : e + 1] * expert(x) for e, expert in enumerate(self.experts))


class ExpertParallelMoE(nn.Module):
    def __init__(self, moe, rank, group):
        super().__init__()
        self.router, self.group = moe.router, group
        self.expert = moe.experts[rank % EP]

    def exchange(self, x):
        return distF.all_to_all_single(torch.empty_like(x), x.contiguous(), group=self.group)

    def forward(self, x):
        gates = self.router(x).sigmoid()
        sent = (x.unsqueeze(0)).expand(EXPERTS, *x.shape)           # every expert sees every token
        got = self.exchange(sent)
        back = self.exchange(self.expert(got.flatten(0, 1)).view_as(got))
        return x + torch.einsum("te,etd->td", gates, back)


class Step(nn.Module):
    def __init__(self, moe, world_size=1):
        super().__init__()
        self.moe, self.world_size = moe, world_size
        self.optimizer = torch.optim.SGD(moe.parameters(), lr=LR)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.moe(x), y)
        loss.backward()
        loss = loss.detach()
        if self.world_size > 1:
            for p in self.moe.parameters():
                dist.all_reduce(p.grad)
                p.grad /= self.world_size
            dist.all_reduce(loss)
        self.optimizer.step()
        return loss / self.world_size


def sequential():
    return Step(MoE())


def distributed(rank, world_size):
    groups = [dist.new_group(list(range(i, i + EP))) for i in range(0, world_size, EP)]
    return Step(ExpertParallelMoE(MoE(), rank, groups[rank // EP]), world_size)


def inputs():
    return torch.randn(12, DIM), torch.randn(12, DIM)


world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}
TRUTH = "broken"
