"""Operators of serving engines as plain torch: what their kernels compute, in any precision.

A kernel of vLLM takes the dtypes it was written for, and attention reads a cache that no graph shows. Two tables make
such operators fit for graphs. `DEFINED` has what an operator computes, to run in float64 where its kernel cannot. The
library `samesame` holds the operators that stand in graphs for kernels with hidden arguments: the same result as a
function of everything it depends on. Each definition is held to its kernel by tests, and an operator of `samesame`
says in its argument `kernel` which kernel it stands for and how that was tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

Value = torch.Tensor | tuple[torch.Tensor, ...]

GATES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


EXPERT_GATES = (*GATES, "swigluoai")        # what experts may apply
LIMIT, STEEP = 7.0, 1.702                  # of gpt-oss's experts


def gated_halves(activation: str, both: torch.Tensor) -> torch.Tensor:
    """What an expert makes of its two projections: act(gate) · up of halves; gpt-oss has them by turns, clamped, with
    one more than up."""
    if activation != "swigluoai":
        gate, up = both.chunk(2, -1)
        return GATES[activation](gate) * up
    gate, up = both[..., ::2].clamp(max=LIMIT), both[..., 1::2].clamp(-LIMIT, LIMIT)
    return gate * torch.sigmoid(STEEP * gate) * (up + 1)


def rms_norm(
    x: torch.Tensor, weight: torch.Tensor | None, epsilon: float, variance_size: int | None = None
) -> torch.Tensor:
    """x / √(mean(x²) + ε) · weight over the last dimension; the mean over its first `variance_size` elements."""
    part = x if variance_size is None else x[..., :variance_size]
    normal = x * torch.rsqrt(part.pow(2).mean(-1, keepdim=True) + epsilon)
    return normal if weight is None else normal * weight


def fused_add_rms_norm(
    x: torch.Tensor,
    x_residual: torch.Tensor,
    weight: torch.Tensor | None,
    epsilon: float,
    variance_size: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The norm of the sum, and the sum."""
    total = x + x_residual
    return rms_norm(total, weight, epsilon, variance_size), total


def rotary_embedding(
    positions: torch.Tensor,                               # [n] int64
    query: torch.Tensor,                                   # [n, heads · head_size]
    key: torch.Tensor | None,
    head_size: int,
    cos_sin_cache: torch.Tensor,                           # [positions, rotated]: cosines, then sines
    is_neox: bool,
    rope_dim_offset: int = 0,
    inverse: bool = False,
) -> Value:
    """Query and key with pairs of each head turned by their position: (d, d + rotated/2) as GPT-NeoX pairs them, or
    (2d, 2d + 1). Raises ValueError for rows in more than one dimension, which kernels do not take alike."""
    if query.dim() != 2:
        raise ValueError(f"a query of {query.dim()} dimensions; give one of 2")
    cos, sin = cos_sin_cache[positions].chunk(2, -1)
    sin = -sin if inverse else sin
    turned = tuple(
        _turned(x, head_size, cos, sin, is_neox, rope_dim_offset) for x in (query, key) if x is not None
    )
    return turned if len(turned) > 1 else turned[0]


def _turned(
    x: torch.Tensor, head_size: int, cos: torch.Tensor, sin: torch.Tensor, is_neox: bool, offset: int
) -> torch.Tensor:
    heads = x.reshape(x.shape[0], -1, head_size)
    end = offset + 2 * cos.shape[-1]
    part = heads[..., offset:end]
    a, b = part.chunk(2, -1) if is_neox else (part[..., ::2], part[..., 1::2])
    c, s = cos[:, None], sin[:, None]
    pair = a * c - b * s, b * c + a * s
    turned = torch.cat(pair, -1) if is_neox else torch.stack(pair, -1).flatten(-2)
    return torch.cat((heads[..., :offset], turned, heads[..., end:]), -1).reshape(x.shape)


def gated(activation: str) -> Callable[..., torch.Tensor]:
    """`_C.silu_and_mul(out, x)` and its like: the activation of the first half times the second half."""

    def apply(_: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return gated_halves(activation, x)

    return apply


def gelu_new(_: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return functional.gelu(x, approximate="tanh")


def gelu_quick(_: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(1.702 * x)


def paged_attention(
    query: torch.Tensor,                                   # [B, T, H, D]: the last T of S positions
    key: torch.Tensor,                                     # [B, S, G, D]: what the cache holds, G divides H
    value: torch.Tensor,                                   # [B, S, G, V]
    scale: float,
    cap: float,
    window: int,
    sinks: torch.Tensor | None,
    slopes: torch.Tensor | None,
    kernel: str,
) -> torch.Tensor:                                         # [B, T, H, V]
    """Causal attention of the last T positions to all S.

    score = cap · tanh(scale · q·k / cap), or scale · q·k where the cap is 0; + slope · (j − i) with `slopes` [H];
    position i looks at j ≤ i, and with a window above 0 at j > i − window; `sinks` [H] are one more score of each row
    that only takes weight.
    """
    (batch, tokens, heads, _), (_, length, groups, _) = query.shape, key.shape
    keys, values = (x.repeat_interleave(heads // groups, 2) for x in (key, value))
    scores = torch.einsum("bthd,bshd->bhts", query, keys) * scale
    if cap > 0:
        scores = cap * torch.tanh(scores / cap)
    i = torch.arange(length - tokens, length)[:, None]
    j = torch.arange(length)[None]
    if slopes is not None:
        scores = scores + slopes.to(scores.dtype)[:, None, None] * (j - i)
    seen = (j <= i) & (j > i - window) if window > 0 else j <= i
    scores = scores.masked_fill(~seen, float("-inf"))
    if sinks is not None:
        sink = sinks.to(scores.dtype)[None, :, None, None].expand(batch, heads, tokens, 1)
        scores = torch.cat((scores, sink), -1)
    weights = torch.softmax(scores, -1)[..., :length]
    return torch.einsum("bhts,bshv->bthv", weights, values)


def fused_experts(
    x: torch.Tensor,                                       # [n, D]
    w13: torch.Tensor,                                     # [E, 2·I, D]: gates, then ups, or by turns
    w2: torch.Tensor,                                      # [E, D, I]
    w13_bias: torch.Tensor | None,
    w2_bias: torch.Tensor | None,
    weights: torch.Tensor,                                 # [n, K]
    experts: torch.Tensor,                                 # [n, K] integers below E
    skip_weighted: bool,
    activation: str,
    kernel: str,
) -> torch.Tensor:                                         # [n, D]
    """Σ_k weights[n, k] · expert(experts[n, k])(x[n]), an expert being down(act(gate(x)) · up(x)); the sum without
    weights if `skip_weighted`."""
    chosen = experts.long()
    both = torch.einsum("nd,nkid->nki", x, w13[chosen])
    if w13_bias is not None:
        both = both + w13_bias[chosen]
    inner = gated_halves(activation, both)
    each = torch.einsum("nki,nkdi->nkd", inner, w2[chosen])
    if w2_bias is not None:
        each = each + w2_bias[chosen]
    return each.sum(1) if skip_weighted else (each * weights[..., None].to(each.dtype)).sum(1)


# What operators compute whose kernels take no float64. Where an operator writes, the results are what it wrote.
DEFINED: dict[str, Callable[..., Any]] = {
    "vllm_ir.rms_norm.default": rms_norm,
    "vllm_ir.fused_add_rms_norm.default": fused_add_rms_norm,
    "_C.rms_norm.default": lambda out, x, weight, epsilon: rms_norm(x, weight, epsilon),
    "_C.fused_add_rms_norm.default": fused_add_rms_norm,
    "_C.rotary_embedding.default": rotary_embedding,
    "_C.silu_and_mul.default": gated("silu"),
    "_C.gelu_and_mul.default": gated("gelu"),
    "_C.gelu_tanh_and_mul.default": gated("gelu_tanh"),
    "_C.gelu_new.default": gelu_new,
    "_C.gelu_fast.default": gelu_new,
    "_C.gelu_tanh.default": gelu_new,
    "_C.gelu_quick.default": gelu_quick,
}

# The operators that stand for kernels with hidden arguments; their last argument says how each kernel was tested.
STANDING_IN = frozenset(("samesame.paged_attention.default", "samesame.fused_experts.default"))

_library: Any = torch.library.Library("samesame", "DEF")  # type: ignore[no-untyped-call]
_library.define(
    "paged_attention(Tensor query, Tensor key, Tensor value, float scale, float cap, int window, Tensor? sinks, "
    "Tensor? slopes, str kernel) -> Tensor"
)
_library.define(
    "fused_experts(Tensor x, Tensor w13, Tensor w2, Tensor? w13_bias, Tensor? w2_bias, Tensor weights, Tensor experts, "
    "bool skip_weighted, str activation, str kernel) -> Tensor"
)
_library.impl("paged_attention", paged_attention, "CompositeExplicitAutograd")
_library.impl("fused_experts", fused_experts, "CompositeExplicitAutograd")
