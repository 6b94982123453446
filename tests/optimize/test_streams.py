"""Programs of many steps: what each adds to is one tensor, and what is the same but for names is made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace

import pytest
import torch
from tests.optimize.compiled_programs import untimed
from torch import nn

from optimize.test_native import several
from samesame.capture import capture
from samesame.optimize import attempt
from samesame.optimize.algebra import specified
from samesame.optimize.faithful import faithful
from samesame.optimize.forms import Form, fn, fold, load, minus, plus, power
from samesame.optimize.groups import IN_ONE_KERNEL, folds_in, groups
from samesame.optimize.ir import Program
from samesame.optimize.lengths import folds, written
from samesame.optimize.names import Digests, nameless, with_levels
from samesame.optimize.native import in_stages, native, once
from samesame.optimize.partition import Stage
from samesame.optimize.partition import stages as cut_in_stages
from samesame.optimize.read import read
from samesame.optimize.search import drawn
from samesame.optimize.streams import streams, streams_in
from samesame.optimize.tune import Tuned


class Residual(nn.Module):
    """Blocks that each add to what comes in."""

    def __init__(self, blocks: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(24) for _ in range(blocks))
        self.up = nn.ModuleList(nn.Linear(24, 40) for _ in range(blocks))
        self.down = nn.ModuleList(nn.Linear(40, 24) for _ in range(blocks))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for norm, up, down in zip(self.norms, self.up, self.down, strict=True):
            x = x + down(torch.relu(up(norm(x))))
        return x


class Attended(nn.Module):
    """Steps of which each adds a softmax of what the one before has made."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps, self.weight = steps, nn.Parameter(torch.randn(24, 24))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.steps):
            x = x + torch.softmax(x @ self.weight, -1)
        return x


def normed(steps: int) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Power iteration."""
    def run(a: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        for _ in range(steps):
            v = a @ v
            v = v / v.norm()
        return v
    return run


def turned(steps: int) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Each step reads the one before four times."""
    def run(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        for _ in range(steps):
            y = torch.einsum("nj,jk->nk", x, turn)
            x = (x + y) / (1 + (x - y).abs())
        return x
    return run


def cut(program: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> list[Stage]:
    specification = read(capture(program, inputs))
    return cut_in_stages(specification.outputs, specification.extents)


X, A = torch.randn(6, 24), torch.randn(24, 24)
CHAINS = [
    (lambda n: cut(Residual(n), X), 5),              # a mean, a variance, the normed row, what is hidden, the sum
    (lambda n: cut(Attended(n), X), 4),              # a product, its maximum, the exponents' sum, the sum
    (lambda n: cut(normed(n), A, A[0]), 2),
    (lambda n: cut(turned(n), torch.randn(150, 3), torch.randn(3, 3)), 2),
]


@pytest.mark.parametrize(("chain", "each"), CHAINS)
def test_each_step_has_as_many_stages_as_the_one_before(chain: Callable[[int], list[Stage]], each: int) -> None:
    few, many = chain(8), chain(20)
    assert len(many) - len(few) == 12 * each


@pytest.mark.parametrize("module", [Residual, Attended])
def test_a_step_reads_the_one_before_and_none_before_that(module: type[nn.Module]) -> None:
    stages = cut(module(8), X)
    made = {stage.target: n for n, stage in enumerate(stages)}
    reach = [n - made[name] for n, stage in enumerate(stages) for name in stage.reads if name in made]
    assert max(reach) <= 5
    assert not any("x" in stage.reads for stage in stages[6:])


@pytest.mark.parametrize("module", [Residual, Attended])
def test_kernels_of_many_steps_make_what_the_program_makes(module: type[nn.Module]) -> None:
    for result, expected in zip(*several(module(4), (X,)), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)


SUM, X_I, Y_I = fold("sum", "k", load("a", "i", "k")), load("x", "i"), load("y", "i")
SQUARES = fold("sum", "ij", power(plus(SUM, X_I, load("z", "j")), 2))


def found(*forms: Form, kept: Form = SUM) -> tuple[set[frozenset[str]], set[str]]:
    return streams(forms, {nameless(kept)}, Digests(lambda _: 8))


def test_a_fold_has_companions_where_nothing_but_sums_with_them_take_it() -> None:
    wider = power(plus(SUM, X_I, Y_I), 3)
    both = {frozenset({nameless(SUM), nameless(X_I)})}
    assert found(SQUARES, wider) == (both, {nameless(SUM)})
    for less in (found(SQUARES, wider, kept=X_I), found(SQUARES, wider, fn("exp", SUM)), found(SQUARES, wider, SUM),
                 found(SQUARES, power(plus(SUM, Y_I), 2))):
        assert less == (set(), set())


def test_a_sum_that_is_kept_is_read_where_others_continue_it() -> None:
    part, whole = plus(fn("exp", SUM), X_I), plus(fn("exp", SUM), X_I, Y_I)
    (terms,), instead = found(whole, fn("exp", part), kept=part)
    assert instead == set() and terms == {*map(nameless, part.arguments)}
    assert dict(streams_in(whole, {terms})) == {part: [Y_I]}
    assert not dict(streams_in(plus(fn("exp", SUM), Y_I), {terms}))


def test_one_term_is_no_stream() -> None:
    """Of `x + x + f` it is f alone that the sum has once."""
    whole = plus(X_I, X_I, fn("exp", SUM))
    assert len(whole.arguments) == 3 and found(whole, kept=whole) == (set(), set())
    assert len(cut(lambda x, w: x + x + torch.relu(x @ w), X, A)) == 1


def test_terms_that_are_alike_but_for_the_axis_are_no_companions() -> None:
    """`Σ_k a[i, j, k] + x[i]` and `Σ_k a[i, j, k] + x[j]`: neither is the other's."""
    sums = fold("sum", "k", load("a", "i", "j", "k"))
    rows, columns = (fold("max", "ij", plus(sums, load("x", axis))) for axis in "ij")
    assert found(plus(rows, columns), kept=sums) == (set(), set())
    assert found(fold("max", "ij", plus(sums, load("x", "i"), load("x", "j"))), kept=sums) == (set(), set())


def test_formulas_that_nobody_would_read_are_not_drawn() -> None:
    """Each step reads the one before four times, so that twenty are as many as a billion, as they are written."""
    specification = read(capture(turned(20), (torch.randn(150, 3), torch.randn(3, 3))))
    (output,) = specification.outputs
    assert written(output.form) > 4**20 and drawn(output.form, specification.extents) == ""
    assert written(plus(fn("exp", X_I), fn("exp", X_I))) == 3 + written(fn("exp", X_I))


def test_formulas_that_nobody_could_write_down_are_not_asked_of() -> None:
    graph = capture(Attended(12), (X,))
    specification = read(graph)
    (output,) = specification.outputs
    assert folds(output.form) > 10**6 and faithful(graph, specification, [output.form]) is None
    small = read(graph := capture(Attended(1), (X,)))
    assert faithful(graph, small, [small.outputs[0].form]) == ()


def test_forms_that_differ_in_bound_names_alone_are_one() -> None:
    def shifted(outer: str, inner: str) -> Form:
        return fold("sum", outer, fn("exp", minus(load("x", "i", outer), fold("max", inner, load("x", "i", inner)))))

    sizes = {"i": 3, "k": 8, "l": 8, "m": 9}
    one = with_levels(shifted("k", "l"), sizes.__getitem__)
    for names, same in (("kk", True), ("lk", True), ("km", False), ("mk", False)):
        assert (with_levels(shifted(*names), sizes.__getitem__) is one) is same
    rows, columns = (fold("sum", "k", fold("max", "l", load("x", *axes))) for axes in ("kl", "lk"))
    assert with_levels(rows, sizes.__getitem__) is not with_levels(columns, sizes.__getitem__)


def test_blocks_that_are_alike_are_tuned_once() -> None:
    asked = list[int]()

    def tune(programs: Sequence[Program], sizes: Mapping[str, int], share: float) -> Tuned:
        asked.append(len(programs))
        return untimed(programs, sizes, share)

    module = Residual(6)
    specification = specified(module, (X,), capture(module, (X,)))
    whole, kept = in_stages(specification, [root.form for root in specification.roots()])
    found = native(whole, once(tune), kept)
    assert len(asked) < len(found.chosen) / 2
    tiles = {tile.size.name for each in found.chosen for tile in each.program.tiles}
    assert tiles and tiles == {*found.tiles}


def test_steps_over_the_same_rows_are_several_groups() -> None:
    """Each round reads the one before twice, within a sum: as one formula, twenty are a million sums."""
    def rounds(x: torch.Tensor) -> torch.Tensor:
        for _ in range(20):
            x = x - x.logsumexp(-1, keepdim=True)
        return x

    each = [*groups(cut(rounds, X))]
    assert 3 < len(each) < 20
    assert all(folds_in(stage, {}) <= IN_ONE_KERNEL for group in each for stage in group)
    assert max(len(group) for group in each) > 1


def test_a_program_with_too_many_steps_is_no_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def deeper(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr(attempt, "specified", deeper)
    one = SimpleNamespace(module=None, example=None, graph=None, until=0.0, gradients=False,
                          report=SimpleNamespace(notes=[]))
    assert [*attempt.Attempt.searched(one)] == []  # type: ignore[arg-type]
    assert one.report.notes == ["No other form was looked for: the program has too many steps in one another."]
