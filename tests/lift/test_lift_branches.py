"""Early returns and called functions: later stores happen where no program has returned, in every way there is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.kernels.kernel import lift_launch
from samesame.kernels.launch import Launch, Memory

KERNELS = Lifted(Path(__file__).parent.parent / "launches" / "branches.py")
FORMULAS = {  # of kernels that are verified
    "rows": ["out[i, j] = exp(x[i, j]) / (Σ_{k<n} exp(x[i, k]))"],
    "counted": ["out[i] = {n if i = n else x[i]}"],
    "nested": None,
    "both": ["out[i] = {−x[i] if 0 = ⌊i / 16⌋ else 2·x[i]}"],
    "signs": None,
    "notes": ["out[i] = {i if i ≤ 2 else 0}", "last[i] = {i + 10 if 3 ≤ i else i}"],
    "chosen_rows": ["out[i, j] = {x[i, j] if 0 ≠ keep[i] else 0}"],
}
BROKEN = {  # the obligations that must not be proved
    "rows_too_few": {"coverage": "violated"},
    "rows_too_many": {"bounds": "violated"},
    "opposite": {"coverage": "violated", "bounds": "violated"},
    "counted_by_all": {"race": "violated"},
    "nested_forgotten": {"coverage": "violated"},
    "two_outputs": {"coverage": "violated"},
    "chosen_rows_of_nothing": {"coverage": "violated"},
    "undefined_choice": {"undefined": "violated"},
}


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "verified", KERNELS.open(name)
    assert FORMULAS[name] in (None, KERNELS.texts(name))


@pytest.mark.parametrize("name, sizes", [
    ("rows", {"m": 3, "n": 20}), ("counted", {"n": 3}), ("nested", {"n": 90}), ("both", {"n": 33}),
    ("signs", {"m": 4, "n": 50}), ("notes", {"m": 2}), ("chosen_rows", {"m": 12, "n": 3}),
])  # fmt: skip
def test_the_formula_is_what_the_interpreter_stores(name: str, sizes: dict[str, int]) -> None:
    assert KERNELS.error(name) < 1e-6
    assert KERNELS.error(name, sizes) < 1e-6


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_return_is_not_accepted(name: str) -> None:
    states = KERNELS.states(name)
    assert KERNELS.kernel(name).verdict == "violated" or "violated" not in BROKEN[name].values()
    assert {obligation: states[obligation] for obligation in BROKEN[name]} == BROKEN[name], KERNELS.open(name)


@pytest.mark.parametrize("name", ["shuffled_in_loop", "shuffled_rows"])
def test_an_order_that_is_left_to_the_compiler_is_not_forgotten(name: str) -> None:
    (sentence,) = KERNELS.kernel(name).unsupported
    assert "order" in sentence and "launches/branches.py" in sentence


LOOP = """
#loc1 = loc("k.py":5:9)
#loc2 = loc("k.py":7:9)
module {
  tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {
    %one = arith.constant 1 : i32 loc(#loc1)
    cf.br ^bb1(%one : i32) loc(#loc1)
  ^bb1(%i: i32 loc("i"(#loc1))):  // 2 preds: ^bb0, ^bb1
    tt.store %out, %i : !tt.ptr<i32> loc(#loc1)
    %next = arith.addi %i, %one : i32 loc(#loc1)
    %more = arith.cmpi slt, %next, %n : i32 loc(#loc1)
    cf.cond_br %more, ^bb1(%next : i32), ^bb2 loc(#loc2)
  ^bb2:  // pred: ^bb1
    tt.return loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
"""
CALL = """
#loc1 = loc("k.py":5:9)
module {
  tt.func public @k(%out: !tt.ptr<i32>, %n: i32) {
    %i = tt.call @"a.<b>.f"(%n) : (i32) -> i32 loc(#loc1)
    tt.store %out, %i : !tt.ptr<i32> loc(#loc1)
    tt.return loc(#loc1)
  } loc(#loc1)
  tt.func private @"a.<b>.f"(%n: i32) -> i32 {
    %i = tt.call @"a.<b>.f"(%n) : (i32) -> i32 loc(#loc1)
    tt.return %i : i32 loc(#loc1)
  } loc(#loc1)
} loc(#loc1)
"""


@pytest.mark.parametrize("text, says", [
    (LOOP, "k.py:7: a branch back to an earlier block is a loop that is not supported"),
    (LOOP.replace("^bb1(%next : i32), ^bb2", "^bb2, ^bb2"), ""),
    (CALL, "k.py:5: the function a.<b>.f calls itself, which is not supported"),
    (CALL.replace("private", "public").replace('f"(%n: i32) -> i32 {', 'g"(%n: i32) -> i32 {'), "2 kernels"),
    (CALL.replace('f"(%n: i32) -> i32 {', 'g"(%n: i32) -> i32 {'), "f is not part of the module"),
])  # fmt: skip
def test_what_is_not_supported_is_named_with_its_line(text: str, says: str) -> None:
    launch = Launch("k", text, {"out": Memory("out", (1,), (1,), "i32"), "n": 5}, (1,), order=("out", "n"))
    sentences = lift_launch(launch).unsupported
    assert says in "; ".join(sentences) and bool(says) == bool(sentences)
