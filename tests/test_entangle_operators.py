"""Operators of HLO, vLLM and apex become torch's: each translation computes what the operator is defined to compute."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from samesame.entangle.emit import Emit
from samesame.entangle.fused import APEX, GROUP, WRAPPED
from samesame.entangle.hlo import TRANSLATIONS
from samesame.evidence import Refused
from samesame.graph import NOWHERE, Node, TensorType
from samesame.operators.definitions import DEFINED
from samesame.operators.execute import execute

T = torch.Tensor


def translated(make: Callable[..., Any], *args: Any, **kwargs: Any) -> list[T | None]:
    """What a translation of these tensors and numbers computes: each result that it gives."""
    emit, values = Emit(), {}

    def entered(argument: Any) -> Any:
        if not isinstance(argument, T):
            return argument
        kind = TensorType(tuple(argument.shape), str(argument.dtype).removeprefix("torch."))
        with emit.translating(f"x{len(values)}", NOWHERE):
            node = emit.typed("input", kind)
        values[node.name] = argument
        return node

    args, kwargs = tuple(map(entered, args)), {name: entered(value) for name, value in kwargs.items()}
    with emit.translating("f", NOWHERE):
        found = make(emit, *args, **kwargs)
    parts = list(found) if isinstance(found, tuple) else [found]
    graph = emit.graph("f", {str(k): part for k, part in enumerate(parts) if part is not None})
    results = execute(graph, values)
    for name, root in graph.roots:
        assert isinstance(root.type, TensorType)
        assert tuple(results[root.name].shape) == root.type.shape, f"{name}: {root.type}"
    named = dict(graph.roots)
    return [None if part is None else results[named[str(k)].name] for k, part in enumerate(parts)]


def hlo(operator: str, shape: Sequence[int], *args: Any, dtype: str = "float64") -> T:
    (found,) = translated(TRANSLATIONS[operator], TensorType(tuple(shape), dtype), *args)
    assert found is not None
    return found


def r(*shape: int) -> T:
    return torch.randn(shape, dtype=torch.float64)


def close(a: T | None, b: T) -> None:
    assert a is not None
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


# ----------------------------------------------------------------------------------------------------------------- HLO


@pytest.mark.parametrize(
    "a, b, a_sum, b_sum, a_batch, b_batch",
    [
        ((3, 4), (4, 5), [1], [0], [], []),
        ((4, 3), (4, 5), [0], [0], [], []),
        ((3, 4), (5, 4), [1], [1], [], []),
        ((6, 2, 3, 5), (7, 2, 3, 5), [3], [3], [1, 2], [1, 2]),
        ((2, 3, 6, 7), (7, 2, 3, 5), [3], [0], [0, 1], [1, 2]),
        ((2, 3, 4), (4, 3, 5), [1, 2], [1, 0], [], []),
        ((3,), (4,), [], [], [], []),
    ],
)
def test_dot(a: Any, b: Any, a_sum: Any, b_sum: Any, a_batch: Any, b_batch: Any) -> None:
    x, y = r(*a), r(*b)
    sides = ((a, a_sum, a_batch), (b, b_sum, b_batch))
    free = [[d for d in range(len(shape)) if d not in (*sums, *batch)] for shape, sums, batch in sides]
    shape = [a[d] for d in (*a_batch, *free[0])] + [b[d] for d in free[1]]
    wanted = torch.zeros(*shape, dtype=torch.float64)
    for out in itertools.product(*map(range, shape)):
        i, j = [0] * len(a), [0] * len(b)
        places = iter(out)
        batch, left = ([next(places) for _ in dims] for dims in (a_batch, free[0]))
        for p, q, k in zip(a_batch, b_batch, batch, strict=True):
            i[p], j[q] = k, k
        for d, k in zip(free[0], left, strict=True):
            i[d] = k
        for d, k in zip(free[1], places, strict=True):
            j[d] = k
        for summed in itertools.product(*(range(a[d]) for d in a_sum)):
            for p, q, k in zip(a_sum, b_sum, summed, strict=True):
                i[p], j[q] = k, k
            wanted[out] += x[tuple(i)] * y[tuple(j)]
    close(hlo("hlo.dot", shape, x, y, a_sum, b_sum, a_batch, b_batch), wanted)


@pytest.mark.parametrize(
    "shape, dims, wanted",
    [((3,), [1], (2, 3)), ((2, 3), [0, 2], (2, 4, 3)), ((2, 3), [2, 0], (3, 4, 2)), ((), [], (2, 2))],
)
def test_broadcast(shape: Any, dims: Any, wanted: Any) -> None:
    x = r(*shape)
    found = hlo("hlo.broadcast", wanted, x, dims, wanted)
    for out in itertools.product(*map(range, wanted)):
        assert found[out] == x[tuple(out[d] for d in dims)]


def test_broadcast_of_a_number() -> None:
    close(hlo("hlo.broadcast", (2, 3), 8.0, [], (2, 3)), torch.full((2, 3), 8.0, dtype=torch.float64))


def test_maximum_logistic_and_select() -> None:
    x, y = r(2, 3, 4), r(2, 3, 4)
    close(hlo("hlo.reduce_max", (2, 4), x, 1), x.max(1).values)
    close(hlo("hlo.reduce_max", (3,), x, [0, 2]), x.max(2).values.max(0).values)
    close(hlo("hlo.logistic", (2, 3, 4), x), 1 / (1 + torch.exp(-x)))
    close(hlo("hlo.select", (2, 3, 4), x > 0, x, y), torch.where(x > 0, x, y))


@pytest.mark.parametrize("starts", [(3,), (3, 1), (2, 2)])
def test_gather_of_whole_rows(starts: Any) -> None:
    x, i = r(5, 2, 3), torch.randint(0, 5, starts)
    vector = len(starts) - 1 if starts[-1] == 1 else len(starts)
    places = i.reshape(starts[:vector])
    offset = [vector, vector + 1]
    found = hlo("hlo.gather", (*places.shape, 2, 3), x, i, offset, [0], [0], vector, [1, 2, 3])
    close(found, x[places])


def test_gather_of_something_else_is_refused() -> None:
    with pytest.raises(Refused, match="lookups of whole rows"):
        hlo("hlo.gather", (1, 1, 3), r(5, 2, 3), torch.zeros(1, dtype=torch.int64), [1, 2], [0], [0], 1, [1, 1, 3])


@pytest.mark.parametrize("shape, along", [((4, 2, 3), 0), ((2, 4, 3), 1), ((2, 3, 4), 2)])
def test_rms_norm_along_the_dimension_of_its_weight(shape: Any, along: int) -> None:
    x, w = r(*shape), r(4)
    wanted = torch.empty_like(x)
    for out in itertools.product(*map(range, shape)):
        row = [x[(*out[:along], k, *out[along + 1 :])].item() for k in range(4)]
        wanted[out] = x[out] / math.sqrt(sum(v * v for v in row) / 4 + 1e-5) * w[out[along]]
    close(hlo("hlo.AwsNeuronRmsNorm", shape, x, w, 1e-5), wanted)


def test_rms_norm_whose_dimension_is_open_is_refused() -> None:
    with pytest.raises(Refused, match="which dimension it runs over"):
        hlo("hlo.AwsNeuronRmsNorm", (4, 4), r(4, 4), r(4), 1e-5)


# ---------------------------------------------------------------------------------------------------------------- vLLM


def test_norms_of_vllm() -> None:
    x, residual, w = r(3, 4), r(3, 4), r(4)
    nothing, normal = translated(WRAPPED["_C.rms_norm.default"], result=x, input=x, weight=w, epsilon=1e-6)
    assert nothing is None
    close(normal, x / torch.sqrt((x * x).sum(-1, keepdim=True) / 4 + 1e-6) * w)
    found = translated(
        WRAPPED["_C.fused_add_rms_norm.default"], input=x, residual=residual, weight=w, epsilon=1e-6
    )
    for mine, theirs in zip(found[1:], DEFINED["_C.fused_add_rms_norm.default"](x, residual, w, 1e-6), strict=True):
        close(mine, theirs)


def test_gated_silu() -> None:
    x = r(3, 8)
    _, found = translated(WRAPPED["_C.silu_and_mul.default"], out=r(3, 4), input=x)
    close(found, x[:, :4] / (1 + torch.exp(-x[:, :4])) * x[:, 4:])


@pytest.mark.parametrize("rotated", [6, 4])
@pytest.mark.parametrize("with_key", [True, False])
def test_rotary_embedding(rotated: int, with_key: bool) -> None:
    positions, query, key, cache = torch.tensor([3, 0, 7]), r(3, 12), r(3, 6) if with_key else None, r(9, rotated)
    found = translated(
        WRAPPED["_C.rotary_embedding.default"], positions=positions, query=query, key=key, head_size=6,
        cos_sin_cache=cache, is_neox=True,
    )
    for x, mine in zip((query, key), found[1:], strict=True):
        if x is None:
            assert mine is None
            continue
        heads, wanted, half = x.reshape(3, -1, 6), x.reshape(3, -1, 6).clone(), rotated // 2
        for n, h, d in itertools.product(range(3), range(heads.shape[1]), range(half)):
            cos, sin = cache[positions[n], d], cache[positions[n], half + d]
            a, b = heads[n, h, d], heads[n, h, d + half]
            wanted[n, h, d], wanted[n, h, d + half] = a * cos - b * sin, b * cos + a * sin
        close(mine, wanted.reshape(x.shape))


def test_rotary_embedding_of_pairs_is_refused() -> None:
    with pytest.raises(Refused, match="interleaved pairs"):
        translated(WRAPPED["_C.rotary_embedding.default"], positions=torch.tensor([0]), query=r(1, 4), key=None,
                   head_size=4, cos_sin_cache=r(2, 4), is_neox=False)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_attention_is_one_opaque_call_for_each_group(groups: int) -> None:
    q, k, v = r(5, 6, 4), r(5, groups, 4), r(5, groups, 4)
    _, found = translated(
        WRAPPED["vllm.unified_attention_with_output.default"], query=q, key=k, value=v, output=q, layer_name="layer.0"
    )
    rows = [torch.nn.functional.scaled_dot_product_attention(
        q[:, h], k[:, h * groups // 6], v[:, h * groups // 6], is_causal=True) for h in range(6)]
    close(found, torch.stack(rows, 1))
    emit = Emit()
    nodes = []
    for name, x in (("q", q), ("k", k), ("v", v)):
        with emit.translating(name, NOWHERE):
            nodes.append(emit.typed("input", TensorType(tuple(x.shape), "float64")))
    with emit.translating("f", NOWHERE):
        WRAPPED["vllm.unified_attention_with_output.default"](
            emit, query=nodes[0], key=nodes[1], value=nodes[2], output=nodes[0], layer_name="layer.0"
        )
    calls: list[Node] = [node for node in emit.nodes if node.operator == GROUP]
    assert len(calls) == groups and all(node.args[-1] == "layer.0" for node in calls)
    assert any("key-value head" in sentence for sentence in emit.assumptions), "what is taken for granted is told"


# ---------------------------------------------------------------------------------------------------------------- apex


@pytest.mark.parametrize("normalised", [(4,), (3, 4)])
def test_layer_norm_and_its_gradients(normalised: tuple[int, ...]) -> None:
    x, w, b = (r(*shape).requires_grad_() for shape in ((2, 3, 4), normalised, normalised))
    grad = r(2, 3, 4)
    wanted = torch.nn.functional.layer_norm(x, normalised, w, b, 1e-5)
    gradients = torch.autograd.grad(wanted, (x, w, b), grad)
    x, w, b = (t.detach() for t in (x, w, b))
    out, mean, scale = translated(APEX["apex.fused_layer_norm_affine_fwd.default"], x, w, b, normalised, 1e-5)
    close(out, wanted.detach())
    rows = x.reshape(-1, math.prod(normalised))
    close(mean, rows.mean(-1))
    close(scale, torch.rsqrt(rows.var(-1, unbiased=False) + 1e-5))
    assert mean is not None and scale is not None
    found = translated(
        APEX["apex.fused_layer_norm_affine_bwd.default"], grad, mean, scale, x, normalised, w, b, 1e-5
    )
    for mine, theirs in zip(found, gradients, strict=True):
        close(mine, theirs)
