"""Printed Triton is lifted back and proved to be the stages' formulas; broken kernels and launches are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.optimize.programs_as_forms import attention, gated_mlp, low_rank, rms_norm_then_linear, two_norms
from tests.optimize.triton_modules import (
    Printed,
    elementwise,
    elu,
    elu_of_a_product,
    layer_norm,
    of_a_vector,
    printed,
    softmax,
)

from samesame.optimize.lifted import NotLifted
from samesame.optimize.partition import stages
from samesame.optimize.schedule import Space, alternatives
from samesame.optimize.specification import Specification

ROWS = [elementwise, softmax, layer_norm, two_norms]
CONTRACTIONS = [rms_norm_then_linear, gated_mlp, low_rank, of_a_vector]
LONG = pytest.mark.long
made = cache(printed)


@pytest.mark.parametrize("program", [
    *ROWS, rms_norm_then_linear, *(pytest.param(p, marks=LONG) for p in (*CONTRACTIONS[1:], attention)),
], ids=lambda p: p.__name__)
def test_every_map_for_a_gpu_is_proved(program: Callable[[], Specification]) -> None:
    space = Space(program(), stages(program().outputs, program().extents))
    for scheduled in (each for several in alternatives(space, gpu=True) for each in several):
        checked = scheduled.proved()
        assert checked.proved and not checked.conditions, (scheduled.map, checked.reason)


@pytest.mark.parametrize("program", [
    elementwise, layer_norm, rms_norm_then_linear, of_a_vector, elu, elu_of_a_product,
    *(pytest.param(p, marks=LONG) for p in (softmax, two_norms, gated_mlp, low_rank, attention)),
], ids=lambda p: p.__name__)
def test_every_kernel_is_lifted_back(program: Callable[[], Specification], tmp_path: Path) -> None:
    it: Printed = made(program)
    found = it.lifted(tmp_path / "kernels.py")
    assert [each.kernel for each in found] == [kernel.name for kernel in it.program.kernels]
    assert all(each.formulas for each in found)
    assert not any(symbol in condition for each in found for condition in each.conditions for symbol in ("= ", "mod"))


MUTANTS = {                                   # by program: what is broken, the text, what takes its place
    elementwise: [
        ("mask of a store dropped", ", mask=((t1 < m) & (t2 < k)))\n", ")\n"),
        ("mask of a load dropped", "tl.load(g + t2, mask=(t2 < k), other=0.0)", "tl.load(g + t2)"),
        ("mask one too far", "mask=((t1 < m) & (t2 < k)))\n", "mask=((t1 < m) & (t2 <= k)))\n"),
        ("wrong stride", "y + (t1 * k + t2)", "y + (t1 * m + t2)"),
        ("tiles overlap", "t2 = ((16 * p3)", "t2 = ((8 * p3)"),
        ("axes of the grid swapped", "p3 = tl.program_id(0)\n    p1 = tl.program_id(1)",
         "p3 = tl.program_id(1)\n    p1 = tl.program_id(0)"),
        ("grid too small", "((m + 1) // 2)", "(m // 2)"),
        ("another tensor returned", "return (y,)", "return (x,)"),
        ("another formula", "t3 * t3 *", "t3 *"),
    ],
    layer_norm: [
        ("accumulator begins at one", "tl.full([2], 0.0", "tl.full([2], 1.0"),
        ("accumulator overwritten", "fold_0_of_kept_1 = fold_0_of_kept_1 + tl.sum", "fold_0_of_kept_1 = tl.sum"),
        ("what is beyond the row is summed", "tl.where((t4 < k), (t5 * t5), 0.0)", "(t5 * t5)"),
        ("wrong axis", "axis=1", "axis=0"),
        ("a maximum in place of a sum", "tl.sum(", "tl.max("),
        ("loop too short", "range(((k + 15) // 16))", "range((k // 16))"),
        ("another epsilon", "1e-05", "1e-06"),
        ("mean over rows", "(fold_0_of_kept_0 / k)", "(fold_0_of_kept_0 / m)"),
        ("root dropped", "tl.sqrt", ""),
        ("mean not subtracted", "- kept_0_here[:, None]", ""),
    ],
    rms_norm_then_linear: [
        ("depth unmasked in an operand", "mask=((t3 < n) & (t4 < k))", "mask=(t3 < n)"),
        ("no `other` beyond the depth", "(t4 < k)), other=0.0)", "(t4 < k)))"),
        ("product overwritten", "tl.dot(left7, right8, fold_0_in_y, ", "tl.dot(left7, right8, "),
        ("operand by another stride", "w + (t3 * k + t4)", "w + (t3 * n + t4)"),
        ("scale of another row", "tl.load(kept_0 + t5, mask=(t5 < m)", "tl.load(kept_0 + t6, mask=(t6 < m)"),
        ("kernels in another order", "", ""),
        ("scratch too short", "kept_0 = torch.empty([m]", "kept_0 = torch.empty([1]"),
        ("tensors swapped by the host", "(x, kept_0, k, m)", "(w, kept_0, k, m)"),
        ("depth skipped", "t4 = ((16 * i3)", "t4 = ((32 * i3)"),
    ],
}
QUICK = {"mask of a store dropped", "accumulator begins at one", "wrong stride", "wrong axis", "scratch too short"}


def mutants():
    for program, several in MUTANTS.items():
        for what, old, new in several:
            yield pytest.param(program, old, new, id=what, marks=() if what in QUICK else LONG)


@pytest.mark.parametrize(("program", "old", "new"), [*mutants()])
def test_a_broken_kernel_is_refused(
    program: Callable[[], Specification], old: str, new: str, tmp_path: Path
) -> None:
    it: Printed = made(program)
    text = it.module.text
    assert old in text
    broken = text.replace(old, new) if old else reordered(text)
    assert broken != text
    with pytest.raises(NotLifted):
        it.lifted(tmp_path / "kernels.py", broken)


def reordered(text: str) -> str:
    """The two launches in the other order; what they write is made before."""
    head, _, host = text.partition("def launch")
    lines = host.splitlines()
    made, launches = ([line for line in lines if ("torch.empty" in line) == is_made] for is_made in (True, False))
    first, *rest = launches
    kernels = [line for line in rest if "[(" in line]
    sizes = [line for line in rest if ".shape[" in line]
    return "\n".join([head + "def launch" + first, *sizes, *made, *reversed(kernels), rest[-1], ""])
