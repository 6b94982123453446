"""Every kernel of the corpus is lifted: its formula is the reference's, and every obligation is proved."""

from __future__ import annotations

from functools import cache

import pytest

pytest.importorskip("triton")

import numpy as np
import torch

from kernel_corpus import KERNELS, target
from samesame.formula.evaluate import evaluate
from samesame.formula.sizes import value_at
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.lift import LiftVerdict, lift
from samesame.lift.compose import composed, inputs_of
from samesame.programs.named import named

NAMES = {
    "vector_add": "addition",
    "masked_copy": "copy",
    "softmax": "softmax",
    "softmax_online": "softmax",
    "softmax_lanes": "softmax",
    "rms_norm": "RMSNorm",
    "layer_norm": "layer norm",
    "matmul": "matrix product",
    "matmul_split_k": "matrix product",
    "flash_attention": "attention",
    "flash_attention_causal": "causal attention",
    "cross_entropy": "cross-entropy",
    "embedding": "embedding",
    "cumsum": "cumulative sum",
    "argmax": "argmax",
    "rope": "rotary embedding",
    "running_variance": "variance over the last dimension",
    "welford": "mean over the last dimension, variance over the last dimension",
}
FORMULAS = {
    "vector_add": "out[i] = x[i] + y[i]",
    "softmax": "out[i, j] = exp(x[i, j]) / (Σ_{k<N} exp(x[i, k]))",
    "softmax_online": "out[i, j] = exp(x[i, j]) / (Σ_{k<N} exp(x[i, k]))",
    "matmul": "c[i, j] = Σ_{k<K} a[i, k]·b[k, j]",
    "cumsum": "out[i, j] = Σ_{k≤j} x[i, k]",
    "embedding": "out[i, j] = table[ids[i], j]",
    "argmax": "out[i] = argmax_{j<N} x[i, j]",
}
OPEN = {"dropout"}  # its reference draws the bits by other operators of torch
PRECONDITIONS = {"softmax": "N ≤ 128", "rms_norm": "N ≤ 128", "rope": "HALF ≤ 16", "embedding": "0 ≤ ids[…] < V"}


@cache
def said(kernel: str) -> LiftVerdict:
    """What is said of a kernel and its reference."""
    return lift(target(kernel), target(kernel, "reference"))


@pytest.fixture(scope="module", params=KERNELS)
def lifted(request):
    return request.param, said(request.param)


def test_every_obligation_is_proved(lifted) -> None:
    _, verdict = lifted
    assert not verdict.unsupported
    for one in verdict.kernels:
        assert one.verdict == "verified", [(o.name, o.state, o.detail) for o in one.obligations if o.state != "proved"]
        assert {o.name for o in one.obligations} == {
            "value",
            "coverage",
            "race",
            "bounds",
            "undefined",
            "overflow",
            "aliasing",
        }


def test_the_formula_is_the_references_for_all_sizes(lifted) -> None:
    kernel, verdict = lifted
    assert verdict.against == ("undecided" if kernel in OPEN else "same"), verdict.against_detail


def test_it_has_a_name_a_text_and_its_preconditions(lifted) -> None:
    kernel, verdict = lifted
    (one,) = verdict.kernels
    assert one.name == NAMES.get(kernel, "")
    assert FORMULAS.get(kernel, one.formulas[0].text) == one.formulas[0].text
    assert PRECONDITIONS.get(kernel) is None or PRECONDITIONS[kernel] in one.preconditions


@pytest.mark.parametrize("kernel", sorted(set(KERNELS) - {"dropout", "argmax"}))
def test_the_formula_agrees_with_torch_on_numbers(kernel: str) -> None:
    """The formula worked out by numpy, and the reference by torch, on the inputs of a run in Triton's interpreter."""
    captured = capture_launches(target(kernel))
    verdict = said(kernel)
    inputs = inputs_of(captured, {})
    outputs = composed(captured, {0: verdict.kernels[0]}, inputs)
    run = interpret(target(kernel))
    arrays = {
        name: tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()
        for name, tensor in run.inputs.items()
    }
    expected = named(target(kernel, "reference"))(
        **{n: t.double() if t.is_floating_point() else t for n, t in run.inputs.items()}
    )
    expected = expected if isinstance(expected, tuple) else (expected,)
    for formula, right in zip(outputs, expected, strict=True):
        assert [value_at(n, captured.sizes) for n in formula.shape] == list(right.shape)
        got = evaluate(formula, arrays, captured.sizes)
        assert np.allclose(got, right.numpy(), rtol=1e-5, atol=1e-6)
        assert torch.isfinite(right.double()).all()
