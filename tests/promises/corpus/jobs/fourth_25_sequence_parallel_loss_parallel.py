"""A small language model with the usual plan: sequence parallel norms, prepared inputs, loss_parallel; loss and gradients."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, loss_parallel, parallelize_module,
)

TRUTH = "refines"
WHY = "the standard tensor and sequence parallel plan; gradients that are partial are reduced by full_tensor()"

world_size = 2


class Attention(nn.Module):
    def __init__(self, width, head):
        super().__init__()
        self.head = head
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (-1, self.head)).transpose(1, 2) for f in (self.q, self.k, self.v))
        weights = (q @ k.transpose(-1, -2) / self.head**0.5).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class LM(nn.Module):
    def __init__(self, vocab=10, width=8):
        super().__init__()
        torch.manual_seed(5)
        self.emb = nn.Embedding(vocab, width)
        self.norm1, self.attn = nn.LayerNorm(width), Attention(width, 2)
        self.norm2, self.mlp = nn.LayerNorm(width), MLP(width)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        x = self.emb(tokens)
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(self.norm(x))


def whole(t):
    return t.full_tensor() if isinstance(t, DTensor) else t


class Train(nn.Module):
    def __init__(self, model, parallel):
        super().__init__()
        self.model, self.parallel = model, parallel

    def loss(self, tokens, labels):
        loss = F.cross_entropy(self.model(tokens).flatten(0, 1), labels.flatten())
        loss.backward()
        return whole(loss.detach())

    def forward(self, tokens, labels):
        self.model.zero_grad()
        if self.parallel:
            with loss_parallel():
                loss = self.loss(tokens, labels)
        else:
            loss = self.loss(tokens, labels)
        return loss, {name: whole(p.grad) for name, p in self.model.named_parameters()}


def sequential():
    return Train(LM(), False)


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,))
    model = parallelize_module(LM(), mesh, {
        "emb": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "norm1": SequenceParallel(),
        "attn": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
        "attn.q": ColwiseParallel(), "attn.k": ColwiseParallel(), "attn.v": ColwiseParallel(),
        "attn.o": RowwiseParallel(output_layouts=Shard(1)),
        "norm2": SequenceParallel(),
        "mlp": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
        "mlp.up": ColwiseParallel(),
        "mlp.down": RowwiseParallel(output_layouts=Shard(1)),
        "norm": SequenceParallel(),
        "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False),
    })
    return Train(model, True)


def inputs():
    torch.manual_seed(6)
    return torch.randint(0, 10, (2, 4)), torch.randint(0, 10, (2, 4))
