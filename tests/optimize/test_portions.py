"""What is kept once and read in portions, under other names, in two digits: which axes those are, that it is computed
once, and that the kernels compute what torch does."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.optimize.compiled_programs import compile_program, untimed
from torch import nn

from samesame.capture import capture
from samesame.optimize.algebra import specified
from samesame.optimize.forms import Form, Part, Place, fn, fold, load, number, plus, times
from samesame.optimize.names import Digests, digits, places_of
from samesame.optimize.native import in_stages, native
from samesame.optimize.partition import stages
from samesame.optimize.portions import Held
from samesame.optimize.specification import Output

EXTENTS = {"a": 2, "b": 3, "c": 6, "d": 4}
PAIR = Part("a", 1, ("b",)), Part("b")
PLACES = st.one_of(
    st.builds(lambda parts, offset: Place(parts, offset), st.sampled_from([
        PAIR, (Part("a", 4, ("b",)), Part("b", 4), Part("d")), (Part("a"),), (Part("b"),), (Part("d"),), (),
        (Part("b", 1, ("d",)), Part("d")), (Part("a", 3), Part("b")), (Part("a", 2), Part("b")),
        (Part("b", 2), Part("a")),
    ]), st.integers(0, 3)),
    st.just(Place(PAIR, 0, ("d",))))


def value(place: Place, at: dict[str, int]) -> int:
    return place.offset + sum(EXTENTS[a] for a in place.past) + sum(
        part.factor * prod(EXTENTS[a] for a in part.over) * at[part.axis] for part in place.parts)


@given(st.lists(PLACES, min_size=1, max_size=3), st.booleans())
def test_two_digits_count_one_axis(places: list[Place], counted: bool) -> None:
    """Wherever both stand, the place is that of the second axis where it counts to the product of both."""
    form = plus(*(load(f"x{k}", place) for k, place in enumerate(places)), *([number(1, (("b", 1),))] * counted))
    found = list(digits(form, EXTENTS.__getitem__))
    assert not (counted and found)
    for high, low in found:
        for place in places_of(form):
            for a, b, d in product(range(EXTENTS[high]), range(EXTENTS[low]), range(2)):
                rest = dict.fromkeys(EXTENTS, d)
                both = {**rest, high: a, low: b}
                assert value(place, both) == value(place, {**rest, high: 0, low: a * EXTENTS[low] + b})
    pure = [place for place in places if {"a", "b"} & {*place.axes}]
    if not counted and pure and all(place.parts == PAIR and not place.past for place in pure):
        assert ("a", "b") in found


@pytest.mark.parametrize(("form", "found"), [
    (load("x", Place((Part("a", 1, ("b",)), Part("b"))), "d"), "kept[a·|b| + b, d]"),
    (load("x", Place((Part("b", 1, ("a",)), Part("a"))), "d"), "kept[b·|a| + a, d]"),
    (load("x", Place((Part("a", 2), Part("b"))), "d"), None),               # some places twice, and others not
    (load("x", Place((Part("a", 1, ("b",)), Part("b")), 1), "d"), None),    # one beyond the end
    (load("x", "d", "c"), None),
])  # fmt: skip
def test_what_is_held_is_read_in_two_digits(form: Form, found: str | None) -> None:
    held = Held(Digests(EXTENTS.__getitem__))
    held.add(load("x", "c", "d"), "kept", ("c", "d"))
    assert (held.portion(form) and str(held.portion(form))) == found


class Grouped(nn.Module):
    """Queries with a norm, whose heads share keys in groups, part of each turned by an angle."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(24, 4 * 8, bias=False), nn.Linear(24, 2 * 8, bias=False)

    def turned(self, x: torch.Tensor, cos: torch.Tensor) -> torch.Tensor:
        return torch.cat([x[..., :4] * cos, x[..., 4:]], -1)

    def forward(self, x: torch.Tensor, cos: torch.Tensor) -> torch.Tensor:
        q, k = (layer(x).view(5, -1, 8).transpose(0, 1) for layer in (self.q, self.k))
        q = q * torch.rsqrt(q.square().mean(-1, keepdim=True) + 1e-6)
        q, k = self.turned(q, cos), self.turned(k, cos)
        return torch.tanh(q @ k.repeat_interleave(2, 0).transpose(1, 2))


def hidden(column: str) -> Form:
    return fn("tanh", fold("sum", "k", times(load("x", "m", "k"), load("w", column, "k"))))


def test_a_portion_that_comes_first_is_read_of_the_whole() -> None:
    """Of four columns, three are asked for first."""
    part, whole = (Output(name, fold("sum", p, times(hidden(p), load(name + "v", p, "n"))), (("m",), ("n",)), "float32")
                   for name, p in (("y", "p"), ("z", "q")))
    for outputs in ((part, whole), (whole, part)):
        found = stages(outputs, {"m": 5, "k": 6, "n": 7, "p": 3, "q": 4})
        assert [stage.axes for stage in found if "w" in stage.reads] == [("m", "q")]


class InTwoWays(nn.Module):
    """Columns in eights for scores, in sixteens for a norm, and as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(12, 32, bias=False)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = self.q(x)
        heads, wide = y.view(5, 4, 8), y.view(5, 2, 16)
        return torch.tanh(torch.einsum("mhd,nhd->hmn", heads, heads)), torch.rsqrt(wide.square().mean(-1) + 1e-6), y


class GroupsFirst(nn.Module):
    """Scores group by group, under a norm of each head, and then what heads hold: no proof has both in one tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(24, 32, bias=False), nn.Linear(24, 16, bias=False)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = self.q(x)
        q, k = y.view(5, 2, 2, 8), self.k(x).view(5, 2, 8)
        beside = q.square().sum(-1).permute(1, 2, 0)[..., None]
        return torch.einsum("igrd,jgd->grij", q, k) / (1 + beside), y.view(5, 4, 8).square().sum(-1)


def computed(program: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    """That kernels are proved, and compute what torch does."""
    specification = specified(program, inputs, capture(program, inputs))
    whole, kept = in_stages(specification, [output.form for output in specification.roots()])
    made = native(whole, untimed, kept)
    names, outputs = [whole.named(role) for role in ("input", "weight")], whole.outputs
    run = compile_program(made.program, *names, [output.name for output in outputs])
    tensors = {**dict(zip(names[0], inputs, strict=True)), **dict(program.named_parameters())}
    with torch.no_grad():
        found, expected = run(*(tensors[each] for each in run.arguments)), program(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for result, wanted, output in zip(found, expected, outputs, strict=True):
        torch.testing.assert_close(result.as_strided(*made.layout(output)), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("program", "widths"), [(Grouped, (24, 4)), (InTwoWays, (12,)), (GroupsFirst, (24,))])
def test_what_is_read_in_digits_is_computed_as_torch_does(program: type[nn.Module], widths: tuple[int, ...]) -> None:
    computed(program(), tuple(torch.randn(5, width) for width in widths))


def test_heads_in_groups_are_projected_once() -> None:
    program, inputs = Grouped(), (torch.randn(5, 24), torch.randn(5, 4))
    specification = specified(program, inputs, capture(program, inputs))
    found = stages(specification.outputs, specification.extents, specification.named("weight"))
    assert sum("q.weight" in stage.reads for stage in found) == 1
