"""What was changed is said in words: whose work kernels do, in which tiles."""

from __future__ import annotations

import torch
from tests.optimize.programs_as_forms import gated_mlp, rms_norm_then_linear
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.optimize.algebra import changed, differences
from samesame.optimize.described import described, listed, operators
from samesame.optimize.forms import fn, fold, load, number, plus, times
from samesame.optimize.partition import stages
from samesame.optimize.schedule import Space, alternatives
from samesame.optimize.search import Rewriting
from samesame.optimize.specification import Output, Specification

NUMBERS = {"rows": 4, "lanes": 32, "columns": 2, "depth": 16, "parts": 12}


def test_each_kernel_says_whose_work_it_does_and_in_which_tiles() -> None:
    said = dict[str, str]()
    for specification in (rms_norm_then_linear(), gated_mlp()):
        space = Space(specification, stages(specification.outputs, specification.extents), threads=2)
        for scheduled in (each for several in alternatives(space) for each in several):
            numbers = {tile.size.name: NUMBERS[tile.role] for tile in scheduled.program.tiles}
            said[scheduled.map] = described(scheduled, numbers, space, 16)
    assert said["rows"] == "mul × 2, sum, add, rsqrt: rows, 5 rounds for 2 threads, 16 lanes"
    own = "tiles of 4 × 32, weights packed ahead, 2 rounds for 2 threads, 16 lanes"
    assert said["lanes along d"] == f"matmul: lanes along d, {own}"
    assert said["lanes along n"] == f"matmul × 2, sigmoid, mul: lanes along n, {own}"
    assert said["columns along d"] == "matmul: columns along d, tiles of 4 × 2 × 16, 20 rounds for 2 threads, 16 lanes"
    assert said["parts of n, lanes along d"] == (
        "matmul: parts of n, lanes along d, tiles of 4 × 32, in 4 parts of 12, 2 kernels, weights packed ahead, "
        "8 rounds for 2 threads, 16 lanes")


class Attention(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in x.chunk(3, -1))
        return F.relu(torch.softmax(q @ k.mT, -1) @ v).transpose(1, 2).flatten(2)


def test_views_are_no_operators() -> None:
    found = operators(capture(Attention(), (torch.randn(1, 5, 24),)))
    assert listed(found) == "matmul × 2, softmax, relu"


def test_where_a_number_stands_is_no_change() -> None:
    x, half, sign = load("x", "i", "j"), number(1, (("j", -1),)), number(-1)
    sums = fold("sum", "j", times(half, x, x)), times(half, fold("sum", "j", times(x, x)))
    within, before = (plus(load("y", "i"), mean) for mean in sums)
    whole = Specification("mean", {}, dict(i=3, j=4), (Output("0", within, (("i",),), "float32"),))
    for form, lines in ((within, 0), (before, 0), (times(sign, before), 1)):
        assert len(changed(whole, Rewriting((form,)))) == lines


def test_of_long_formulas_what_is_another_is_shown() -> None:
    x, a, b = load("x", "i", "j"), load("a", "j"), load("b", "j")
    old, new = times(x, plus(a, b)), plus(times(x, a), times(x, b))
    deep = [fold("sum", "j", fn("exp", plus(part, *(load(f"t{n}", "i") for n in range(80))))) for part in (old, new)]
    assert differences(*deep) == differences(*(fn("tanh", one) for one in deep))
    (pair,) = differences(*deep)
    assert pair == (old, new)
    assert differences(old, old) == [] and differences(x, a) == [(x, a)]
    twice = [plus(fn("exp", part), times(fn("tanh", part), a)) for part in (old, new)]
    assert differences(*twice) == [(old, new)], "once, however often it is read"
    whole = Specification("long", {}, dict(i=3, j=4), (Output("0", deep[0], (("i",),), "float32"),))
    (line,) = changed(whole, Rewriting((deep[1],)))
    assert len(line) < 40 and "→" in line
