"""Operators of vLLM: norms, rotary embedding, gated activations, attention over a cache, and fused experts.

The first three are functions of their arguments, and their meaning is exact. Attention and experts stand in graphs as
operators of `samesame` (see definitions.py); their meaning is what the kernels behind them are tested against, so what
is proved with it is worth no more than that test.
"""

from __future__ import annotations

from collections.abc import Callable

from samesame.formula.expr import NEG_INF, Expr, Unsupported, add, and_, const, exp, floordiv, le, lt, mul, where
from samesame.formula.tensor import Tensor, tensor
from samesame.operators.definitions import LIMIT, STEEP
from samesame.operators.indexing import index_select
from samesame.operators.movement import cat, chunk, reshape, slice_, stack, unsqueeze
from samesame.operators.normalisation import rms_norm
from samesame.operators.numbers import constant
from samesame.operators.pointwise import clamp, gelu, minus, plus, sigmoid, tanh, times
from samesame.operators.shapes import folded, plain, pointwise, static
from samesame.operators.table import meaning

# -------------------------------------------------------------------------------------------------------------- norms


@meaning("vllm_ir.rms_norm.default")
def norm(x: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None) -> Tensor:
    if variance_size is not None and variance_size != plain(x.shape[-1]):
        raise Unsupported("a norm by the mean square of a part")
    return rms_norm(x, x.shape[-1:], weight, epsilon)


@meaning("vllm_ir.fused_add_rms_norm.default", "_C.fused_add_rms_norm.default")
def add_norm(
    x: Tensor, x_residual: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> tuple[Tensor, Tensor]:
    """The norm of the sum, and the sum."""
    total = plus(x, x_residual)
    return norm(total, weight, epsilon, variance_size), total


@meaning("_C.rms_norm.default")
def norm_into(out: Tensor, x: Tensor, weight: Tensor | None, epsilon: float) -> Tensor:
    return norm(x, weight, epsilon)


# ------------------------------------------------------------------------------------------------------------- rotary


@meaning("_C.rotary_embedding.default")
def rotary_embedding(
    positions: Tensor,                                     # [n]
    query: Tensor,                                         # [n, heads · head_size]
    key: Tensor | None,
    head_size: int,
    cos_sin_cache: Tensor,                                 # [positions, rotated]: cosines, then sines
    is_neox: bool,
    rope_dim_offset: int = 0,
    inverse: bool = False,
) -> Tensor | tuple[Tensor, ...]:
    """Pairs of each head turned by the angle of their position: (d, d + rotated/2), or (2d, 2d + 1)."""
    if query.rank != 2:
        raise Unsupported("rotary embedding of rows in more than one dimension")
    angles = index_select(cos_sin_cache, 0, positions)
    cos, sin = (unsqueeze(x, 1) for x in chunk(angles, 2, -1))
    sin = times(sin, -1) if inverse else sin
    turned = tuple(
        _turned(x, head_size, cos, sin, is_neox, rope_dim_offset) for x in (query, key) if x is not None
    )
    return turned if len(turned) > 1 else turned[0]


def _turned(x: Tensor, head_size: int, cos: Tensor, sin: Tensor, is_neox: bool, offset: int) -> Tensor:
    heads = reshape(x, (x.shape[0], -1, head_size))
    half = static(cos.shape[-1])
    end = offset + 2 * half

    def part(start: int, stop: int, step: int = 1) -> Tensor:
        return slice_(heads, -1, start, stop, step)

    if is_neox:
        a, b = part(offset, offset + half), part(offset + half, end)
    else:
        a, b = part(offset, end, 2), part(offset + 1, end, 2)
    pair = minus(times(a, cos), times(b, sin)), plus(times(b, cos), times(a, sin))
    both = cat(pair, -1) if is_neox else _in_turn(*pair)
    rest = [part(0, offset)] * (offset > 0), [part(end, head_size)] * (end < head_size)
    whole = cat([*rest[0], both, *rest[1]], -1) if offset > 0 or end < head_size else both
    return reshape(whole, x.shape)


def _in_turn(a: Tensor, b: Tensor) -> Tensor:
    """The elements of the last dimension by turns: a₀ b₀ a₁ b₁ …"""
    return reshape(stack([a, b], -1), (*a.shape[:-1], 2 * static(a.shape[-1])))


# -------------------------------------------------------------------------------------------------------- activations


def silu(x: Tensor) -> Tensor:
    return pointwise(lambda e: e * sigmoid(e), x, kind="real")


def gelu_tanh(x: Tensor) -> Tensor:
    return gelu(x, approximate="tanh")


def gelu_quick(x: Tensor) -> Tensor:
    factor = constant(1.702)
    return pointwise(lambda e: e * sigmoid(mul(factor, e)), x, kind="real")


GATES: dict[str, Callable[[Tensor], Tensor]] = {"silu": silu, "gelu": gelu, "gelu_tanh": gelu_tanh}


def gated(activation: str, x: Tensor) -> Tensor:
    gate, up = chunk(x, 2, -1)
    return times(GATES[activation](gate), up)


def oai(gate: Tensor, up: Tensor) -> Tensor:
    """The activation of gpt-oss's experts."""
    low, steep = clamp(gate, max=LIMIT), constant(STEEP)
    swish = pointwise(lambda e: e * sigmoid(mul(steep, e)), low, kind="real")
    return times(swish, plus(clamp(up, -LIMIT, LIMIT), 1))


meaning("_C.silu_and_mul.default")(lambda result, input: gated("silu", input))
meaning("_C.gelu_and_mul.default")(lambda result, input: gated("gelu", input))
meaning("_C.gelu_tanh_and_mul.default")(lambda result, input: gated("gelu_tanh", input))
meaning("_C.gelu_new.default", "_C.gelu_fast.default", "_C.gelu_tanh.default")(
    lambda out, input: gelu_tanh(input)
)
meaning("_C.gelu_quick.default")(lambda out, input: gelu_quick(input))


# ---------------------------------------------------------------------------------------------------------- attention


@meaning("samesame.paged_attention.default")
def paged_attention(
    query: Tensor,                                         # [B, T, H, D]: the last T of S positions
    key: Tensor,                                           # [B, S, G, D]: what the cache holds, G divides H
    value: Tensor,                                         # [B, S, G, V]
    scale: float,
    cap: float,
    window: int,
    sinks: Tensor | None,                                  # [H]
    slopes: Tensor | None,                                 # [H]
    kernel: str,
) -> Tensor:                                               # [B, T, H, V]
    """out[b, i, h, v] = Σ_j softmax_j(score)[i, j] · value[b, j, h/(H/G), v], causal, in a window if any."""
    batch, tokens, heads, size = map(static, query.shape)
    length, groups, width = map(static, value.shape[1:])
    share, past = heads // groups, length - tokens

    def score(b: Expr, i: Expr, h: Expr, j: Expr) -> Expr:
        group = floordiv(h, const(share)) if share > 1 else h
        dot = folded("sum", [size], lambda e: query[b, i, h, e] * key[b, j, group, e])
        found = mul(constant(scale), dot)
        if cap > 0:
            found = mul(constant(cap), tanh(found / constant(cap)))
        if slopes is not None:
            found = add(found, slopes[(h,)] * add(j, mul(-1, add(i, past))))
        here = add(i, past)
        seen = le(j, here)
        if window > 0:
            seen = and_(seen, lt(add(here, -window), j))
        return where(seen, found, NEG_INF)

    def element(b: Expr, i: Expr, h: Expr, v: Expr) -> Expr:
        group = floordiv(h, const(share)) if share > 1 else h
        total = folded("sum", [length], lambda j: exp(score(b, i, h, j)))
        if sinks is not None:
            total = add(total, exp(sinks[(h,)]))
        return folded("sum", [length], lambda j: exp(score(b, i, h, j)) / total * value[b, j, group, v])

    return tensor((batch, tokens, heads, width), element)


# ------------------------------------------------------------------------------------------------------------ experts


@meaning("samesame.fused_experts.default")
def fused_experts(
    x: Tensor,                                             # [n, D]
    w13: Tensor,                                           # [E, 2·I, D]: gates, then ups
    w2: Tensor,                                            # [E, D, I]
    w13_bias: Tensor | None,
    w2_bias: Tensor | None,
    weights: Tensor,                                       # [n, K]
    experts: Tensor,                                       # [n, K] integers below E
    skip_weighted: bool,
    activation: str,
    kernel: str,
) -> Tensor:                                               # [n, D]
    """Σ_k weights[n, k] · expert(experts[n, k])(x[n]), an expert being down(act(gate(x)) · up(x))."""
    if activation not in (*GATES, "swigluoai"):
        raise Unsupported(f"experts with the activation {activation}")
    tokens, width = x.shape
    chosen, inner = static(weights.shape[1]), static(w2.shape[2])

    def linear(t: Expr, k: Expr, row: Expr) -> Expr:
        expert = experts[t, k]
        total = folded("sum", [width], lambda d: w13[expert, row, d] * x[t, d])
        return total if w13_bias is None else add(total, w13_bias[expert, row])

    def rows(start: int, step: int = 1) -> Tensor:
        return tensor((tokens, chosen, inner), lambda t, k, i: linear(t, k, add(mul(i, step), start)))

    by_turns = activation == "swigluoai"
    hidden = oai(rows(0, 2), rows(1, 2)) if by_turns else times(GATES[activation](rows(0)), rows(inner))

    def element(t: Expr, d: Expr) -> Expr:
        def one(k: Expr) -> Expr:
            expert = experts[t, k]
            out = folded("sum", [inner], lambda i: w2[expert, d, i] * hidden[t, k, i])
            out = out if w2_bias is None else add(out, w2_bias[expert, d])
            return out if skip_weighted else mul(weights[t, k], out)

        return folded("sum", [chosen], one)

    return tensor((tokens, width), element)
