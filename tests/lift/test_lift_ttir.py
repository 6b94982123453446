"""TTIR is read as text: types, regions, lines; what cannot be read or is not supported is named with its place."""

from __future__ import annotations

import numpy as np
import pytest

from samesame.evidence import Refused
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Load, Size, const, substitute, walk
from samesame.formula.tensor import tensor
from samesame.kernels.execution.ttir import Type, parse, split
from samesame.kernels.kernel import lift_launch
from samesame.kernels.launch import Launch, Memory
from samesame.lift import lift

ADD = """
#loc = loc("/tmp/add.py":3:1)
#loc1 = loc("/tmp/add.py":5:9)
#loc2 = loc("/usr/lib/triton/language/standard.py":43:13)
#loc3 = loc(callsite(#loc2 at #loc1))
#loc4 = loc("offsets"(#loc3))
module {
  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32>, %n: i32 loc("n"(#loc))) {
    %c = arith.constant 8 : i32 loc(#loc1)
    %pid = tt.get_program_id x : i32 loc(#loc1)
    %start = arith.muli %pid, %c : i32 loc(#loc4)
    %lanes = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32> loc(#loc1)
    %first = tt.splat %start : i32 -> tensor<8xi32> loc(#loc1)
    %offsets = arith.addi %first, %lanes : tensor<8xi32> loc(#loc4)
    %size = tt.splat %n : i32 -> tensor<8xi32> loc(#loc1)
    %inside = arith.cmpi slt, %offsets, %size : tensor<8xi32> loc(#loc1)
    %0 = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>> loc(#loc1)
    %1 = tt.addptr %0, %offsets : tensor<8x!tt.ptr<f32>>, tensor<8xi32> loc(#loc1)
    %2 = tt.load %1, %inside : tensor<8x!tt.ptr<f32>> loc(#loc1)
    %3 = arith.addf %2, %2 : tensor<8xf32> loc(#loc1)
    %4 = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>> loc(#loc1)
    %5 = tt.addptr %4, %offsets : tensor<8x!tt.ptr<f32>>, tensor<8xi32> loc(#loc1)
    tt.store %5, %3, %inside : tensor<8x!tt.ptr<f32>> loc(#loc1)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""


def launch(text: str = ADD, **changes) -> Launch:
    n = Size("n", 1)
    arguments = {"x": Memory("x", (n,), (1,), "fp32"), "out": Memory("out", (n,), (1,), "fp32", contents=None), "n": n}
    return Launch("add", text, {**arguments, **changes}, ((n + 7) // 8,), {"n": 20})


def test_a_function_is_read_with_types_and_lines() -> None:
    function = parse(ADD)
    assert function.name == "add" and [name for name, _ in function.arguments] == ["%x", "%out", "%n"]
    operations = {o.results[0] if o.results else o.name: o for o in function.blocks["^bb0"].operations}
    assert operations["%offsets"].type == Type((8,), "i32")
    assert operations["%2"].given[0].pointee == Type((8,), "f32")
    assert operations["%offsets"].place.line == 5, "of a call, the line in the user's file"
    assert operations["%lanes"].attribute("end") == 8


def test_brackets_keep_commas_together() -> None:
    assert split("tensor<8xi32, #a>, (a, b), {x = [1, 2]}") == ["tensor<8xi32, #a>", "(a, b)", "{x = [1, 2]}"]


def test_a_kernel_is_verified_from_its_text() -> None:
    verdict = lift_launch(launch())
    assert verdict.verdict == "verified"
    assert verdict.formulas[0].text == "out[i] = x[i] + x[i]"


@pytest.mark.parametrize(
    "old, new, broken",
    [
        ("arith.cmpi slt", "arith.cmpi sle", "bounds"),
        ("arith.constant 8", "arith.constant 7", "coverage"),
        ("arith.constant 8", "arith.constant 9", "coverage"),
        ("tt.load %1, %inside", "tt.load %1", "bounds"),
    ],
)
def test_a_change_breaks_an_obligation(old: str, new: str, broken: str) -> None:
    verdict = lift_launch(launch(ADD.replace(old, new)))
    assert verdict.verdict == "violated"
    assert broken in {o.name for o in verdict.obligations if o.state == "violated"}


@pytest.mark.parametrize("rounding, expected", [
    ("round", [-3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0]),
    ("roundeven", [-2.0, -2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0]),
])
def test_halves_are_rounded_as_the_operation_says(rounding: str, expected: list[float]) -> None:
    """By MLIR's math dialect away from zero, or to the even one."""
    found = lift_launch(launch(ADD.replace("arith.addf %2, %2", f"math.{rounding} %2")))
    (formula,) = found.formulas
    assert found.verdict == "verified" and isinstance(formula.expr, tuple)
    (i,), rounded = formula.expr
    (read,) = (e for e in walk(rounded) if isinstance(e, Load))
    halves = np.array([-2.5, -1.5, -0.5, -0.25, 0.25, 0.5, 1.5, 2.5])
    made = tensor((8,), lambda k: substitute(rounded, {i: k, read.leaf.shape[0]: const(8)}))
    assert evaluate(made, {"x": halves}).tolist() == expected


def test_too_few_programs_leave_elements_unwritten() -> None:
    few = launch()
    verdict = lift_launch(Launch(few.name, few.ttir, few.arguments, (few.arguments["n"] // 8,), few.example))
    (coverage,) = (o for o in verdict.obligations if o.name == "coverage")
    assert coverage.state == "violated" and "element" in coverage.counterexample


def test_what_shares_memory_is_not_taken_to_be_apart() -> None:
    """In place, each element written by the lane that read it is safe; read by another program it is not."""
    n = Size("n", 1)
    same = Memory("x", (n,), (1,), "fp32", "shared")
    assert lift_launch(launch(x=same, out=same)).verdict == "verified"
    shifted = ADD.replace("%1 = tt.addptr %0, %offsets", "%1 = tt.addptr %0, %lanes")
    verdict = lift_launch(launch(shifted, x=same, out=same))
    assert [o.state for o in verdict.obligations if o.name == "aliasing"] == ["undecided"]
    other = Memory("out", (n,), (1,), "fp32", "shared")
    assert lift_launch(launch(x=same, out=other)).verdict == "undecided", "whether they begin at one place is not known"


def test_an_unknown_operation_is_named_with_its_line() -> None:
    verdict = lift_launch(launch(ADD.replace("arith.addf", "arith.mystery")))
    assert verdict.verdict == "undecided"
    assert verdict.unsupported == ["/tmp/add.py:5: the operation arith.mystery is not supported"]


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "holds no kernel"),
        (ADD.replace("    tt.return", "    what is this"), "is no operation of Triton's IR"),
        (ADD.rsplit("}", 2)[0], "a brace is never closed"),
    ],
)
def test_what_is_no_ttir_is_refused(text: str, says: str) -> None:
    with pytest.raises(Refused, match=says):
        parse(text)


def test_a_file_alone_gives_a_formula_and_no_verdict(tmp_path) -> None:
    file = tmp_path / "add.ttir"
    file.write_text(ADD)
    verdict = lift(str(file))
    assert verdict.verdict == "undecided" and not any(o.counterexample for o in verdict.kernels[0].obligations)
    assert "out*[" in verdict.kernels[0].formulas[0].text
