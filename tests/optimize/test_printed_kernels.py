"""Printed C++ computes what the loop nest says, at every size and tile, ragged ones included."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import kernels_by_hand as by_hand
import kernels_interpreted
import pytest
import torch

from samesame.formula.expr import TRUE, le
from samesame.optimize.compiled import FLAGS, Compiled, Description, describe, driver, library
from samesame.optimize.emit import cpp
from samesame.optimize.emit.places import LANES, strides, whole
from samesame.optimize.ir import Buffer, Program, bound

FAST = tuple("-O1" if flag == "-O3" else flag for flag in FLAGS)
PROGRAMS: dict[str, Callable[[int], Program]] = {
    "packed": by_hand.packed_linear,
    "packed in bfloat16": lambda m: by_hand.packed_linear(m, "bfloat16"),
    "tiled": lambda m: by_hand.tiled_linear(),
    "norm": lambda m: by_hand.rms_norm(),
    "attention": lambda m: by_hand.attention(lambda query, key: TRUE),
    "causal attention": lambda m: by_hand.attention(lambda query, key: le(key, query)),
    "attention to what comes late": lambda m: by_hand.attention(lambda query, key: le(30, key)),
    "functions": lambda m: by_hand.functions("float32"),
    "functions in float64": lambda m: by_hand.functions("float64"),
    "functions in bfloat16": lambda m: by_hand.functions("bfloat16"),
    "where positive": lambda m: by_hand.where_positive(),
    "folds": lambda m: by_hand.folds(),
    "look-up": lambda m: by_hand.looked_up(),
    "dots": lambda m: by_hand.row_dots(),
    "dots in bfloat16": lambda m: by_hand.row_dots("bfloat16"),
    "every other": lambda m: by_hand.every_other(),
    "tiled, turned": lambda m: by_hand.lying(by_hand.tiled_linear(), x=(1, by_hand.M), w=(3 * by_hand.N + 1, 3)),
    "norm of windows": lambda m: by_hand.lying(by_hand.rms_norm(), x=(3, 1), g=(0,)),
    "attention of slices": lambda m: by_hand.lying(
        by_hand.attention(lambda query, key: TRUE), q=(3 * by_hand.D, 1), k=(1, by_hand.N), v=(2 * by_hand.D, 2)),
    "look-up, turned": lambda m: by_hand.lying(by_hand.looked_up(), ids=(2,), keep=(0,), table=(1, by_hand.N)),
    "packed int8": lambda m: by_hand.packed_linear(m, "float32", "int8"),
    "packed uint8 by bfloat16": lambda m: by_hand.packed_linear(m, "bfloat16", "uint8"),
    "dots of int16": lambda m: by_hand.row_dots("float32", "int16"),
    "dots of uint8 by bfloat16": lambda m: by_hand.row_dots("bfloat16", "uint8"),
    "dots of int8, turned": lambda m: by_hand.lying(by_hand.row_dots("float32", "int8"), x=(2,), w=(1, by_hand.N)),
    "sums beside one another": lambda m: by_hand.folds_beside("sum"),
    "maxima of windows": lambda m: by_hand.folds_beside("max", 2),
    "sums of windows in float64": lambda m: by_hand.folds_beside("sum", 2, "float64"),
    "sums of long windows in bfloat16": lambda m: by_hand.folds_beside("sum", 3, "bfloat16"),
    "a matrix and one across it": lambda m: by_hand.turned(),
    "dots in bfloat16, turned": lambda m: by_hand.lying(by_hand.row_dots("bfloat16"), x=(2,), w=(1, by_hand.N)),
}
FEW_BITS = torch.int8, torch.uint8, torch.int16
EXTREME = [{"M": 1, "N": 1, "K": 1, "D": 1, "TM": 4, "TN": 32, "TK": 3},
           {"M": 2, "N": 33, "K": 130, "D": 16, "TM": 1, "TN": 16, "TK": 64}]
IN_MEMORY = {"M": 5, "N": 1300, "K": 2, "D": 1, "TM": 3, "TN": 1024, "TK": 2}


@dataclass
class Case:
    name: str
    numbers: dict[str, int]
    program: Program
    lanes: int
    number: int

    def given(self) -> dict[str, Buffer]:
        written = {b.name for kernel in self.program.kernels for b in kernel.writes}
        read = {b.name: b for kernel in self.program.kernels for b in kernel.reads}
        return {name: b for name, b in read.items() if name not in written}

    def tensors(self) -> dict[str, torch.Tensor]:
        return {name: self.drawn(b) for name, b in self.given().items()}

    def description(self) -> Description:
        outputs = [b.name for kernel in self.program.kernels if not kernel.ahead for b in kernel.writes]
        return describe(self.program, list(self.given()), [], outputs)

    def drawn(self, buffer: Buffer) -> torch.Tensor:
        """Numbers for a tensor, in no more memory than its elements reach."""
        dtype = getattr(torch, buffer.dtype)
        steps = [*zip(map(whole, buffer.shape), strides(buffer), strict=True)]
        elements = 1 + sum((n - 1) * step for n, step in steps)
        if dtype.is_floating_point:
            memory = torch.randn(elements).to(dtype)
        elif dtype in FEW_BITS:
            limits = torch.iinfo(dtype)
            memory = torch.randint(limits.min, limits.max + 1, (elements,)).to(dtype)
        else:
            memory = torch.randint(0, 2 if buffer.dtype == "bool" else self.numbers["N"], (elements,)).to(dtype)
        return memory.as_strided([n for n, _ in steps], [step for _, step in steps])


def cases() -> list[Case]:
    choose, found = random.Random(7), []
    for name, program in PROGRAMS.items():
        for drawn in (*EXTREME, *([IN_MEMORY] if "beside" in name or "windows" in name else []), None):
            numbers = drawn or {
                **{size: choose.randint(1, 9) for size in "MD"}, **{size: choose.randint(1, 50) for size in "NK"},
                "TM": choose.randint(1, 4), "TN": choose.choice([5, 13, 16, 24, 32]), "TK": choose.choice([2, 3, 17]),
            }
            named = bound(program(numbers["M"]), numbers)
            kernels = tuple(replace(kernel, name=f"{kernel.name}_{len(found)}") for kernel in named.kernels)
            found.append(Case(name, numbers, Program(kernels), choose.choice([4, 8, 16]), len(found)))
    return found


CASES = cases()


def text_of(some: list[Case]) -> str:
    functions = [cpp.function(kernel, case.lanes) for case in some for kernel in case.program.kernels]
    drivers = [driver(case.description(), f"run{case.number}") for case in some]
    return "\n".join([LANES.read_text(), *functions, *drivers])


def called(case: Case, source: str, flags: tuple[str, ...]) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    torch.manual_seed(3)
    tensors, description = case.tensors(), case.description()
    found = Compiled(source, description, library(source, flags), f"run{case.number}")(*tensors.values())
    return tensors, dict(zip(description["outputs"], found, strict=True))


@pytest.fixture(scope="module")
def source(request: pytest.FixtureRequest) -> str:
    """Of the cases that are tested, as more take longer to compile."""
    calls = [item.callspec for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    return text_of([call.params["case"] for call in calls if "case" in call.params])


@pytest.mark.parametrize("case", CASES, ids=[f"{case.name} {i}" for i, case in enumerate(CASES)])
def test_printed_code_computes_what_the_nest_says(case: Case, source: str) -> None:
    tensors, found = called(case, source, FAST)
    given = {name: tensor.double().numpy() for name, tensor in tensors.items()}
    expected = kernels_interpreted.run(case.program, given)
    largest = max(abs(given[name]).max() if tensors[name].dtype in FEW_BITS else 1.0 for name in given)
    for name, tensor in found.items():
        rounding = 1e-2 if tensor.dtype == torch.bfloat16 else 1e-5
        if tensor.dtype == torch.float64:
            rounding = 1e-12
        torch.testing.assert_close(tensor.double(), torch.from_numpy(expected[name]), rtol=rounding,
                                   atol=rounding * largest, equal_nan=True,
                                   msg=lambda said: f"{case.numbers}, {case.lanes} lanes: {said}")


def test_factors_keep_their_order_but_in_sums() -> None:
    """In a sum what all rows share is multiplied first. Elsewhere the same product has to be rounded in the same way
    whichever axis runs in lanes: in a difference, in a maximum and what it is subtracted from."""
    (summed, stored) = bound(by_hand.scaled_products(), {"N": 40}).kernels
    assert ") * (" in cpp.function(summed, 8) and ") * (" not in cpp.function(stored, 8)


def test_whole_numbers_are_chosen_in_lanes() -> None:
    (kernel,) = bound(by_hand.where_positive(), {"N": 40}).kernels
    text = cpp.function(kernel, 8)
    assert "choose(" in text and "to<" not in text


@pytest.mark.long
def test_printed_code_stays_in_its_memory() -> None:
    """Under the sanitizers, in a process of its own, as these have to be loaded first."""
    code = textwrap.dedent("""
        import test_printed_kernels as t
        flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", *t.FAST)
        source = t.text_of(t.CASES)
        for case in t.CASES:
            t.called(case, source, flags)
        print("done")
    """)
    found = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    settings = {
        **os.environ, "LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0", "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)]),
    }
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=settings, check=False)
    assert run.stdout.strip() == "done", run.stderr[-2000:]
