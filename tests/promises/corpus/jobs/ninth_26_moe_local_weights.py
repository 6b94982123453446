"""Top-2 mixture of experts, experts cut over ranks and tokens too: logits are gathered, outputs reduce-scattered."""
import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F

EXPERTS, TOP = 8, 2


class Mixture(nn.Module):
    def __init__(self, dim=6, hidden=4):
        super().__init__()
        self.router = nn.Linear(dim, EXPERTS, bias=False)
        self.gate = nn.Parameter(torch.randn(EXPERTS, dim, hidden) / 2)
        self.up = nn.Parameter(torch.randn(EXPERTS, dim, hidden) / 2)
        self.down = nn.Parameter(torch.randn(EXPERTS, hidden, dim) / 2)

    def weights(self, x):
        """[tokens, EXPERTS], with the router's probability where an expert was chosen and 0 elsewhere."""
        p = self.router(x).softmax(dim=-1)
        value, index = p.topk(TOP, dim=-1)
        return torch.zeros_like(p).scatter(-1, index, value)

    def experts(self, x, weights):
        h = F.silu(torch.einsum("td,edh->eth", x, self.gate)) * torch.einsum("td,edh->eth", x, self.up)
        return torch.einsum("eth,ehd,te->td", h, self.down, weights)

    def forward(self, x):
        w = self.weights(x)
        w = w / w.sum(dim=-1, keepdim=True)
        return self.experts(x, w)


class ExpertParallel(Mixture):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size
        for name in ("gate", "up", "down"):
            setattr(self, name, nn.Parameter(getattr(self, name).detach().chunk(world_size)[rank].clone()))

    def forward(self, x):
        everything = x.new_empty(x.shape[0] * self.world_size, x.shape[1])
        dist.all_gather_into_tensor(everything, x)
        w = self.weights(everything).chunk(self.world_size, dim=-1)[self.rank]
        w = w / w.sum(dim=-1, keepdim=True).clamp(min=1e-9)
        out = torch.empty_like(x)
        dist.reduce_scatter_tensor(out, self.experts(everything, w))
        return out


def sequential():
    return Mixture()


def distributed(rank, world_size):
    return ExpertParallel(rank, world_size)


def inputs():
    return torch.randn(8, 6)


world_size = 4
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "does not refine"
