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
from samesame.certificate.replay import replay
from samesame.evidence import Rung, Verdict
from samesame.formula.equal import NotProved, Proved, prove_equal, prove_tensors_equal
from samesame.formula.expr import eq, numeric, where
from samesame.formula.tensor import Tensor, leaf
from samesame.operators import meaning_of

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
    Pair("maximum with a masked least half", lambda x, m: torch.maximum(torch.where(m, x, FLOAT16), x),
         lambda x, m: x * 1, (X, MASK)),
    Pair("greatest of a stack with the least half", lambda x: torch.stack([x, torch.full_like(x, FLOAT16)]).amax(0),
         lambda x: x * 1, (X,)),
    Pair("greatest beside the least half", lambda x: torch.cat([x, torch.full((3, 1), FLOAT16)], 1).amax(1),
         lambda x: x.amax(1), (X,)),
    Pair("equal to the least half", lambda x: (x == FLOAT16).float(), torch.zeros_like, (X,)),
    Pair("clamp at the greatest float", lambda x: x.clamp(max=-FLOAT32), lambda x: x * 1, (X,)),
    Pair("below −1e9", lambda x: torch.where(x < -1e9, 0.0, x), lambda x: x * 1, (X,)),
    Pair("below −1e30", lambda x: torch.where(x < -1e30, 0.0, x), lambda x: x * 1, (X,)),
    Pair("softmax over −1e4", lambda x, m: torch.softmax(x.masked_fill(m, -inf), -1),
         lambda x, m: torch.softmax(x.masked_fill(m, -1e4), -1), (X, MASK), unless="has no weight"),
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
    Pair("index_fill", lambda x, rows: x.index_fill(0, rows, 5.0), at_rows, (X, ROWS), unless="0 ≤ rows"),
    Pair("take and gather", lambda x, i: x.take(i), lambda x, i: x.flatten().gather(0, i), (X, N[0]),
         unless="0 ≤ i"),
    Pair("index and index_select", lambda x, rows: x[rows], lambda x, rows: x.index_select(0, rows), (X, ROWS),
         unless="0 ≤ rows"),
]


def guarded(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x.isnan(), 0.0, x)


ASKING = [  # programs that ask for NaN or infinities
    Pair("another number for NaN", lambda x: torch.where(x != x, 0.0, x), lambda x: torch.where(x != x, 0.2, x), (X,)),
    Pair("no number for NaN", lambda x: torch.where(x.isnan(), 0.0, x), lambda x: x * 1, (X,)),
    Pair("equal to itself", lambda x: torch.where(x == x, x, 0.0), lambda x: x * 1, (X,)),
    Pair("less itself is 0", lambda x: torch.where(x - x == 0, x, 0.0), lambda x: x * 1, (X,)),
    Pair("a square is not negative", lambda x: (x * x >= 0).float(), torch.ones_like, (X,)),
    Pair("masked where NaN", lambda x: x.masked_fill(x.isnan(), 0.0), lambda x: x.masked_fill(x.isnan(), 1.0), (X,)),
    Pair("fmax", torch.fmax, torch.maximum, (X, Y)),
    Pair("fmin", torch.fmin, torch.minimum, (X, Y)),
    Pair("nan_to_num", torch.nan_to_num, lambda x: x * 1, (X,)),
    Pair("nan_to_num of others", torch.nan_to_num, lambda x: torch.nan_to_num(x, nan=1.0), (X,)),
    Pair("nansum", lambda x: x.nansum(-1), lambda x: x.sum(-1), (X,)),
    Pair("nanmean", lambda x: x.nanmean(-1), lambda x: x.mean(-1), (X,)),
    Pair("isinf", lambda x: torch.where(x.isinf(), 0.0, x), lambda x: x * 1, (X,)),
    Pair("isfinite", lambda x: torch.where(x.isfinite(), x, 0.0), lambda x: x * 1, (X,)),
    Pair("below ∞", lambda x: torch.where(x < inf, x, 0.0), lambda x: x * 1, (X,)),
    Pair("as large as ∞", lambda x: torch.where(x.abs() == inf, 1.0, x), lambda x: x * 1, (X,)),
    Pair("any NaN", lambda x: torch.where(x.isnan().any(), 0.0, x), lambda x: x * 1, (X,)),
    Pair("argmax of NaN", lambda x: x.argmax(-1), lambda x: torch.nan_to_num(x).argmax(-1), (X,)),
    Pair("rows without a number", lambda x, m: torch.softmax(x.masked_fill(m, -inf), -1),
         lambda x, m: torch.nan_to_num(torch.softmax(x.masked_fill(m, -inf), -1)), (X, MASK)),
    Pair("a guarded softmax", lambda x: torch.softmax(x, -1), lambda x: guarded(torch.softmax(x, -1)), (X,)),
    Pair("guarded rows without a number", lambda x, m: torch.softmax(x.masked_fill(m, -inf), -1) * x.sum(-1, True),
         lambda x, m: guarded(torch.softmax(x.masked_fill(m, -inf), -1)) * x.sum(-1, True), (X, MASK)),
]

NEGATED = [  # a comparison and the negation of its contrary, which NaN tells apart
    Pair("less, or not ≥", lambda x, y: (x < y).float(), lambda x, y: (~(x >= y)).float(), (X, Y), unless="no NaN"),
    Pair("relu by a comparison", torch.relu, lambda x: torch.where(x > 0, x, 0.0), (X,), unless="no NaN"),
    Pair("clamp by comparisons", lambda x: x.clamp(0, 1),
         lambda x: torch.where(x < 0, 0.0, torch.where(x > 1, 1.0, x)), (X,), unless="no NaN"),
    Pair("sign by comparisons", torch.sign, lambda x: (x > 0).float() - (x < 0).float(), (X,), unless="no NaN"),
    Pair("maximum by a comparison", torch.maximum, lambda x, y: torch.where(x > y, x, y), (X, Y), unless="no NaN"),
]

DOMAINS = [  # operators without a value somewhere
    Pair("√x > y, or not ≤", lambda x, y: torch.where(x.sqrt() > y, 1.0, 0.0),
         lambda x, y: torch.where(x.sqrt() <= y, 0.0, 1.0), (P, Q), unless="a comparison hangs on it"),
    Pair("√x > y of negative x", lambda x, y: torch.where(x.sqrt() > y, 1.0, 0.0),
         lambda x, y: torch.where(x.sqrt() <= y, 0.0, 1.0), (X, Q)),
    Pair("log x > 0, or not ≤", lambda x: (x.log() > 0).float(), lambda x: (~(x.log() <= 0)).float(), (P,),
         unless="a comparison hangs on it"),
    Pair("x^1.5 > y, or not ≤", lambda x, y: (x**1.5 > y).float(), lambda x, y: (~(x**1.5 <= y)).float(), (P, Q),
         unless="a comparison hangs on it"),
    Pair("1/x > y, or not ≤", lambda x, y: (1 / x > y).float(), lambda x, y: (~(1 / x <= y)).float(), (P, Q),
         unless="a comparison hangs on it"),
    Pair("acos x > y, or not ≤", lambda x, y: (x.acos() > y).float(), lambda x, y: (~(x.acos() <= y)).float(),
         (P / 9, Q), unless="a comparison hangs on it"),
    Pair("x/x is 1", lambda x: x / x, torch.ones_like, (X,), unless="≠ 0"),
    Pair("√x² is x", lambda x: x.sqrt() ** 2, lambda x: x * 1, (P,), unless="≥ 0"),
    Pair("exp log x is x", lambda x: x.log().exp(), lambda x: x * 1, (P,), unless="> 0"),
    Pair("log x² is 2 log x", lambda x: (x * x).log(), lambda x: 2 * x.log(), (P,), unless="> 0"),
    Pair("log xy", lambda x, y: (x * y).log(), lambda x, y: x.log() + y.log(), (P, Q), unless="> 0"),
    Pair("√(xy)", lambda x, y: (x * y).sqrt(), lambda x, y: x.sqrt() * y.sqrt(), (P, Q), unless="≥ 0"),
    Pair("rsqrt to the −2", lambda x: x.rsqrt() ** -2, lambda x: x * 1, (P,), unless="≥ 0"),
    Pair("x^1.5 squared", lambda x: (x**1.5) ** 2, lambda x: x**3, (P,), unless="≥ 0"),
    Pair("expm1 of log1p", lambda x: x.log1p().expm1(), lambda x: x * 1, (P,), unless="> 0"),
    Pair("sin of asin", lambda x: (x / 9).asin().sin(), lambda x: x / 9, (P,), unless="1"),
]

SHORT = N.to(torch.uint8), (N - 9).to(torch.int8)
WHOLE = [  # integers
    Pair("mean of bytes", lambda a, b: ((a + b) // 2).float(), lambda a, b: ((a.int() + b.int()) // 2).float(),
         (SHORT[0], SHORT[0].flip(0))),
    Pair("sum of bytes", lambda a, b: (a + b).float(), lambda a, b: a.float() + b.float(), (SHORT[0], SHORT[0])),
    Pair("difference of bytes", lambda a, b: (a - b).float(), lambda a, b: a.float() - b.float(),
         (SHORT[0] + 30, SHORT[0])),
    Pair("product of int8", lambda a, b: (a * b).float(), lambda a, b: a.float() * b.float(), (SHORT[1], SHORT[1])),
    Pair("negative int8", lambda a: (-a).float(), lambda a: -(a.float()), (SHORT[1],)),
    Pair("magnitude of int8", lambda a: a.abs().float(), lambda a: a.float().abs(), (SHORT[1],)),
    Pair("sum of int16", lambda a, b: (a + b).long(), lambda a, b: a.long() + b.long(), (SHORT[0].short(),) * 2),
    Pair("running sum of int8", lambda a: a.cumsum(0, dtype=torch.int8).long(), lambda a: a.long().cumsum(0),
         (SHORT[1],)),
    Pair("total of bytes", lambda a: a.sum(dtype=torch.uint8).long(), lambda a: a.long().sum(), (SHORT[0],)),
    Pair("product of int16 made inside", lambda n: (n.short() * 3000).long(), lambda n: n * 3000, (N,)),
    Pair("twice a byte and half", lambda a: (a * 2) // 2, lambda a: a * 1, (SHORT[0],)),
    Pair("cast to int32", lambda n: n.int().long(), lambda n: n * 1, (N,), unless="int32 holds"),
    Pair("cast of a real to int64", lambda x: x.long().float(), torch.trunc, (X,), unless="int64 holds"),
    Pair("sum of int32", lambda n: (n + n).long(), lambda n: n.long() * 2, (N.int(),), unless="int32 holds"),
    Pair("bytes beside an integer", lambda a, t: (a == t).float(), lambda a, t: (a == t[0, 0]).float(),
         (SHORT[0], torch.tensor([[7]]))),
    Pair("bytes below an integer", lambda a, t: torch.where(a < t, 1.0, 0.0),
         lambda a, t: torch.where(a < t[0, 0], 1.0, 0.0), (SHORT[0], torch.tensor([[7]]))),
    Pair("bytes that are negative", lambda a: (a == -1).float(), lambda a: torch.zeros(a.shape), (SHORT[0] % 9,)),
    Pair("int32 beside what it has not", lambda a: torch.where(a == 2**32 + 7, 1.0, 0.5),
         lambda a: torch.where(a.long() == 2**32 + 7, 1.0, 0.5), (N.int(),)),
    Pair("int32 beside an integer", lambda a, t: (a == t).float(), lambda a, t: (a == t[0, 0]).float(),
         (N.int(), torch.tensor([[7]])), unless="int32 holds what is compared"),
    Pair("shift and division", lambda n: n >> 1, lambda n: torch.div(n, 2, rounding_mode="trunc"), (N,)),
    Pair("bits and remainder", lambda n: n & 7, lambda n: torch.fmod(n, 8), (N,)),
    Pair("bits turned and negative", lambda n: ~n, lambda n: -n, (N,)),
    Pair("remainders of negatives", lambda n: torch.fmod(n, 3), lambda n: torch.remainder(n, 3), (N,)),
    Pair("quotients of negatives", lambda n: torch.div(n, 3, rounding_mode="floor"),
         lambda n: torch.div(n, 3, rounding_mode="trunc"), (N,)),
    Pair("and of numbers", lambda a, b: a & b, lambda a, b: (a.bool() & b.bool()).long(), (N % 2, N.flip(0) % 2)),
]

EDGES = [  # zeros of both signs, ties, halves
    Pair("copysign", torch.copysign, lambda x, y: torch.where(y < 0, -x.abs(), x.abs()), (X, Y),
         unless="a zero is positive"),
    Pair("signbit", lambda x: x.signbit().float(), lambda x: (x < 0).float(), (X,), unless="a zero is positive"),
    Pair("angle of a zero", torch.atan2, lambda y, x: torch.complex(x, y).angle() + 0 * y, (X, Y),
         unless="a zero is positive"),
    Pair("searchsorted of what is not sorted", torch.searchsorted, lambda s, x: (s[:, None] < x[..., None]).sum(-1),
         (X, Y), unless="rising order"),
    Pair("heaviside", lambda x: torch.heaviside(x, torch.tensor(0.5)), lambda x: (x > 0).float(), (X,)),
    Pair("sinc", torch.sinc, lambda x: torch.sin(torch.pi * x) / (torch.pi * x), (X,)),
    Pair("atan2", torch.atan2, lambda x, y: torch.atan(x / y), (P, Q)),
    Pair("round and floor", torch.round, lambda x: (x + 0.5).floor(), (X,)),
    Pair("sign squared", lambda x: torch.sign(x) ** 2, torch.ones_like, (X,)),
    Pair("bucketize", torch.bucketize, lambda x, b: torch.bucketize(x, b, right=True),
         (X, torch.tensor([-1.0, 0.0, 1.0]))),
    Pair("clamp", torch.clamp, lambda x, a, b: torch.maximum(torch.minimum(x, b), a), (X, Y - 9, Y + 9)),
    Pair("xlogy", torch.xlogy, lambda x, y: x * y.log(), (P, Q), unless="inputs.1[i, j] > 0"),
    Pair("median of an even count", lambda x: x.median(-1)[0], lambda x: x.quantile(0.5, -1), (normals(3, 4),)),
]

PARTING = [*INFINITIES, *CASTS, *INDICES, *ASKING, *NEGATED, *DOMAINS, *WHOLE, *EDGES]

ALIKE = [
    Pair("masks of a softmax", lambda x, m: torch.softmax(x.masked_fill(m, FLOAT16), -1),
         lambda x, m: torch.softmax(x + torch.where(m, -inf, 0.0), -1), (X, MASK)),
    Pair("two masks of a softmax", lambda x, m: torch.softmax(x.masked_fill(m, FLOAT32), -1),
         lambda x, m: torch.softmax(x + torch.where(m, FLOAT32, 0.0), -1), (X, MASK)),
    Pair("relu of a masked least half", lambda x, m: torch.relu(torch.where(m, x, FLOAT16)),
         lambda x, m: torch.where(m, torch.relu(x), 0.0), (X, MASK)),
    Pair("one least half", lambda x: torch.where(x > 0, x, FLOAT16), lambda x: torch.where(x <= 0, FLOAT16, x), (X,)),
    Pair("twice one cast", lambda n: n.to(torch.uint8).long() * 2, lambda n: n.to(torch.uint8).long() + n.to(
        torch.uint8).long(), (N,)),
    Pair("index_fill of negative rows", lambda x, i: x.index_fill(0, i, 5.0),
         lambda x, i: at_rows(x, torch.where(i < 0, i + 3, i)), (X, torch.tensor([-1, 0]))),
    Pair("a guard of what is a number", lambda x: torch.softmax(x, -1) * x.sum(-1, True),
         lambda x: guarded(torch.softmax(x, -1)) * x.sum(-1, True), (X,)),
    Pair("NaN by two names", lambda x: torch.where(x.isnan(), 0.0, x), lambda x: x.masked_fill(x != x, 0.0), (X,)),
    Pair("NaN of two sums", lambda x, y: torch.where((x + y).isnan(), 0.0, x + y),
         lambda x, y: (y + x).masked_fill((y + x) != (y + x), 0.0), (X, Y)),
    Pair("fmax of two orders", torch.fmax, lambda x, y: torch.fmax(y, x), (X, Y)),
    Pair("nan_to_num of one sum", lambda x: torch.nan_to_num(2 * x), lambda x: torch.nan_to_num(x + x), (X,)),
    Pair("a root that always has a value", lambda x, y: torch.where((x * x + 1).sqrt() > y, 1.0, 0.0),
         lambda x, y: torch.where((x * x + 1).sqrt() <= y, 0.0, 1.0), (X, Y)),
    Pair("relu by two maxima", lambda x: torch.relu(x) - torch.relu(-x), lambda x: x * 1, (X,)),
    Pair("a quotient where it has a value", lambda x, y: torch.where(y > 0, x / y, 0.0) * 2,
         lambda x, y: torch.where(y > 0, 2 * x / y, 0.0), (X, torch.tensor([0.0, 1.0, 2.0, -1.0, 3.0]))),
    Pair("the logarithm of a mask", lambda x, m: torch.softmax(x + m.float().log(), -1),
         lambda x, m: torch.softmax(m.float().log() + x, -1), (X, ~MASK)),
    Pair("all but an opaque operator", lambda x, y: torch.special.i0(x) * (y + 1),
         lambda x, y: torch.special.i0(x) * y + torch.special.i0(x), (X, Y)),
    Pair("through an opaque operator", lambda x, y: torch.cummax(x + y, -1)[0] * 2 + 1,
         lambda x, y: 1 + 2 * torch.cummax(y + x, -1)[0], (X, Y)),
]


def printed(verdict: Verdict) -> str:
    """All conditions that the report lists."""
    found = [part.evidence for part in (*verdict.relations, *verdict.roots)]
    return "; ".join(str(condition) for evidence in found for condition in evidence.conditions)


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


def test_what_asks_for_nan_and_agrees_says_what_is_proved() -> None:
    verdict = check(lambda x: torch.where(x.isnan(), 0.0, x), lambda x: x.masked_fill(x != x, 0.0), (X,))
    assert any("about finite inputs" in note and "NaN in some places" in note for note in verdict.notes)


@pytest.mark.parametrize("pair", [*ALIKE, *INDICES], ids=str)
def test_what_is_proved_is_replayed(pair: Pair) -> None:
    verdict = check(pair.left, pair.right, pair.inputs, certify=True)
    checked, _ = replay(verdict.certificate)
    assert checked[0].startswith(f"every output {verdict.evidence}")


@pytest.mark.parametrize("name", ["relu by a comparison", "√x > y, or not ≤", "sum of int32"])
def test_a_replay_shows_the_conditions_of_comparisons_too(name: str) -> None:
    pair = next(pair for pair in PARTING if pair.name == name)
    verdict = check(pair.left, pair.right, pair.inputs, certify=True)
    checked, trusted = replay(verdict.certificate)
    shown = [line.removeprefix("provided that ") for line in checked if line.startswith("provided that ")]
    assert set(shown) == {str(condition) for root in verdict.roots for condition in root.evidence.conditions}
    assert any(pair.unless in condition for condition in shown)
    assert "that no other condition on numbers that are compared is needed" in trusted


def test_bytes_that_wrap_around_are_told_apart() -> None:
    mean = next(pair for pair in WHOLE if pair.name == "mean of bytes")
    verdict = check(mean.left, mean.right, mean.inputs)
    assert verdict.verdict == "different"
    assert any("over the range of their dtype" in note for note in verdict.notes)


def test_no_proof_decides_whether_a_number_is_one() -> None:
    x, chosen = leaf("x", (3,))[0], leaf("y", (3,))[0]
    asked = where(eq(x, x), x, chosen)
    assert isinstance(prove_equal(asked, asked), Proved)
    assert isinstance(prove_equal(asked, x), NotProved)
    assert isinstance(prove_equal(asked, chosen), NotProved)
    assert isinstance(prove_equal(where(eq(x + chosen, chosen + x), 1, 0), numeric(1)), NotProved)


def test_an_input_that_shows_the_difference_is_named() -> None:
    verdict = check(torch.fmax, torch.maximum, (X, Y))
    assert any("NaN in some places: output 0[" in note and "right nan" in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("left", "right", "inputs"),
    [
        (lambda x: (1 / x > 0).float() * x, lambda x: x * (1 / x > 0).float(), (torch.tensor([0.0, 1.0, 2.0]),)),
        (lambda n: ((n + 9) - 9).long() * 2, lambda n: 2 * n.long(), (torch.full((3,), 2**31 - 5, dtype=torch.int32),)),
    ],
    ids=["∞", "int32"],
)
def test_an_example_that_proofs_say_nothing_about_is_tested_only(left, right, inputs) -> None:
    verdict = check(left, right, inputs)
    assert verdict.evidence is Rung.TESTED
    assert all("proofs say nothing about the example" in root.evidence.detail for root in verdict.roots)


def test_a_trial_names_what_it_did_not_draw() -> None:
    verdict = check(lambda x: torch.special.i0(x) * 2, lambda x: (x.abs().exp() * torch.special.i0e(x)) * 2, (X,))
    assert verdict.evidence is Rung.TESTED
    detail = verdict.roots[0].evidence.detail
    assert "ties and zeros of both signs" in detail and "not tried: NaN and ±∞" in detail


def test_an_index_that_the_example_counts_from_the_end_is_not_taken_for_one_that_does_not() -> None:
    verdict = check(lambda x, i: x.index_fill(0, i, 5.0), at_rows, (X, torch.tensor([-1, 0])))
    assert verdict.verdict == "different"


def test_a_softmax_is_a_number_unless_a_mask_may_leave_it_nothing() -> None:
    x, mask = leaf("x", (2, 3)), leaf("mask", (2, 3), "bool")
    names = "softmax.int", "masked_fill.Scalar", "isnan.default", "where.ScalarSelf"
    softmax, masked, isnan, where = (meaning_of(f"aten.{name}") for name in names)

    def is_its_guard(p: Tensor) -> bool:
        return isinstance(prove_tensors_equal(p, where(isnan(p), 0.0, p)), Proved)

    assert is_its_guard(softmax(x, -1))
    assert not is_its_guard(softmax(masked(x, mask, -inf), -1))
    assert not is_its_guard(x)
