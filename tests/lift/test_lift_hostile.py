"""What a hostile kernel must not be called: verified where it is not, the same as what it is not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.lift import LiftVerdict, lift

FILE = Path(__file__).parent.parent / "hostile_kernels.py"


@cache
def said(name: str) -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}")


def states(name: str) -> dict[str, str]:
    (kernel,) = said(name).kernels
    return {o.name: o.state for o in kernel.obligations}


@pytest.mark.parametrize(
    "name, needed",
    [
        ("scale_by_size", "the host code: 2*n + 1 = 75"),
        ("scale_by_power", "the host code: next_power_of_2(n) = 64"),
        ("square", "n = m"),
    ],
)
def test_what_holds_at_the_examples_sizes_only_is_needed(name: str, needed: str) -> None:
    (kernel,) = said(name).kernels
    assert kernel.verdict == "verified" and needed in kernel.demands
