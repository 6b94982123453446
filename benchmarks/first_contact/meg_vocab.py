"""Megatron-core's vocabulary-parallel embedding and cross-entropy."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from megatron.core.tensor_parallel import VocabParallelEmbedding, vocab_parallel_cross_entropy
from megatron.core.tensor_parallel.mappings import copy_to_tensor_model_parallel_region
from megatron_setup import config, groups

world_size = 2
backward = True


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.head = nn.Linear(16, 12, bias=False)

    def forward(self, ids, labels):
        logits = self.head(torch.tanh(self.embed(ids)))
        return cross_entropy(logits.flatten(0, 1), labels.flatten())


class Parallel(nn.Module):
    def __init__(self, whole, rank, n):
        super().__init__()
        self.embed = VocabParallelEmbedding(12, 16, init_method=nn.init.zeros_, config=config(tensor_model_parallel_size=n))
        self.head = nn.Parameter(whole.head.weight.chunk(n, 0)[rank].clone())
        with torch.no_grad():
            self.embed.weight.copy_(whole.embed.weight.chunk(n, 0)[rank])

    def forward(self, ids, labels):
        h = copy_to_tensor_model_parallel_region(torch.tanh(self.embed(ids)))
        return vocab_parallel_cross_entropy(h @ self.head.t(), labels).mean()


def sequential():
    return Model()


def distributed(rank, world_size):
    groups(tp=world_size)
    return Parallel(Model(), rank, world_size)


def inputs():
    return torch.randint(0, 12, (2, 5)), torch.randint(0, 12, (2, 5))
