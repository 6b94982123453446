"""Names of known formulas: softmax, RMSNorm, layer norm, matrix product and others.

The table says what each name means, in the words of `operators`. A formula has a name if it is proved equal to an
entry, its leaves in the entry's places; it is worked out on random numbers first, so that only what agrees is put to
the prover. The formula's own numbers (an epsilon, a scale) are tried where an entry asks for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from samesame.formula.effort import WORK, Budget
from samesame.formula.equal import Proved, integers_in_range, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    Expr,
    Index,
    Leaf,
    Load,
    Num,
    Opaque,
    Size,
    Sum,
    Unsupported,
    const,
    exp,
    le,
    log,
    mul,
    power,
    substitute,
    walk,
    where,
)
from samesame.formula.sizes import value_at
from samesame.formula.tensor import Tensor, elements_of, tensor
from samesame.kernels import clock
from samesame.operators import meaning_of

BUDGET = Budget(seconds=4.0, solver=500 * WORK)
MOST_LEAVES = 4


@dataclass(frozen=True)
class Known:
    """A name and what it means: `ranks` of its tensors, and a function of them and of a number if `number` is set."""

    name: str
    ranks: tuple[int, ...]
    meaning: Callable[..., Any]
    number: bool = False
    kinds: tuple[str, ...] = ()


def torch_meaning(operator: str, *rest: Any) -> Callable[..., Any]:
    """An operator's meaning with some arguments given."""

    def apply(*tensors: Any) -> Any:
        meaning = meaning_of(operator)
        assert meaning is not None
        return meaning(*tensors, *rest)

    return apply


def norm(scaled: bool, shifted: bool) -> Callable[..., Tensor]:
    """Layer norm of the last dimension."""

    def apply(x: Tensor, *rest: Any) -> Tensor:
        *weights, eps = rest
        n = x.shape[-1]

        def at(*i: Expr) -> Expr:
            mean = Sum(n, lambda k: x[(*i[:-1], k)]) / n
            variance = Sum(n, lambda k: (x[(*i[:-1], k)] - mean) * (x[(*i[:-1], k)] - mean)) / n
            y = (x[i] - mean) * power(variance + eps, POWER)
            y = mul(y, weights[0][i[-1]]) if scaled else y
            return y + weights[-1][i[-1]] if shifted else y

        return tensor(x.shape, at)

    return apply


def rms(x: Tensor, *rest: Any) -> Tensor:
    """RMSNorm of the last dimension, times a weight if there is one."""
    *weights, eps = rest
    n = x.shape[-1]

    def at(*i: Expr) -> Expr:
        scale = power(Sum(n, lambda k: x[(*i[:-1], k)] * x[(*i[:-1], k)]) / n + eps, POWER)
        y = x[i] * scale
        return y * weights[0][i[-1]] if weights else y

    return tensor(x.shape, at)


def attention(causal: bool) -> Callable[..., Tensor]:
    def apply(q: Tensor, k: Tensor, v: Tensor, scale: Any) -> Tensor:
        batch = q.rank - 2

        def at(*i: Expr) -> Expr:
            b, m, d = i[:batch], i[-2], i[-1]

            def weight(n: Expr) -> Expr:
                score = exp(scale * Sum(q.shape[-1], lambda e: q[(*b, m, e)] * k[(*b, n, e)]))
                return where(le(n, m), score, 0) if causal else score

            total = Sum(k.shape[-2], weight)
            return Sum(k.shape[-2], lambda n: weight(n) * v[(*b, n, d)]) / total

        return tensor(q.shape, at)

    return apply


def picked(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of each row with its label."""
    return tensor(labels.shape, lambda i: log(Sum(logits.shape[1], lambda j: exp(logits[i, j]))) - logits[i, labels[i]])


def variance(x: Tensor) -> Tensor:
    """The mean square of the last dimension about its mean."""
    n = x.shape[-1]

    def at(*i: Expr) -> Expr:
        mean = Sum(n, lambda k: x[(*i, k)]) / n
        return Sum(n, lambda k: (x[(*i, k)] - mean) * (x[(*i, k)] - mean)) / n

    return tensor(x.shape[:-1], at)


def silu(x: Expr) -> Expr:
    return x / (1 + exp(mul(-1, x)))


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of [position, head, dimension]: both halves of the dimension, turned by an angle for each."""
    half = const(cos.shape[1])

    def at(t: Expr, h: Expr, d: Expr) -> Expr:
        first = x[t, h, d] * cos[t, d] - x[t, h, d + half] * sin[t, d]
        second = x[t, h, d] * cos[t, d - half] + x[t, h, d - half] * sin[t, d - half]
        return where(le(half, d), second, first)

    return tensor(x.shape, at)


POWER = const(-1).value / 2  # type: ignore[attr-defined]

TABLE = (
    *(Known("copy", (r,), lambda x: x) for r in (1, 2, 3)),
    *(Known("transpose", (2,), torch_meaning("aten.t.default")) for _ in (1,)),
    *(Known("addition", (r, r), lambda x, y: tensor(x.shape, lambda *i: x[i] + y[i])) for r in (1, 2, 3)),
    *(Known("multiplication", (r, r), lambda x, y: tensor(x.shape, lambda *i: x[i] * y[i])) for r in (1, 2, 3)),
    *(Known("ReLU", (r,), torch_meaning("aten.relu.default")) for r in (1, 2)),
    *(Known("SiLU", (r,), torch_meaning("aten.silu.default")) for r in (1, 2)),
    *(Known("GELU", (r,), torch_meaning("aten.gelu.default")) for r in (1, 2)),
    *(Known("softmax", (r,), torch_meaning("aten.softmax.int", -1)) for r in (1, 2, 3)),
    *(Known("log-softmax", (r,), torch_meaning("aten.log_softmax.int", -1)) for r in (1, 2, 3)),
    *(Known("cumulative sum", (r,), torch_meaning("aten.cumsum.default", -1)) for r in (1, 2)),
    *(Known("sum over the last dimension", (r,), torch_meaning("aten.sum.dim_IntList", [-1])) for r in (1, 2)),
    *(Known("mean over the last dimension", (r,), torch_meaning("aten.mean.dim", [-1])) for r in (1, 2)),
    *(Known("variance over the last dimension", (r,), variance) for r in (1, 2)),
    *(Known("argmax", (r,), torch_meaning("aten.argmax.default", -1)) for r in (1, 2)),
    *(Known("SwiGLU", (r, r), lambda a, b: tensor(a.shape, lambda *i: silu(a[i]) * b[i])) for r in (1, 2)),
    Known("rotary embedding", (3, 2, 2), rotated),
    *(Known("RMSNorm", (r, *w), rms, True) for r in (1, 2) for w in ((1,), ())),
    *(Known("layer norm", (r, 1, 1), norm(True, True), True) for r in (1, 2)),
    *(Known("layer norm", (r, 1), norm(True, False), True) for r in (1, 2)),
    *(Known("layer norm", (r,), norm(False, False), True) for r in (1, 2)),
    Known("matrix product", (2, 2), torch_meaning("aten.mm.default")),
    Known("matrix product", (3, 3), torch_meaning("aten.bmm.default")),
    Known("embedding", (2, 1), torch_meaning("aten.embedding.default"), kinds=("real", "int")),
    Known("cross-entropy", (2, 1), picked, kinds=("real", "int")),
    *(Known("causal attention", (r, r, r), attention(True), True) for r in (2, 3, 4)),
    *(Known("attention", (r, r, r), attention(False), True) for r in (2, 3, 4)),
)


def name_of(indices: tuple[Index, ...], expr: Expr) -> str:
    """The name of the formula with these output indices; empty if it has none here."""
    leaves = sorted({e.leaf for e in walk(expr) if isinstance(e, Load)}, key=lambda x: x.name)
    if not leaves or len(leaves) > MOST_LEAVES or any(x.name.endswith("*") or not x.shape for x in leaves):
        return ""
    if sum(1 for _ in walk(expr)) > 400:
        return ""
    whole = Tensor(
        tuple(v.extent for v in indices), lambda *i: substitute(expr, dict(zip(indices, i, strict=True))), expr.kind
    )
    opaque = any(isinstance(e, Opaque) for e in walk(expr))  # which nobody can work out on numbers
    for known, other in candidates(leaves, expr):
        if not clock.left():
            return ""
        try:
            if not opaque and not agree(whole, other, leaves):
                continue
            budget = replace(BUDGET, seconds=min(BUDGET.seconds, clock.left()))
            found = prove_tensors_equal(whole, other, budget=budget)
            if isinstance(found, Proved) and found.unconditional(integers_in_range(expr, other.element()[1])):
                return known.name
        except (Unsupported, IndexError, TypeError, ValueError):
            continue  # the entry does not fit tensors of these shapes
    return ""


def candidates(leaves: list[Leaf], expr: Expr) -> Iterator[tuple[Known, Tensor]]:
    """Entries of the table with the formula's leaves in their places, and each of its numbers where one is asked."""
    numbers = [e for e in walk(expr) if isinstance(e, Num) and e.value > 0]
    for known in TABLE:
        if sorted(known.ranks) != sorted(len(x.shape) for x in leaves):
            continue
        for order in permutations(leaves):
            if tuple(len(x.shape) for x in order) != known.ranks or (
                known.kinds and tuple(x.kind for x in order) != known.kinds
            ):
                continue
            tensors = [elements_of(x) for x in order]
            for n in dict.fromkeys(numbers) if known.number else (None,):
                try:
                    other = known.meaning(*tensors, *(() if n is None else (n,)))
                except (Unsupported, IndexError):
                    continue
                yield known, other


def agree(a: Tensor, b: Tensor, leaves: list[Leaf]) -> bool:
    """Whether both have the same values at some small sizes."""
    if a.rank != b.rank:
        return False
    symbols = sorted(
        {s for x in leaves for n in x.shape for s in walk(const(n)) if isinstance(s, Size)}, key=lambda s: s.name
    )
    sizes = {s.name: s.minimum + k + 1 for k, s in enumerate(symbols)}
    random = np.random.default_rng(0)
    values: dict[str, Any] = {}
    for x in leaves:
        shape = [value_at(n, sizes) for n in x.shape]
        values[x.name] = random.integers(0, 2, shape) if x.kind == "int" else random.random(shape) + 0.1
    left, right = (np.asarray(evaluate(t, values, sizes), float) for t in (a, b))
    return left.shape == right.shape and bool(np.allclose(left, right, rtol=1e-9, equal_nan=True))
