"""The workloads of benchmarks/optimize.py, as data: modules as one writes them, and the shapes at which they are asked.

A row is a name, a module with its sizes, and inputs. `scale` divides every width, so that a row can be tried quickly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import LlamaConfig, ViTConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer
from transformers.models.vit.modeling_vit import ViTLayer

F32, BF16 = torch.float32, torch.bfloat16


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


class NormLinear(nn.Module):
    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.norm, self.linear = RMSNorm(width), nn.Linear(width, out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.norm(x))


class Gated(nn.Module):
    """SwiGLU's first half: two matmuls, one of them behind a silu."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, out, bias=False), nn.Linear(width, out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(self.gate(x)) * self.up(x)


class NormMlp(nn.Module):
    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.norm, self.gated, self.down = RMSNorm(width), Gated(width, out), nn.Linear(out, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(self.gated(self.norm(x)))


class LoRA(nn.Module):
    def __init__(self, width: int, out: int, rank: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(width, out) / math.sqrt(width))
        self.a = nn.Parameter(torch.randn(width, rank) / math.sqrt(width))
        self.b = nn.Parameter(torch.randn(rank, out) / math.sqrt(rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.w + x @ self.a @ self.b


class Merged(LoRA):
    """Low-rank weights, written as one matrix."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.w + self.a @ self.b)


class Interpolated(nn.Module):
    """nTrans: normalised, moved some way, normalised again."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.rand(width))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)
        z = x + self.alpha * (y - x)
        return z * torch.rsqrt(z.square().mean(-1, keepdim=True) + 1e-6)


class Attention(nn.Module):
    """Heads of queries over keys and values that they may share; `norm` is that of queries and keys."""

    def __init__(self, dim: int, norm: bool = False) -> None:
        super().__init__()
        self.scale, self.norm = dim ** -0.5, norm
        if norm:
            self.q_norm, self.k_norm = RMSNorm(dim), RMSNorm(dim)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if self.norm:
            q, k = self.q_norm(q), self.k_norm(k)
        return torch.softmax(q @ k.transpose(-1, -2) * self.scale, -1) @ v


class LinearAttention(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return (q @ k.transpose(-1, -2)) @ v


class Pooled(nn.Module):
    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, out)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).mean(-2)


class Chain(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return x @ y @ z


class Diagonal(nn.Module):
    """A·diag(s)·B."""

    def forward(self, a: torch.Tensor, s: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ torch.diag_embed(s) @ b


class RowSums(nn.Module):
    """(A·Bᵀ)·1."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a @ b.t()).sum(-1)


class Pairs(nn.Module):
    """A layer on the features of every two nodes, one beside the other."""

    def __init__(self, one: int, other: int, out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(one + other, out)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        left, right = x[:, None].expand(-1, y.shape[0], -1), y[None].expand(x.shape[0], -1, -1)
        return torch.relu(self.linear(torch.cat([left, right], -1)))


class Skip(nn.Module):
    """A layer of an MLP that sees the input again beside what was made of it."""

    def __init__(self, hidden: int, width: int, out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(hidden + width, out)

    def forward(self, h: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(torch.cat([h, x], -1)))


class Recurrent(nn.Module):
    """The step of an LSTM: gates of the input beside the state."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gates = nn.Linear(2 * width, 4 * width)

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        i, f, g, o = self.gates(torch.cat([x, h], -1)).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class LlamaLayer(nn.Module):
    """A decoder layer of Transformers: heads of 64, four queries to a key, rotary embeddings given."""

    def __init__(self, width: int) -> None:
        super().__init__()
        config = LlamaConfig(hidden_size=width, intermediate_size=11 * width // 4, num_hidden_layers=1, vocab_size=32,
                             num_attention_heads=width // 64, num_key_value_heads=max(width // 256, 1))
        config._attn_implementation = "sdpa"
        self.layer = LlamaDecoderLayer(config, 0)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.layer(x, position_embeddings=(cos, sin))
        return result


class ViTBlock(nn.Module):
    """An encoder layer of Transformers: heads of 64, four times as wide inside."""

    def __init__(self, width: int) -> None:
        super().__init__()
        config = ViTConfig(hidden_size=width, intermediate_size=4 * width, num_attention_heads=width // 64)
        config._attn_implementation = "sdpa"
        self.layer = ViTLayer(config)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result = self.layer(x)
        return result[0] if isinstance(result, tuple) else result


@dataclass(frozen=True)
class Workload:
    """A module over sizes, the sizes, the shapes of its inputs by these, and its dtype."""

    name: str
    module: Callable[..., nn.Module]
    sizes: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtype: torch.dtype = F32

    def made(self, scale: int = 1) -> tuple[nn.Module, tuple[Any, ...]]:
        """The module and its inputs, random under a fixed seed."""
        torch.manual_seed(0)
        widths = sorted({size for size in self.sizes if size >= 128}, reverse=True)
        smaller = {size: max(size // scale, 16) for size in widths}
        module = self.module(*(smaller.get(size, size) for size in self.sizes)).to(self.dtype).eval()
        shapes = [tuple(smaller.get(n, max(n // scale, 16) if n >= 128 else n) for n in shape) for shape in self.shapes]
        return module, tuple(torch.randn(shape).to(self.dtype) for shape in shapes)


def attention(name: str, batch: int, heads: int, queries: int, keys: int, dim: int, norm: bool = False,
              dtype: torch.dtype = F32) -> Workload:
    shapes = (batch, heads, queries, dim), (batch, heads, keys, dim), (batch, heads, keys, dim)
    return Workload(name, QkNorm if norm else Attention, (dim,), shapes, dtype)


def QkNorm(dim: int) -> Attention:
    return Attention(dim, norm=True)


def decode(dtype: torch.dtype = F32) -> Workload:
    """GQA: 8 groups of 4 queries over 4096 keys."""
    shapes = (8, 4, 64), (8, 4096, 64), (8, 4096, 64)
    return Workload(f"GQA decode 8×4, 4096 keys, {short(dtype)}", Attention, (64,), shapes, dtype)


def short(dtype: torch.dtype) -> str:
    return "bf16" if dtype is BF16 else "fp32"


WORKLOADS = (
    *(Workload(f"RMSNorm+Linear 4096×6144, M={m}, {short(d)}", NormLinear, (4096, 6144), ((m, 4096),), d)
      for d in (F32, BF16) for m in (1, 8)),
    *(Workload(f"SwiGLU 4096, M={m}, {short(d)}", Gated, (4096, 4096), ((m, 4096),), d)
      for d in (F32, BF16) for m in (1, 8)),
    *(Workload(f"RMSNorm-MLP 4096, M=8, {short(d)}", NormMlp, (4096, 4096), ((8, 4096),), d) for d in (F32, BF16)),
    *(Workload(f"RMSNorm+Linear {w}, M=16, fp32", NormLinear, (w, w), ((16, w),)) for w in (1024, 2048)),
    *(Workload(f"RMSNorm-MLP {w}, M=16, fp32", NormMlp, (w, w), ((16, w),)) for w in (1024,)),
    *(Workload(f"SwiGLU {w}, M=16, fp32", Gated, (w, w), ((16, w),)) for w in (1024,)),
    attention("attention (2,8,1,1024,128), fp32", 2, 8, 1, 1024, 128),
    attention("attention (2,8,128,1024,128), fp32", 2, 8, 128, 1024, 128),
    attention("attention (2,32,1,1024,128), fp32", 2, 32, 1, 1024, 128),
    attention("attention (4,8,1,1024,128), fp32", 4, 8, 1, 1024, 128),
    attention("attention (2,8,1,1024,128), bf16", 2, 8, 1, 1024, 128, dtype=BF16),
    attention("QK-norm attention (2,8,1,1024,128), fp32", 2, 8, 1, 1024, 128, norm=True),
    attention("QK-norm attention (2,8,128,1024,128), fp32", 2, 8, 128, 1024, 128, norm=True),
    *(Workload(f"LoRA (16,256,4096,r16), {short(d)}", LoRA, (256, 4096, 16), ((16, 256),), d) for d in (F32, BF16)),
    *(Workload(f"nTrans (8,4096), {short(d)}", Interpolated, (4096,), ((8, 4096), (8, 4096)), d) for d in (F32, BF16)),
    decode(), decode(BF16),
    Workload("low-rank weights merged (16,2048,2048,r16), fp32", Merged, (2048, 2048, 16), ((16, 2048),)),
    Workload("linear attention (2048,64), fp32", LinearAttention, (), ((2048, 64),) * 3),
    Workload("mean of a linear (1024,1024), fp32", Pooled, (1024, 1024), ((1024, 1024),)),
    Workload("a chain of matmuls (1024,1024,16), fp32", Chain, (), ((1024, 1024), (1024, 1024), (1024, 16))),
    Workload("A·diag(s)·B (1024), fp32", Diagonal, (), ((1024, 1024), (1024,), (1024, 1024))),
    Workload("all pairs (256×256, 64+64→64), fp32", Pairs, (64, 64, 64), ((256, 64), (256, 64))),
    Workload("skip connection (4096, 256+64→256), fp32", Skip, (256, 64, 256), ((4096, 256), (4096, 64))),
    *(Workload(f"LSTM step 1024, M={m}, fp32", Recurrent, (1024,), ((m, 1024),) * 3) for m in (1, 16)),
    Workload("(A·Bᵀ)·1 (1024), fp32", RowSums, (), ((1024, 1024), (1024, 1024))),
)
LAYERS = (
    *(Workload(f"Llama layer {w}, T={t}, fp32", LlamaLayer, (w,), ((1, t, w), (1, t, 64), (1, t, 64)))
      for w in (256, 1024) for t in (1, 64)),
    *(Workload(f"ViT layer {w}, T=50, fp32", ViTBlock, (w,), ((1, 50, w),)) for w in (256, 1024)),
)
