"""Tables: what nothing but numbers makes is worked out once, and what is made of tables comes before a look-up in them
where a table is smaller; images are resized with both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.optimize.compiled_programs import untimed
from torch import nn
from torch.nn import functional as F

from optimize.agreeing import agree, proved
from optimize.looking_up import integers, ints, reals
from optimize.named import worked_out
from samesame.capture import capture
from samesame.optimize import faithful, native, segments
from samesame.optimize.algebra import specified
from samesame.optimize.constants import constants
from samesame.optimize.forms import load, walk
from samesame.optimize.guard import guarded
from samesame.optimize.partition import stages
from samesame.optimize.read import read
from samesame.optimize.specification import Tensor, are_places

Resize = Callable[[torch.Tensor], torch.Tensor]
BILINEAR = {"mode": "bilinear", "align_corners": False}


def resized(**settings: Any) -> Resize:
    return lambda x: F.interpolate(x.relu(), **settings).sigmoid()


# ------------------------------------------------------------------------------------------------ constants


@pytest.mark.parametrize("settings", [
    {"scale_factor": 2, **BILINEAR}, {"size": (7, 13), **BILINEAR}, {"size": (3, 4), **BILINEAR},
    {"scale_factor": 1.5, "mode": "bilinear", "align_corners": True}, {"scale_factor": 2, "mode": "nearest"},
    {"size": (11, 3), "mode": "nearest-exact"}, {"scale_factor": 3, "mode": "bicubic", "align_corners": False},
], ids=str)
def test_an_image_is_resized_without_a_call(settings: dict[str, Any], tmp_path: Path) -> None:
    agree(resized(**settings), reals(1, 2, 5, 6), folder=tmp_path)


@pytest.mark.parametrize("settings", [{"size": (4, 5), **BILINEAR}, {"scale_factor": 2, "mode": "nearest"}], ids=str)
def test_that_its_form_is_what_it_computes_is_proved(settings: dict[str, Any]) -> None:
    assert proved(resized(**settings), reals(1, 1, 2, 3))


def test_kernels_of_a_resized_image_go_through_no_integers_first() -> None:
    """The places are known, so nothing has to be asked of them."""
    program = resized(size=(4, 9), **BILINEAR)
    specification = read(capture(program, (reals(1, 2, 3, 6),)))
    assert not specification.looked and not guarded(specification, ())[2]
    kernels = native.native(specification, untimed)
    assert not any("guard" in kernel.name for kernel in kernels.program.kernels)


class Held(nn.Module):
    """Numbers that a module holds may change; those that it writes down may not."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.plain = nn.Parameter(torch.ones(3)), torch.tensor([2.0, 0.0, 1.0])
        self.register_buffer("places", torch.tensor([2.0, 0.0, 1.0]))

    def forward(self, x: torch.Tensor) -> Any:
        own = torch.arange(3).float() * 0.5
        return x[own.long()], x[self.places.long()], x[self.plain.long()], x[self.weight.long()]


def test_a_table_is_of_numbers_alone() -> None:
    graph = capture(Held(), (reals(5, 2),))
    made = {graph[name].operator for name in constants(graph)}
    held = {node for node in graph.nodes if node.origin.parameter}
    assert "aten._to_copy.default" in made and not any(graph[name] in held for name in constants(graph))
    called = [call.operator for call in read(graph).calls]
    assert called.count("aten._to_copy.default") == 3


def test_memory_that_nothing_has_written_to_is_no_table() -> None:
    program: Resize = lambda x: x[(torch.arange(3) * 1.0).long()] * torch.empty(2).fill_(2.0)  # noqa: E731
    graph = capture(program, (reals(5, 2),))
    assert not any("empty" in graph[name].operator for name in constants(graph))
    assert not read(graph).calls


def test_a_large_table_stays_a_call() -> None:
    program: Resize = lambda x: x[(torch.arange(2000) * 0.5).long() % 5]  # noqa: E731
    assert any("copy" in call.operator for call in read(capture(program, (reals(5, 2),))).calls)


def test_only_what_no_form_says_begins_a_table() -> None:
    """A mask by positions stays one, for all sizes."""
    program: Resize = lambda x: x * (torch.arange(4)[:, None] >= torch.arange(4)) + torch.arange(4).float().exp()  # noqa: E731
    specification = read(capture(program, (reals(4, 4),)))
    assert set(specification.tensors) == set(specification.arguments) and not specification.calls


@pytest.mark.parametrize(("table", "are"), [([0, 4], True), ([[4], [1]], True), ([5], False), ([-1], False)])
def test_places_are_all_within(table: Any, are: bool) -> None:
    tensors = {"i": Tensor("i", (2,), "int64", "weight", "", table), "j": Tensor("j", (2,), "int64", "input")}
    assert are_places(load("i", "k"), 5, tensors) == are and not are_places(load("j", "k"), 5, tensors)


def test_a_place_from_the_end_is_counted_from_there(tmp_path: Path) -> None:
    agree(lambda x: x[(torch.arange(3) * -1.0).long()], reals(5, 2), folder=tmp_path)


# ------------------------------------------------------------------------------------------------ before a look-up


def look_ups(program: Callable[..., Any], *inputs: torch.Tensor) -> list[str]:
    """What is looked up in, by the operators that make it, outermost first."""
    (output,) = read(capture(program, inputs)).outputs
    return [x.arguments[0].operator for x in reversed([*walk(output.form)]) if x.operator == "lookup"]


def test_a_mean_of_columns_is_taken_before_rows_are_looked_up() -> None:
    """Two rows of a table for each pixel; and each of these once, whichever of the two it is."""
    found = look_ups(lambda x: F.interpolate(x, size=(32, 8), **BILINEAR), reals(1, 2, 4, 8))
    assert found.count("plus") == 2 and found.count("load") == 2


@pytest.mark.parametrize(("program", "inputs"), [
    (lambda x, y, i, j: x[i] + y[j], (reals(3, 4), reals(3, 4), ints(3, 20), ints(3, 20))),      # at other places
    (lambda x, y, i: x[i] + y[i], (reals(9, 4), reals(9, 4), ints(9, 3))),                       # of more than are read
    (lambda x, y, i: x[i] * y, (reals(3, 4), reals(20, 4), ints(3, 20))),                        # by what is as long
    (lambda x, i: x[i] * 2, (reals(3, 4), ints(3, 20))),                                         # of one alone
    (lambda x, y, i: x[i] + y[i], (ints(9, 3, 4), ints(9, 3, 4), ints(3, 20))),                  # of integers
    (lambda x, y, i: (x[i] < y[i]).float(), (reals(3, 4), reals(3, 4), ints(3, 20))),            # of truths
])
def test_what_computes_no_fewer_stays_behind(program: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> None:
    assert set(look_ups(program, *inputs)) == {"load"}


def test_what_is_looked_up_in_two_tensors_is_made_of_these() -> None:
    def program(x: torch.Tensor, y: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return (x.index_select(0, i) + y.index_select(0, i)) * x.sum(0)

    assert look_ups(program, reals(3, 4), reals(3, 4), ints(3, 20)) == ["times"]


@st.composite
def combined(draw: Any) -> tuple[Callable[..., Any], tuple[torch.Tensor, ...]]:
    """Sums and products of look-ups in several tensors at one or two places, and of numbers beside these."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    block = draw(st.lists(st.integers(1, 6), min_size=1, max_size=2))
    step = st.tuples(st.sampled_from("+*-"), st.integers(0, 1), st.integers(0, 1))
    steps = draw(st.lists(step, min_size=1, max_size=4))
    beside = draw(st.booleans())

    def program(x: torch.Tensor, y: torch.Tensor, i: torch.Tensor, j: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
        found = x[i]
        for operator, tensor, place in steps:
            other = (x, y)[tensor][(i, j)[place]]
            found = found + other if operator == "+" else found * other if operator == "*" else other - found
            found = found * own if beside else found
        return found

    return program, (reals(rows, columns), reals(rows, columns).sin(), integers(draw, -rows, rows, *block),
                     integers(draw, -rows, rows, *block), reals(columns))


@settings(deadline=None, max_examples=40)
@given(program=combined())
def test_what_comes_before_a_look_up_makes_no_difference(program: Any) -> None:
    function, tensors = program
    graph = capture(function, tensors)
    specification = read(graph)
    (output,) = specification.outputs
    given = dict(zip(specification.arguments, tensors, strict=True))
    mine = worked_out(output.form, {**graph.tensors, **given}, specification.extents, output.dims)
    torch.testing.assert_close(mine, function(*tensors).double(), rtol=1e-4, atol=1e-4)


# ------------------------------------------------------------------------------------------------ beside calls


class Labelled(nn.Module):
    """Look-ups at data, in a contraction that gives their axes other names, before a call."""

    def forward(self, x: torch.Tensor, w: torch.Tensor, i: torch.Tensor) -> Any:
        found = torch.einsum("bqc,bqn->bcn", w, x[:, :, i].sigmoid())
        return found, found.max(1).indices


def test_an_index_under_other_names_is_looked_up_at_all_the_same() -> None:
    """Else look-ups would stay calls wherever a contraction stands beside a call."""
    module, tensors = Labelled(), (reals(1, 5, 6), reals(1, 5, 3), ints(6, 9))
    graph = capture(module, tensors)
    whole = specified(module, tensors, graph)
    assert segments.has_calls(whole) and whole.looked and not whole.is_guarded_alone


def test_a_table_that_no_form_reads_is_none() -> None:
    graph = capture(lambda x: x[(torch.arange(3) * 1.0).long().clamp(0, 2)], (reals(5, 2),))
    specification = read(graph)
    assert len(specification.tensors) == 2
    assert faithful.faithful(graph, specification, [root.form for root in specification.roots()]) == ()


# ------------------------------------------------------------------------------------------------ of one table


def test_single_elements_of_a_table_that_is_computed_are_read_there(tmp_path: Path) -> None:
    """Rows of it are no tensor of their own: the products of all pairs, of which half are returned."""
    def program(x: torch.Tensor) -> torch.Tensor:
        i, j = torch.triu_indices(5, 5, 1)
        return (x @ x.transpose(1, 2))[:, i, j]

    agree(program, reals(3, 5, 4), folder=tmp_path)
    specification = read(capture(program, (reals(3, 5, 4),)))
    made = stages(specification.outputs, specification.extents)
    assert len(made) == 2 and len(made[0].axes) == 3 and not native.native(specification, untimed).program.kernels[2:]


def test_integers_are_looked_through_once() -> None:
    """Whatever is looked up at them, and however often."""
    program = lambda x, y, i: torch.cat([x[i] * y[i], x[i].exp() + y[i]], 1)  # noqa: E731
    specification = read(capture(program, (reals(9, 4), reals(9, 4), ints(9, 3))))
    (guard,) = guarded(specification, ())[2]
    assert len(guard.folds) == 1
