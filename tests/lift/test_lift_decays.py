"""Linear recurrences that a loop carries, sums beside a maximum of each lane, rows that the host puts together from
chunks, tiles summed as a whole, and labels that a reference takes for classes: the same as in PyTorch, and not as what
is nearly so."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "decays.py"
KERNELS = Lifted(FILE)
SAME = {
    "average": "average",
    "returns": "returns",
    "retention": "retention",
    "lanes_safe": "lanes",
    "lanes_guarded": "lanes",
    "chunks": "chunks",
    "tile": "tile",
    "margin": "margin",
}
DIFFERENT = {
    "average": "average_kept_less",
    "returns": "returns_in_the_other_order",
    "retention": "retention_one_step_late",
    "lanes_safe": "lanes_without_one",
    "chunks": "chunks_summed",
    "tile": "tile_of_rows",
    "margin": "margin_of_the_other_sign",
}


@pytest.mark.parametrize("name", SAME)
def test_it_is_verified_and_the_same(name: str) -> None:
    found = lift(KERNELS.target(name), f"{FILE}:{SAME[name]}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert not any("Σ" in condition for condition in found.against_conditions)


@pytest.mark.parametrize("name", DIFFERENT)
def test_it_is_not_the_same_as_something_else(name: str) -> None:
    assert lift(KERNELS.target(name), f"{FILE}:{DIFFERENT[name]}").against == "different"


@pytest.mark.parametrize("name, sizes", [
    ("average", {"T": 2, "C": 33}), ("returns", {"B": 2, "T": 4}), ("retention", {"T": 3}), ("lanes_safe", {"n": 5}),
    ("lanes_guarded", {"n": 33}), ("tile", {"rows": 6, "n": 9}),
])  # fmt: skip
def test_the_formula_is_what_the_interpreter_stores(name: str, sizes: dict[str, int]) -> None:
    assert KERNELS.error(name) < 1e-5
    assert KERNELS.error(name, sizes) < 1e-5


def test_what_decides_which_labels_there_are_is_said() -> None:
    found = lift(KERNELS.target("margin"), f"{FILE}:margin")
    told = " ".join(found.against_conditions)
    assert "0 ≤ labels ≤ 19" in told and "softplus read as log(1 + exp x)" in told
    assert any("0 ≤ labels[…]" in need for kernel in found.kernels for need in kernel.preconditions)


def test_states_that_are_part_of_each_other_have_no_closed_form() -> None:
    assert KERNELS.kernel("swapped").verdict == "undecided"


def test_no_number_is_made_of_infinities_that_nobody_guards() -> None:
    assert KERNELS.kernel("unguarded").verdict != "verified"
