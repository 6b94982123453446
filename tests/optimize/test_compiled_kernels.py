"""Compiled kernels: what they take, what they keep, and what tuning chooses."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import count
from math import inf, nan
from pathlib import Path
from typing import Any

import kernels_by_hand as by_hand
import kernels_interpreted
import numpy as np
import pytest
import torch
from compiled_programs import compile_program

from samesame.evidence import SamesameError
from samesame.formula.expr import eq, lt, maximum, minimum, power, where
from samesame.formula.scalars import SCALARS
from samesame.optimize import compiled, machine, tune
from samesame.optimize.compiled import Compiled, _vector_functions, library, load
from samesame.optimize.emit import cpp
from samesame.optimize.emit.places import LANES
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Program, Store, bound, loop

K, N = 20, 45


@pytest.fixture(scope="module")
def linear() -> Compiled:
    numbers = {"K": K, "N": N, "TN": 32}
    return compile_program(bound(by_hand.packed_linear(3), numbers), ["x"], ["w"], ["y"])


def test_a_weight_is_packed_again_when_it_changes_and_only_then(linear: Compiled) -> None:
    x, w = torch.randn(3, K), torch.nn.Parameter(torch.randn(N, K))
    with torch.no_grad():
        packed = []
        for change in (lambda: None, lambda: None, lambda: w.mul_(2), lambda: setattr(w, "data", torch.randn(N, K))):
            change()
            torch.testing.assert_close(linear(x, w)[0], x @ w.T)
            packed.append(linear._packed)
        other = torch.randn(N, K)
        torch.testing.assert_close(linear(x, other)[0], x @ other.T)
    assert packed[0] is packed[1] and packed[1] is not packed[2] and packed[2] is not packed[3]


def test_a_step_of_a_fused_optimizer_is_seen(linear: Compiled) -> None:
    """It writes into weights and leaves their version and memory as they were."""
    x, w = torch.randn(3, K), torch.nn.Parameter(torch.randn(N, K))
    with torch.no_grad():
        torch.testing.assert_close(linear(x, w)[0], x @ w.T)
    w.grad = torch.randn(N, K)
    torch.optim.AdamW([w], lr=0.5, fused=True).step()
    with torch.no_grad():
        torch.testing.assert_close(linear(x, w)[0], x @ w.T)


def test_another_weight_where_one_lay_is_seen(linear: Compiled) -> None:
    """Memory that is let go of is given out again, to a tensor that is as new as the one before."""
    x = torch.randn(3, K)
    for _ in range(20):
        w = torch.randn(N, K)
        torch.testing.assert_close(linear(x, w)[0], x @ w.T)


def test_weights_that_keep_no_count_of_changes_are_packed_each_time(linear: Compiled) -> None:
    with torch.inference_mode():
        x, w = torch.randn(3, K), torch.randn(N, K)
        for _ in range(2):
            torch.testing.assert_close(linear(x, w)[0], x @ w.T)
            w.mul_(2)


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_results_are_on_the_processor_whatever_a_context_says(linear: Compiled, device: str) -> None:
    x, w = torch.randn(3, K), torch.randn(N, K)
    with torch.device(device):
        (y,) = linear(x, w)
    torch.testing.assert_close(y, x @ w.T)


@pytest.mark.parametrize("x, said", [
    (torch.randn(3, K).double(), "x has to be torch.float32 of shape [3, 20]"),
    (torch.randn(4, K), "it is torch.float32 of shape [4, 20]"),
    (torch.randn(K, 3).t(), "strides [1, 3]"),
    (torch.randn(3, K, device="meta"), "on meta"),
])
def test_other_tensors_are_refused(linear: Compiled, x: torch.Tensor, said: str) -> None:
    with pytest.raises(SamesameError) as refused:
        linear(x, torch.randn(N, K))
    assert said in str(refused.value)


def test_a_saved_description_gives_the_same_kernels(linear: Compiled) -> None:
    again = load(linear.source, json.loads(json.dumps(linear.description)))
    x, w = torch.randn(3, K), torch.randn(N, K)
    assert torch.equal(again(x, w)[0], linear(x, w)[0])


def test_two_threads_do_not_meet() -> None:
    """What is kept between two kernels is each thread's own."""
    a, b, c = Buffer("int", (1000,)), Buffer("scratch", (1000,)), Buffer("load", (1000,))
    i, over_i = loop("serial", 1000)
    j, over_j = loop("vector", 1000)
    first = Kernel("for", (a,), (b,), (over_i(Store(b, (i,), a[i] * 2)),))
    second = Kernel("sum", (b,), (c,), (over_j(Store(c, (j,), b[999 - j] + 1)),))
    twice = compile_program(Program((first, second)), ["int"], [], ["load"])

    def right(k: int) -> bool:
        x = torch.full((1000,), float(k))
        return all(torch.equal(twice(x)[0], 2 * x + 1) for _ in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(right, range(8)))


def test_without_a_compiler_one_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    machine.compiler.cache_clear()
    try:
        with pytest.raises(SamesameError, match=r"no C\+\+ compiler \(no-such-compiler\): install g\+\+"):
            library("int x;")
    finally:
        machine.compiler.cache_clear()


def test_a_text_that_does_not_compile_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMESAME_STORE", str(tmp_path / "rules.sqlite"))
    with pytest.raises(SamesameError, match="cannot compile"):
        library("this is no C++")
    assert not list((tmp_path / "kernels").iterdir())


def test_what_all_kernels_begin_with_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where there is no room for it that is said."""
    ran, run = list[bool](), compiled._run
    monkeypatch.setenv("SAMESAME_STORE", str(tmp_path / "rules.sqlite"))
    monkeypatch.setattr(compiled, "_run", lambda step: ran.append("c++-header" in step) or run(step))
    lanes = LANES.read_text()
    for number in range(2):
        library(f"{lanes}\nlong first_{number}() {{ return {number}; }}")
    library("long other() { return 3; }")
    assert ran.count(True) == 1 and len(list((tmp_path / "kernels").glob("lanes-*"))) == 1

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("SAMESAME_STORE", str(tmp_path / "another" / "rules.sqlite"))
    monkeypatch.setattr(compiled.os, "replace", full)
    with pytest.raises(SamesameError, match=r"cannot be kept in .*No space left"):
        library(f"{lanes}\nlong second() {{ return 2; }}")
    assert not list((tmp_path / "another" / "kernels").iterdir())


# ---------------------------------------------------------------------------------------------------- the interpreter


def test_the_interpreter_checks_every_access() -> None:
    x, y = Buffer("x", (4,)), Buffer("y", (4,))
    i, over_i = loop("serial", 4)
    beyond = Program((Kernel("beyond", (x,), (y,), (over_i(Store(y, (i,), x[i + 1])),)),))
    with pytest.raises(IndexError, match=r"x\[4\] is outside of \[4\]"):
        kernels_interpreted.run(beyond, {"x": np.ones(4)})
    unwritten = Program((Kernel("unwritten", (), (y,), (over_i(Store(y, (i,), y[3 - i])),)),))
    with pytest.raises(kernels_interpreted.Unwritten, match="y"):
        kernels_interpreted.run(unwritten, {})


# ---------------------------------------------------------------------------------------------------------- functions


def test_every_function_is_within_four_units_of_the_last_place() -> None:
    """In lanes and, in the last three places, one by one."""
    size = 2003
    called = compile_program(bound(by_hand.every_function(SCALARS), {"N": size}), ["x"], [], ["y"])
    x = torch.linspace(-0.99, 0.99, size)
    for name, values in zip(SCALARS, called(x)[0].double().numpy(), strict=True):
        with np.errstate(all="ignore"):
            exact = SCALARS[name].values(x.double().numpy())
        where = np.isfinite(exact)
        unit = np.spacing(np.abs(exact[where]).astype(np.float32)).astype(float)
        assert np.all(np.abs(values[where] - exact[where]) <= 4 * unit), name
        assert not np.isfinite(values[~where]).any(), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_hold_for_all_numbers(dtype: torch.dtype) -> None:
    """In lanes, where the C library's functions of vectors compute them, as one by one: at the ends, and far out."""
    names = ["exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
             "cosh", "tanh", "erf"]
    ends = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e-30, -1e-30, 1e-42, 3e4, -3e4, 88.0, -88.0, 2e7]
    x = torch.cat([torch.tensor(ends, dtype=dtype), torch.linspace(-12, 12, 4000, dtype=dtype)])
    (values,) = compile_program(
        bound(by_hand.every_function(names, str(dtype).removeprefix("torch.")), {"N": len(x)}), ["x"], [], ["y"])(x)
    digits = torch.finfo(dtype).eps
    for name, found in zip(names, values, strict=True):
        wanted = torch.special.erf(x) if name == "erf" else getattr(torch, name)(x)
        torch.testing.assert_close(found, wanted, rtol=5 * digits, atol=1e-38, equal_nan=True,
                                   msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.skipif(machine.here().lanes < 8 or not _vector_functions(), reason="no functions of vectors here")
def test_the_functions_of_vectors_are_linked() -> None:
    """Kernels refer to them weakly, and a linker may leave out what is referred to so; one by one they take ten times
    as long."""
    called = compile_program(bound(by_hand.every_function(["tanh"]), {"N": 32}), ["x"], [], ["y"])
    assert b"libmvec" in called.file.read_bytes()


@pytest.mark.skipif(machine.here().lanes < 8 or not _vector_functions(), reason="no functions of vectors here")
@pytest.mark.parametrize(("size", "name"), [(8, "_ZGVdN8v_tanhf"), (4, "_ZGVbN4v_tanhf"), (2, "_ZGVbN4v_tanhf")])
def test_few_lanes_have_functions_of_their_own(size: int, name: str) -> None:
    """A row of eight numbers, and what is left of a longer one."""
    called = compile_program(bound(by_hand.every_function(["tanh"]), {"N": size}), ["x"], [], ["y"])
    assert name.encode() in called.file.read_bytes()
    x = torch.randn(size)
    torch.testing.assert_close(called(x)[0][0], torch.tanh(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_erf_is_precise_everywhere(dtype: torch.dtype) -> None:
    """In lanes, and in those at the end of a row: two last places, also where its two pieces meet and next to one."""
    ends = [0.0, -0.0, inf, -inf, nan, 1e-42, -1e-30, 4.0, -5.0, 3.9999, 0.89999, 0.9, 0.90001, 1e30]
    x = torch.cat([torch.tensor(ends, dtype=dtype), torch.linspace(-5, 5, 4001, dtype=dtype),
                   torch.logspace(-20, 1, 500, dtype=dtype)])
    if dtype is torch.float32:                             # what is no number may be so in many ways
        x = torch.cat([x, (torch.arange(40, dtype=torch.int32) + 0x7fc00000).view(dtype),
                       torch.tensor([0x7fffffff, -1, 0x7f800001], dtype=torch.int32).view(dtype)])
    called = compile_program(bound(by_hand.every_function(["erf"], str(dtype).removeprefix("torch.")), {"N": len(x)}),
                             ["x"], [], ["y"])
    (found,), wanted = called(x)[0], torch.erf(x.double()).to(dtype)
    torch.testing.assert_close(found, wanted, rtol=2 * torch.finfo(dtype).eps, atol=0.0, equal_nan=True)
    assert torch.equal(found.signbit()[x == x], wanted.signbit()[x == x])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("exponent", [2.4, -1.5, 1.5, -2.5, Fraction(1, 3), 17])
def test_powers_hold_for_all_numbers(dtype: torch.dtype, exponent: Any) -> None:
    """In lanes, in fewer of them, and one by one."""
    ends = [0.0, 1.0, inf, nan, 1e-30, 1e30, 1e-42, -1.0, -2.5, -inf]
    x = torch.cat([torch.tensor(ends, dtype=dtype), torch.logspace(-2, 2, 37, dtype=dtype)])
    buffers = [Buffer(name, (len(x),), str(dtype).removeprefix("torch.")) for name in "xy"]
    i, over_i = loop("vector", len(x))
    body = over_i(Store(buffers[1], (i,), power(buffers[0][i], Fraction(exponent))))
    called = compile_program(Program((Kernel("powers", (buffers[0],), (buffers[1],), (body,)),)), ["x"], [], ["y"])
    wanted = torch.pow(x.double(), torch.tensor(float(exponent), dtype=dtype).double()).to(dtype)
    torch.testing.assert_close(called(x)[0], wanted, rtol=5 * torch.finfo(dtype).eps, atol=1e-38, equal_nan=True)


@pytest.mark.parametrize("size", [37, 8, 3])
def test_integers_of_data_are_compared_in_lanes(size: int) -> None:
    """All their bits, and what is chosen between them."""
    ids, y, z = Buffer("ids", (size,), "int64"), Buffer("y", (size,)), Buffer("z", (size,))
    i, over_i = loop("vector", size)
    chosen = where(lt(ids[i], 0), ids[i] + i, maximum(ids[i], 3))
    body = over_i(Store(y, (i,), where(lt(ids[i], 7 + i), 1, 0)), Store(z, (i,), where(eq(chosen, 3), 1, chosen * 0.5)))
    program = Program((Kernel("compared", (ids,), (y, z), (body,)),))
    assert "truths(" in cpp.function(program.kernels[0], 8)
    given = torch.tensor([0, 3, 7, 8, -1, -(2**40), 2**32, 2**32 + 3, 2**62, -(2**62), 5, 12] * 4)[:size]
    found, place = compile_program(program, ["ids"], [], ["y", "z"])(given), torch.arange(size)
    whole = torch.where(given < 0, given + place, given.clamp(min=3))
    torch.testing.assert_close(found[0], (given < 7 + place).float())
    torch.testing.assert_close(found[1], torch.where(whole == 3, 1.0, whole * 0.5))


@pytest.mark.parametrize(("size", "copies"), [(40, 2), (3000, 0)])
def test_a_fold_over_lanes_has_partial_results_in_turn(size: int, copies: int) -> None:
    """Where its loop is written out: each addition would wait for the one before. What is left of a run counts, too."""
    x, y, total = Buffer("x", (5, size)), Buffer("y", (2,)), Buffer("total", ())
    j, over_j = loop("serial", 5)
    i, over_i = loop("vector", size)
    body = (Local(total, "sum"), over_j(over_i(Accumulate(total, (), x[j, i]))), Store(y, (0,), total[()]),
            Store(y, (1,), total[()] * 2))
    program = Program((Kernel("summed", (x,), (y,), body),))
    assert cpp.function(program.kernels[0], 16).count("_copy") > 0 or not copies
    given = torch.randn(5, size)
    torch.testing.assert_close(compile_program(program, ["x"], [], ["y"])(given)[0], given.sum() * torch.tensor([1, 2]))


def test_the_larger_and_the_smaller_of_two_are_nan_where_one_is() -> None:
    """In lanes, and one by one."""
    x, y = Buffer("x", (N,)), Buffer("y", (N,))
    outs = [Buffer(f"out{number}", (2, N)) for number in range(2)]
    kernels = []
    for out, kind in zip(outs, ("vector", "serial"), strict=True):
        i, over_i = loop(kind, N)
        body = over_i(*(Store(out, (k, i), of(x[i], y[i])) for k, of in enumerate((maximum, minimum))))
        kernels.append(Kernel(out.name, (x, y), (out,), (body,)))
    called = compile_program(Program(tuple(kernels)), ["x", "y"], [], [out.name for out in outs])
    ends = torch.tensor([nan, 1.0, -2.0, inf, -inf])
    a, b = torch.cartesian_prod(ends, ends).repeat(2, 1)[:N].T.contiguous()
    for found in called(a, b):
        torch.testing.assert_close(found, torch.stack([torch.maximum(a, b), torch.minimum(a, b)]), equal_nan=True)


def test_exponentials_at_the_ends_of_the_range() -> None:
    ends = [-np.inf, -200.0, -104.0, -103.5, -88.0, -87.3, 0.0, -0.0, 1e-30, 88.7, 88.73, 89.5, 200.0, np.inf, np.nan]
    x = torch.tensor([*ends, *ends, 1.0, 2.0])
    (y,) = compile_program(bound(by_hand.every_function(["exp"]), {"N": len(x)}), ["x"], [], ["y"])(x)
    torch.testing.assert_close(y[0], torch.exp(x.double()).float(), rtol=3e-7, atol=3e-45, equal_nan=True)


# ------------------------------------------------------------------------------------------------------------- tuning


def test_tuning_takes_what_was_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that shows what the tiles say, and a little noise."""
    now, sizes = count(1), {"K": K, "N": N}
    fits = {c.numbers["TN"] for c in tune.candidates([by_hand.packed_linear(3)], sizes, machine.here())}
    best = max(n for n in fits if n <= 32)                     # registers differ between machines
    monkeypatch.setattr(tune, "_timed", lambda c, _, calls: [1 + abs(c.numbers["TN"] - best) + 1e-6 * next(now)])
    tensors = {"x": torch.randn(3, K), "w": torch.randn(N, K)}
    found = tune.tune([by_hand.packed_linear(3)], sizes, tensors, 20.0)
    assert found.numbers == {"TN": best} and found.roles == {"lanes": best} and len(found.measured) > 1


def test_tuning_measures_and_ends_in_time() -> None:
    tensors = {"x": torch.randn(3, K), "w": torch.randn(N, K)}
    found = tune.tune([by_hand.packed_linear(3)], {"K": K, "N": N}, tensors, 0.0)
    assert found.seconds > 0 and 0 < len(found.measured) <= 2


def test_what_does_not_fit_into_memory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    call = Compiled.__call__

    def scarce(self: Compiled, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if any(size == 32 for t in self.tensors.values() for size in t["shape"]):
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return call(self, *tensors)

    monkeypatch.setattr(Compiled, "__call__", scarce)
    tensors = {"x": torch.randn(3, K), "w": torch.randn(N, K)}
    found = tune.tune([by_hand.packed_linear(3)], {"K": K, "N": N}, tensors, 5.0)
    assert found.measured and all(numbers["TN"] != 32 for _, numbers, _ in found.measured)


def test_what_won_before_is_tried_first_and_what_does_not_fit_never() -> None:
    here = machine.here()
    some = list(tune.candidates([by_hand.packed_linear(3)], {"K": K, "N": 1000}, here))
    assert all(3 * c.numbers["TN"] // here.lanes <= here.registers for c in some)
    won = {"lanes": min(c.numbers["TN"] for c in some)}
    assert min(some, key=lambda c: tune._promise(c, [won])).roles == won
    assert min(some, key=lambda c: tune._promise(c, [])).roles != won
