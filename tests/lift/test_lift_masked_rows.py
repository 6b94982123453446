"""A mask by multiplication and one by choice are one mask, in functions, too; halves of a row are of any length."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.equal import Proved, prove_tensors_equal
from samesame.formula.expr import Expr, Fn, Fold, Size, add, floordiv, index, le, maximum, minimum, mod, mul, where
from samesame.formula.tensor import Tensor, leaf, tensor
from samesame.lift import lift, tried
from samesame.lift.unfolded import unfold

FILE = Lifted(Path(__file__).parents[1] / "launches" / "masked_rows.py").file
T, K, C = Size("T", 2), Size("K", 2), Size("C", 2)
X, W, S = leaf("x", (T, K)), leaf("w", (K,)), leaf("s", (C,), "int", (-9, add(T, 9)))


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


def grown(term: Callable[[Expr, Expr], Expr]) -> Tensor:
    """e to the sum of a row of what data says, times weights."""
    def element(c: Expr) -> Expr:
        k = index(K)
        return Fn("exp", Fold("sum", (k,), term(S[c], k) * W[k]))

    return tensor((C,), element)


@pytest.mark.parametrize("first, shift, same", [(0, 0, True), (0, 1, False), (1, 0, False)])
def test_a_mask_by_multiplication_is_one_by_choice(first: int, shift: int, same: bool) -> None:
    chosen = grown(lambda s, k: where(le(0, s), X[s, k], 0))
    times = grown(lambda s, k: X[maximum(s, shift), k] * where(le(first, s), 1, 0))
    assert isinstance(prove_tensors_equal(chosen, times), Proved) == same


@pytest.mark.parametrize("last, same", [(-1, True), (-2, False)])
def test_so_is_one_at_the_end(last: int, same: bool) -> None:
    chosen = grown(lambda s, k: where(le(s, add(T, -1)), X[s, k], 0))
    times = grown(lambda s, k: X[minimum(s, add(T, last)), k] * where(le(s, add(T, -1)), 1, 0))
    assert isinstance(prove_tensors_equal(chosen, times), Proved) == same


def test_halves_of_masked_rows_are_the_same_at_all_sizes() -> None:
    found = lift(f"{FILE}:launch", f"{FILE}:gated")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert not found.against_held


@pytest.mark.parametrize("launch, reference", [
    ("launch", "gated_by_second"), ("launch", "without_a_mask"), ("launch_without_the_first", "gated")])
def test_other_rows_are_others(launch: str, reference: str) -> None:
    assert lift(f"{FILE}:{launch}", f"{FILE}:{reference}").against != "same"


def test_what_is_unfolded_and_joined_again_is_read_at_its_own_place() -> None:
    halves = leaf("x", (mul(2, T),))
    ((_, part),) = unfold("x", halves, torch.zeros(8), {"T": 4}, "_part").formulas.items()
    k = index(mul(2, T))
    assert part.shape == (T, 2) and part[floordiv(k, 2), mod(k, 2)] is halves[k]
