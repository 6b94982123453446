"""Operators of vLLM: what each means is its definition in torch, and its definition is what vLLM's kernel computes."""

from __future__ import annotations

import pytest
import torch
from meaning_samples import ENGINES
from test_meanings import Leaves, agrees

from samesame.formula.expr import Unsupported
from samesame.operators import meaning_of
from samesame.operators.definitions import DEFINED, STANDING_IN
from samesame.operators.execute import pure, resolve
from samesame.operators.table import REAL
from vllm_models import needs_vllm


def r(*shape, scale=1.0, dtype=torch.float64):
    return (torch.randn(*shape, dtype=torch.float64) * scale).to(dtype)


def rotary(dtype, heads=(2, 1), size=8, rotated=8, neox=True, key=True, **rest):
    positions = torch.tensor([3, 0, 6])
    query, other = (r(3, n * size, dtype=dtype) for n in heads)
    return (positions, query, other if key else None, size, r(7, rotated, dtype=dtype), neox), rest


ROTARY = [
    dict(), dict(neox=False), dict(rotated=4), dict(rotated=4, neox=False), dict(key=False),
    dict(heads=(3, 3), size=4, rotated=4),
]
GATED = ["silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul"]
ALONE = ["gelu_new", "gelu_fast", "gelu_quick", "gelu_tanh"]


def samples(dtype=torch.float64):
    """Each operator with arguments; sizes are small, for the formulas are worked out element by element."""
    def x(*shape, scale=1.0):
        return r(*shape, scale=scale, dtype=dtype)

    yield from (("_C.rotary_embedding.default", *rotary(dtype, **kind)) for kind in ROTARY)
    for scale in (1e-3, 1.0):
        yield "vllm_ir.rms_norm.default", (x(3, 8, scale=scale), x(8), 1e-5), {}
        yield "vllm_ir.rms_norm.default", (x(2, 2, 8, scale=scale), None, 1e-5), {}
        yield "vllm_ir.fused_add_rms_norm.default", (x(3, 8, scale=scale), x(3, 8, scale=scale), x(8), 1e-5), {}
        yield "_C.rms_norm.default", (x(3, 8), x(3, 8, scale=scale), x(8), 1e-5), {}
        yield "_C.fused_add_rms_norm.default", (x(3, 8, scale=scale), x(3, 8, scale=scale), x(8), 1e-5), {}
    yield from ((f"_C.{name}.default", (x(3, 4), x(3, 8)), {}) for name in GATED)
    yield from ((f"_C.{name}.default", (x(3, 8), x(3, 8)), {}) for name in ALONE)


def standing_in():
    def attention(tokens=2, length=5, heads=4, groups=2, cap=0.0, window=-1, sinks=None, slopes=None):
        query, key, value = r(2, tokens, heads, 3), r(2, length, groups, 3), r(2, length, groups, 2)
        return query, key, value, 0.7, cap, window, sinks, slopes, ""

    for kind in [
        dict(), dict(tokens=5), dict(tokens=1), dict(window=2), dict(window=1), dict(cap=0.5), dict(groups=1),
        dict(groups=4), dict(sinks=r(4)), dict(slopes=r(4).abs()), dict(window=9, cap=2.0, sinks=r(4)),
    ]:
        yield "samesame.paged_attention.default", attention(**kind), {}
    ids = torch.tensor([[0, 2], [1, 0], [2, 1]])
    for biased in (False, True):
        biases = (r(3, 8), r(3, 5)) if biased else (None, None)
        for skip, activation in ((False, "silu"), (True, "gelu"), (False, "gelu_tanh"), (False, "swigluoai")):
            yield (
                "samesame.fused_experts.default",
                (r(3, 5), r(3, 8, 5), r(3, 5, 4), *biases, r(3, 2).abs(), ids, skip, activation, ""),
                {},
            )


def test_every_operator_of_an_engine_has_a_definition_and_samples():
    entered = {name for name in REAL if name.startswith(ENGINES)}
    assert entered == {*DEFINED, *STANDING_IN}
    assert entered == {name for name, *_ in (*samples(), *standing_in())}


@pytest.mark.parametrize("name", sorted({*DEFINED, *STANDING_IN}))
def test_a_meaning_is_its_definition(name):
    torch.manual_seed(0)
    for operator, args, kwargs in (*samples(), *standing_in()):
        if operator != name:
            continue
        function = DEFINED.get(name) or resolve(name)
        found = function(*args, **kwargs)
        leaves = Leaves()
        meaning = meaning_of(name)(*map(leaves.of, args), **kwargs)
        found, meaning = (x if isinstance(x, tuple) else (x,) for x in (found, meaning))
        for formula, value in zip(meaning, found, strict=True):
            agrees(formula, value, leaves, name)


def differs(name, args, kwargs, dtype, eps):
    wide = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in args]
    wanted, got = DEFINED[name](*wide, **kwargs), pure(resolve(name))(*args, **kwargs)
    wanted, got = (x if isinstance(x, tuple) else (x,) for x in (wanted, got))
    for a, b in zip(wanted, got, strict=True):
        assert b.dtype == dtype
        if not torch.allclose(a, b.double(), rtol=eps, atol=eps * float(a.abs().max())):
            return float((a - b.double()).abs().max())
    return 0.0


@needs_vllm
@pytest.mark.parametrize("dtype, eps", [(torch.float32, 2e-6), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("name", sorted(DEFINED))
def test_a_definition_is_what_the_kernel_computes(name, dtype, eps):
    """On heads and rows at least as wide as the kernels' vectors, which is what they take."""
    import vllm._custom_ops
    import vllm.ir.ops  # noqa: F401  and so does this

    torch.manual_seed(1)
    wide = [
        ("_C.rotary_embedding.default", *rotary(dtype, heads=(4, 2), size=64, rotated=rotated, neox=neox))
        for rotated in (64, 32) for neox in (True, False)
    ]
    wide.append(("_C.rotary_embedding.default", *rotary(dtype, size=64, rotated=64, key=False)))
    x = [r(5, 256, dtype=dtype) for _ in range(3)]
    wide += [
        ("vllm_ir.rms_norm.default", (x[0], x[1][0], 1e-5), {}),
        ("vllm_ir.fused_add_rms_norm.default", (x[0], x[1], x[2][0], 1e-5), {}),
        ("_C.rms_norm.default", (x[0], x[1], x[2][0], 1e-5), {}),
        ("_C.fused_add_rms_norm.default", (x[0], x[1], x[2][0], 1e-5), {}),
        *((f"_C.{gate}.default", (x[0][:, :128].contiguous(), x[1]), {}) for gate in GATED),
        *((f"_C.{alone}.default", (x[0], x[1]), {}) for alone in ALONE),
    ]
    compared = 0
    for operator, args, kwargs in wide:
        if operator == name:
            assert not differs(name, args, kwargs, dtype, eps)
            compared += 1
    assert compared


@needs_vllm
def test_a_definition_that_is_a_little_off_is_found():
    import vllm._custom_ops
    import vllm.ir.ops  # noqa: F401  and so does this

    torch.manual_seed(2)
    args = (r(5, 256, dtype=torch.float32, scale=1e-2), r(256, dtype=torch.float32), 1e-5)
    other = (*args[:2], 2e-5)
    wanted = DEFINED["vllm_ir.rms_norm.default"](*other)
    got = resolve("vllm_ir.rms_norm.default")(*args)
    assert not torch.allclose(wanted, got, rtol=2e-6, atol=2e-6)


def test_rows_in_more_than_one_dimension_are_refused():
    """The kernel takes one head of them."""
    args = (torch.tensor([3, 0, 6]), r(3, 2, 8), None, 8, r(7, 8), True)
    with pytest.raises(ValueError, match="3 dimensions"):
        DEFINED["_C.rotary_embedding.default"](*args)
    leaves = Leaves()
    with pytest.raises(Unsupported):
        meaning_of("_C.rotary_embedding.default")(*map(leaves.of, args))
