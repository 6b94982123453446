"""Integers in kernels and forms: what is computed of them is computed as torch does, however large they are, and is a
real only where reals count them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.optimize.compiled_programs import untimed

from optimize.agreeing import agree
from optimize.looking_up import ints, module_of
from samesame.capture import capture
from samesame.optimize.algebra import specified
from samesame.optimize.counted import COUNTED, is_counted, reach
from samesame.optimize.dropin import EAGER
from samesame.optimize.facts import facts_of
from samesame.optimize.forms import compare, extremum, fn, fold, load, minus, number, plus, position, times, where
from samesame.optimize.job import loaded
from samesame.optimize.native import candidates
from samesame.optimize.saved import files_of, write_files
from samesame.optimize.search import searched
from samesame.optimize.segments import candidates as between
from samesame.optimize.segments import has_calls
from samesame.optimize.specification import Tensor

INT64 = torch.iinfo(torch.int64)
Program = Callable[..., Any]
X = torch.randn(6, 33, generator=torch.Generator().manual_seed(0))
TENSORS = {"n": Tensor("n", (4,), "int64", "input"), "t": Tensor("t", (2,), "int64", "weight", "", [3, -7]),
           "m": Tensor("m", (4,), "bool", "input")}


def size(axes: Any) -> int:
    return 10 ** len([*axes])


n, t, i = load("n", "k"), load("t", "j"), position("i")
SOME = compare("<", n, number(3))


@pytest.mark.parametrize(("form", "least"), [
    (n, inf), (t, 7), (i, 9), (times(number(3), i), 27), (plus(i, t), 16), (minus(t, i), 16), (times(t, t, i), 441),
    (where(SOME, t, number(2)), 7), (extremum("min", t, number(4)), 7), (SOME, 1), (fold("sum", ["k"], where(
        SOME, number(1), number(0))), 10), (fold("max", ["j"], t), 7), (times(number(0), n), 0), (fn("exp", t), inf),
], ids=str)
def test_how_far_integers_reach(form: Any, least: float) -> None:
    assert reach(form, size, TENSORS) == least


@pytest.mark.parametrize(("form", "counted"), [
    (n, True), (plus(n, t), False), (where(SOME, n, t), True), (where(compare("<", plus(n, t), t), n, t), True),
    (extremum("max", n, number(0)), True), (extremum("max", minus(n, t), number(0)), False), (plus(i, t), True),
    (times(number(COUNTED), i), False), (i, True),
], ids=str)
def test_what_is_computed_of_any_integers_is_no_real(form: Any, counted: bool) -> None:
    assert is_counted(form, size, TENSORS) == counted


# ------------------------------------------------------------------------------------------------ whole programs

A, B, BEYOND = ints(9, 6, 33), ints(5, 6, 33), 1_700_000_000
COMPUTED: dict[str, tuple[Program, Callable[[torch.Tensor], torch.Tensor]]] = {
    "a difference": (lambda a, b, x: (a - b).float() + x, lambda a: a + BEYOND),
    "and with a real": (lambda a, b, x: (x - (a - b)).tanh(), lambda a: a + BEYOND),
    "of what is chosen": (lambda a, b, x: (torch.where(x > 0, a, b) - a).float() + x, lambda a: a + BEYOND),
    "compared with a real": (lambda a, b, x: torch.where((a - b).float() > x, x, 0.0), lambda a: a + BEYOND),
    "divided": (lambda a, b, x: x + (a - b) / 3, lambda a: a + BEYOND),
    "a softmax of differences": (lambda a, b, x: ((a - b).float() + x).softmax(-1), lambda a: a + BEYOND),
    "a product": (lambda a, b, x: torch.where((a @ b.t())[:, :1] == 7, 0.0, x), lambda a: a * 50001),
    "an einsum": (lambda a, b, x: torch.einsum("ij,ij->i", a, b).float()[:, None] * x, lambda a: a * 50001),
    "a count, many times": (lambda a, b, x: ((a > 3).sum(-1) * 123456789, x.exp()), lambda a: a),
    "the least integer": (lambda a, b, x: torch.where(a < b, 0.0, x), lambda a: torch.where(a == 3, INT64.min, a)),
    "below a number": (lambda a, b, x: torch.where(a <= 2, x, a > b), lambda a: torch.where(a == 3, INT64.min, a)),
    "the largest": (lambda a, b, x: torch.where(a < b, a, b), lambda a: torch.where(a == 3, INT64.max, a)),
    "large positions": (lambda a, b, x: torch.where(x > 0, torch.arange(33) * 3_000_000_000, 5), lambda a: a),
    "compared positions": (lambda a, b, x: torch.where(torch.arange(33) * 3_000_000_000 > a, x, 1.0), lambda a: a),
    "a real beyond": (lambda a, b, x: a.float() + 5.0, lambda a: torch.where(a == 3, INT64.max, a)),
    "truths of a column": (lambda a, b, x: ((x[:, :1] > 0).expand(6, 33).clone(), x.exp()), lambda a: a),
    "truths that are filled": (lambda a, b, x: (~(x > 0).masked_fill(a > 3, True), (x > 0).masked_fill(a > 3, False)),
                               lambda a: a),
    "squares": (lambda a, b, x: (a * a).float() + x, lambda a: a * 50001),
}


def drop_in(program: Any, inputs: tuple[torch.Tensor, ...], folder: Path) -> Any:
    """The program with kernels in its place."""
    module = module_of(program)
    graph = capture(module, inputs)
    specification = specified(module, inputs, graph)
    ways: Any = between if has_calls(specification) else candidates
    (found, *_) = ways(graph, specification, searched(specification), untimed, {})
    return loaded(write_files(folder, files_of(found, facts_of(module, inputs, found, EAGER)))).optimized(module)


@pytest.mark.parametrize("name", COMPUTED)
def test_kernels_compute_with_integers_of_any_size(name: str, tmp_path: Path) -> None:
    program, larger = COMPUTED[name]
    wrapped = lambda a, b, x: program(a, b, x)  # noqa: E731    a signature for the module
    fast = drop_in(wrapped, (A, B, X), tmp_path / "found")
    for a in (A, larger(A)):
        for b in (B, larger(B)):
            wanted, own = program(a, b, X), fast(a, b, X)
            for one, other in zip(*(found if isinstance(found, tuple) else (found,) for found in (wanted, own)),
                                  strict=True):
                assert one.dtype == other.dtype
                torch.testing.assert_close(other, one, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("program", [
    lambda u, w: torch.where(u == -1, 1.0, 0.0), lambda u, w: u > 300, lambda u, w: u == w, lambda u, w: w < u,
    lambda u, w: u.clamp(-5, 3),
])
def test_integers_of_few_bits_are_compared_as_torch_does(program: Program, tmp_path: Path) -> None:
    """With a number that they have not, or a tensor of one element that has more bits: as calls."""
    u = torch.arange(60, dtype=torch.uint8).view(2, 30)
    for found in (torch.tensor([[7]]), torch.tensor([[263]])):
        agree(program, u, found, folder=tmp_path, calls=True)


def test_positions_that_their_dtype_has_not_are_a_table(tmp_path: Path) -> None:
    agree(lambda x: torch.arange(300, dtype=torch.uint8).float() + x, torch.zeros(1), folder=tmp_path)


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.float64), (torch.bfloat16, torch.float32)])
def test_a_tensor_of_one_element_makes_the_dtype_that_it_makes(dtypes: Any, tmp_path: Path) -> None:
    x, one = torch.randn(3, 4).to(dtypes[0]), torch.randn(1, 1).to(dtypes[1])
    agree(lambda x, y: x * y, x, one, folder=tmp_path, calls=True)
    agree(lambda x, y: x * y, x, one[0, 0], folder=tmp_path)


@pytest.mark.parametrize("program", [
    lambda x: torch.sin(x.cumsum(0)) * 2 + 1, lambda x: (torch.sin(x) * 2).cumsum(1) + 1,
    lambda x: ((x > x).all(-1), torch.rsqrt(torch.tanh(x).square() + 1)), lambda x: x.exp()[..., :1].cumsum(0) * 3,
])
@pytest.mark.parametrize("shape", [(15, 1, 3), (15, 1, 1), (1, 15, 1)])
def test_dimensions_of_one_element_stay_beside_calls(program: Program, shape: Any, tmp_path: Path) -> None:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    for mine, own in zip(*(found if isinstance(found, tuple) else (found,) for found in (
            drop_in(lambda x: program(x), (x,), tmp_path / "found")(x), program(x))), strict=True):
        torch.testing.assert_close(mine, own)


@pytest.mark.parametrize("value", [True, False])
def test_truths_are_filled_by_a_tensor_too(value: bool, tmp_path: Path) -> None:
    agree(lambda x, t: (x > 0).masked_fill(x > 1, t), X, torch.tensor(value), folder=tmp_path)


AT_THE_END = """
import ctypes, mmap, sys, torch
import optimize.test_rows_of_stages as t

libc, page = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

def ending(x):
    "The tensor where nothing behind it may be read."
    begin = libc.mmap(None, 2 * page, 3, 0x22, -1, 0)
    assert libc.mprotect(begin + page, page, 0) == 0
    size = x.numel() * x.itemsize
    memory = (ctypes.c_char * size).from_address(begin + page - size)
    return torch.frombuffer(memory, dtype=x.dtype).view(x.shape).copy_(x)

t.kernels(lambda x, w: x @ w, *map(ending, (torch.ones(5, 6).bfloat16(), torch.ones(6, 30).bfloat16())))
for gap in (2, 3, 4):
    for n in (1, 2, 4, 9):
        for dtype in (torch.float32, torch.int64):
            x = ending(torch.ones(3, gap * (n - 1) + 1, dtype=dtype))
            t.kernels(lambda x: torch.where(x[:, ::gap] > 0, 1.5, 2.5), x)
for n in (3, 7, 31):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = ending(torch.ones(n, dtype=dtype))
        t.kernels(lambda x: (x * 2).exp() + x.sum(), x)
print("done")
"""


def test_nothing_behind_a_tensor_is_read() -> None:
    """In a process of its own, as that would end it."""
    run = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=False,
                         env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert run.stdout.strip() == "done", (run.returncode, run.stderr[-2000:])
