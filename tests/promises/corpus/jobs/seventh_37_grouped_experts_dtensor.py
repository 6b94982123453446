# Experts kept as three stacked matrices, cut over an "ep" mesh by DTensor (as torchtitan's ExpertParallel does); routing is
# dense top-1 with a sigmoid score. A mixture over experts is a partial sum over ranks.
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ParallelStyle, parallelize_module

EXPERTS, DIM, HIDDEN = 4, 6, 8


class GroupedExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(EXPERTS, DIM, HIDDEN) * 0.4)
        self.w2 = nn.Parameter(torch.randn(EXPERTS, HIDDEN, DIM) * 0.4)
        self.w3 = nn.Parameter(torch.randn(EXPERTS, DIM, HIDDEN) * 0.4)

    def forward(self, x, weights):
        """x: tokens x dim, weights: experts x tokens"""
        w1, w2, w3 = (w.to_local() if isinstance(w, DTensor) else w for w in (self.w1, self.w2, self.w3))
        x = x.expand(w1.shape[0], -1, -1)
        h = F.silu(torch.bmm(x, w1)) * torch.bmm(x, w3)
        return (torch.bmm(h, w2) * weights.unsqueeze(-1)).sum(0)


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(DIM, EXPERTS, bias=False)
        self.experts = GroupedExperts()
        self.shared = nn.Linear(DIM, DIM)

    def forward(self, x):
        scores = torch.sigmoid(self.router(x))
        best, index = scores.max(dim=-1, keepdim=True)
        weights = torch.zeros_like(scores).scatter(1, index, best)
        return self.shared(x) + self.experts(x, weights.t())


class ExpertParallel(ParallelStyle):
    def _partition(self, name, module, mesh):
        for key, param in list(module.named_parameters(recurse=False)):
            module.register_parameter(key, nn.Parameter(distribute_tensor(param, mesh, [Shard(0)])))

    def _take(self, module, inputs, mesh):
        x, weights = inputs
        weights = DTensor.from_local(weights, mesh, [Replicate()], run_check=False).redistribute(mesh, [Shard(0)])
        return x, weights.to_local()

    def _give(self, module, output, mesh):
        return DTensor.from_local(output, mesh, [Partial()], run_check=False).redistribute(mesh, [Replicate()]).to_local()

    def _apply(self, module, device_mesh):
        return distribute_module(module, device_mesh, self._partition, self._take, self._give)


def sequential():
    return MoE()


def distributed(rank, world_size, mesh):
    return parallelize_module(MoE(), mesh, {"experts": ExpertParallel()})


def inputs():
    return (torch.randn(7, DIM),)


mesh = {"ep": 2}
world_size = 2
TRUTH = "refines"
