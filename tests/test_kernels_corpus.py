"""Every kernel of the corpus computes its reference, and every broken variant is broken in the way that it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("triton")

import torch

from kernel_corpus import KERNELS, OBLIGATIONS, broken_variants, target
from samesame.kernels.host.interpret import Run, interpret
from samesame.kernels.host.launches import capture_launches
from samesame.lift.parameters import taken_by
from samesame.programs.named import named


def agree(run: Run, reference: Callable[..., Any]) -> bool:
    """Whether the outputs are the reference's of the same inputs."""
    expected = reference(**taken_by(reference, run.inputs, {}))
    expected = expected if isinstance(expected, tuple) else (expected,)
    pairs = zip(run.outputs.values(), expected, strict=True)
    return all(torch.allclose(got.double(), right.double(), rtol=1e-4, atol=1e-5) for got, right in pairs)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_computes_its_reference(kernel: str) -> None:
    run = interpret(target(kernel))
    assert not run.faults
    assert agree(run, named(target(kernel, "reference")))


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_is_captured_for_all_sizes(kernel: str) -> None:
    captured = capture_launches(target(kernel))
    assert not captured.refused and not captured.unread
    assert captured.sizes, "some size is a symbol"
    for launch in captured.launches:
        assert f"tt.func public @{launch.kernel}" in launch.ttir


@pytest.mark.parametrize("variant", broken_variants(), ids=str)
def test_broken_variant_is_broken(variant) -> None:
    assert variant.breaks in OBLIGATIONS
    run = interpret(variant.target)
    same = agree(run, named(target(variant.kernel, "reference")))
    seen = "fault" if run.faults and same else "proof" if same else "value"
    assert seen == variant.shows or (variant.shows == "fault" and run.faults)


def test_each_kernel_has_three_broken_variants_and_each_obligation_is_broken_somewhere() -> None:
    variants = broken_variants()
    assert all(sum(v.kernel == kernel for v in variants) >= 3 for kernel in KERNELS)
    assert {v.breaks for v in variants} == set(OBLIGATIONS)
