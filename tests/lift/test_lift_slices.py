"""What no launch writes has no value, also where it lies beside a slice that one writes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import const
from samesame.formula.tensor import leaf
from samesame.kernels.indices import integers
from samesame.lift import lift, tried
from samesame.lift.compose import lain, with_part
from samesame.lift.wholes import Part, joined

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "slices.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name", ["beside_a_gap", "one_half", "sum_of_one_half", "added_to_nothing"])
def test_a_part_is_not_the_whole(name: str) -> None:
    found = lift(KERNELS.target(name))
    assert found.verdict != "verified"
    coverage = [o for kernel in found.kernels for o in kernel.obligations if o.name == "coverage"]
    assert all(o.state != "proved" for o in coverage)
    assert "out is a part of a tensor made empty" in coverage[0].detail


@pytest.mark.parametrize("name", ["read_of_the_other", "read_over_a_gap", "read_too_early"])
def test_what_nobody_has_written_is_read(name: str) -> None:
    found = lift(KERNELS.target(name))
    states = {o.state for kernel in found.kernels for o in kernel.obligations if o.name == "undefined"}
    assert found.verdict != "verified" and states != {"proved"}


def test_the_host_reads_what_nobody_has_written() -> None:
    found = lift(KERNELS.target("of_nothing"))
    assert found.verdict == "undecided" and "was made empty" in found.unsupported[0]


@pytest.mark.parametrize("name", ["halves", "thirds", "in_turn"])
def test_parts_side_by_side_are_the_whole(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against) == ("verified", "same"), found


@pytest.mark.parametrize("name", ["read_of_the_same", "filled_by_the_host", "into_values", "of_random_numbers"])
def test_nobody_asks_for_more_than_is_there(name: str) -> None:
    assert lift(KERNELS.target(name)).verdict == "verified"


def bytes_of(part: Part) -> set[int]:
    steps = [[i * int(s.value) for i in range(int(n.value))] for n, s in part.dims]  # type: ignore[attr-defined]
    return {int(part.first.value) + sum(at) for at in product(*steps)}  # type: ignore[attr-defined]


def test_a_part_that_follows_another_one_is_its_bytes_too() -> None:
    random, followed = np.random.default_rng(0), 0
    for _ in range(2600):
        shape, strides = random.integers(0, 4, (2, 2)), random.integers(1, 7, 2)
        firsts = random.integers(0, 9, 2)
        one, other = (
            Part(const(int(first)), tuple((const(int(n)), const(int(s))) for n, s in zip(dims, strides, strict=True)))
            for first, dims in zip(firsts, shape, strict=True)
        )
        assert bytes_of(Part(one.first, joined(one.dims))) == bytes_of(one)
        both = one.followed_by(other, [const(int(s)) for s in (*strides, 1, 2)])
        if both is not None:
            followed += 1
            assert bytes_of(both) == bytes_of(one) | bytes_of(other)
    assert followed > 100
    assert integers.plus_(const(1), const(2)) is const(3)  # by which parts are compared


@pytest.mark.parametrize("part", [
    lambda x: x[1:3], lambda x: x[:, 2], lambda x: x[3], lambda x: x[1:3, 2:4], lambda x: x[2:, :3],
    lambda x: x[1, 2:4],
])
def test_a_slice_is_written_where_it_lies_and_nowhere_else(part: Callable[[torch.Tensor], torch.Tensor]) -> None:
    def view(x: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(memory=0, dtype="float32", shape=x.shape, strides=x.stride(), offset=x.storage_offset())

    held = torch.arange(20.0).reshape(4, 5)
    written = part(held)
    fresh = 100 + torch.arange(float(written.numel())).reshape(written.shape)
    values = leaf("fresh", tuple(fresh.shape)), leaf("held", (4, 5))
    _, found = with_part(values[0], view(written), lain("out", view(held)), values[1])
    got = evaluate(found, {"fresh": fresh.numpy(), "held": held.clone().numpy()}, {})
    written.copy_(fresh)
    assert torch.equal(torch.as_tensor(got), held.double())
