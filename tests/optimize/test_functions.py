"""What several sums of a row take functions of is computed once, and nothing that was one pass becomes two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pytest
import torch
from tests.optimize.compiled_programs import compile_program, untimed
from tests.optimize.programs_as_forms import attention

from samesame.capture import capture
from samesame.optimize.forms import size_of, walk
from samesame.optimize.functions import passes, taken_once
from samesame.optimize.names import Digests
from samesame.optimize.native import native
from samesame.optimize.online import softmaxes
from samesame.optimize.partition import Stage, stages
from samesame.optimize.read import read
from samesame.optimize.specification import Specification

X, Y = torch.randn(2, 3, 40, generator=torch.Generator().manual_seed(0))


def cut(specification: Specification) -> tuple[list[Stage], list[Stage]]:
    """The stages of a program, and those in which functions are taken once."""
    plain = stages(specification.outputs, specification.extents)
    return plain, taken_once(plain, lambda axis: size_of([axis], specification.extents), ())


def functions(found: list[Stage], extents: Mapping[str, int]) -> Counter[str]:
    """How often each is taken, once in each pass over a row."""
    several = [one for stage in found for one in passes(stage, lambda axis: size_of([axis], extents))]
    digests = Digests(lambda axis: size_of([axis], extents))
    each = [{digests.renamed(x)[0]: x.attributes[0] for _, form in one
             for x in walk(form) if x.operator == "fn"} for one in several]
    return Counter(name for one in each for name in one.values())


def capped(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    p, q = (torch.softmax(30 * torch.tanh(z / 30), -1) for z in (x, y))
    residual = (p - q).clamp(min=0)
    return residual / residual.sum(-1, keepdim=True)


PROGRAMS: dict[str, tuple[Callable[..., torch.Tensor], int, dict[str, int]]] = {
    "a softmax": (lambda x: torch.softmax(x, -1), 1, {"exp": 1}),
    "two capped ones": (capped, 2, {"exp": 2, "tanh": 2}),
    "an entropy": (lambda x: -(torch.softmax(x, -1) * torch.log_softmax(x, -1)).sum(-1), 1, {"exp": 1, "log": 1}),
    "two results": (lambda x: (torch.tanh(x) * x).sum(-1) + torch.tanh(x).amax(-1), 1, {"tanh": 1}),
    "once anyway": (lambda x: torch.tanh(x).sum(-1) + torch.sin(x).sum(-1), 1, {"tanh": 1, "sin": 1}),
    "of what is summed up": (lambda x: torch.exp(x.mean(-1)) * torch.exp(x.mean(-1)).sin(), 1, {"exp": 1, "sin": 1}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_taken_once(name: str) -> None:
    program, inputs, once = PROGRAMS[name]
    given = (X, Y)[:inputs]
    specification = read(capture(program, given))
    plain, found = cut(specification)
    before, after = (functions(each, specification.extents) for each in (plain, found))
    assert after == once and all(before[each] >= n for each, n in once.items())
    run = compile_program(native(specification, untimed).program, specification.arguments, [],
                          [output.name for output in specification.outputs])
    (result,) = run(*given)
    torch.testing.assert_close(result.view(program(*given).shape), program(*given), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("steps", "once"), [(4, False), (10, True)])
def test_much_arithmetic_is_done_once(steps: int, once: bool) -> None:
    """A polynomial of which a row's largest, its sum and each element are asked."""
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x
        for k in range(steps):
            y = (y + k) * x
        return y / (y.sum(-1, keepdim=True) + y.amax(-1, keepdim=True).abs() + 1)

    plain, found = cut(specification := read(capture(program, (X,))))
    units = [form for stage in found for form in (stage.value, *(fold.arguments[0] for fold in stage.folds.values()))]
    sums = Counter(x for form in units for x in {*walk(form)} if x.operator == "plus" and x.height > 2 * steps - 6)
    assert (len(found) > len(plain)) is once and (max(sums.values()) == 1) is once
    run = compile_program(native(specification, untimed).program, specification.arguments, [],
                          [output.name for output in specification.outputs])
    torch.testing.assert_close(run(X)[0], program(X), rtol=1e-4, atol=1e-5)


def test_much_arithmetic_of_integers_stays_exact() -> None:
    """Kept as reals are, large integers would be one."""
    def program(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mixed = x
        for k in range(8):
            mixed = mixed * 31 + (k + 1)
        return (mixed == y).float().sum(-1), (mixed < y).float().sum(-1)

    x = torch.arange(64).view(2, 32)
    mixed = x
    for k in range(8):
        mixed = mixed * 31 + (k + 1)
    specification = read(capture(program, (x, mixed + 1)))
    run = compile_program(native(specification, untimed).program, specification.arguments, [],
                          [output.name for output in specification.outputs])
    for mine, own in zip(run(x, mixed + 1), program(x, mixed + 1), strict=True):
        torch.testing.assert_close(mine.view(own.shape), own)


def test_attention_stays_one_pass() -> None:
    plain, found = cut(attention())
    assert found == plain and len(list(softmaxes(found))) == 1
