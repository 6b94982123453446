"""What is pruned is worse at every size, or reads against the grain."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import torch
from tests.optimize.programs_as_forms import attention, gated_mlp
from torch.nn import functional as F

from samesame.capture import capture
from samesame.formula.expr import Size, add, mul
from samesame.optimize import pruning
from samesame.optimize.algebra import specified
from samesame.optimize.machine import here
from samesame.optimize.partition import stages
from samesame.optimize.pruning import OPERATIONS_PER_ELEMENT, Cost, cost, dominated, gathers, is_at_most, pruned
from samesame.optimize.read import read
from samesame.optimize.schedule import Space, alternatives

N, K = Size("N", 1), Size("K", 1)


def test_a_cost_is_compared_for_all_sizes() -> None:
    assert is_at_most(mul(N, K), add(mul(N, K, K), 1))
    assert not is_at_most(mul(N, N), mul(N, K))
    one, other = Cost(mul(2, N, K), mul(N, K)), Cost(mul(N, K), mul(N, K))
    assert dominated(one, other, {"N": 3, "K": 4}) and not dominated(other, one, {"N": 3, "K": 4})
    assert not dominated(Cost(mul(N, N), N), Cost(mul(N, K), N), {"N": 9, "K": 4})   # fewer here, not at every size


def test_lanes_that_gather_are_left_out() -> None:
    """The scores' lanes run along the depth, the attended values' along their columns."""
    space = Space(attention(), stages(attention().outputs, attention().extents))
    cut = Counter[str]()
    left = [pruned(several, space, cut) for several in alternatives(space)]
    assert all(left) and cut["schedules that gather"]
    assert not any(gathers(scheduled.program, space.numbers()) for several in left for scheduled in several)
    assert {scheduled.map for scheduled in left[-1]} == {"lanes along c"}


def test_lanes_run_along_what_lies_side_by_side() -> None:
    """Keys that lie along themselves have their scores in lanes; what is the same for all lanes is no gathering."""
    whole, maps = attention(), list[set[str]]()
    queries, keys = whole.tensors["q"], whole.tensors["k"]
    for q, k in ((None, None), (None, (1008, 336, 1, 21)), ((0, 0, 0, 1), (1008, 336, 16, 1))):
        tensors = {**whole.tensors, "q": replace(queries, strides=q), "k": replace(keys, strides=k)}
        space = Space(replace(whole, tensors=tensors), stages(whole.outputs, whole.extents))
        first = pruned(next(alternatives(space)), space, Counter())
        assert not any(gathers(scheduled.program, space.numbers()) for scheduled in first)
        maps.append({scheduled.map for scheduled in first})
    assert maps == [{"columns along i", "columns along j"}, {"lanes along j"}, {"lanes along i", *maps[0]}]


@pytest.mark.parametrize("gathering", [False, True])
def test_one_schedule_is_left_always(gathering: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where all that gathers not has its depth in parts, and has enough to do without."""
    space = Space(gated_mlp(), stages(gated_mlp().outputs, gated_mlp().extents))
    several = next(alternatives(space))
    parts = [scheduled for scheduled in several if "parts" in {tile.role for tile in scheduled.program.tiles}]
    apart = {id(each.program) for each in several if each not in parts} if gathering else {id(e.program) for e in parts}
    monkeypatch.setattr(pruning, "gathers", lambda program, _: id(program) in apart)
    monkeypatch.setattr(space, "threads", 1)
    left = pruned(several, space, Counter())
    assert parts and left and all((each in parts) is gathering for each in left)


@pytest.mark.parametrize(("more", "cut"), [(3, False), (5, True)])
def test_what_gathers_many_times_as_often_as_another_is_left_out(more, cut, monkeypatch):
    space = Space(gated_mlp(), stages(gated_mlp().outputs, gated_mlp().extents))
    several = next(alternatives(space))
    monkeypatch.setattr(pruning, "gathers", lambda program, _: more if program is several[0].program else 1)
    counts = Counter[str]()
    pruned(several, space, counts)
    assert counts["schedules that gather"] == cut


def test_weights_are_packed_so_that_nothing_gathers() -> None:
    space = Space(gated_mlp(), stages(gated_mlp().outputs, gated_mlp().extents))
    first = next(alternatives(space))
    maps = [(scheduled.map, bool(gathers(scheduled.program, space.numbers()))) for scheduled in first]
    assert ("lanes along n", False) in maps


@pytest.mark.parametrize(("features", "least"), [("avx512f avx512_bf16", 1), ("avx512f", 2)])
def test_two_products_of_narrow_numbers_cost_one_where_the_processor_takes_two(
    features: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a norm leaves is stored in two bytes and multiplied with weights of two bytes; or it is taken into the
    weights, which have four bytes then."""
    def program(x: torch.Tensor, g: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.tanh(F.linear(x.float().mul(1 + g.float()).bfloat16(), w))

    inputs = torch.randn(64, 48).bfloat16(), torch.randn(48).bfloat16(), torch.randn(96, 48).bfloat16()
    whole = specified(program, inputs, capture(program, inputs))
    space = Space(whole, stages(whole.outputs, whole.extents))
    monkeypatch.setattr(pruning, "here", lambda: replace(here(), features=features))
    (several,) = [each for each in alternatives(space) if each[0].group[0].folds]
    assert min(cost(scheduled.program).here(space.numbers()) for scheduled in several) == pytest.approx(
        least * 64 * 96 * 48 / OPERATIONS_PER_ELEMENT, rel=0.1)


@pytest.mark.parametrize(("depth", "left_out"), [(256, False), (8, True)])
def test_what_a_long_sum_meets_may_be_gathered(depth: int, left_out: bool) -> None:
    """The channels of an image are far apart: they are read so beside a sum that takes longer, and beside no other."""
    def program(x: torch.Tensor, h: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x + (h @ w).permute(0, 3, 1, 2)

    inputs = torch.randn(2, 32, 9, 9), torch.randn(2, 9, 9, depth), torch.randn(depth, 32)
    whole = read(capture(program, inputs))
    space = Space(whole, stages(whole.outputs, whole.extents))
    (several,) = alternatives(space)
    column = space.stages[-1].axes[1]
    (across,) = [scheduled for scheduled in several if scheduled.map == f"lanes along {column}"]
    assert bool(gathers(across.program, space.numbers())) is left_out
