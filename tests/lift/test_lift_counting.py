"""What is compared may be bits; how often it is so is a plain number, which can be added up and must fit its type."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import ZERO, Fold, Leaf, Load, Size, add, const, index, mul, where
from samesame.kernels.execution.values import of_bits, wraps
from samesame.kernels.host.interpret import interpret
from samesame.kernels.indices import integers
from samesame.kernels.obligations import counted
from samesame.lift import KernelVerdict, lift

FILE = Path(__file__).parent.parent / "launches" / "counting.py"
BITS = of_bits("andi", 32, Load(Leaf("x", (), "int"), ()), const(3))


@cache
def kernel(name: str) -> KernelVerdict:
    (one,) = lift(f"{FILE}:launch_{name}").kernels
    return one


def states(name: str) -> dict[str, str]:
    return {o.name: o.state for o in kernel(name).obligations}


def test_keys_of_bits_are_counted() -> None:
    assert kernel("digits").verdict == "verified", [(o.name, o.state, o.detail) for o in kernel("digits").obligations]
    (formula,) = kernel("digits").formulas
    assert formula.text == "out[i] = Σ_{j<n} [⌊x[j] / 32⌋ = 4·⌊⌊x[j] / 32⌋ / 4⌋ + i]", "whose two bits above five are i"


def test_as_many_are_counted_as_there_are() -> None:
    runs = [interpret(f"{FILE}:launch_{name}") for name in ("digits", "digits_from_one")]
    right, wrong = (next(iter(run.outputs.values())) for run in runs)
    assert right.sum() == 100 and wrong.sum() > 100
    (a,), (b,) = (kernel(name).formulas for name in ("digits", "digits_from_one"))
    assert a.text != b.text


@pytest.mark.parametrize("name", ["digits_unmasked", "digits_added_to_nothing"])
def test_broken_variants_are_not_verified(name: str) -> None:
    assert kernel(name).verdict != "verified" and states(name)["undefined"] != "proved"


def test_bits_wrap_around_and_their_count_does_not() -> None:
    k = index(7)
    count = Fold("sum", (k,), where(integers.equal(BITS, k), 1, 0))
    assert wraps(BITS) and wraps(add(BITS, 1)) and wraps(Fold("sum", (k,), mul(k, BITS)))
    assert wraps(where(integers.equal(k, 1), BITS, 0)) and not wraps(count)


def test_a_count_is_no_more_than_what_is_counted() -> None:
    k, n = index(7), Size("n", 0)
    lane = index(n)
    one = where(integers.equal(BITS, k), 1, 0)
    inner = Fold("sum", (lane,), one)
    assert counted(one) is const(1) and counted(Fold("sum", (k,), one)) is const(7)
    assert counted(Fold("sum", (k,), inner)) is integers.times_(7, integers.flattened("max", (n, ZERO)))
    assert counted(Fold("max", (k,), one)) is const(1) and counted(Fold("max", (lane,), one)) is None
    assert counted(where(integers.equal(BITS, k), 2, 0)) is None
    assert counted(Fold("sum", (k,), Fold("sum", (index(k),), one))) is None
