import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = 'layer norm over a hidden axis that three ranks share: mean first, then centred squares'
world_size = 3

HIDDEN = 12


def sequential():
    torch.manual_seed(11)
    ln = nn.LayerNorm(HIDDEN, eps=1e-5)
    nn.init.normal_(ln.weight, 1.0, 0.2)
    nn.init.normal_(ln.bias, 0.0, 0.2)
    return ln


class SplitLayerNorm(nn.Module):
    def __init__(self, weight, bias, eps):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(weight), nn.Parameter(bias), eps

    def forward(self, input):
        mean = input.sum(-1, keepdim=True)
        dist.all_reduce(mean)
        mean /= HIDDEN
        centred = input - mean
        var = (centred * centred).sum(-1, keepdim=True)
        dist.all_reduce(var)
        var /= HIDDEN
        return centred / torch.sqrt(var + self.eps) * self.weight + self.bias


def distributed(rank, world_size):
    ln = sequential()
    piece = slice(rank * HIDDEN // world_size, (rank + 1) * HIDDEN // world_size)
    return SplitLayerNorm(ln.weight.data[piece].clone(), ln.bias.data[piece].clone(), ln.eps)


def inputs():
    torch.manual_seed(2)
    return (torch.randn(4, 3, HIDDEN),)


relations = {"input": "shard(2)"}
expected = {"0": "shard(2)"}
