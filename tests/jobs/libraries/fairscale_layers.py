"""Attention and feed-forward on fairscale's parallel layers, as Meta's reference Llama uses them."""

import torch
from fairscale.nn.model_parallel import initialize
from fairscale.nn.model_parallel.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from torch import nn
from torch.nn.functional import silu

library = "fairscale==0.4.13"
world_size = 2
faults = ("another's shard", "scaled by its own heads", "not summed")
WIDTH, HEADS, INNER, WORDS = 16, 4, 24, 10
COLUMNS, ROWS = ("wq", "wk", "wv", "w1", "w3"), ("wo", "w2")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads, self.root = HEADS, 2.0
        self.embed, self.head = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS, bias=False)
        for name in (*COLUMNS, *ROWS):
            setattr(self, name, nn.Linear(*sizes(name), bias=False))

    def forward(self, tokens):
        b, s = tokens.shape
        x = self.embed(tokens)
        q, k, v = (w(x).view(b, s, self.heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        scores = q @ k.transpose(2, 3) / self.root + torch.full((s, s), float("-inf")).triu(1)
        x = x + self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, -1))
        return self.head(x + self.w2(silu(self.w1(x)) * self.w3(x)))


def sizes(name):
    return {"w1": (WIDTH, INNER), "w3": (WIDTH, INNER), "w2": (INNER, WIDTH)}.get(name, (WIDTH, WIDTH))


class Parallel(Model):
    def __init__(self, world_size, fault):
        nn.Module.__init__(self)
        self.heads, self.root = HEADS // world_size, 2.0
        if fault == "scaled by its own heads":
            self.root = (WIDTH / self.heads) ** 0.5
        of = {"bias": False, "init_method": nn.init.zeros_}
        self.embed = ParallelEmbedding(WORDS, WIDTH, init_method=nn.init.zeros_)
        self.head = ColumnParallelLinear(WIDTH, WORDS, gather_output=True, **of)
        for name in COLUMNS:
            setattr(self, name, ColumnParallelLinear(*sizes(name), gather_output=False, **of))
        for name in ROWS:
            setattr(self, name, RowParallelLinear(*sizes(name), input_is_parallel=True, **of))
        if fault == "not summed":
            self.w2 = nn.Linear(INNER // world_size, WIDTH, bias=False)


def sequential():
    return Model()


def distributed(rank, world_size, fault=None):
    if not initialize.model_parallel_is_initialized():
        initialize.initialize_model_parallel(world_size)
    state = dict(sequential().named_parameters())
    own = Parallel(world_size, fault)
    place = 1 - rank if fault == "another's shard" and rank < 2 else rank
    with torch.no_grad():
        for name, weight in own.named_parameters():
            cut = next(d for d in range(2) if state[name].shape[d] != weight.shape[d])
            weight.copy_(state[name].chunk(world_size, cut)[place])
    return own


def inputs():
    return (torch.randint(0, WORDS, (2, 5)),)
