"""Attention and feed-forward as Meta's reference Llama writes them, on fairscale's parallel layers."""
import torch
from torch import nn
from torch.nn.functional import silu
import fairscale.nn.model_parallel.initialize as fs_init
from fairscale.nn.model_parallel.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear

world_size = 2
DIM, HEADS, HIDDEN, VOCAB = 16, 4, 24, 10


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.tok_embeddings = nn.Embedding(VOCAB, DIM)
        self.wq, self.wk, self.wv, self.wo = lin(DIM, DIM), lin(DIM, DIM), lin(DIM, DIM), lin(DIM, DIM)
        self.w1, self.w2, self.w3 = lin(DIM, HIDDEN), lin(HIDDEN, DIM), lin(DIM, HIDDEN)
        self.output = lin(DIM, VOCAB)
        self.heads = HEADS

    def forward(self, tokens):
        b, s = tokens.shape
        x = self.tok_embeddings(tokens)
        q, k, v = (w(x).view(b, s, self.heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        scores = q @ k.transpose(2, 3) / 2.0
        scores = scores + torch.full((s, s), float("-inf")).triu(1)
        h = x + self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, -1))
        h = h + self.w2(silu(self.w1(h)) * self.w3(h))
        return self.output(h)


class Parallel(Model):
    def __init__(self, n):
        nn.Module.__init__(self)
        zero = lambda w: w
        col = lambda a, b, **k: ColumnParallelLinear(a, b, bias=False, init_method=zero, **k)
        row = lambda a, b: RowParallelLinear(a, b, bias=False, input_is_parallel=True, init_method=zero)
        self.tok_embeddings = ParallelEmbedding(VOCAB, DIM, init_method=zero)
        self.wq, self.wk, self.wv = (col(DIM, DIM, gather_output=False) for _ in range(3))
        self.wo = row(DIM, DIM)
        self.w1, self.w3, self.w2 = col(DIM, HIDDEN, gather_output=False), col(DIM, HIDDEN, gather_output=False), row(HIDDEN, DIM)
        self.output = col(DIM, VOCAB, gather_output=True)
        self.heads = HEADS // n


def sequential():
    return Model()


def distributed(rank, world_size):
    if not fs_init.model_parallel_is_initialized():
        fs_init.initialize_model_parallel(world_size)
    whole, own = Model().state_dict(), Parallel(world_size)
    with torch.no_grad():
        for name, weight in own.named_parameters():
            full = whole[name]
            for d in range(2):
                if full.shape[d] != weight.shape[d]:
                    full = full.chunk(world_size, d)[rank]
            weight.copy_(full)
    return own


def inputs():
    return (torch.randint(0, VOCAB, (2, 5)),)
