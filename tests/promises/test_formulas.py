"""What the formulas leave out: pairs that agree on ordinary numbers and part at others.

A pair of `PARTING` differs for some input of its dtypes: a NaN, an infinity, the end of a range, a negative index, a
tie, −0.0. It is never "same", unless a condition that the report prints excludes every such input: then the pair says
with which words. A pair of `ALIKE` is the same, and is proved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from samesame import check
from samesame.evidence import Rung, Verdict

inf, nan = float("inf"), float("nan")
FLOAT16, FLOAT32 = torch.finfo(torch.float16).min, torch.finfo(torch.float32).min


@dataclass(frozen=True)
class Pair:
    """Two programs over `inputs`; `unless` are words of the condition that excludes where they part."""

    name: str
    left: Callable[..., torch.Tensor]
    right: Callable[..., torch.Tensor]
    inputs: tuple[torch.Tensor, ...]
    unless: str = ""

    def __str__(self) -> str:
        return self.name


def normals(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


def positives(*shape: int) -> torch.Tensor:
    return normals(*shape).abs() + 0.1


def integers(low: int, high: int, *shape: int) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(high))


X, Y, P, Q = normals(3, 5), normals(3, 5).flip(0), positives(3, 5), positives(3, 5).flip(1)
N, MASK = integers(0, 20, 3, 5), torch.tensor([True, False, False, True, False])
ROWS = torch.tensor([0, 2])


def at_rows(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    hit = (torch.arange(3)[:, None] == rows).any(1)
    return torch.where(hit[:, None], 5.0, x)


INFINITIES = [  # numbers that masks write for −∞, where no softmax makes 0 of them
    Pair("below the least half", lambda x: torch.where(x < FLOAT16, 0.0, x), lambda x: x * 1, (X,)),
    Pair("two least floats", lambda x: torch.where(x > 1e5, FLOAT16, x), lambda x: torch.where(x > 1e5, FLOAT32, x),
         (X,)),
    Pair("least half and −∞", lambda x: torch.where(x > 1e5, FLOAT16, x), lambda x: torch.where(x > 1e5, -inf, x),
         (X,)),
    Pair("least half and 5 more", lambda x: torch.where(x > 1e5, FLOAT16, x),
         lambda x: torch.where(x > 1e5, FLOAT16 + 5, x), (X,)),
    Pair("clamp at the least half", lambda x: x.clamp(min=FLOAT16), lambda x: x * 1, (X,)),
    Pair("maximum with the least half", lambda x: torch.maximum(x, torch.tensor(FLOAT16)), lambda x: x * 1, (X,)),
    Pair("equal to the least half", lambda x: (x == FLOAT16).float(), torch.zeros_like, (X,)),
    Pair("clamp at the greatest float", lambda x: x.clamp(max=-FLOAT32), lambda x: x * 1, (X,)),
    Pair("below −1e9", lambda x: torch.where(x < -1e9, 0.0, x), lambda x: x * 1, (X,)),
    Pair("below −1e30", lambda x: torch.where(x < -1e30, 0.0, x), lambda x: x * 1, (X,)),
    Pair("softmax over −1e4", lambda x, m: torch.softmax(x.masked_fill(m, -inf), -1),
         lambda x, m: torch.softmax(x.masked_fill(m, -1e4), -1), (X, MASK)),
]

CASTS = [
    Pair(f"cast to {dtype}", lambda n, dtype=dtype: n.to(getattr(torch, dtype)).to(torch.float64),
         lambda n: n.double(), (N,))
    for dtype in ("int8", "uint8", "int16", "uint16", "uint32", "uint64")
] + [
    Pair(f"truncated to {dtype}", lambda x, dtype=dtype: x.to(getattr(torch, dtype)).float(), torch.trunc, (10 * P,))
    for dtype in ("uint8", "uint16", "uint32", "uint64")
]

INDICES = [
    Pair("index_fill", lambda x, rows: x.index_fill(0, rows, 5.0), at_rows, (X, ROWS), unless="negative ones"),
    Pair("take and gather", lambda x, i: x.take(i), lambda x, i: x.flatten().gather(0, i), (X, N[0]),
         unless="negative ones"),
    Pair("index and index_select", lambda x, rows: x[rows], lambda x, rows: x.index_select(0, rows), (X, ROWS),
         unless="negative ones"),
]

PARTING = [*INFINITIES, *CASTS, *INDICES]

ALIKE = [
    Pair("masks of a softmax", lambda x, m: torch.softmax(x.masked_fill(m, FLOAT16), -1),
         lambda x, m: torch.softmax(x + torch.where(m, -inf, 0.0), -1), (X, MASK)),
    Pair("two masks of a softmax", lambda x, m: torch.softmax(x.masked_fill(m, FLOAT32), -1),
         lambda x, m: torch.softmax(x + torch.where(m, FLOAT32, 0.0), -1), (X, MASK)),
    Pair("one least half", lambda x: torch.where(x > 0, x, FLOAT16), lambda x: torch.where(x <= 0, FLOAT16, x), (X,)),
    Pair("twice one cast", lambda n: n.to(torch.uint8).long() * 2, lambda n: n.to(torch.uint8).long() + n.to(
        torch.uint8).long(), (N,)),
    Pair("index_fill of negative rows", lambda x, i: x.index_fill(0, i, 5.0),
         lambda x, i: at_rows(x, torch.where(i < 0, i + 3, i)), (X, torch.tensor([-1, 0]))),
]


def printed(verdict: Verdict) -> str:
    """All conditions that the report lists."""
    found = [part.evidence for part in (*verdict.relations, *verdict.roots)]
    return "; ".join(condition for evidence in found for condition in evidence.conditions)


@pytest.mark.parametrize("pair", PARTING, ids=str)
def test_what_parts_is_never_the_same_without_a_condition(pair: Pair) -> None:
    verdict = check(pair.left, pair.right, pair.inputs)
    if verdict.verdict == "same":
        assert pair.unless and pair.unless in printed(verdict), verdict.roots
    assert pair.unless or verdict.verdict != "same"


@pytest.mark.parametrize("pair", ALIKE, ids=str)
def test_what_is_alike_is_proved(pair: Pair) -> None:
    verdict = check(pair.left, pair.right, pair.inputs)
    assert verdict.evidence >= Rung.PROVED_HERE, verdict.roots


def test_an_index_that_the_example_counts_from_the_end_is_not_taken_for_one_that_does_not() -> None:
    verdict = check(lambda x, i: x.index_fill(0, i, 5.0), at_rows, (X, torch.tensor([-1, 0])))
    assert verdict.verdict == "different"
