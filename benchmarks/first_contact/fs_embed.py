"""fairscale's vocabulary-parallel embedding beside its cross-entropy."""
import torch
from torch import nn
import torch.distributed as dist

import fairscale.nn.model_parallel.initialize as init
from fairscale.nn.model_parallel.layers import VocabParallelEmbedding
from fairscale.nn.model_parallel.cross_entropy import vocab_parallel_cross_entropy
from fairscale.nn.model_parallel.mappings import copy_to_model_parallel_region
world_size = 2
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 8)
    def forward(self, ids, labels):
        logits = torch.tanh(self.embed(ids)) @ self.embed.weight.t()
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
class P(nn.Module):
    def __init__(self, w, r, n):
        super().__init__()
        self.embed = VocabParallelEmbedding(12, 8, init_method=nn.init.zeros_)
        with torch.no_grad():
            self.embed.weight.copy_(w.embed.weight.chunk(n)[r])
    def forward(self, ids, labels):
        h = copy_to_model_parallel_region(torch.tanh(self.embed(ids)))
        return vocab_parallel_cross_entropy(h @ self.embed.weight.t(), labels).mean()
def sequential():
    return M()
def distributed(rank, world_size):
    init.initialize_model_parallel(world_size)
    return P(M(), rank, world_size)
def inputs():
    return torch.randint(0, 12, (2, 4)), torch.randint(0, 12, (2, 4))
