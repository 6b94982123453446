"""A vision-language model as vLLM serves it with mm_encoder_tp_mode=\"data\": images are dealt out to the ranks (padded to equal numbers), the language model is tensor parallel."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

PATCH, D, HEADS, INNER, VOCAB = 6, 8, 4, 12, 10


class Attention(nn.Module):
    def __init__(self, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        inner = heads * (D // HEADS)
        self.q, self.k, self.v = (nn.Linear(D, inner, bias=False) for _ in range(3))
        self.o = nn.Linear(inner, D, bias=False)

    def forward(self, x):
        q, k, v = (p(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).flatten(2))


class VisionTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(PATCH, D)
        self.norm, self.attn = nn.LayerNorm(D), Attention(HEADS, causal=False)
        self.merger = nn.Sequential(nn.LayerNorm(2 * D), nn.Linear(2 * D, D), nn.GELU(), nn.Linear(D, D))

    def forward(self, pixels):                          # images, patches, pixels
        x = self.patch(pixels)
        x = x + self.attn(self.norm(x))
        return self.merger(x.reshape(x.shape[0], -1, 2 * D))


def run_dp_sharded(tower, pixels):
    """Each rank encodes its share of the images; the last ranks' shares are filled up with zeros, which are cut off at the end."""
    n, world, rank = pixels.shape[0], dist.get_world_size(), dist.get_rank()
    per_rank = -(-n // world)
    padded = F.pad(pixels, (0, 0, 0, 0, 0, per_rank * world - n))
    mine = tower(padded[rank * per_rank:(rank + 1) * per_rank]).contiguous()
    everything = mine.new_empty(world * per_rank, *mine.shape[1:])
    dist.all_gather_into_tensor(everything, mine)
    return everything[:n]


class LM(nn.Module):
    def __init__(self, tp=1):
        super().__init__()
        self.tp = tp
        self.visual = VisionTower()
        self.embed = nn.Embedding(VOCAB, D)
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attn = Attention(HEADS // tp, causal=True)
        self.gate, self.up = (nn.Linear(D, INNER // tp, bias=False) for _ in range(2))
        self.down = nn.Linear(INNER // tp, D, bias=False)

    def reduce(self, y):
        if self.tp > 1:
            dist.all_reduce(y)
        return y

    @torch.no_grad()
    def forward(self, pixels, ids):
        images = run_dp_sharded(self.visual, pixels) if self.tp > 1 else self.visual(pixels)
        x = torch.cat([images.reshape(1, -1, D), self.embed(ids)], dim=1)
        x = x + self.reduce(self.attn(self.ln1(x)))
        h = self.ln2(x)
        x = x + self.reduce(self.down(F.silu(self.gate(h)) * self.up(h)))
        return x[:, -ids.shape[1]:] @ self.embed.weight.t()


sequential = LM


def distributed(rank, world_size):
    full, part = LM(), LM(world_size)
    state = full.state_dict()
    for name, weight in state.items():
        if not name.startswith("visual."):
            if name.endswith((".q.weight", ".k.weight", ".v.weight")) or name in ("gate.weight", "up.weight"):
                state[name] = weight.chunk(world_size, 0)[rank].clone()
            elif name in ("attn.o.weight", "down.weight"):
                state[name] = weight.chunk(world_size, 1)[rank].clone()
    part.load_state_dict(state)
    return part


inputs = lambda: {"pixels": torch.randn(3, 4, PATCH), "ids": torch.randint(0, VOCAB, (1, 5))}
world_size = 2

TRUTH = "refines"
