"""No broken variant of a kernel is verified: it is violated, with a case, or what stays open is named."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

from kernel_corpus import broken_variants, target
from samesame.lift import Settings, lift

LARGE = Settings(elements=1 << 40)  # so large that 32 bits may be too few
STRUCTURAL = {"coverage", "race", "bounds", "overflow", "undefined"}
SEEN = ("value", "fault")  # what shows when the variant runs at the example's sizes


@pytest.mark.parametrize("variant", broken_variants(), ids=str)
def test_broken_variant_is_not_verified(variant) -> None:
    settings = LARGE if variant.breaks == "overflow" else None
    reference = target(variant.kernel, "reference") if variant.breaks == "value" else None
    verdict = lift(variant.target, reference, settings)
    assert verdict.verdict in ("violated", "undecided")
    states = {o.name: o for kernel in verdict.kernels for o in kernel.obligations if o.state != "proved"}
    assert states or verdict.against in ("different", "undecided") or any(k.unsupported for k in verdict.kernels)
    for obligation in states.values():
        assert obligation.state != "violated" or obligation.counterexample["sizes"] is not None
        assert obligation.detail


def test_most_structural_faults_are_refuted_with_a_case() -> None:
    """Of the variants whose fault shows at the example's sizes, those of vector addition and softmax all are."""
    chosen = [v for v in broken_variants() if v.kernel in ("vector_add", "softmax") and v.breaks in STRUCTURAL]
    assert len(chosen) >= 5
    for variant in chosen:
        verdict = lift(variant.target)
        assert verdict.verdict == "violated", variant
        cases = [o.counterexample for k in verdict.kernels for o in k.obligations if o.counterexample]
        assert cases
        assert variant.shows != "fault" or "yes" in {case.get("replayed") for case in cases}, "in the interpreter"
