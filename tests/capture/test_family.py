"""A family says which sizes vary, which stay numbers and why; its member at any sizes is the program captured there."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.capture.sizes.family import Family, family
from samesame.evidence import Refused
from samesame.formula.sizes import size_text
from samesame.graph import at
from samesame.graph.text import text_form
from samesame.operators.execute import execute


def ones(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def found(program, *inputs, other=None, tied=False, **known) -> Family:
    """The family of a program and another (by default itself)."""
    example = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], dict) else inputs

    def record(given):
        return capture(program, given, name="left"), capture(other or program, given, name="right")

    return family(program, example, record, record(example), tied=tied, **known)


@cache
def by_size(program) -> Family:
    """The family of a program that depends on `x.shape[0]`, of two inputs."""
    return found(program, ones(5, 3), ones(5, 1))


def varying(program, *inputs, **options) -> list[str]:
    return [str(v) for v in found(program, *inputs, **options).varying]


def reason(both: Family, place: str) -> str:
    """Why a place stayed a number."""
    (told,) = [line for line in both.fixed if line.startswith(place)]
    return told


# ------------------------------------------------------------------------------------------------ which sizes there are


def test_every_size_that_the_programs_let_vary_is_a_symbol():
    assert varying(lambda x: x.sin() + 1, ones(4, 6)) == ["B = x.shape[0] ≥ 2", "T = x.shape[1] ≥ 2"]


def test_sizes_that_are_equal_by_chance_vary_apart_and_together_only_if_they_must():
    assert varying(lambda x: x.sin(), ones(4, 4)) == ["B = x.shape[0] ≥ 2", "T = x.shape[1] ≥ 2"]
    assert varying(lambda x: x @ x, ones(4, 4)) == ["B = x.shape[0] = x.shape[1] ≥ 2"]
    assert varying(lambda x, y: x + y, ones(4), ones(4)) == ["B = x.shape[0] = y.shape[0] ≥ 2"]


def test_equal_sizes_may_be_asked_to_vary_together():
    assert varying(lambda x: x.sin(), ones(4, 4), tied=True) == ["B = x.shape[0] = x.shape[1] ≥ 2"]


def test_equal_sizes_of_one_dimension_vary_apart_from_those_of_another():
    told = varying(lambda x, y: x + y, ones(4, 4), ones(4, 4))
    assert told == ["B = x.shape[0] = y.shape[0] ≥ 2", "T = x.shape[1] = y.shape[1] ≥ 2"]


def test_a_size_that_must_be_a_multiple_is_one():
    (one,) = found(lambda x: x.view(-1, 4).sum(0), ones(8)).varying
    assert (one.step, one.value, size_text(one.size)) == (4, 8, "4·B")
    assert str(one) == "4·B = x.shape[0] ≥ 8"


def in_groups(x, weight):
    return x.view(len(x), -1, 24).sum(-1).repeat(1, 24) * weight


def test_a_size_that_is_divided_by_a_number_is_tried_as_a_multiple_of_it_in_all_places_at_once():
    example = ones(3, 48), ones(48)
    divided = {("x", 1): 24, ("weight", 0): 24}
    assert varying(in_groups, *example) == ["B = x.shape[0] ≥ 2"]
    assert varying(in_groups, *example, divided=divided) == [
        "B = x.shape[0] ≥ 2", "24·T = x.shape[1] = weight.shape[0] ≥ 48",
    ]
    assert varying(in_groups, *example, divided={("x", 1): 16}) == ["B = x.shape[0] ≥ 2"]


def test_a_size_of_which_only_multiples_are_the_same_program_is_one():
    def program(x):
        return x.sin() if x.shape[0] % 2 == 0 else x.cos()

    assert varying(program, ones(8)) == ["2·B = x.shape[0] ≥ 4"]
    assert varying(program, ones(9)) == []


def test_one_size_is_enough_to_tell_a_difference_from_a_number():
    (root,) = {root.type for graph in found(lambda x: x[2:], ones(7)).graphs for _, root in graph.roots}
    assert str(root) == "float64[B − 2]"


def test_what_one_program_fixes_is_fixed_for_both():
    left, right = (lambda x: x * 2), (lambda x: x * torch.full((5,), 2.0, dtype=torch.float64))
    assert not found(left, ones(5), other=right).varying and not found(right, ones(5), other=left).varying


def test_inputs_may_be_nested():
    def program(states, pair, *, scale):
        return states["a"][0] * scale + pair[1]

    example = {"states": {"a": [ones(3, 4)]}, "pair": (1, ones(4)), "scale": ones(3, 1)}
    assert varying(program, example) == [
        "B = states.a.0.shape[0] = scale.shape[0] ≥ 2",
        "T = states.a.0.shape[1] = pair.1.shape[0] ≥ 2",
    ]


def test_a_tensor_that_is_given_twice_is_two_inputs():
    one = ones(5)
    assert varying(lambda x, y: x.sum() + y.sum(), one, one) == ["B = x.shape[0] ≥ 2", "T = y.shape[0] ≥ 2"]
    graphs = found(lambda x, y: x.sum() + y.sum(), one, one).graphs
    assert [str(node.type) for node in graphs[0].sources("input")] == ["float64[B]", "float64[T]"]


def test_integers_stay_in_their_domain_and_flags_are_inputs_too():
    table = nn.Embedding(11, 4)
    told = varying(
        lambda ids, keep: table(ids) * keep[:, None], torch.tensor([10, 0, 7]), torch.tensor([True, False, True])
    )
    assert told == ["B = ids.shape[0] = keep.shape[0] ≥ 2"]


def test_a_buffer_stays_as_large_as_it_is():
    class Positions(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", ones(32, 3))

        def forward(self, x):
            return x + self.table[: x.shape[0]]

    assert varying(Positions(), ones(5, 3)) == ["B = x.shape[0] ≥ 2"]
    assert "must match" in reason(found(Positions(), ones(5, 3)), "x.shape[1]")


# ----------------------------------------------------------------------------------------------------- what stays fixed


def chosen_input(x, y):
    return (x if x.shape[0] == 5 else y) * 3


def chosen_tensor(x, y):
    first, second = x.sin(), x.cos()
    return first if x.shape[0] == 5 else second


def outputs_change_places(x, y):
    first, second = x.sin(), x.cos()
    return (first, second) if x.shape[0] == 5 else (second, first)


def outputs_change_names(x, y):
    return {"a": x.sin(), "b": y.cos()} if x.shape[0] == 5 else {"b": x.sin(), "a": y.cos()}


def fewer_outputs(x, y):
    first, second = x.sin(), y.cos()
    return (first, second) if x.shape[0] == 5 else (first,)


def arguments_change_places(x, y):
    return x - y if x.shape[0] == 5 else y - x


def another_option(x, y):
    return torch.add(x, y) if x.shape[0] == 5 else torch.add(x, y, alpha=2)


def another_mode(x, y):
    return F.gelu(x) if x.shape[0] == 5 else F.gelu(x, approximate="tanh")


def another_operator(x, y):
    return x.sin() if x.shape[0] == 5 else x.cos()


def loop(x, y):
    return sum(x[k] for k in range(x.shape[0]))


def numbers_from_elsewhere(x, y):
    return x * torch.from_numpy(np.ones(3) * x.shape[0])


def is_odd(x, y):
    return x * (2 if x.shape[0] % 2 else 3)


def even_sizes_are_another_program(x, y):
    return x * 2 if x.shape[0] % 2 else x + x


def number_of_parts(x, y):
    return x.split(5)[0]


def another_dtype(x, y):
    return x.to(torch.float64 if x.shape[0] == 5 else torch.float32)


def refuses(x, y):
    assert x.shape[0] == 5
    return x


def leaves(x, y):
    if x.shape[0] != 5:
        sys.exit(3)
    return x


def no_number(x, y):
    return x * (2.0 if x.shape[0] == 5 else float("nan"))


BY_SIZE = [
    chosen_input, chosen_tensor, outputs_change_places, outputs_change_names, fewer_outputs, arguments_change_places,
    another_option, another_mode, another_operator, loop, numbers_from_elsewhere, is_odd,
    even_sizes_are_another_program, number_of_parts, another_dtype, refuses, leaves, no_number,
]  # fmt: skip


@pytest.mark.parametrize("program", BY_SIZE)
def test_a_size_on_which_the_program_depends_otherwise_stays_a_number(program):
    both = by_size(program)
    fixed = {place for v in both.varying for place in v.places}
    assert ("x", 0) not in fixed, both.varying
    assert any("x.shape[0]" in line for line in both.fixed)


class Weights(nn.Module):
    """Two weights and two buffers; `of` chooses among them by size."""

    def __init__(self, of):
        super().__init__()
        self.a, self.b = nn.Parameter(ones(3)), nn.Parameter(ones(3) + 1)
        self.register_buffer("c", ones(3))
        self.register_buffer("d", ones(3) + 1)
        self.of = of

    def forward(self, x):
        return self.of(self, x)


def one_weight(own, x):
    return x * (own.a if x.shape[0] == 5 else own.b)


def two_buffers(own, x):
    first, second = (own.c, own.d) if x.shape[0] == 5 else (own.d, own.c)
    return x * first + (x * second).sin()


def two_weights(own, x):
    first, second = (own.a, own.b) if x.shape[0] == 5 else (own.b, own.a)
    return x * first + (x * second).sin()


def new_weight(own, x):
    own.a = nn.Parameter(own.a.detach() + x.shape[0])
    return x * own.a


@pytest.mark.parametrize("of", [one_weight, two_buffers, two_weights])
def test_a_size_that_chooses_the_weights_stays_a_number(of):
    assert not found(Weights(of), ones(5, 3)).varying


def test_a_weight_that_every_call_makes_anew_is_refused():
    with pytest.raises(Refused, match="keeps something from call to call, so no two runs agree"):
        found(Weights(new_weight), ones(5, 3))


def test_a_fixed_size_comes_with_the_reason():
    first = "x.shape[0]"
    assert "left is another program at x.shape[0] = 7" in reason(by_size(another_operator), first)
    assert "AssertionError" in reason(by_size(refuses), first)
    assert "sys.exit(3)" in reason(by_size(leaves), first)
    assert "the number 2 becomes 3" in reason(by_size(is_odd), first)
    assert "made outside of torch" in reason(by_size(numbers_from_elsewhere), first)


@pytest.mark.parametrize("size", [0, 1])
def test_a_size_of_none_or_one_stays_a_number(size):
    both = found(lambda x: x * 2, ones(size, 3))
    assert [str(v) for v in both.varying] == ["B = x.shape[1] ≥ 2"]
    assert both.fixed == (f"x.shape[0] = {size}: an example in which it is 2 or more would let it vary",)


# --------------------------------------------------------------------------------------------------------------- minima


def test_a_dimension_that_would_vanish_raises_the_minimum():
    assert varying(lambda x: x[2:].sum(1), ones(7, 3)) == ["B = x.shape[0] ≥ 3", "T = x.shape[1] ≥ 2"]


def test_where_nothing_smaller_runs_the_example_is_the_least():
    def program(x):
        assert x.shape[0] >= 5
        return x * 2

    assert varying(program, ones(5)) == ["B = x.shape[0] ≥ 5"]


def test_without_some_symbols_the_numbers_of_the_example_stand_there():
    both = found(lambda x: x.sin(), ones(4, 6))
    less = both.without({"B"}, "so it is")
    assert less.fixed == ("x.shape[0] = 4: so it is",)
    assert str(less.graphs[0].nodes[-1].type) == "float64[4, T]"
    assert [str(v) for v in less.varying] == ["T = x.shape[1] ≥ 2"] and "B" not in less.runs[0]


# -------------------------------------------------------------------------------------------------------------- members


def heads(x, w):
    batch, length, width = x.shape
    q = (x @ w).view(batch, length, 2, width // 2).transpose(1, 2)
    scores = (q @ q.transpose(2, 3)) * (width // 2) ** -0.5
    mask = torch.full((length, length), float("-inf")).triu(1)
    return torch.softmax(scores + mask, -1) @ q


def rolled(x, w):
    return torch.cat([x[:, 1:], x[:, :1]], 1).flatten(0, 1) / x.shape[1]


def strided(x, w):
    return x[:, ::2].sum(-1), torch.arange(x.shape[1] - 1)


PROGRAMS = [
    (heads, (ones(3, 5, 8), ones(8, 8))),
    (rolled, (ones(3, 5, 8), ones(2))),
    (strided, (ones(3, 5, 8), ones(2))),
]


def shares(x, w):
    return x * (0.1 / x.shape[1]) + x[:, 1:2] * (0.3 * x.shape[0] ** -0.5)


PROGRAMS.append((shares, (ones(3, 5, 8), ones(2))))
VALUES = [(0, 0), (3, 1), (9, 4)]


@pytest.mark.parametrize(("program", "inputs"), PROGRAMS)
def test_a_member_is_the_program_at_its_sizes(program, inputs):
    both = found(program, *inputs)
    assert len(both.varying) >= 2
    for more in VALUES:
        values = {v.symbol.name: v.symbol.minimum + more[k % 2] for k, v in enumerate(both.varying)}
        require_member(both, program, inputs, values)


def require_member(both, program, inputs, values):
    shapes = [list(tensor.shape) for tensor in inputs]
    for v in both.varying:
        for name, d in v.places:
            shapes["xw".index(name)][d] = values[v.symbol.name] * v.step
    fresh = tuple(ones(*shape) for shape in shapes)
    member, captured = at(both.graphs[0], values), capture(program, fresh)
    assert [(n.operator, n.type) for n in member.nodes] == [(n.operator, n.type) for n in captured.nodes]
    given = dict(zip("xw", fresh, strict=True))
    wanted = program(*fresh)
    ran = execute(member, {**member.tensors, **given})
    for (_, root), value in zip(member.roots, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        torch.testing.assert_close(ran[root.name], value)


def test_the_member_at_the_example_is_the_capture():
    both = found(rolled, ones(3, 5, 8), ones(2))
    assert text_form(at(both.graphs[0], both.example)) == text_form(
        capture(rolled, (ones(3, 5, 8), ones(2)), name="left")
    )


def test_every_run_is_told():
    runs = found(lambda x: x.sin(), ones(4, 6)).runs
    assert runs[0] == {"B": 4, "T": 6}
    assert {run["B"] for run in runs} > {2, 4} and len(runs) >= 4
    assert len({(run["B"], run["T"]) for run in runs}) == len(runs)
