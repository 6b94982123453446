"""The input relation: however the right side packs the left side's weights, it is found, and the layout rebuilds the
values."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.relate.layout import Whole, values, wholes
from samesame.relate.parameters import Contents, relate_parameters


def weights(seed=0):
    g = torch.Generator().manual_seed(seed)
    shapes = {"q": (12, 7), "k": (4, 7), "v": (4, 7), "o": (7, 12), "e": (3, 5, 7), "norm": (7,)}
    return {name: torch.randn(shape, generator=g) for name, shape in shapes.items()}


PACKINGS = {
    "the same": lambda w: w["q"],
    "transposed": lambda w: w["o"].T.contiguous(),
    "reshaped": lambda w: w["q"].reshape(3, 4, 7),
    "rows of three": lambda w: torch.cat([w["q"], w["k"], w["v"]], 0),
    "columns of transposes": lambda w: torch.cat([w["q"].T, w["k"].T, w["v"].T], 1),
    "a slice of rows": lambda w: w["q"][3:8].clone(),
    "a slice of columns": lambda w: w["q"][:, 2:5].clone(),
    "one expert": lambda w: w["e"][1].clone(),
    "one expert transposed": lambda w: w["e"][2].T.clone(),
    "a stack": lambda w: torch.stack([w["k"], w["v"]]),
    "a stack of concatenations": lambda w: torch.stack([torch.cat([w["k"], w["v"]]), torch.cat([w["v"], w["k"]])]),
    "interleaved rotary pairs": lambda w: w["q"].reshape(2, 2, 3, 7).transpose(1, 2).reshape(12, 7).contiguous(),
}


@pytest.mark.parametrize("packing", PACKINGS.values(), ids=PACKINGS)
def test_packing_is_found_and_the_layout_rebuilds_it(packing):
    left = weights()
    right = {"packed": packing(left)}
    relation = relate_parameters(left, right)
    assert relation.unpaired_right == []
    assert torch.equal(values(relation.layouts["packed"], left.__getitem__), right["packed"])


@pytest.mark.parametrize("packing", PACKINGS.values(), ids=PACKINGS)
def test_one_wrong_element_leaves_it_without_a_partner(packing):
    left = weights()
    packed = packing(left).clone()
    packed[..., -1] += 1
    assert relate_parameters(left, {"packed": packed}).unpaired_right == ["packed"]


def test_equal_values_are_told_apart_by_name_then_by_order():
    ones = torch.ones(5)
    left = {"layers.0.norm": ones, "layers.1.norm": ones, "final": ones}
    right = {"final": ones, "a": ones, "b": ones}
    layouts = relate_parameters(left, right).layouts
    expected = {"final": "final", "a": "layers.0.norm", "b": "layers.1.norm"}
    assert layouts == {name: Whole(partner) for name, partner in expected.items()}


def test_weights_of_one_side_only_are_named():
    left = weights()
    relation = relate_parameters(left, {"q": left["q"], "new": torch.randn(12, 7)})
    assert relation.unpaired_right == ["new"]
    assert relation.unpaired_left == ["k", "v", "o", "e", "norm"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(0, 1), st.integers(0, 99))
def test_any_concatenation_is_taken_apart(lengths, dim, seed):
    g = torch.Generator().manual_seed(seed)
    left = {f"w{k}": torch.randn((n, 3) if dim == 0 else (3, n), generator=g) for k, n in enumerate(lengths)}
    whole = torch.cat(list(left.values()), dim)
    layout = relate_parameters(left, {"whole": whole}).layouts["whole"]
    assert torch.equal(values(layout, left.__getitem__), whole)
    assert set(wholes(layout)) == set(left)


def test_contents_are_told_apart_to_the_last_bit_whatever_their_dtype():
    contents, one = Contents(), torch.randn(300, 40)
    other = one.clone()
    other[7, 3] = -other[7, 3]
    zeros, below = torch.zeros(5), torch.tensor([0.0, 0.0, -0.0, 0.0, 0.0])
    nan = torch.tensor([1.0, float("nan")])
    assert contents.key(one) == contents.key(one.clone()) == contents.key(one.double())
    assert contents.key(one) != contents.key(other)
    assert contents.key(one) != contents.key(one.reshape(40, 300))
    assert contents.key(zeros) != contents.key(below), "1/0 is not 1/−0"
    assert contents.key(zeros) != contents.key(zeros.long())
    assert contents.key(nan) == contents.key(nan.clone())
    assert contents.key(one.t()) == contents.key(one.t().contiguous())


def test_two_multiples_of_one_weight_are_not_both_made_of_it():
    """Which elements a multiple takes are those of what it is a multiple of."""
    left, right = {"a": torch.tensor([0.5])}, {"b": torch.tensor([1.0]), "c": torch.tensor([1.5])}
    found = relate_parameters(left, right)
    assert [str(layout) for layout in found.layouts.values()] == ["2·a"] and found.unpaired_right == ["c"]


def test_of_two_equal_weights_the_namesake_is_the_partner_and_the_other_has_one_only_where_it_may_share():
    same = weights()["q"]
    left, right = {"b": same}, {"a": same, "b": same.clone()}
    alone, shared = (relate_parameters(left, right, shared=shared) for shared in (False, True))
    assert alone.layouts == {"b": Whole("b")} and alone.unpaired_right == ["a"]
    assert shared.layouts == {"a": Whole("b"), "b": Whole("b")} and set(shared.how) == {"a", "b"}
