"""Scaled dot-product attention, in every variant that torch dispatches to.

    scores[i, j] = scale · Σ_e query[i, e] · key[j, e] + mask[i, j]
    out[i, v]    = Σ_j softmax_j(scores)[i, j] · value[j, v]

A boolean mask keeps where it is true; `is_causal` keeps j ≤ i, aligned at the top left. A row that a mask hides
entirely gives zeros. Heads of key and value may be fewer than those of query: each then serves a run of
neighbouring query heads.
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.expr import NEG_INF, Expr, Unsupported, add, const, eq, floordiv, le, mul, power, where
from samesame.formula.tensor import Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.contraction import contracted, matmul
from samesame.operators.movement import moved, replaced
from samesame.operators.normalisation import safe_softmax, softmax
from samesame.operators.numbers import constant
from samesame.operators.pointwise import cast
from samesame.operators.reduction import logsumexp
from samesame.operators.shapes import broadcast, divided, fits, folded, plain, pointwise, reduced, same_size
from samesame.operators.table import meaning


@meaning("aten.scaled_dot_product_attention.default")
def attention(
    query: Tensor,                                         # [..., H, L, E]
    key: Tensor,                                           # [..., H, S, E]
    value: Tensor,                                         # [..., H, S, V]
    attn_mask: Tensor | None = None,                       # broadcasts to [..., H, L, S]
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | Expr | None = None,
    enable_gqa: bool = False,
) -> Tensor:                                               # [..., H, L, V]
    return matmul(weights(query, key, attn_mask, dropout_p, is_causal, scale), per_head(value, query))


def weights(
    query: Tensor, key: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, scale: float | Expr | None
) -> Tensor:
    """softmax of the scores. Only a mask can hide a whole row."""
    if dropout_p:
        raise Unsupported("dropout in attention is random")
    found = scores(query, key, mask, is_causal, scale)
    return softmax(found, -1) if mask is None else safe_softmax(found, -1)


def scores(query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float | Expr | None) -> Tensor:
    keys = per_head(key, query)
    size = contracted(query.shape[-1], keys.shape[-1])
    factor = power(const(size), Fraction(-1, 2)) if scale is None else constant(scale)
    batch = broadcast(query.shape[:-2], keys.shape[:-2])
    q, k = (_over(x, batch) for x in (query, keys))

    def element(*i: Expr) -> Expr:
        outer, row, column = i[:-2], i[-2], i[-1]
        found = mul(factor, folded("sum", [size], lambda e: q[(*outer, row, e)] * k[(*outer, column, e)]))
        return where(le(column, row), found, NEG_INF) if is_causal else found

    found = tensor((*batch, query.shape[-2], keys.shape[-2]), element)
    if mask is None:
        return found
    fits(mask.shape, found.shape, "a mask of attention")
    if mask.kind == "bool":
        return pointwise(lambda m, s: where(m, s, NEG_INF), mask, found, kind="real")
    return pointwise(add, found, mask)


def _over(x: Tensor, batch: tuple[int | Expr, ...]) -> Tensor:
    """x with its batch dimensions broadcast."""
    shape = (*batch, *x.shape[-2:])
    return x if len(shape) == x.rank and same_size(x.shape, shape) else pointwise(
        lambda e, _: e, x, tensor(shape, lambda *i: 0, x.kind)
    )


def per_head(x: Tensor, query: Tensor) -> Tensor:
    """Keys or values [..., h, S, D] with one entry for each of the query's H heads."""
    if x.rank < 3 or query.rank < 3:
        return x
    heads, own = plain(query.shape[-3]), plain(x.shape[-3])
    if same_size((heads,), (own,)) or 1 in (heads, own):
        return x
    d, group = x.rank - 3, const(divided((heads,), (own,)))
    return moved(x, replaced(x.shape, d, heads), lambda *i: replaced(i, d, floordiv(i[d], group)))


# ------------------------------------------------------------------------------------------------------------- variants


@meaning("aten._scaled_dot_product_flash_attention_for_cpu.default")
def flash_for_cpu(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | Expr | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention, and the logarithm of each row's Σ exp(scores), which is 0 where the mask hides the row."""
    if attn_mask is not None and attn_mask.kind == "bool":
        raise Unsupported("a boolean mask, which this variant does not take")
    out = attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
    found = scores(query, key, attn_mask, is_causal, scale)
    hidden = reduced("all", found, -1, of=lambda e: eq(e, NEG_INF), kind="bool")
    return out, pointwise(lambda h, e: where(h, 0, e), hidden, logsumexp(found, -1), kind="real")


@meaning("aten._scaled_dot_product_attention_math.default")
def math_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: Tensor | None = None,
    *,
    scale: float | Expr | None = None,
    enable_gqa: bool = False,
) -> tuple[Tensor, Tensor]:
    """Attention, and the softmax of the scores."""
    if dropout_mask is not None:
        raise Unsupported("dropout in attention")
    mask = None if attn_mask is None else cast(attn_mask, Dtype("float"))    # here a boolean mask is added, as 0 and 1
    found = weights(query, key, mask, dropout_p, is_causal, scale)
    return matmul(found, per_head(value, query)), found
