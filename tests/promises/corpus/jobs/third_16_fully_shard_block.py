import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.fsdp import fully_shard

TRUTH = "refines"
WHY = 'fully_shard on a transformer block and its root, loss over a sharded batch, with gradients'
world_size = 2


class Block(nn.Module):
    def __init__(self, d=8, heads=2):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.ln2 = nn.LayerNorm(d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (p.view(b, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.ln1(x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.ln2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(8, 4)

    def forward(self, x, target):
        for block in self.blocks:
            x = block(x)
        return {"loss": F.mse_loss(self.head(x), target)}


def sequential():
    torch.manual_seed(0)
    return Model()


def distributed(rank, world_size):
    model = sequential()
    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
    return model


def inputs():
    torch.manual_seed(1)
    return {"x": torch.randn(4, 3, 8), "target": torch.randn(4, 3, 4)}


backward = True
relations = {"x": "shard(0)", "target": "shard(0)"}
expected = {"loss": "partial(avg)"}
