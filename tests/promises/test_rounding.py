"""Rounded constants are no difference: what one program stores and the other computes is the same up to rounding, and a
stored number that is no rounding of it is a difference."""

from __future__ import annotations

import copy
import json
import math
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from promises.rounding_pairs import EQUAL, WRONG, Program, conv_bn, folded, lively, nudged, sinusoids, still
from samesame import check
from samesame.capture import capture
from samesame.certificate.replay import Broken, replay
from samesame.evidence import Rung
from samesame.graph.text import to_json
from samesame.operators.defaults import with_defaults
from samesame.relate.roundings import units

# Nothing is stored there that has to be read: the same buffers and weights, the same table bit for bit.
NOTHING_ROUNDED = {
    "bn written out", "frozen bn of detection models", "a table against its expression", "a window in a buffer",
}


@pytest.mark.parametrize("name", EQUAL)
def test_what_rounding_explains_is_the_same(name):
    verdict = check(*EQUAL[name]())
    assert verdict.verdict == "same"
    assert verdict.evidence >= Rung.PROVED_HERE if name in NOTHING_ROUNDED else verdict.evidence is Rung.ROUNDED
    assert bool(verdict.readings) == (name not in NOTHING_ROUNDED)
    for reading in verdict.readings:
        assert reading.worst <= reading.allowed
        assert any(str(reading) in map(str, root.evidence.conditions) for root in verdict.roots)


@pytest.mark.parametrize("name", WRONG)
def test_what_rounding_does_not_explain_is_a_difference(name):
    verdict = check(*WRONG[name]())
    assert verdict.verdict == "different"
    assert not any("computes what" in edit.description for edit in verdict.diagnosis)


def test_a_reading_says_formula_bound_and_worst_error():
    verdict = check(*EQUAL["bn folded by torch"]())
    found = {reading.name: reading for reading in verdict.readings}
    assert found["weight"].formula == "0.weight·1.weight/√(1.running_var + 1e-05)"
    assert found["weight"].side == "right" and found["weight"].dtype == "float32"
    assert found["weight"].roundings == 4 and 0 < found["weight"].worst < found["weight"].allowed < 6


def test_a_tenth_is_read_as_a_tenth_within_half_a_unit():
    (reading,) = check(*EQUAL["a tenth in a buffer"]()).readings
    assert (reading.formula, reading.allowed) == ("0.1", 0.5)
    assert reading.worst < 0.5


@pytest.mark.parametrize("factor", [1 + 1e-4, 1 + 1e-5, 1 + 2e-6])
def test_no_stored_number_is_excused_that_is_off_by_more_than_rounding(factor):
    torch.manual_seed(0)
    block = conv_bn()
    fused = folded(block)
    for place in range(0, fused.weight.numel(), 7):
        other = copy.deepcopy(fused)
        other.weight.data.view(-1)[place] *= factor
        verdict = check(still(block), still(other), (torch.randn(2, 3, 6, 6),), timeout=60)
        assert verdict.verdict == "different", place


@pytest.mark.parametrize("place", range(4))
def test_a_bias_of_a_fold_is_not_excused_either(place):
    torch.manual_seed(0)
    block = conv_bn()
    fused = folded(block)
    fused.bias.data[place] *= 1 + 1e-4
    assert check(still(block), still(fused), (torch.randn(2, 3, 6, 6),)).verdict == "different"


def test_one_unit_apart_may_be_two_roundings_of_one_number():
    torch.manual_seed(0)
    linear = nn.Linear(6, 5)
    other = copy.deepcopy(linear)
    other.weight = nn.Parameter(nudged(linear.weight, 1, at=7))
    verdict = check(still(linear), still(other), (torch.randn(3, 6),))
    assert verdict.verdict == "undecided"


def test_a_fold_in_bfloat16_is_undecided_with_the_reason():
    torch.manual_seed(0)
    block = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5)).eval()
    block[1].weight.data.uniform_(0.5, 2)
    block[1].running_var.uniform_(0.5, 2)
    scale = (block[1].weight.bfloat16() / torch.sqrt(block[1].running_var.bfloat16() + 1e-5))
    weight = nn.Parameter((block[0].weight.bfloat16() * scale[:, None]).detach())
    bias = nn.Parameter((block[0].bias.bfloat16() * scale).detach())
    right = Program(lambda m, x: F.linear(x, m.weight.float(), m.bias.float()), weight=weight, bias=bias)
    verdict = check(still(block), still(right), (torch.randn(3, 6),))
    assert verdict.verdict == "undecided"
    assert "too coarse to tell" in verdict.roots[0].evidence.detail


def test_a_table_that_is_wrong_where_no_run_looked_is_not_the_same_for_every_length():
    torch.manual_seed(0)
    table = sinusoids(32, 8)
    table[20] += 1
    left = Program(lambda m, x: x + m.table[: x.shape[1]], table=table)
    right = Program(lambda m, x: x + sinusoids(x.shape[1], 8) * 1.0)
    verdict = check(left, right, (torch.randn(2, 7, 8),))
    assert verdict.evidence < Rung.PROVED or not any("shape[1]" in size for size in verdict.sizes.varying)


def test_what_is_read_in_part_only_is_no_difference():
    """A fold that is not followed (a transposed convolution in groups) leaves the pair undecided, not different."""
    torch.manual_seed(0)
    block = lively(nn.Sequential(nn.ConvTranspose2d(4, 4, 3, groups=2), nn.BatchNorm2d(4), nn.Conv2d(4, 3, 1),
                                 nn.BatchNorm2d(3)))
    scale = block[1].weight / torch.sqrt(block[1].running_var + block[1].eps)
    first = copy.deepcopy(block[0])
    first.weight.data *= scale.reshape(2, 1, 2).repeat_interleave(2, 0).reshape(4, 2, 1, 1)
    first.bias.data = ((block[0].bias - block[1].running_mean) * scale + block[1].bias).detach()
    other = nn.Sequential(first, folded(block[2:]))
    example = torch.randn(2, 4, 5, 5)
    assert torch.allclose(block(example), other(example), atol=1e-5)
    verdict = check(still(block), still(other), (example,))
    assert verdict.verdict != "different"


def test_a_wrong_number_is_named_with_what_it_is_near():
    verdict = check(*WRONG["a fold with another epsilon"]())
    assert any(note.startswith("No rounding: weight of the right") for note in verdict.notes)


def test_an_ordinary_pair_is_not_searched(monkeypatch):
    def searched(*_):
        raise AssertionError("searched")

    monkeypatch.setattr(sys.modules["samesame.check"], "meant", searched)
    left, right = nn.Linear(4, 3), nn.Linear(4, 3)
    right.load_state_dict(left.state_dict())
    assert check(left, right, (torch.randn(2, 4),)).verdict == "same"


def test_the_formula_holds_for_all_weights_not_for_these():
    """What is proved is the formula: a fold that is right for these statistics only is not."""
    torch.manual_seed(0)
    norm = nn.BatchNorm1d(4).eval()                                     # mean 0, variance 1, gain 1, bias 0
    verdict = check(norm, lambda x: x / math.sqrt(1 + 1e-5), (torch.randn(3, 4),))
    assert verdict.verdict != "same"


def graphs_of(left, right, inputs):
    captured = [with_defaults(capture(part, inputs, name=name)) for part, name in ((left, "left"), (right, "right"))]
    return tuple((json.loads(json.dumps(to_json(graph))), graph.tensors) for graph in captured)


@pytest.mark.parametrize("name", ["lora merged", "bn as scale and shift", "two expressions of one table",
                                  "weights stored in bfloat16 packed", "a tenth in a parameter"])
def test_replay_works_readings_out_again(name):
    left, right, inputs = EQUAL[name]()
    form = json.loads(json.dumps(check(left, right, inputs, certify=True).certificate))
    _, trusted = replay(form)
    assert any("give the graphs to have it checked" in line for line in trusted)
    given = graphs_of(left, right, inputs)
    _, trusted = replay(form, given)
    assert not any("give the graphs" in line for line in trusted)


def test_replay_refuses_a_stored_number_that_is_no_rounding():
    left, right, inputs = EQUAL["lora merged"]()
    form = json.loads(json.dumps(check(left, right, inputs, certify=True).certificate))
    right.weight.data[3, 2] *= 1.0001
    with pytest.raises(Broken, match="weight is off by"):
        replay(form, graphs_of(left, right, inputs))


class Exponentiated(nn.Module):
    """x times the exponential of a stored number, of which nothing else is said."""

    def __init__(self, number, kind=torch.Tensor):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(number)) if kind is nn.Parameter else torch.tensor(number)

    def forward(self, x):
        return x * self.scale.exp()


class Scaled(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.gain = nn.Parameter(torch.as_tensor(number))

    def forward(self, x):
        return x * self.gain


def test_the_number_that_a_program_keeps_says_nothing_of_what_it_is_a_rounding_of():
    given = (torch.randn(3, 4),)
    assert check(still(lambda x: x * 100.0), Exponentiated(math.log(100)), given).evidence is Rung.ROUNDED
    assert check(still(lambda x: x * 100.0), Exponentiated(4.6052), given).verdict == "different"


def test_a_weight_that_may_be_made_of_the_others_in_an_unknown_way_is_no_difference():
    """exp of a parameter, stored: no formula is found for it, and draws of both apart say nothing."""
    left, given = Exponentiated(math.log(1 / 0.07), nn.Parameter), (torch.randn(3, 4),)
    assert check(left, Scaled(left.scale.detach().exp()), given).verdict == "undecided"
    assert check(left, Scaled(torch.tensor(14.2)), given).verdict == "different"


class Dora(nn.Module):
    """A low-rank update whose rows are brought to a length that is learnt; in some places it cancels the weight."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.weight, self.a, self.b = (nn.Parameter(torch.randn(s)) for s in ((7, 9), (3, 9), (7, 3)))
        self.length = nn.Parameter(torch.rand(7) + 1)

    def forward(self, x):
        scale = self.length / torch.linalg.norm(self.weight + 2 * self.b @ self.a, dim=1)
        return scale * F.linear(x, self.weight) + scale * F.linear(F.linear(x, self.a), self.b) * 2

    def merged(self, factor=1.0):
        whole, plain = self.weight + 2 * self.b @ self.a, nn.Linear(9, 7, bias=False)
        plain.weight = nn.Parameter((whole / whole.norm(dim=1, keepdim=True) * self.length[:, None] * factor).detach())
        return plain


def test_a_sum_that_cancels_is_off_by_what_its_terms_round():
    """Units in the last place of the result are no measure of it: dozens of them are a rounding of one summand."""
    dora, given = Dora(), (torch.randn(5, 9),)
    assert check(dora, dora.merged(), given).evidence is Rung.ROUNDED
    assert check(dora, dora.merged(1 + 1e-5), given).verdict == "different"


def test_what_an_unknown_operator_rounds_is_unknown(monkeypatch):
    """Only a bound that is exceeded makes a stored number a wrong one."""
    dora, given = Dora(), (torch.randn(5, 9),)
    monkeypatch.setattr("samesame.relate.roundings.NORMS", frozenset())
    assert check(dora, dora.merged(), given).verdict == "undecided"
    assert check(dora, dora.merged(1 + 1e-5), given).verdict == "different"


class WithNothing(nn.Module):
    """A weight without elements, as libraries keep in the place of one that a config leaves out."""

    def __init__(self, factor):
        super().__init__()
        self.factor, self.nothing = factor, nn.Parameter(torch.empty(0))

    def forward(self, x):
        return torch.cat([x * self.factor, self.nothing.expand(0).reshape(0, 1).expand(0, x.shape[1])])


def test_a_weight_without_elements_is_no_rounding():
    assert check(WithNothing(2.0), still(lambda x: x * 3.0), (torch.randn(3, 4),)).verdict == "different"


def test_the_neighbours_of_zero_are_the_least_numbers():
    assert float(units(torch.zeros((), dtype=torch.float64), torch.float32)) == 2.0**-149
    one, two = units(torch.tensor([1.0, 2.0], dtype=torch.float64), torch.float32).tolist()
    assert (one, two) == (2.0**-23, 2.0**-22)
