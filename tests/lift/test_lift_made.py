"""What the launch function's body makes of its examples is known to a reference, and so are sizes as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.lift import lift, tried

FILE = Path(__file__).parents[1] / "launches" / "made.py"
LAUNCHES = Lifted(FILE)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name, reference, answer", [
    ("centred", "by_what_it_is_made_of", "same"),
    ("centred", "by_itself", "same"),
    ("centred", "with_another_sign", "different"),
    ("in_place", "of_what_it_was", "undecided"),          # equal, but what is written in place is not followed
    ("in_place", "of_what_it_became", "different"),
    ("with_another", "without_the_other", "different"),
    ("behind_a_barrier", "without_the_other", "same"),     # as Inductor writes kernels
    ("groups", "by_the_number", "same"),
    ("groups", "by_a_default", "same"),
    ("groups", "by_the_next_number", "different"),
])
def test_a_reference_takes_what_the_launch_makes_or_what_it_is_made_of(name: str, reference: str, answer: str) -> None:
    found = lift(LAUNCHES.target(name), against=f"{FILE}:{reference}")
    assert (found.kernels[0].verdict, found.against) == ("verified", answer), found.against_detail
    if name == "groups" and answer == "same":
        assert not found.against_held                     # for every number of groups


def test_a_number_that_the_launch_has_not_is_refused_by_name() -> None:
    with pytest.raises(Refused, match=r"tensors \(x\), and as its sizes \(.*groups.*\): missing.*parts"):
        lift(LAUNCHES.target("groups"), against=f"{FILE}:by_a_number_of_its_own")
