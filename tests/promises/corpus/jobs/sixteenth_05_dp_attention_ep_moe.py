"""Data-parallel attention with expert-parallel MoE layers as in SGLang and vLLM (all-gather of tokens, own experts, reduce-scatter back), and a shared expert on the rank's own tokens."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

H, HEADS, INTER, EXPERTS, TOPK = 16, 4, 12, 4, 2


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(H))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv_proj, self.o_proj = nn.Linear(H, 3 * H, bias=False), nn.Linear(H, H, bias=False)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (t.view(b, s, HEADS, -1).transpose(1, 2) for t in self.qkv_proj(x).split(H, dim=-1))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(o.transpose(1, 2).reshape(b, s, H))


def silu_and_mul(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


class FusedMoE(nn.Module):
    def __init__(self, ep_rank=0, ep_size=1):
        super().__init__()
        self.ep_size, self.num_local = ep_size, EXPERTS // ep_size
        self.first = ep_rank * self.num_local
        self.gate = nn.Linear(H, EXPERTS, bias=False)
        mine = slice(self.first, self.first + self.num_local)
        self.w13 = nn.Parameter((torch.randn(EXPERTS, 2 * INTER, H) * 0.2)[mine].clone())
        self.w2 = nn.Parameter((torch.randn(EXPERTS, H, INTER) * 0.2)[mine].clone())
        self.shared_w13, self.shared_w2 = nn.Linear(H, 2 * INTER, bias=False), nn.Linear(INTER, H, bias=False)

    def experts(self, x):
        weights, ids = self.gate(x).softmax(-1).topk(TOPK, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for i in range(self.num_local):
            w = (weights * (ids == self.first + i)).sum(-1, keepdim=True)
            out += w * F.linear(silu_and_mul(F.linear(x, self.w13[i])), self.w2[i])
        return out

    def forward(self, hidden):
        x = hidden.reshape(-1, H)
        shared = self.shared_w2(silu_and_mul(self.shared_w13(x)))
        if self.ep_size > 1:
            everyone = x.new_empty(self.ep_size * x.shape[0], H)
            dist.all_gather_into_tensor(everyone, x.contiguous())
            routed = torch.empty_like(x)
            dist.reduce_scatter_tensor(routed, self.experts(everyone))
        else:
            routed = self.experts(x)
        return (routed + shared).view_as(hidden)


class Decoder(nn.Module):
    def __init__(self, *ep):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleDict({"ln1": RMSNorm(), "attn": Attention(), "ln2": RMSNorm(), "moe": FusedMoE(*ep)}) for _ in range(2))

    @torch.no_grad()
    def forward(self, x):
        for layer in self.layers:
            x = x + layer["attn"](layer["ln1"](x))
            x = x + layer["moe"](layer["ln2"](x))
        return x


sequential, inputs, world_size = Decoder, lambda: torch.randn(4, 3, H), 2
distributed = lambda rank, world_size: Decoder(rank, world_size)
relations, expected = {"x": "shard(0)"}, {"0": "shard(0)"}

TRUTH = "refines"
