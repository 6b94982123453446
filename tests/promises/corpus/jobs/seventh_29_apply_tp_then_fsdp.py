# In the manner of torchtitan: apply_tp on the "tp" axis of a mesh, apply_fsdp on "dp", then a training step.
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module

DIM, HEAD, N_HEADS, N_KV, VOCAB = 8, 2, 4, 2, 10


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, N_HEADS * HEAD, bias=False)
        self.wk = nn.Linear(DIM, N_KV * HEAD, bias=False)
        self.wv = nn.Linear(DIM, N_KV * HEAD, bias=False)
        self.wo = nn.Linear(N_HEADS * HEAD, DIM, bias=False)

    def forward(self, x):
        b, t = x.shape[:2]
        q, k, v = (w(x).view(b, t, -1, HEAD).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        rep = N_HEADS // N_KV
        y = F.scaled_dot_product_attention(q, k.repeat_interleave(rep, 1), v.repeat_interleave(rep, 1), is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(b, t, -1))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3 = nn.Linear(DIM, 12, bias=False), nn.Linear(DIM, 12, bias=False)
        self.w2 = nn.Linear(12, DIM, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm, self.attention = nn.RMSNorm(DIM, eps=1e-6), Attention()
        self.ffn_norm, self.feed_forward = nn.RMSNorm(DIM, eps=1e-6), FeedForward()

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.ffn_norm(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleDict({"0": Block()})
        self.norm = nn.RMSNorm(DIM, eps=1e-6)
        self.output = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            h = layer(h)
        return self.output(self.norm(h))


def apply_tp(model, mesh):
    parallelize_module(model, mesh, {
        "tok_embeddings": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "output": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
    })
    for block in model.layers.values():
        parallelize_module(block, mesh, {
            "attention_norm": SequenceParallel(),
            "attention": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
            "attention.wq": ColwiseParallel(),
            "attention.wk": ColwiseParallel(),
            "attention.wv": ColwiseParallel(),
            "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
            "ffn_norm": SequenceParallel(),
            "feed_forward": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
            "feed_forward.w1": ColwiseParallel(),
            "feed_forward.w3": ColwiseParallel(),
            "feed_forward.w2": RowwiseParallel(output_layouts=Shard(1)),
        })


def apply_fsdp(model, mesh):
    for block in model.layers.values():
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)


class TrainStep(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def forward(self, tokens, labels):
        self.optimizer.zero_grad()
        logits = self.model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def sequential():
    return TrainStep(Transformer())


def distributed(rank, world_size, mesh):
    model = Transformer()
    apply_tp(model, mesh["tp"])
    apply_fsdp(model, mesh["dp"])
    return TrainStep(model)


def inputs():
    return torch.randint(0, VOCAB, (4, 6)), torch.randint(0, VOCAB, (4, 6))


mesh = {"dp": 2, "tp": 2}
world_size = 4
relations = {"tokens": "shard(0) over dp", "labels": "shard(0) over dp"}
expected = {"0": "partial(avg) over dp"}
TRUTH = "refines"
