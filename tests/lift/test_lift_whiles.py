"""While loops: a counter that comes to a bound in known steps, up or down; what may never get there has no number."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted

KERNELS = Lifted(Path(__file__).parent.parent / "launches" / "whiles.py")
FORMULAS = {  # of kernels that are verified
    "strided": ["out[i] = 2·x[i]"],
    "down": None,
    "until": ["out[i] = Σ_{j<n} x[i, j]"],
    "both": ["out[i] = Σ_{j<min{n, ⌊(most + 1) / 2⌋}} x[i, j]"],
}


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "verified", KERNELS.open(name)
    assert FORMULAS[name] in (None, KERNELS.texts(name))


@pytest.mark.parametrize("name, sizes", [
    ("strided", {"n": 7}), ("down", {"m": 2, "n": 33}), ("until", {"n": 3}), ("both", {"n": 9, "most": 30}),
])  # fmt: skip
def test_the_formula_is_what_the_interpreter_stores(name: str, sizes: dict[str, int]) -> None:
    assert KERNELS.error(name) < 1e-6
    assert KERNELS.error(name, sizes) < 1e-6


@pytest.mark.parametrize("name, obligation", [("strided_too_far", "coverage"), ("down_unmasked", "bounds")])
def test_a_wrong_step_or_mask_is_found(name: str, obligation: str) -> None:
    assert KERNELS.states(name)[obligation] == "violated", KERNELS.open(name)


@pytest.mark.parametrize("name", ["until_past", "doubled", "still", "found"])
def test_a_loop_without_a_known_end_is_named_with_its_line(name: str) -> None:
    (sentence,) = KERNELS.kernel(name).unsupported
    assert "does not count up to a bound" in sentence and "launches/whiles.py:" in sentence


def test_a_step_that_may_be_none_is_named_with_its_line() -> None:
    (sentence,) = KERNELS.kernel("by_program").unsupported
    assert "a loop whose step is not known to be positive" in sentence and "launches/whiles.py:" in sentence
