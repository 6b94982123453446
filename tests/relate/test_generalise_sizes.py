"""What is proved for all sizes holds at all sizes: a claim that is true only at the example's is not among it, and no
program makes its verdict worse by what it does at other sizes."""

from __future__ import annotations

import time

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame.check import check
from samesame.evidence import Rung


def ones(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def positions(x):
    return torch.arange(x.shape[0])


def attention(x, keep):
    return torch.softmax((x @ x.T).masked_fill(~keep, float("-inf")), -1) @ x


def causal(x):
    return attention(x, torch.ones(len(x), len(x), dtype=torch.bool).tril())


def windowed(x, size):
    i = positions(x)
    return attention(x, (i[None] <= i[:, None]) & (i[:, None] - i[None] < size))


TABLE, MASK = ones(32, 3), torch.ones(16, 16, dtype=torch.bool).tril()

# Equal where x.shape[0] is 5, not everywhere: left, right.
ONLY_AT_FIVE = {
    "a divisor": (lambda x: x.sum(0) / 5, lambda x: x.mean(0)),
    "a factor": (lambda x: x.sum(0) * 0.2, lambda x: x.mean(0)),
    "a size read as a float": (lambda x: x * float(x.shape[0]), lambda x: x * 5.0),
    "all rows named": (lambda x: x[0] + x[1] + x[2] + x[3] + x[4], lambda x: x.sum(0)),
    "a loop": (lambda x: sum(x[k] for k in range(5)), lambda x: x.sum(0)),
    "a reshape": (lambda x: x.reshape(5, -1).sum(0), lambda x: x.sum(0)),
    "a window wider than the example": (lambda x: windowed(x, 9), causal),
    "a mask for sixteen": (lambda x: attention(x, MASK[: len(x), : len(x)]), causal),
    "a clamped position": (lambda x: x[positions(x).clamp(max=8)], lambda x: x * 1),
    "an index below zero": (lambda x: TABLE[8 - positions(x)], lambda x: TABLE[(8 - positions(x)).abs()]),
    "a number below zero": (lambda x: x * F.relu(8 - positions(x))[:, None], lambda x: x * (8 - positions(x))[:, None]),
    "a far limit": (lambda x: torch.where((positions(x) < 9)[:, None], x, 0.0), lambda x: x * 1),
    "parity": (lambda x: x * (x.shape[0] % 2), lambda x: x * 1),
    "the outputs' order": (
        lambda x: (x.sin(), x.cos())[:: 1 if x.shape[0] == 5 else -1],
        lambda x: (x.sin(), x.cos()),
    ),
}


def places(verdict) -> set[str]:
    """Where the sizes stand that were proved to be arbitrary."""
    return {place for line in verdict.sizes.varying for place in line.split(" ≥ ")[0].split(" = ")[1:]}


@pytest.mark.parametrize("claim", ONLY_AT_FIVE)
def test_what_holds_at_the_size_of_the_example_only_is_not_proved_for_all(claim):
    verdict = check(*ONLY_AT_FIVE[claim], (ones(5, 3),))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert "x.shape[0]" not in places(verdict), verdict.sizes
    assert verdict.sizes.varying or verdict.evidence is Rung.PROVED_HERE
    assert any("x.shape[0]" in line for line in verdict.sizes.fixed)


def heads(x, count=2):
    return x.view(*x.shape[:-1], count, -1).transpose(-2, -3)


FOR_ALL = {
    "a mean": (lambda x: x.sum(0) / x.shape[0], lambda x: x.mean(0)),
    "a root": (lambda x: x * x.shape[0] ** -0.5, lambda x: x / x.shape[0] ** 0.5),
    "a window as wide as the rows": (lambda x: windowed(x, len(x)), causal),
    "rows turned": (lambda x: x[positions(x).flip(0)], lambda x: x.flip(0)),
    "rows shifted": (lambda x: x[(positions(x) - 1) % len(x)], lambda x: x.roll(1, 0)),
    "the first row apart": (lambda x: x[0] + x[1:].sum(0), lambda x: x.sum(0)),
    "variance": (lambda x: x.var(0), lambda x: ((x - x.mean(0)) ** 2).sum(0) / (x.shape[0] - 1)),
}


@pytest.mark.parametrize("claim", FOR_ALL)
def test_what_holds_at_all_sizes_is_proved_for_all(claim):
    verdict = check(*FOR_ALL[claim], (ones(5, 3),))
    assert verdict.evidence is Rung.PROVED and places(verdict) == {"x.shape[0]", "x.shape[1]"}, verdict.sizes


def test_one_size_may_be_fixed_where_another_varies():
    left = lambda x: heads(x.reshape(-1, 4)).sum(1)  # noqa: E731
    right = lambda x: x.reshape(-1, 2, 2).transpose(0, 1).sum(1)  # noqa: E731
    verdict = check(left, right, (ones(5, 4),))
    assert verdict.evidence is Rung.PROVED and verdict.sizes.varying == ("B = x.shape[0] ≥ 2",)


def test_equal_sizes_are_told_apart_unless_the_claim_needs_them_equal():
    free = check(lambda x: x.T.T * 2, lambda x: x + x, (ones(4, 4),))
    assert free.sizes.varying == ("B = x.shape[0] ≥ 2", "T = x.shape[1] ≥ 2")
    bound = check(lambda x: x.T.reshape(x.shape) * 1, lambda x: x.T * 1, (ones(4, 4),))
    assert bound.sizes.varying == ("B = x.shape[0] = x.shape[1] ≥ 2",)


# ----------------------------------------------------------------------------------------- programs that are run again


def raises_elsewhere(x):
    if x.shape[0] != 5:
        raise ValueError("five rows")
    return x * 2


def leaves_elsewhere(x):
    return x * 2 if x.shape[0] == 5 else exit(3)


def needs_memory_elsewhere(x):
    if x.shape[0] != 5:
        torch.empty(10**15)
    return x * 2


def is_endless_elsewhere(x):
    return x * 2 if x.shape[0] == 5 else is_endless_elsewhere(x)


def returns_a_number_elsewhere(x):
    return x * 2 if x.shape[0] == 5 else 3


def returns_less_elsewhere(x):
    return x[:3] * 2 if x.shape[0] > 5 else x * 2


def splits_otherwise_elsewhere(x):
    return torch.cat(x.split(5)) * 2


def prints(x):
    print("so many rows:", x.shape[0])
    return x * 2


def counting():
    calls = []

    def program(x):
        calls.append(x.shape)
        return x * 2 if len(calls) < 3 else x * 3

    return program


def tiring():
    calls = []

    def program(x):
        calls.append(x.shape)
        assert len(calls) < 3, "I am tired"
        return x * 2

    return program


class Remembering(nn.Module):
    """A module that writes into its buffer and replaces it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros((), dtype=torch.float64))
        self.last = None

    def forward(self, x):
        self.seen.add_(x.shape[0])
        self.last = torch.full((1,), float(x.shape[0]))
        return x * 2 + self.seen - self.seen


AGAIN = [
    raises_elsewhere, leaves_elsewhere, needs_memory_elsewhere, is_endless_elsewhere, returns_a_number_elsewhere,
    splits_otherwise_elsewhere,
]  # fmt: skip


@pytest.mark.parametrize("program", AGAIN)
def test_what_a_program_does_when_it_is_run_again_makes_no_verdict_worse(program):
    programs = [program, lambda x: x + x][:: (-1) ** AGAIN.index(program)]
    verdict = check(*programs, (ones(5, 3),))
    assert (verdict.verdict, verdict.evidence >= Rung.PROVED_HERE) == ("same", True)
    assert "x.shape[0]" not in places(verdict)


@pytest.mark.parametrize("program", [counting, tiring])
def test_every_recording_begins_where_the_first_one_did(program):
    """Both count their calls, and do something else at the third: the claim is of two."""
    verdict = check(program, lambda x: x + x, (ones(5, 3),))
    assert (verdict.verdict, verdict.scope) == ("same", "for the first two calls")
    assert verdict.evidence >= Rung.PROVED_HERE


def test_a_program_that_prints_or_remembers_is_checked_as_any_other(capsys):
    assert check(prints, lambda x: x + x, (ones(5, 3),)).evidence is Rung.PROVED
    module = Remembering()
    assert check(module, lambda x: x + x, (ones(5, 3),)).verdict == "same"
    assert float(module.seen) == 0


def test_the_search_for_sizes_keeps_to_the_time_limit():
    runs = []

    def slow(x):
        runs.append(x.shape)
        time.sleep(0.4 if x.shape[0] != 5 else 0.0)
        return x * 2

    verdict = check(slow, lambda x: x + x, (ones(5, 3),), timeout=1.5)
    assert sum(shape[0] != 5 for shape in runs) <= 4 and verdict.verdict == "same"


def test_a_branch_on_a_size_not_far_beyond_the_example_is_seen():
    def left(x):
        return x * 2

    def right(x):
        return x * 2 if x.shape[1] <= 8 else x * 3

    verdict = check(left, right, (torch.randn(3, 5),))
    assert verdict.verdict == "different" and verdict.sizes.apart == "x.shape[1] = 9"
    assert verdict.covers({"x": (4, 8)}) and not verdict.covers({"x": (4, 9)})


@pytest.mark.parametrize("program", [returns_less_elsewhere, lambda x: x[:5] * 2])
def test_programs_that_differ_just_beyond_a_bound_of_theirs_are_different(program):
    verdict = check(program, lambda x: x + x, (ones(5, 3),))
    assert verdict.verdict == "different" and verdict.sizes.apart == "x.shape[0] = 6"
    assert verdict.covers({"x": (4, 7)}) and not verdict.covers({"x": (6, 3)})


def test_sizes_at_which_the_outputs_differ_are_named():
    """Padding as TensorFlow has it is padding by one on both sides, of what is odd."""

    def same_pool(x):
        missing = [max((-(-n // 2) - 1) * 2 + 3 - n, 0) for n in x.shape[-2:]]
        (above, below), (before, after) = ((n // 2, n - n // 2) for n in missing)
        padded = torch.nn.functional.pad(x, (before, after, above, below), value=float("-inf"))
        return torch.nn.functional.max_pool2d(padded, 3, 2)

    found = check(same_pool, torch.nn.MaxPool2d(3, 2, padding=1), (torch.randn(2, 3, 7, 9),))
    assert found.verdict == "same" and found.sizes.varying == ("B = x.shape[0] ≥ 2", "T = x.shape[1] ≥ 2")
    assert any("the outputs of the two programs differ at x.shape[2] = 8" in why for why in found.sizes.fixed)
