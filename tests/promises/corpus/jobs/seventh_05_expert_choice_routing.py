# Expert-choice routing (Zhou et al. 2022): every expert takes its top-k tokens, so that load is
# balanced by construction. Experts are spread over the ranks, tokens as well.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

D, H, E, CAP = 6, 8, 4, 3


class ExpertChoice(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.w_in = nn.Parameter(torch.randn(E, D, H) * 0.3)
        self.w_out = nn.Parameter(torch.randn(E, H, D) * 0.3)

    def forward(self, tokens):
        probs = F.softmax(self.gate(tokens), dim=-1)          # tokens x experts
        weight, idx = probs.t().topk(CAP, dim=-1)             # experts x CAP
        picked = tokens[idx]                                  # experts x CAP x D
        hidden = F.gelu(torch.bmm(picked, self.w_in))
        done = torch.bmm(hidden, self.w_out) * weight.unsqueeze(-1)
        out = torch.zeros_like(tokens)
        return out.index_add(0, idx.reshape(-1), done.reshape(-1, D))


class ExpertChoiceParallel(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size
        mine = slice(rank * E // world_size, (rank + 1) * E // world_size)
        self.gate = full.gate
        self.w_in = nn.Parameter(full.w_in.data[mine].clone())
        self.w_out = nn.Parameter(full.w_out.data[mine].clone())
        self.mine = mine

    def forward(self, tokens):
        # experts choose among all tokens of the batch: gather them first
        n = tokens.shape[0]
        every = tokens.new_empty(n * self.world_size, D)
        dist.all_gather_into_tensor(every, tokens.contiguous())
        probs = F.softmax(self.gate(every), dim=-1)[:, self.mine]
        weight, idx = probs.t().topk(CAP, dim=-1)
        hidden = F.gelu(torch.bmm(every[idx], self.w_in))
        done = torch.bmm(hidden, self.w_out) * weight.unsqueeze(-1)
        out = torch.zeros_like(every).index_add(0, idx.reshape(-1), done.reshape(-1, D))
        mine = torch.empty_like(tokens)
        # gloo's reduce_scatter wants a list in older versions
        dist.reduce_scatter_tensor(mine, out)
        return mine


def sequential():
    return ExpertChoice()


def distributed(rank, world_size):
    return ExpertChoiceParallel(ExpertChoice(), rank, world_size)


def inputs():
    return (torch.randn(8, D),)


world_size = 2
relations = {"tokens": "shard(0)"}
expected = {"0": "shard(0)"}
TRUTH = "refines"
