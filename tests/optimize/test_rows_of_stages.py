"""Rows: what runs in lanes, and in which order memory is gone through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
from tests.optimize.compiled_programs import compile_program, untimed
from torch.nn import functional as F

from samesame.capture import capture
from samesame.formula.expr import Load
from samesame.formula.expr import walk as expr_walk
from samesame.optimize.emit.cpp import function
from samesame.optimize.forms import fold, load, walk
from samesame.optimize.ir import Accumulate, Buffer, Loop, Program, statements
from samesame.optimize.lying import as_it_lies
from samesame.optimize.native import native
from samesame.optimize.partition import stages
from samesame.optimize.read import read
from samesame.optimize.rows import PIECE
from samesame.optimize.schedule import alternatives
from samesame.optimize.search import searched
from samesame.optimize.space import Space
from samesame.optimize.specification import Output, Specification, Tensor
from samesame.optimize.tune import Tuned

LANES = 8


def kernels(program: Callable[..., Any], *inputs: torch.Tensor) -> tuple[Specification, Program]:
    """The proved kernels of a program, that compute what it does."""
    specification = read(capture(program, inputs))
    found = native(specification, untimed).program
    run = compile_program(found, specification.arguments, [], [output.name for output in specification.outputs])
    expected = program(*inputs)
    for mine, own in zip(run(*inputs), expected if isinstance(expected, tuple) else (expected,), strict=True):
        torch.testing.assert_close(mine.view(own.shape), own, rtol=1e-4, atol=1e-5)
    return specification, found


def option(spot: torch.Tensor, strike: torch.Tensor, spread: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What two results have in common is kept between them."""
    first = (torch.log(spot / strike) + spread * spread / 2) / spread
    price = spot * torch.erf(first) - strike * torch.erf(first - spread)
    return price, torch.erf(first)


@pytest.mark.parametrize("shape", [(45,), (3, 45), (2, 3, 37)])
def test_stages_of_the_same_axes_run_in_lanes_together(shape: tuple[int, ...]) -> None:
    """One loop for all of them, with registers between them; each was a row of one element."""
    inputs = [torch.rand(shape, generator=torch.Generator().manual_seed(k)) + 0.5 for k in range(3)]
    _, found = kernels(option, *inputs)
    (kernel,) = found.kernels
    assert sum(isinstance(s, Loop) and s.kind == "vector" for s in statements(kernel.body)) == 1
    text = function(kernel, LANES)
    assert f"vec<float, {LANES}> " in text and "static thread_local" not in text


@pytest.mark.parametrize("several", [False, True])
def test_a_long_row_is_shared_by_threads(several: bool) -> None:
    """Pieces of it, the last of which is a part of one."""
    inputs = [torch.rand(3 * PIECE + 77, generator=torch.Generator().manual_seed(k)) + 0.5 for k in range(3)]
    _, found = kernels(option if several else lambda *x: option(*x)[0], *inputs)
    (kernel,) = found.kernels
    assert "#pragma omp parallel for" in function(kernel, LANES)


def test_what_is_read_most_decides_what_runs_in_lanes() -> None:
    """Two numbers of each row are read beside all that is in it."""
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.flatten(1)
        return (torch.softmax(y, 1) * 2).amax(1) + torch.softmax(y, 1).view(x.shape).sum((1, 2)).amax(1)

    _, found = kernels(program, torch.randn(19, 4, 5, 16, generator=torch.Generator().manual_seed(0)))
    assert not any("gather<" in function(kernel, LANES) for kernel in found.kernels)


def test_what_is_looked_up_counts_as_often_as_it_is() -> None:
    """A small table of which each of many rows reads a row; the axis of a batch of one is none to run along."""
    def program(x: torch.Tensor, table: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        return (torch.sin(x[:, :, None] * torch.arange(40)) * table[:, ids]).sum(-1)

    ids = torch.randint(6, (90,), generator=torch.Generator().manual_seed(0))
    _, found = kernels(program, torch.randn(1, 90), torch.randn(1, 6, 40), ids)
    texts = [function(kernel, LANES) for kernel in found.kernels if kernel.name != "guard"]
    assert any("f_sin(" in text and f"load<{LANES}>(table" in text and "gather<" not in text for text in texts)


@pytest.mark.parametrize(("strides", "order"), [(None, ["a", "b", "c"]), ((1, 30, 6), ["b", "c", "a"])])
def test_loops_go_through_memory_in_its_order(strides: tuple[int, ...] | None, order: list[str]) -> None:
    tensors = {"x": Tensor("x", (6, 4, 5), "float32", "input", strides=strides),
               "y": Tensor("y", (5,), "float32", "input")}
    x = load("x", "a", "b", "c")
    output = Output("z", fold("sum", ("a", "b", "c"), x), (), "float32")
    space = Space(Specification((output,), tensors, {"a": 6, "b": 4, "c": 5}, ("x", "y")), [])
    space.buffers.update({name: Buffer(name, tensor.shape, strides=strides) for name, tensor in tensors.items()})
    assert space.in_order(fold("sum", ("a", "b", "c"), x), ("c", "a", "b")) == order
    assert space.in_order(load("y", "c"), ("c", "a")) == ["a", "c"]


def test_what_is_kept_element_by_element_lies_as_what_it_is_made_of() -> None:
    """Exponentials of classes in front of places, which are summed over the classes."""
    def program(x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        p = torch.softmax(x, 1)
        return (p * mask).sum((0, 2)), p.amax((0, 2))

    inputs = torch.randn(2, 4, 40), torch.rand(2, 1, 40)
    specification, found = kernels(program, *inputs)
    assert not any("gather<" in function(kernel, LANES) for kernel in found.kernels)
    (kept,) = [stage for stage in stages(specification.outputs, specification.extents) if len(stage.axes) == 3]
    assert kept.axes[-1] == as_it_lies(kept.value, kept.axes)[-1]
    assert as_it_lies(load("x", "n", "c", "i"), ("i", "m", "c", "n")) == ("n", "c", "i")


@pytest.mark.parametrize("dim", [1, 0])
def test_sums_of_one_row_go_through_it_together(dim: int) -> None:
    """Along the row, and across rows: what they have in common is read and computed once. Their axes may have any
    names, and a sum of another length has loops of its own."""
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sin(x).sum(dim) + (torch.sin(x) * y).sum(dim) + x.amax(dim) + y[:7, :7].sum() / y[:9, :9].amax()

    _, found = kernels(program, *(torch.randn(19, 19, generator=torch.Generator().manual_seed(k)) for k in range(2)))
    loops = [s for kernel in found.kernels for s in statements(kernel.body) if isinstance(s, Loop)]
    assert max(sum(isinstance(s, Accumulate) for s in statements(each.body)) for each in loops
               if each.kind == "vector") == 3


def test_along_an_expanded_dimension_nothing_lies() -> None:
    x = load("x", "a", "b", "c")
    output = Output("y", fold("sum", ("a", "b", "c"), x), (), "float32")
    tensors = {"x": Tensor("x", (6, 40, 16), "float32", "input", strides=(40, 1, 0))}
    space = Space(Specification((output,), tensors, {"a": 6, "b": 40, "c": 16}, ("x",)), [])
    space.buffers["x"] = Buffer("x", (6, 40, 16), strides=(40, 1, 0))
    assert space.last(x, ("a", "b", "c")) == "b"


def test_a_dimension_that_is_split_twice_has_kernels() -> None:
    """Nine weights for each of k × k finer places: the stride of the nine is as long as the two axes of the others."""
    def program(mask: torch.Tensor) -> torch.Tensor:
        weights = torch.softmax(mask.view(1, 9, 16, 5, 6).view(1, 9, 4, 4, 5, 6), 1)
        return (weights * weights).sum(1).permute(0, 3, 1, 4, 2).reshape(1, 20, 24)

    kernels(program, torch.randn(1, 144, 5, 6, generator=torch.Generator().manual_seed(0)))


LENGTHS = 2, 3, 5, 6, 7, 9, 11, 14, 15, 19, 30, 31, 33, 46


def test_rows_of_any_length_are_gone_through_in_lanes() -> None:
    """Lanes at the ragged end that are no rounds are not read, stored or folded: of rows, of turned ones, of halves,
    truths and integers among them."""
    def program(*rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = list[torch.Tensor]()
        for x, ids in zip(rows[::2], rows[1::2], strict=True):
            x = x.t() if x.shape[1] == 3 else x
            found += [(x * 0.3).softmax(-1), (x - x.mean(-1, keepdim=True)).square().mean(-1), x.amax(0), x > 0.1,
                      torch.where(ids < 2, x, 1.0), x.bfloat16(), ids[:, 0, None] + ids]
        return tuple(found)

    inputs = list[torch.Tensor]()
    for n in LENGTHS:
        x = torch.randn(3, n, generator=torch.Generator().manual_seed(n))
        inputs += [x if n % 2 else x.t().contiguous(), torch.arange(3 * n).view(3, n) % 5]
    kernels(program, *inputs)


def test_a_ragged_end_is_one_run_of_lanes() -> None:
    """A sum keeps its partial results in a register's lanes to the end, and none is taken across them on the way."""
    _, found = kernels(lambda x: x.square().sum(-1), torch.randn(4, 30))
    text = function(found.kernels[0], LANES)
    assert "load<8, 6>" in text and "only<6>" in text and text.count("across") == 1
    _, found = kernels(lambda x: x.exp(), torch.randn(4, 13))
    assert "load<4>" not in function(found.kernels[0], LANES)


@pytest.mark.parametrize("program", [
    lambda x, w: (x.square().sum(-1) * w).sigmoid(), lambda x, w: torch.logsumexp(x, -1).exp() * w,
    lambda x, w: x.mean(-1).sqrt() + w, lambda x, w: (x - x.mean(-1, keepdim=True)).square().sum(-1).add(w).log(),
])
def test_functions_of_many_rows_end_in_lanes(program: Callable[..., Any]) -> None:
    """A kernel of their own takes them of a register's rows at a time; of few rows they stay where they are."""
    for rows, apart in ((300, True), (20, False)):
        _, found = kernels(program, torch.rand(rows, 24) + 0.5, torch.rand(rows) + 0.5)
        ends = [s for s in statements(found.kernels[-1].body) if isinstance(s, Accumulate)]
        assert (len(found.kernels) > 1 and not ends) == apart


def test_functions_at_the_end_of_a_matmul_stay_there() -> None:
    _, found = kernels(lambda x, w: (x @ w).sigmoid(), torch.randn(200, 24), torch.randn(24, 16))
    assert len(found.kernels) == 1


@pytest.mark.parametrize("gap", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int8])
def test_numbers_with_small_gaps_are_read_in_runs(gap: int, dtype: torch.dtype) -> None:
    """Coordinates of points, corners of boxes; the last run ends with the last number."""
    x = (torch.randn(67, gap, generator=torch.Generator().manual_seed(gap)) * 9).to(dtype)
    real = dtype if dtype.is_floating_point else torch.float32
    _, found = kernels(lambda x: tuple(x[:, d].to(real) * 2 + 1 for d in range(gap)), x)
    assert f", {gap})" in function(found.kernels[0], LANES)


def test_a_sum_of_what_is_computed_for_each_of_its_elements_is_no_matmul() -> None:
    """Residuals to centroids, forces between bodies: nothing of it is a tensor, and one loop has all sums of a row. A
    column has no columns to go through."""
    def residuals(x: torch.Tensor, centre: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
        return ((x[None] - centre[:, :, None]) * share[:, None]).sum(-1)

    def forces(at: torch.Tensor, mass: torch.Tensor) -> torch.Tensor:
        x, y = at[:, :1], at[:, 1:]
        dx, dy = x.T - x, y.T - y
        far = (dx ** 2 + dy ** 2 + 0.01) ** -1.5
        return torch.hstack([(dx * far) @ mass, (dy * far) @ mass])

    _, found = kernels(residuals, torch.randn(5, 30), torch.randn(7, 5), torch.rand(7, 30))
    assert len(found.kernels) == 1
    _, found = kernels(forces, torch.rand(40, 2), torch.rand(40, 1))
    assert len(found.kernels) == 1 and "halves<3>" in function(found.kernels[0], LANES)


def test_a_sum_over_a_long_stack_is_a_sum_of_its_parts() -> None:
    """Of 25 terms of a polynomial none is a tensor."""
    def program(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.stack([x ** k for k in range(12)], -1) @ weight

    x, weight = torch.rand(3, 40), torch.randn(12)
    specification = read(capture(program, (x, weight)))
    assert not specification.calls
    found = searched(specification).candidates
    assert any(all(y.operator != "concat" for y in walk(*forms.outputs)) for forms in found)


def test_what_is_read_along_two_axes_for_a_sum_is_made_in_tiles() -> None:
    """A matrix beside itself turned, which the sum and the result read then; a scale of each row is no reason."""
    def laplacian(a: torch.Tensor) -> torch.Tensor:
        s = (a + a.t()).abs()
        d = s.sum(1).rsqrt()
        return d[:, None] * s * d[None]

    specification, found = kernels(laplacian, torch.rand(40, 40) + 0.1)
    whole = [stage for stage in stages(specification.outputs, specification.extents) if len(stage.axes) == 2]
    assert len(whole) == 2 and whole[0].value.operator == "fn" and len(found.kernels) > 2
    _, found = kernels(lambda x, s: (x * s[:, None]).softmax(-1), torch.randn(40, 40), torch.rand(40))
    assert len(found.kernels) == 1


def test_a_mask_by_two_positions_cuts_no_single_elements_off() -> None:
    """A causal softmax: that the first column is never masked is no reason to compute it alone."""
    def causal(x: torch.Tensor) -> torch.Tensor:
        return x.masked_fill(torch.ones(30, 30, dtype=torch.bool).triu(1), float("-inf")).softmax(-1)

    _, found = kernels(causal, torch.randn(3, 30, 30))
    text = function(found.kernels[0], LANES)
    assert "f_exp" in text and "get(" not in text and "alignas" not in text
    _, found = kernels(lambda x: torch.nn.functional.pad(x, (3, 2)).exp(), torch.randn(3, 30))
    assert "choose(" not in function(found.kernels[-1], LANES)


def test_short_sums_within_a_sum_are_written_out() -> None:
    """Three coordinates, each a product with a row of a rotation: what lies between them is nobody's tensor."""
    def distances(turn: torch.Tensor, shift: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        local = torch.einsum("nij,mj->nmi", turn, points) - shift[:, None]
        return ((local**2).sum(-1) + 1e-6).sqrt().clamp(max=2.0).sum(1)

    inputs = torch.randn(19, 3, 3), torch.randn(19, 3), torch.randn(37, 3)
    specification, found = kernels(distances, *inputs)
    cut = stages(specification.outputs, specification.extents)
    assert [len(stage.axes) for stage in cut] == [1] and len(found.kernels) == 1
    _, found = kernels(lambda x, w: (x @ w).tanh().sum(-1), torch.randn(19, 5), torch.randn(5, 37))
    assert len(found.kernels) == 2


def test_functions_of_pairs_lie_as_they_are_summed() -> None:
    """An injection of power: angles of all pairs, beside a matrix that is read along the same axis."""
    def injection(angle: torch.Tensor, size: torch.Tensor, g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        apart = angle[:, :, None] - angle[:, None]
        both = size[:, :, None] * size[:, None]
        return (both * (g * apart.cos())).sum(-1), (both * (g * apart.cos() - apart.sin())).sum(-1)

    inputs = torch.randn(3, 40), torch.rand(3, 40), torch.randn(40, 40)
    _, found = kernels(injection, *inputs)
    assert not any("gather<" in function(kernel, LANES) for kernel in found.kernels)
    written = {buffer.name for kernel in found.kernels for buffer in kernel.writes if len(buffer.shape) == 3}
    assert len(found.kernels) == 1 and not written           # both take the same cosines, of a row that stays near


def parts(x: torch.Tensor) -> list[torch.Tensor]:
    return [x[..., 0].exp(), x[..., 1] * x[..., 0], x[..., 1].sin() - 2, x[..., 0] + 3]


@pytest.mark.parametrize("few", [2, 3, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_few_numbers_are_made_in_lanes_and_stored_beside_one_another(few: int, dtype: torch.dtype) -> None:
    """Complex numbers and coordinates: lanes run along the points, of which there are some at a ragged end."""
    x = torch.randn(3, 45, 2, generator=torch.Generator().manual_seed(few)).to(dtype)
    specification = read(capture(lambda x: torch.stack(parts(x)[:few], -1), (x,)))
    found = native(specification, untimed).program
    (kernel,) = found.kernels
    assert "beside(" in function(kernel, LANES)
    run = compile_program(found, specification.arguments, [], [output.name for output in specification.outputs])
    (mine,), own = run(x), torch.stack(parts(x)[:few], -1)
    near = 1e-2 if dtype is torch.bfloat16 else 1e-5
    torch.testing.assert_close(mine.view(own.shape), own, rtol=near, atol=near)
    assert mine.dtype == dtype and not torch.isnan(mine).any()


def test_whether_few_numbers_are_shuffled_is_measured() -> None:
    """It is beside the nest that makes them one by one, and none of the two is cut for the other."""
    specification = read(capture(lambda x: torch.stack(parts(x), -1), (torch.randn(45, 2),)))
    tried = list[int]()

    def tune(programs: Sequence[Program], sizes: Mapping[str, int], share: float) -> Tuned:
        tried.append(len(programs))
        return untimed(programs, sizes, share)

    native(specification, tune)
    assert tried == [2]


def test_short_sums_of_points_run_in_lanes_of_points() -> None:
    """A unit vector: its length is a sum of three squares, which lanes take for as many points at once."""
    points = torch.randn(150, 3)
    _, found = kernels(lambda x: x / (x.norm(dim=-1, keepdim=True) + 1e-3), points)
    (kernel,) = found.kernels
    text = function(kernel, LANES)
    assert "beside(" in text and "across<" not in text
    specification, found = kernels(lambda w, x: x @ w.t(), torch.randn(64, 3), points)
    assert all(stage.folds for stage in stages(specification.outputs, specification.extents))       # a matmul


@pytest.mark.parametrize("program", [
    lambda a, b: torch.stack([torch.sin(a * a).float(), torch.cos(b) * b], -1),
    lambda a, b: torch.stack([a.float(), torch.ones_like(b), b * 2], -1),
    lambda a, b: torch.stack([a.bfloat16(), (b * 2).bfloat16()], -1),
    lambda a, b: (a * 3).bfloat16(),
])
def test_numbers_of_several_kinds_beside_one_another(program: Callable[..., Any]) -> None:
    """They are computed in lanes of float and of double, and stored one by one."""
    a, b = torch.randn(40, dtype=torch.float64), torch.randn(40)
    specification = read(capture(program, (a, b)))
    found = native(specification, untimed).program
    run = compile_program(found, specification.arguments, [], [output.name for output in specification.outputs])
    wanted = program(a, b)
    torch.testing.assert_close(run(a, b)[0].view(wanted.shape), wanted, rtol=1e-2, atol=1e-5)


@pytest.mark.parametrize("program", [
    lambda turn, points: torch.einsum("nkl,ml->nmk", turn, points).abs().mean(-1).sin().sum(0),
    lambda turn, points: torch.einsum("nkl,ml->nmk", turn, points).sin().var(-1).sum(1),
])
def test_short_sums_stay_where_they_are_not_proved_or_too_many_in_one_another(program: Callable[..., Any]) -> None:
    """A mean over a short axis has its length in it; a variance has a mean in each of its terms."""
    kernels(program, torch.randn(17, 4, 4), torch.randn(20, 4))


def test_short_sums_of_steps_stay_sums() -> None:
    """Each step reads the one before twice: written out in all that follow there would be more with every step."""
    def steps(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        for _ in range(10):
            y = torch.einsum("nj,jk->nk", x, turn)
            x = (x + y) / (1 + (x - y).abs())
        return (x * x).sum(-1)

    specification = read(capture(steps, (torch.randn(150, 3), torch.randn(3, 3))))
    assert len(stages(specification.outputs, specification.extents)) == 20


@pytest.mark.parametrize("length, taps", [(40, 7), (75, 31)])
def test_windows_stand_side_by_side_in_lanes(length: int, taps: int) -> None:
    """Channels run in rows; what slides is by itself, and the norm of what it gives reads a row."""
    w = torch.randn(12, 1, taps, generator=torch.Generator().manual_seed(1))

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(F.conv1d(x, w, groups=12).mT, (12,))

    _, found = kernels(program, torch.randn(2, 12, length), w)
    sums = [(kernel, s) for kernel in found.kernels for s in statements(kernel.body) if isinstance(s, Accumulate)]
    (kernel, slid), = [(kernel, s) for kernel, s in sums if s.target.shape]
    (lanes,) = [s for s in statements(kernel.body) if isinstance(s, Loop) and s.kind == "vector" and slid in
                statements(s.body)]
    place = next(e for e in expr_walk(slid.value) if isinstance(e, Load) and e.leaf.name != "w").indices[-1]
    assert lanes.variable in place.free and len(place.free) > 1


def test_rows_of_a_tile_are_near() -> None:
    """Of rows and columns of an image the tiles are of columns, which are a row of the left operand apart."""
    specification = read(capture(lambda x, w: x @ w, (torch.randn(2, 9, 9, 16), torch.randn(16, 32))))
    space = Space(specification, stages(specification.outputs, specification.extents))
    (several,) = alternatives(space)
    *_, near, column = space.stages[0].axes
    tiles = [tile for each in several if each.map == f"lanes along {column}" for tile in each.program.tiles]
    assert [tile.of for tile in tiles if tile.role == "rows"] == [space.size(near)]
