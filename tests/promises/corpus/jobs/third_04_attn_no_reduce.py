import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = "tensor-parallel self-attention whose output projection is never all-reduced (the MLP's is)"
world_size = 2

E, H = 16, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(E), nn.LayerNorm(E)
        self.q, self.k, self.v = (nn.Linear(E, E, bias=False) for _ in range(3))
        self.o = nn.Linear(E, E, bias=False)
        self.fc1, self.fc2 = nn.Linear(E, 2 * E), nn.Linear(2 * E, E, bias=False)

    def attend(self, x):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, -1, E // H).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(b, t, -1))

    def mlp(self, x):
        return self.fc2(F.gelu(self.fc1(x)))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class ParallelBlock(Block):
    def __init__(self, rank, world):
        super().__init__()
        self.load_state_dict(sequential().state_dict())
        for lin in (self.q, self.k, self.v, self.fc1):
            lin.weight = nn.Parameter(lin.weight.data.chunk(world, 0)[rank].clone())
        self.fc1.bias = nn.Parameter(self.fc1.bias.data.chunk(world)[rank].clone())
        for lin in (self.o, self.fc2):
            lin.weight = nn.Parameter(lin.weight.data.chunk(world, 1)[rank].clone())

    def mlp(self, x):
        y = super().mlp(x)
        dist.all_reduce(y)
        return y


def sequential():
    torch.manual_seed(0)
    return Block()


def distributed(rank, world_size):
    return ParallelBlock(rank, world_size)


def inputs():
    return (torch.randn(2, 6, E, generator=torch.Generator().manual_seed(5)),)
