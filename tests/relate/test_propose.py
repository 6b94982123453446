"""Proposals: agreement of values up to a layout is found whatever the layout, and broken by one different element."""

from itertools import permutations
from math import inf, isfinite, isnan, nan

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samesame.formula.expr import Size
from samesame.relate import propose
from samesame.relate.layout import Permute, Reshape, Whole, over_symbols, takes_all, values
from samesame.relate.propose import Proposer, agree, difference


def two_draws(make):
    generators = [torch.Generator().manual_seed(k) for k in (0, 1)]
    return [{"x": make(torch.randn(2, 3, 5, 7, dtype=torch.float64, generator=g))} for g in generators]


REARRANGED = {
    "as it is": lambda x: x,
    "tokens by features": lambda x: x.permute(0, 2, 1, 3).reshape(10, 21),
    "flat": lambda x: x.reshape(-1),
    "with a size of one": lambda x: x[None],
    **{f"permuted {p}": (lambda x, p=p: x.permute(p)) for p in permutations(range(4))},
}


@pytest.mark.parametrize("rearrange", REARRANGED.values(), ids=REARRANGED)
@pytest.mark.parametrize("fine", ["left", "right"])
def test_every_rearrangement_is_found(rearrange, fine):
    whole, moved = two_draws(lambda x: x.contiguous()), two_draws(lambda x: rearrange(x).contiguous())
    left, right = (whole, moved) if fine == "left" else (moved, whole)
    found = Proposer(left, {"x": left[0]["x"].numel()}).candidates(right, "x", tuple(right[0]["x"].shape))
    assert found
    for k in (0, 1):
        assert torch.equal(values(found[0][1], left[k].__getitem__), right[k]["x"])


INSIDE = {
    "the two of each pair in two halves": lambda x: x.unflatten(-1, (3, 2)).transpose(-1, -2).flatten(-2),
    "and heads before tokens": lambda x: x.unflatten(-1, (3, 2)).permute(0, 2, 1, 4, 3).flatten(-2),
    "from the other end": lambda x: x.flip(2),
}


@pytest.mark.parametrize("rearrange", INSIDE.values(), ids=INSIDE)
def test_an_order_inside_a_dimension_is_found(rearrange):
    left = two_draws(lambda x: x[..., :6].contiguous())
    right = [{"x": rearrange(draw["x"]).contiguous()} for draw in left]
    [(name, layout)] = Proposer(left, {"x": left[0]["x"].numel()}).candidates(right, "x", tuple(right[0]["x"].shape))
    assert name == "x" and takes_all(layout)
    for k in (0, 1):
        assert torch.equal(values(layout, left[k].__getitem__), right[k]["x"])


@pytest.mark.parametrize(("dims", "number"), [((0, 1), 2), ((1, 2), 2), ((0, 1, 2), 4)])
def test_a_symmetric_tensor_has_a_layout_for_each_exchange(dims, number):
    """K·K of a rotation's K is symmetric, and proofs that do not look into K know one order only."""
    def make(x):
        cube = x.reshape(-1)[:64].reshape(4, 4, 4)
        return sum(cube.permute(tuple(dims[other.index(d)] if d in dims else d for d in range(3)))
                   for other in permutations(dims))

    left = two_draws(make)
    found = Proposer(left, {"x": 64}).candidates(left, "x", (4, 4, 4))
    assert len(found) == number == len(set(found)) and found[0] == ("x", Whole("x"))
    assert all(torch.allclose(values(layout, draw.__getitem__), draw["x"]) for _, layout in found for draw in left)


def test_equal_elements_tell_no_order():
    left = two_draws(lambda x: x[..., :6].relu())
    right = [{"x": INSIDE["from the other end"](draw["x"])} for draw in left]
    assert Proposer(left, {"x": left[0]["x"].numel()}).candidates(right, "x", (2, 3, 5, 6)) == []


def test_an_order_inside_a_dimension_over_symbols():
    batch, width = Size("B", 2), Size("C", 2)
    inside = Reshape(Permute(Reshape(Whole("x"), (3, 5, 4, 2)), (0, 1, 3, 2)), (3, 5, 8))
    over = Reshape(Permute(Reshape(Whole("x"), (batch, 5, 4, 2)), (0, 1, 3, 2)), (batch, 5, 8))
    assert over_symbols(inside, (batch, 5, 8), (batch, 5, 8)) == over
    assert over_symbols(inside, (batch, 5, width), (batch, 5, width)) is None
    both = Reshape(Permute(Reshape(Whole("x"), (4, 2, 4, 2)), (1, 0, 3, 2)), (8, 8, 1))
    assert over_symbols(both, (8, 8, batch), (8, 8, batch)) is None         # one batch of the example has no digit


def test_one_different_element_on_one_draw_is_no_candidate():
    left, right = two_draws(lambda x: x), two_draws(lambda x: x.clone())
    right[0]["x"][1, 2, 3, 4] += 1e-3
    assert Proposer(left, {"x": left[0]["x"].numel()}).candidates(right, "x", (2, 3, 5, 7)) == []


def test_a_tensor_that_is_the_same_everywhere_is_no_candidate():
    ones = [{"x": torch.ones(3, 4, dtype=torch.float64)}] * 2
    assert Proposer(ones, {"x": 12}).candidates(ones, "x", (3, 4)) == []


def test_agreement_wants_infinities_in_place_and_kinds_alike():
    inf = float("-inf")
    assert agree(torch.tensor([1.0, inf]), torch.tensor([1.0, inf]))
    assert not agree(torch.tensor([1.0, inf]), torch.tensor([inf, 1.0]))
    assert not agree(torch.tensor([1.0, inf]), torch.tensor([1.0, float("inf")]))
    assert not agree(torch.tensor([True]), torch.tensor([1.0]))
    nan = float("nan")
    assert difference(torch.tensor([1.0, nan]), torch.tensor([nan, 1.0])) == float("inf")
    assert difference(torch.tensor([inf, 1.0]), torch.tensor([nan, 1.0])) == float("inf")
    assert difference(torch.tensor([1.0, nan]), torch.tensor([1.0, nan])) == 0


FLOATS = st.sampled_from([0.0, -0.0, 1.0, -3.5, 1e-300, 1e200, -1e200, 1.7e308, inf, -inf, nan])


@given(st.lists(st.tuples(FLOATS, FLOATS), max_size=9), st.integers(1, 4), st.booleans())
def test_a_difference_is_what_it_is_called(pairs, at_once, same):
    """Whatever is not a number where, and in however many pieces it is looked at."""
    a = torch.tensor([x for x, _ in pairs], dtype=torch.float64)
    b = a.clone() if same else torch.tensor([y for _, y in pairs], dtype=torch.float64)
    both = [(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True) if isfinite(x) and isfinite(y)]
    in_place = all(x == y or (isnan(x) and isnan(y)) or (isfinite(x) and isfinite(y))
                   for x, y in zip(a.tolist(), b.tolist(), strict=True))
    scale = max((abs(z) for pair in both for z in pair), default=0.0)
    expected = inf if not in_place else max((abs(x - y) for x, y in both), default=0.0) / scale if scale else 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propose, "_AT_ONCE", at_once)
        assert difference(a, b) == expected
