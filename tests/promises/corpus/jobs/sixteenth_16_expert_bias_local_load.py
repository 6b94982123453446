"""DeepSeek-V3's balancing without an auxiliary loss, with experts on the ranks: the routing bias is moved by the loads of the rank's own tokens, which nobody adds up."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

H, F_DIM, E, K, SPEED = 8, 12, 8, 2, 0.05


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(E, H) * 0.5)
        self.register_buffer("expert_bias", torch.zeros(E))

    def forward(self, x):
        scores = F.linear(x, self.weight).sigmoid()
        chosen = (scores + self.expert_bias).topk(K, dim=-1).indices
        picked = F.one_hot(chosen, E).sum(1).to(x.dtype)              # tokens, experts
        weights = scores * picked
        with torch.no_grad():
            load = picked.sum(0)
            self.expert_bias += SPEED * torch.sign(load.mean() - load)
        return weights / weights.sum(-1, keepdim=True), picked


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.w1, self.w2 = nn.Parameter(torch.randn(E, H, F_DIM) * 0.3), nn.Parameter(torch.randn(E, F_DIM, H) * 0.3)

    def experts(self, tokens):
        return torch.bmm(F.silu(torch.bmm(tokens, self.w1)), self.w2)

    def forward(self, x):
        weights, picked = self.gate(x)
        out = self.experts(picked.t().unsqueeze(-1) * x)              # experts, tokens, hidden
        return x + torch.einsum("te,eth->th", weights, out)


class ExpertParallelMoE(MoE):
    def __init__(self, rank, world):
        super().__init__()
        self.w1 = nn.Parameter(self.w1.detach().chunk(world)[rank].clone())
        self.w2 = nn.Parameter(self.w2.detach().chunk(world)[rank].clone())

    def experts(self, tokens):
        world, local = dist.get_world_size(), self.w1.shape[0]
        _, t, h = tokens.shape
        tokens = tokens.contiguous()
        received = torch.empty_like(tokens)
        dist.all_to_all_single(received, tokens)
        mine = received.view(world, local, t, h).transpose(0, 1).reshape(local, world * t, h)
        done = super().experts(mine)
        back = done.view(local, world, t, h).transpose(0, 1).reshape(world * local, t, h).contiguous()
        result = torch.empty_like(back)
        dist.all_to_all_single(result, back)
        return result


sequential = MoE


def distributed(rank, world_size):
    return ExpertParallelMoE(rank, world_size)


def inputs():
    return torch.randn(12, H)


world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}

TRUTH = "differs"
