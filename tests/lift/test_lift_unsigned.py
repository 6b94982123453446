"""Unsigned integers are read and written as signed ones of the same bits; loops that wait for others are named."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import Leaf, Load, const, where
from samesame.kernels.execution.unsigned import signed, unsigned, unsigned_in
from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.lift import KernelVerdict, lift
from samesame.lift.numerics import error_of

FILE = Path(__file__).parent.parent / "launches" / "unsigned.py"
FORMULAS = {
    "pixels": "out[i] = x[i] / 255",
    "copied": "out[i] = x[i]",
    "halves": "out[i] = ⌊x[i] / 16⌋ − (x[i] mod 16)",
    "doubled": None,
    "below": "out[i] = {i − 3 if 3 ≤ i else i + 4294967293}",
}


@cache
def kernel(name: str) -> KernelVerdict:
    (one,) = lift(f"{FILE}:launch_{name}").kernels
    return one


def line_of(code: str) -> int:
    return next(k for k, line in enumerate(FILE.read_text().splitlines(), 1) if code in line)


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert kernel(name).verdict == "verified", [(o.name, o.state, o.detail) for o in kernel(name).obligations]
    assert FORMULAS[name] is None or [f.text for f in kernel(name).formulas] == [FORMULAS[name]]


@pytest.mark.parametrize("name", FORMULAS)
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    captured, run = capture_launches(f"{FILE}:launch_{name}"), interpret(f"{FILE}:launch_{name}")
    (formula,) = kernel(name).formulas
    assert error_of(formula, passed_of(captured.launches[0], captured), run.executions[0], captured.sizes) < 1e-6


def test_a_sum_that_may_wrap_around_is_not_verified() -> None:
    assert {o.name: o.state for o in kernel("tripled").obligations}["overflow"] == "undecided"


@pytest.mark.parametrize("number", [0, 1, 127, 128, 200, 255])
def test_bits_are_read_and_written_back(number: int) -> None:
    assert unsigned(signed(const(number), 8), 8) is const(number)
    assert signed(const(number), 8) is const(number - 256 if number > 127 else number)


def test_what_is_no_unsigned_number_is_not_taken_for_one() -> None:
    x, c = Load(Leaf("x", (), "int"), ()), Load(Leaf("c", (), "bool"), ())
    assert unsigned_in(where(c, signed(x, 8), 3), 8) is where(c, x, 3)
    assert unsigned_in(where(c, signed(x, 8), -3), 8) is None
    assert unsigned_in(signed(x, 8), 16) is None and unsigned_in(x, 8) is None


@pytest.mark.parametrize("name, code", [("chained", "while ready == 0:"), ("locked", "while tl.atomic_cas")])
def test_a_loop_that_waits_for_other_programs_is_named_with_its_line(name: str, code: str) -> None:
    (why,) = kernel(name).unsupported
    assert "waits until another program" in why and f"{FILE.name}:{line_of(code)}" in why
