# The auxiliary load-balancing loss of a mixture of experts, E * sum_e f_e P_e: the share of tokens that go to an expert times
# its mean probability, over all tokens of the batch. Tokens are cut over the data-parallel axis of a mesh.
import torch
import torch.distributed._functional_collectives as funcol
from torch import nn

EXPERTS, TOPK = 4, 2


class Router(nn.Module):
    def __init__(self, dim=6, coef=0.01):
        super().__init__()
        self.gate = nn.Linear(dim, EXPERTS, bias=False)
        self.coef = coef

    def balance(self, load, importance):
        return self.coef * EXPERTS * (load * importance).sum()

    def forward(self, tokens):
        probs = self.gate(tokens).softmax(-1)
        weights, ids = probs.topk(TOPK, dim=-1)
        chosen = torch.zeros_like(probs).scatter(1, ids, 1.0)
        load, importance = chosen.mean(0) / TOPK, probs.mean(0)
        return weights / weights.sum(-1, keepdim=True), self.balance(load, importance)


class DataParallelRouter(Router):
    def __init__(self, mesh):
        super().__init__()
        self.mesh = mesh

    def balance(self, load, importance):
        aux = super().balance(load, importance)
        return funcol.all_reduce(aux, "sum", self.mesh) / self.mesh.size()


def sequential():
    return Router()


def distributed(rank, world_size, mesh):
    return DataParallelRouter(mesh)


def inputs():
    return (torch.randn(12, 6),)


mesh = {"dp": 3}
world_size = 3
relations = {"tokens": "shard(0)"}
expected = {"0": "shard(0)"}
TRUTH = "differs"
