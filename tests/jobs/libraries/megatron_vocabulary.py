"""Megatron-core's vocabulary-parallel embedding and cross-entropy."""

import torch
from megatron.core.tensor_parallel import VocabParallelEmbedding, vocab_parallel_cross_entropy
from megatron.core.tensor_parallel.mappings import copy_to_tensor_model_parallel_region
from megatron_groups import config, deal
from torch import nn
from torch.nn.functional import cross_entropy

library = "megatron-core==0.16.1"
world_size = 2
backward = True
faults = ("gradients not summed", "another's shard", "a mean twice")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(12, 16), nn.Linear(16, 12, bias=False)

    def forward(self, ids, labels):
        logits = self.head(torch.tanh(self.embed(ids)))
        return cross_entropy(logits.flatten(0, 1), labels.flatten())


class Parallel(nn.Module):
    def __init__(self, world_size, fault):
        super().__init__()
        self.embed = VocabParallelEmbedding(12, 16, init_method=nn.init.zeros_, config=config(world_size))
        self.head, self.fault = nn.Linear(16, 12 // world_size, bias=False), fault

    def forward(self, ids, labels):
        h = torch.tanh(self.embed(ids))
        if self.fault != "gradients not summed":
            h = copy_to_tensor_model_parallel_region(h)
        losses = vocab_parallel_cross_entropy(self.head(h), labels)
        return losses.mean() / (losses.shape[0] if self.fault == "a mean twice" else 1)


def sequential():
    return Model()


def distributed(rank, world_size, fault=None):
    whole, own = sequential(), Parallel(world_size, fault)
    deal(own, whole, rank, world_size)
    if fault == "another's shard":
        deal(own.embed, whole.embed, (rank + 1) % world_size, world_size)
    return own


def inputs():
    return torch.randint(0, 12, (2, 5)), torch.randint(0, 12, (2, 5))
