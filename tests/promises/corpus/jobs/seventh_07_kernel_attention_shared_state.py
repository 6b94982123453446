# Bidirectional linear attention (Katharopoulos et al.): phi(q) (sum phi(k) v^T) / phi(q) sum phi(k).
# The sequence is cut; only the d x d state travels.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class LinearAttention(nn.Module):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def share(self, state):
        return state

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.to_qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        # the key sum rides along as one more column of the values
        v1 = F.pad(v, (0, 1), value=1.0)
        state = self.share(k.transpose(-1, -2) @ v1)
        out = q @ state
        out = out[..., :-1] / out[..., -1:]
        return self.proj(out.transpose(1, 2).reshape(b, n, d))


class SequenceParallelLinearAttention(LinearAttention):
    def share(self, state):
        dist.all_reduce(state)
        return state


def sequential():
    return LinearAttention()


def distributed(rank, world_size):
    return SequenceParallelLinearAttention()


def inputs():
    return (torch.randn(2, 9, 8),)


world_size = 3
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
TRUTH = "refines"
