"""Results that others read, and operands that functions make: how they are kept, and in which order."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
import torch
from test_native import several, untimed
from test_partition import cut
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.formula.expr import Size
from samesame.optimize import native, search, tune
from samesame.optimize.algebra import specified
from samesame.optimize.forms import walk
from samesame.optimize.ir import Tile
from samesame.optimize.lying import in_memory


class Segmentation(nn.Module):
    """Probabilities of classes times masks, summed over queries, and what is made of that at each pixel."""

    def forward(self, classes: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = torch.einsum("bqc,bqhw->bchw", classes.softmax(-1), masks.sigmoid())
        return found, found.amax(1) / found.sum(1).clamp(min=1e-6)


def inputs(batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(batch, 10, 19), torch.randn(batch, 10, 16, 24)


def test_an_operand_that_functions_make_is_kept_where_the_results_lie_along_its_axis() -> None:
    """Else the classes are the columns, and the elements of a row of results stand far from one another."""
    stages = cut(Segmentation(), *inputs(2))
    (masks,) = (stage for stage in stages if not stage.folds and any(x.operator == "fn" and x.attributes[0] == "sigmoid"
                                                                     for x in walk(stage.value)))
    readers = [stage for stage in stages if masks.target in stage.reads]
    assert readers and masks.axes[-1] == readers[0].axes[-1]
    assert not any(x.operator == "fn" and x.attributes[0] == "sigmoid" for stage in readers for x in walk(stage.whole))


@pytest.mark.parametrize("batch", [1, 2])
def test_what_is_made_of_a_result_reads_it_however_many_are_in_the_batch(batch: int) -> None:
    module, given = Segmentation(), inputs(batch)
    specification = specified(module, given, capture(module, given))
    whole, kept = native.in_stages(specification, [root.form for root in specification.roots()])
    whole, kept = native.without_single(whole, kept)
    (once, *_) = native._cuts(whole, kept, in_terms=False)
    (of_pixels,) = (stage for stage in once if stage.target == "result 1")
    assert of_pixels.reads == {"result 0"}
    for result, expected in zip(*several(module, given), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


def test_of_forms_that_multiply_as_much_the_one_with_fewer_rounds_comes_first() -> None:
    costs = [(100_000_04.0, 9.0), (100_000_01.0, 5.0), (90_000_00.0, 99.0), (100_100_00.0, 1.0)]
    forms = [search.Rewriting((), (), {"multiplications": a, "loops": b}) for a, b in costs]
    assert [each.cost["loops"] for each in sorted(forms, key=native._cheapest_first)] == [99.0, 5.0, 9.0, 1.0]


def test_numbers_of_many_tiles_grow_together_by_role() -> None:
    roles = ["rows", "lanes", "depth"]
    tiles = tuple(Tile(Size(f"{role} {n}", 1), role, Size("n", 1)) for n, role in product(range(4), roles))
    numbers = {"rows": [1, 2, 4], "lanes": [16, 32], "depth": [8, 16, 64]}
    few, many = tiles[:3], tiles
    assert [*tune._together(few, [numbers[t.role] for t in few])] == [*product(*(numbers[t.role] for t in few))]
    found = [*tune._together(many, [numbers[t.role] for t in many])]
    assert len(found) == len({*found}) == prod(map(len, numbers.values())) <= tune.MOST < 18**4
    for chosen in found:
        assert all(len({n for tile, n in zip(many, chosen, strict=True) if tile.role == role}) == 1 for role in roles)
    shorter = [numbers[t.role][:1 + k % 3] for k, t in enumerate(many)]
    assert all(n in own for chosen in tune._together(many, shorter) for n, own in zip(chosen, shorter, strict=True))


class Scores(nn.Module):
    """Attention without a softmax: a function of each score, and a bias by distance that is looked up."""

    def __init__(self, ends: bool = True) -> None:
        super().__init__()
        self.ends, self.q, self.k = ends, nn.Linear(16, 24, bias=False), nn.Linear(16, 24, bias=False)
        self.bias = nn.Parameter(torch.randn(65))

    def forward(self, x: torch.Tensor, buckets: torch.Tensor) -> torch.Tensor:
        scores = self.q(x) @ self.k(x).transpose(-1, -2)
        return F.silu(scores + self.bias[buckets]) if self.ends else scores


@pytest.mark.parametrize("ends", [True, False])
def test_what_functions_are_taken_of_runs_in_lanes_along_the_results(ends: bool) -> None:
    """Else the depth runs in lanes, and the function of each result is computed by itself."""
    given = torch.randn(2, 33, 16), torch.randint(0, 65, (33, 33))
    stages = cut(Scores(ends), *given)
    (scores,) = (stage for stage in stages if stage.target == "result 0")
    (fold,) = scores.folds.values()
    (keys,) = (x for x in walk(fold) if x.operator == "load" and scores.axes[-1] in x.axes)
    assert (in_memory(keys)[-1] == scores.axes[-1]) == ends
    for result, expected in zip(*several(Scores(ends), given), strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)


def test_a_bias_that_is_looked_up_prunes_no_lanes() -> None:
    module, given = Scores(), (torch.randn(2, 33, 16), torch.randint(0, 65, (33, 33)))
    specification = specified(module, given, capture(module, given))
    whole, kept = native.in_stages(specification, [root.form for root in specification.roots()])
    found = native.native(whole, untimed, kept)
    (scores,) = (kernel for kernel in found.program.kernels if kernel.name.endswith("_result 0"))
    assert scores.name.startswith("lanes")


class Smoothed(nn.Module):
    """Steps of which each reads the neighbours of what the step before made, at whole and at cut places."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        p = torch.zeros_like(x)
        for _ in range(self.steps):
            div = p.clone()
            div[:, 1:] -= p[:, :-1]
            grad = torch.zeros_like(x)
            grad[:, :-1] = (div - x)[:, 1:] - (div - x)[:, :-1]
            p = (p + 0.1 * grad) / (1 + 0.1 * torch.sqrt(grad**2 + grad[:, :1] ** 2))
        return x - p


def test_steps_of_neighbours_are_read_in_time_that_grows_with_the_steps() -> None:
    """Each step took what it reads at three places, and so did each before it."""
    module, given = Smoothed(12), (torch.randn(5, 24),)
    specification = specified(module, given, capture(module, given))
    sizes = [sum(1 for _ in walk(root.form)) for root in specification.roots()]
    assert 6 <= len(sizes) <= 2 * 12 + 1 and max(sizes) < 400
    (result,), (expected,) = several(Smoothed(5), given)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
