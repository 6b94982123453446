"""Reals above zero: a contract that is tried where a kernel differs on others, and never more than it says."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.formula.definite import EVIDENT, AboveZero
from samesame.formula.equal import Proved, prove_tensors_equal
from samesame.formula.expr import Leaf, power
from samesame.formula.tensor import Tensor, elements_of, tensor
from samesame.lift import lift
from samesame.lift.draws import SEEDS, drawn

FILE = Path(__file__).parents[1] / "launches" / "above.py"
KERNELS = Lifted(FILE)
ABOVE, ANY = (elements_of(kind("t", (8,))) for kind in (AboveZero, Leaf))


def root_of_square(x: Tensor) -> Tensor:
    return tensor((8,), lambda i: power(x[i] * x[i], 0.5))


DIFFERS = ["Where 0 < temperature does not hold, the kernel and its reference differ."]


@pytest.mark.parametrize("name, notes", [("tempered", []), ("largest", DIFFERS)])
def test_temperatures_above_zero_are_a_need_where_others_are_not_proved_or_differ(name: str, notes: list[str]) -> None:
    found = lift(KERNELS.target(name), f"{FILE}:{name}")
    assert (found.verdict, found.against, found.notes) == ("verified", "same", notes)
    assert "0 < temperature[…]" in found.kernels[0].headline and "0 < x" not in found.kernels[0].headline


def test_what_is_wrong_above_zero_too_is_different() -> None:
    found = lift(KERNELS.target("multiplied"), f"{FILE}:tempered")
    assert found.against == "different" and "0 < temperature" not in found.kernels[0].headline


def test_what_a_tensor_is_given_says_nothing_of_what_is_written_to_it() -> None:
    found = lift(KERNELS.target("cooled"), f"{FILE}:cooled", assume=["0 < temperature"])
    assert (found.verdict, found.against) != ("verified", "same")


def test_what_the_host_has_left_before_the_first_kernel_is_what_is_given() -> None:
    found = lift(KERNELS.target("cooled_by_the_host"), f"{FILE}:tempered")
    assert (found.verdict, found.against) == ("verified", "same") and "0 < temperature" in found.kernels[0].headline


def test_an_example_of_either_sign_has_no_such_contract() -> None:
    assert lift(KERNELS.target("of_either_sign"), f"{FILE}:tempered").against != "same"
    with pytest.raises(Refused, match=r"0 < temperature' does not hold in the example: temperature\[0\] = -2"):
        lift(KERNELS.target("of_either_sign"), assume=["0 < temperature"])


def test_a_contract_that_is_stated_is_not_looked_for() -> None:
    found = lift(KERNELS.target("tempered"), f"{FILE}:tempered", assume=["temperature > 0"])
    assert (found.verdict, found.against, found.notes) == ("verified", "same", [])


@pytest.mark.parametrize("contract", ["0 <= temperature", "0 < temperature < 5", "1 < temperature", "temperature == 1"])
def test_nothing_else_can_be_said_of_reals(contract: str) -> None:
    with pytest.raises(Refused, match="float32, not of integers; of its elements only 0 < temperature can be said"):
        lift(KERNELS.target("tempered"), assume=[contract])


def test_elements_above_zero_have_a_sign_and_others_none() -> None:
    (_, above), (_, other) = ABOVE.element(), ANY.element()
    assert EVIDENT.above_zero(above) and not EVIDENT.never_negative(other)
    assert isinstance(prove_tensors_equal(root_of_square(ABOVE), ABOVE), Proved)
    assert not isinstance(prove_tensors_equal(root_of_square(ANY), ANY), Proved)


def test_draws_are_above_zero() -> None:
    assert all((drawn((ABOVE,), {}, seed, {}, {})["t"] > 0).all() for seed in range(SEEDS))
    assert any((drawn((ANY,), {}, seed, {}, {})["t"] < 0).any() for seed in range(SEEDS))
