"""HLO operators, as aten operators that mean the same.

Each entry translates one operator of a graph that was captured from HLO: its arguments are nodes and numbers as the
graph has them, its result is the last node that it emits. Nothing new is left to explain, so nothing new can be wrong
in the proofs; tests/test_entangle_operators.py holds the entries to definitions by loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_lowercase

from samesame.entangle.emit import Emit, Value
from samesame.evidence import Refused
from samesame.graph import Dtype, Node, TensorType

Dims = Sequence[int]


def dot(emit: Emit, type: TensorType, a: Node, b: Node, a_sum: Dims, b_sum: Dims, a_batch: Dims, b_batch: Dims) -> Node:
    """Sum over pairs of dimensions; the result has the batch dimensions, then the rest of a, then the rest of b."""
    letters = iter(ascii_lowercase)
    of_a, of_b = ([""] * len(x.shape) for x in (a, b))
    for i, j in (*zip(a_batch, b_batch, strict=True), *zip(a_sum, b_sum, strict=True)):
        of_a[i] = of_b[j] = next(letters)
    free = [[d for d, letter in enumerate(of) if not letter] for of in (of_a, of_b)]
    for of, dims in zip((of_a, of_b), free, strict=True):
        for d in dims:
            of[d] = next(letters)
    out = [of_a[d] for d in (*a_batch, *free[0])] + [of_b[d] for d in free[1]]
    return emit("aten.einsum.default", f"{''.join(of_a)},{''.join(of_b)}->{''.join(out)}", (a, b))


def broadcast(emit: Emit, type: TensorType, x: Node | float, dims: Dims, shape: Sequence[int]) -> Node:
    """x laid along `dims` of the result, and repeated along the others."""
    if not isinstance(x, Node):
        return emit("aten.full.default", tuple(shape), x, dtype=Dtype(type.dtype))
    order = sorted(range(len(dims)), key=lambda k: dims[k])
    if order != list(range(len(dims))):
        x = emit("aten.permute.default", x, tuple(order))
    for d in range(len(shape)):
        if d not in dims:
            x = emit("aten.unsqueeze.default", x, d)
    return emit("aten.expand.default", x, tuple(shape))


def reduce_max(emit: Emit, type: TensorType, x: Node, dims: int | Dims) -> Node:
    return emit("aten.amax.default", x, (dims,) if isinstance(dims, int) else tuple(dims))


def logistic(emit: Emit, type: TensorType, x: Node) -> Node:
    return emit("aten.sigmoid.default", x)


def select(emit: Emit, type: TensorType, condition: Node, yes: Node, no: Node) -> Node:
    return emit("aten.where.self", condition, yes, no)


def gather(
    emit: Emit, type: TensorType, x: Node, starts: Node, offset: Dims, collapsed: Dims, index_map: Dims, vector: int,
    sizes: Sequence[int],
) -> Node:
    """Whole slices of x, each at a position along one dimension; in the form that looks up rows."""
    row = len(index_map) == 1 and list(collapsed) == list(index_map)
    d = index_map[0] if row else 0
    whole = row and all(n == (1 if k == d else x.shape[k]) for k, n in enumerate(sizes))
    batch = starts.shape[:vector]
    trailing = list(offset) == list(range(len(batch), len(batch) + len(x.shape) - 1))
    if not whole or not trailing or starts.shape[vector:] not in ((), (1,)):
        raise Refused(f"{emit.place} gathers pieces along several dimensions; only lookups of whole rows are supported")
    emit.assume("positions that hlo.gather looks up are in range (beyond it, it would take the nearest)")
    chosen = emit("aten.index_select.default", x, d, flat(emit, starts))
    if d:
        chosen = emit("aten.permute.default", chosen, (d, *(k for k in range(len(x.shape)) if k != d)))
    return chosen if len(batch) == 1 else emit("aten.view.default", chosen, type.shape)


def flat(emit: Emit, x: Node) -> Node:
    return x if len(x.shape) == 1 else emit("aten.view.default", x, (-1,))


def rms_norm(emit: Emit, type: TensorType, x: Node, weight: Node, eps: float) -> Node:
    """x / √(mean(x²) + eps) · weight, along the dimension that the weight lies along."""
    along = [d for d, n in enumerate(x.shape) if (n,) == weight.shape]
    if len(along) != 1:
        raise Refused(f"{emit.place} is a norm, and which dimension it runs over its weight does not tell")
    mean = emit("aten.mean.dim", emit("aten.mul.Tensor", x, x), (along[0],), True)
    scale = emit("aten.rsqrt.default", emit("aten.add.Tensor", mean, eps))
    normal = emit("aten.mul.Tensor", x, scale)
    for _ in range(len(x.shape) - 1 - along[0]):
        weight = emit("aten.unsqueeze.default", weight, -1)
    return emit("aten.mul.Tensor", normal, weight)


TRANSLATIONS: dict[str, Callable[..., Value]] = {
    "hlo.dot": dot,
    "hlo.broadcast": broadcast,
    "hlo.reduce_max": reduce_max,
    "hlo.logistic": logistic,
    "hlo.select": select,
    "hlo.gather": gather,
    "hlo.AwsNeuronRmsNorm": rms_norm,
}
