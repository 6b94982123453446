"""Numbers that lie several in a byte: a kernel adds up each place of a byte by itself, and tile by tile."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.equal import Proved, prove_tensors_equal
from samesame.formula.expr import Add, Expr, Fold, Size, add, const, floordiv, index, minimum, mod, mul, power
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift
from samesame.lift.joined import in_one_range, in_places

FILE = Path(__file__).parents[1] / "launches" / "nibbles.py"
N = Size("N", 2)
X, W, BYTE = leaf("x", (mul(2, N),)), leaf("w", (N,)), leaf("byte", (N,), "int")


def single(e: Expr) -> Tensor:
    return tensor((), lambda: e)


def test_each_place_of_a_byte_is_summed_by_itself() -> None:
    found = lift(f"{FILE}:launch", f"{FILE}:reference")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


def test_the_other_order_differs() -> None:
    assert lift(f"{FILE}:launch", f"{FILE}:turned").against == "different"


def pairs(first: int) -> Expr:
    """Σ_k x[k]·w[⌊k/2⌋]^(k mod 2), or where the other element of a pair is squared."""
    k = index(mul(2, N))
    even = add(1, mul(-1, mod(k, 2))) if first else mod(k, 2)
    return Fold("sum", (k,), mul(X[k], W[floordiv(k, 2)], even))


@pytest.mark.parametrize("first, place, same", [(0, 1, True), (0, 0, False), (1, 0, True), (1, 1, False)])
def test_a_fold_over_runs_is_one_for_each_place(first: int, place: int, same: bool) -> None:
    q = index(N)
    alone = single(Fold("sum", (q,), mul(X[add(mul(2, q), place)], W[q])))
    apart, _ = in_one_range(in_places(single(pairs(first))), (), {})
    assert isinstance(prove_tensors_equal(apart, alone), Proved) == same


def test_what_is_not_divided_is_left_as_it_is() -> None:
    k = index(mul(2, N))
    plain = single(Fold("sum", (k,), power(X[k], Fraction(2))))
    assert in_places(plain) is plain


def test_sums_of_tiles_are_joined_each_by_itself() -> None:
    t = index(floordiv(add(N, 7), 8))
    lanes = [index(minimum(8, add(N, mul(-8, t)))) for _ in range(2)]
    one, two = (W[add(mul(8, t), lane)] for lane in lanes)
    parts = Fold("sum", (lanes[0],), one), Fold("sum", (lanes[1],), power(two, Fraction(2)))
    found = Simplifier(IndexProver())(Fold("sum", (t,), add(*parts)))
    assert isinstance(found, Add) and {e.bound[0].extent for e in found.terms if isinstance(e, Fold)} == {N}


@pytest.mark.parametrize("dtype, same", [("uint8", True), ("int32", False)])
def test_a_dtype_says_how_large_a_byte_is(dtype: str, same: bool) -> None:
    q = index(N)
    shifted = tensor((N,), lambda i: mod(floordiv(BYTE[i], 16), 16), "int")
    told, _ = in_one_range(shifted, (), {}, dtypes={"byte": dtype})
    assert (told[q] is floordiv(BYTE[q], const(16))) == same
