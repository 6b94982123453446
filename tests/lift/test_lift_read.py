"""Host code that reads numbers from tensors is followed: what is found holds for every number that it may read."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.kernels.host.launches import capture_launches
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "read.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name", ["padded", "padded_item"])
def test_what_is_read_is_a_size(name: str) -> None:
    kernel = KERNELS.kernel(name)
    assert kernel.verdict == "verified", KERNELS.open(name)
    assert "longest ≤ L" in kernel.headline and "lengths[…] < longest + 1" in kernel.headline
    assert "longest = " not in kernel.headline
    assert KERNELS.texts(name) == ["out[i, j, k] = {x[i, j, k] if j < lengths[i] else 0}"]
    assert KERNELS.error(name) < 1e-6


def test_what_is_read_twice_is_said_once() -> None:
    found = lift(KERNELS.target("padded_twice"))
    assert found.verdict == "verified"
    assert all(k.headline.count("lengths[…]") == 1 for k in found.kernels)


def test_a_contract_on_what_is_read_is_the_users() -> None:
    found = lift(KERNELS.target("padded"), assume=["0 <= lengths < L"])
    assert found.verdict == "verified"
    assert "0 ≤ lengths[…] < L" in found.kernels[0].headline


@pytest.mark.parametrize("name", ["padded_short", "ends_of_shortest"])
def test_what_is_wrong_at_the_number_that_is_read_is_violated(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "violated", KERNELS.states(name)


def test_a_number_that_is_no_size_is_said() -> None:
    captured = capture_launches(KERNELS.target("padded_by_count"))
    assert "a number that the host code reads = 1" in captured.fixed and captured.reads == (1,)


def test_a_float_is_not_followed() -> None:
    with pytest.raises(Refused, match=r"read\.py:\d+ lets values of tensors decide"):
        lift(KERNELS.target("real"))
