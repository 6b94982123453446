"""Fused operators of vLLM and apex, as aten operators that mean the same.

vLLM's operators write into their arguments; a captured graph wraps them as `auto_functionalized`, whose results are
what the operator returns, then the arguments it wrote. Each entry here takes the operator's arguments by name and gives
those results. Attention alone has no definition that holds everywhere: what it computes depends on a cache that the
graph does not show. What is taken for granted is that it works on each group of a key-value head and its query heads by
itself, and on each in the same way; so it becomes one opaque call for each group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from samesame.entangle.emit import Emit, Value
from samesame.evidence import Refused
from samesame.graph import Dtype, Node, TensorType

GROUP = "samesame.attention_of_group.default"


def attention_of_group(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layer: str) -> torch.Tensor:
    """Stands for vLLM's attention on one group: query [n, heads, d]; key and value [m, 1, d] -> [n, heads, d].

    It runs as causal attention, which is one of the things that it may be; proofs use no more than that equal
    arguments give equal results.
    """
    scores = torch.einsum("nhd,md->hnm", query, key[:, 0]) / math.sqrt(query.shape[-1])
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.einsum("hnm,md->nhd", scores.masked_fill(later, float("-inf")).softmax(-1), value[:, 0])


_library = torch.library.Library("samesame", "FRAGMENT")                                    # type: ignore[no-untyped-call]
_library.define(                                                                            # type: ignore[no-untyped-call]
    "attention_of_group(Tensor query, Tensor key, Tensor value, str layer) -> Tensor"
)
_library.impl("attention_of_group", attention_of_group, "CompositeExplicitAutograd")        # type: ignore[no-untyped-call]


# ---------------------------------------------------------------------------------------------------------------- vLLM


def rms_norm(emit: Emit, *, result: Node, input: Node, weight: Node, epsilon: float) -> Value:
    return None, _rms_norm(emit, input, weight, epsilon)


def fused_add_rms_norm(emit: Emit, *, input: Node, residual: Node, weight: Node, epsilon: float) -> Value:
    total = emit("aten.add.Tensor", input, residual)
    return None, _rms_norm(emit, total, weight, epsilon), total


def _rms_norm(emit: Emit, x: Node, weight: Node, eps: float) -> Node:
    return emit("aten.rms_norm.default", x, weight.shape, weight, eps)


def silu_and_mul(emit: Emit, *, out: Node, input: Node) -> Value:
    """The first half of the last dimension, through SiLU, times the second."""
    gate, up = halves(emit, input)
    return None, emit("aten.mul.Tensor", emit("aten.silu.default", gate), up)


def halves(emit: Emit, x: Node) -> tuple[Node, Node]:
    half = x.shape[-1] // 2
    first, second = emit.parts(emit("aten.split_with_sizes.default", x, (half, half), -1))
    return first, second


def rotary_embedding(
    emit: Emit, *, positions: Node, query: Node, key: Node | None, head_size: int, cos_sin_cache: Node, is_neox: bool
) -> Value:
    """Each head is turned by the angles of its position; the cache holds their cosines, then their sines."""
    if not is_neox:
        raise Refused(f"{emit.place} is a rotary embedding of interleaved pairs, which is not supported")
    rows = emit("aten.embedding.default", cos_sin_cache, positions)
    cosine, sine = (emit("aten.unsqueeze.default", half, -2) for half in halves(emit, rows))
    turned = tuple(None if x is None else _turned(emit, x, cosine, sine, head_size) for x in (query, key))
    return None, *turned


def _turned(emit: Emit, x: Node, cosine: Node, sine: Node, head_size: int) -> Node:
    turning = 2 * cosine.shape[-1]
    heads = emit("aten.view.default", x, (*x.shape[:-1], x.shape[-1] // head_size, head_size))
    rest: tuple[Node, ...] = ()
    if turning < head_size:
        heads, still = emit.parts(emit("aten.split_with_sizes.default", heads, (turning, head_size - turning), -1))
        rest = (still,)
    one, two = halves(emit, heads)

    def times(a: Node, b: Node) -> Node:
        return emit("aten.mul.Tensor", a, b)

    parts = (
        emit("aten.sub.Tensor", times(one, cosine), times(two, sine)),
        emit("aten.add.Tensor", times(two, cosine), times(one, sine)),
        *rest,
    )
    return emit("aten.view.default", emit("aten.cat.default", parts, -1), x.shape)


def unified_attention(emit: Emit, *, query: Node, key: Node, value: Node, output: Node, layer_name: str) -> Value:
    """One opaque call for each group. query: [n, heads, d]; key, value: [n, groups, d]."""
    groups = key.shape[1]
    if len(query.shape) != 3 or query.shape[1] % groups:
        raise Refused(f"{emit.place} is attention over {query.shape[1]} query heads and {groups} key-value heads")
    emit.assume(
        "vLLM's attention treats each key-value head and its query heads by themselves, each in the same way, and "
        "depends on nothing else that differs between ranks; no more is used of it"
    )
    parts = [_groups(emit, x, groups) for x in (query, key, value)]
    attended = tuple(emit(GROUP, *group, layer_name) for group in zip(*parts, strict=True))
    return None, attended[0] if groups == 1 else emit("aten.cat.default", attended, 1)


def _groups(emit: Emit, x: Node, groups: int) -> tuple[Node, ...]:
    """x cut along its heads into as many pieces."""
    if groups == 1:
        return (x,)
    return emit.parts(emit("aten.split_with_sizes.default", x, (x.shape[1] // groups,) * groups, 1))


WRAPPED: dict[str, Callable[..., Value]] = {
    "_C.rms_norm.default": rms_norm,
    "_C.fused_add_rms_norm.default": fused_add_rms_norm,
    "_C.silu_and_mul.default": silu_and_mul,
    "_C.rotary_embedding.default": rotary_embedding,
    "vllm.unified_attention_with_output.default": unified_attention,
}


# ---------------------------------------------------------------------------------------------------------------- apex


def layer_norm(emit: Emit, x: Node, weight: Node, bias: Node, shape: Sequence[int], eps: float) -> Value:
    """The norm; the means, and the inverse roots, each as a vector."""
    out, mean, scale = emit.parts(emit("aten.native_layer_norm.default", x, tuple(shape), weight, bias, eps))
    return out, *(emit("aten.view.default", part, (-1,)) for part in (mean, scale))


def layer_norm_backward(
    emit: Emit, grad: Node, mean: Node, scale: Node, x: Node, shape: Sequence[int], weight: Node, bias: Node,
    eps: float, memory_efficient: bool = False,
) -> Value:
    """The gradients of x, weight and bias."""
    if memory_efficient:
        raise Refused(f"{emit.place} computes from the norm's output instead of its input, which is not supported")
    rows = (*x.shape[: len(x.shape) - len(shape)], *(1,) * len(shape))
    kept = (emit("aten.view.default", as_in(emit, part, x), rows) for part in (mean, scale))
    asked = (True, True, True)
    return emit.parts(
        emit("aten.native_layer_norm_backward.default", grad, x, tuple(shape), *kept, weight, bias, asked)
    )


def as_in(emit: Emit, part: Node, x: Node) -> Node:
    """A statistic in the precision of x, which torch's kernels ask for."""
    assert isinstance(part.type, TensorType) and isinstance(x.type, TensorType)
    wanted = x.type.dtype
    return part if part.type.dtype == wanted else emit("aten._to_copy.default", part, dtype=Dtype(wanted))


APEX: dict[str, Callable[..., Value]] = {
    "apex.fused_layer_norm_affine_fwd.default": layer_norm,
    "apex.fused_layer_norm_affine_bwd.default": layer_norm_backward,
}
