"""Pairs that are not the same, though their example does not show it: each was once called the same.

The values that `check` draws stay near the example, so they may well agree where the programs do not. A test that is
given `by_proof_alone` goes further: values refute nothing there, and only the proof stands between a pair and `same`.
"""


import pytest
import torch
from torch import nn

from samesame import check
from samesame.capture import capture
from samesame.evidence import Refused, Rung
from samesame.relate import relating, roots
from samesame.relate.domain import demanded

LARGE = 2**53  # above, not every integer is a float64


@pytest.fixture
def by_proof_alone(monkeypatch):
    monkeypatch.setattr(roots, "agree", lambda *values: True)
    monkeypatch.setattr(relating, "_agree", lambda values, left, right: True)


def conditions(verdict):
    """All that a report prints: of outputs, and of what they rest on."""
    return [str(condition) for one in (*verdict.roots, *verdict.relations) for condition in one.evidence.conditions]


class Weighted(nn.Module):
    """A program with one weight."""

    def __init__(self, weight, program):
        super().__init__()
        self.weight, self.program = nn.Parameter(weight, requires_grad=False), program

    def forward(self, *inputs):
        return self.program(self.weight, *inputs)


# --------------------------------------------------------------------------------------------- which weights are which


def scaled(weight, x):
    return weight * x


@pytest.mark.long
def test_complex_weights_with_one_real_part_are_two_weights():
    real, x = torch.randn(5), torch.randn(4, 5)
    a, b = (torch.complex(real, torch.randn(5)) for _ in range(2))

    def rotated(weight, x):
        return torch.view_as_real(x.to(torch.complex64) * weight)

    assert check(Weighted(a, rotated), Weighted(a.clone(), rotated), (x,)).verdict == "same"
    assert check(Weighted(a, rotated), Weighted(b, rotated), (x,)).verdict == "different"
    assert check(Weighted(a, rotated), Weighted(real, rotated), (x,)).verdict == "different"


def test_integer_weights_that_are_one_float_are_two_weights():
    x = torch.randint(1, 5, (4, 3))
    a, b = torch.tensor([LARGE, LARGE + 2, 7]), torch.tensor([LARGE + 1, LARGE + 2, 7])
    assert check(Weighted(a, scaled), Weighted(a.clone(), scaled), (x,)).verdict == "same"
    assert check(Weighted(a, scaled), Weighted(b, scaled), (x,)).verdict != "same"


@pytest.mark.parametrize("numbers", [torch.tensor([True, False, True]), torch.tensor([1, 0, 1])])
def test_a_weight_of_another_kind_is_another_weight(numbers, by_proof_alone):
    verdict = check(Weighted(numbers.double(), scaled), Weighted(numbers, scaled), (torch.randn(4, 3),))
    assert verdict.verdict != "same"
    assert len(verdict.unpaired) == 2


# ------------------------------------------------------------------------------------------------------ integers


@pytest.mark.long
def test_positions_along_a_dimension_given_by_its_name_are_below_its_size(by_proof_alone):
    def looked_up(x, table):
        return table[torch.argsort(x, dim=0, stable=True)]

    def limited(x, table):
        return table[torch.argsort(x, dim=0, stable=True).clamp(max=2)]

    def generous(x, table):
        return table[torch.argsort(x, dim=0, stable=True).clamp(max=4)]

    inputs = torch.randn(5, 3), torch.randn(5, 4)
    assert check(looked_up, limited, inputs).verdict == "undecided"
    assert check(looked_up, generous, inputs).verdict == "same"


def test_a_rule_about_one_integer_is_no_rule_about_its_neighbour(by_proof_alone):
    two, low, next_to_low, high = (torch.full((3,), k) for k in (2, LARGE, LARGE + 1, LARGE + 2))

    def left(i, j):
        return i * high - i * low, j * high - j * next_to_low

    def right(i, j):
        return i * two, j * two

    first, second = check(left, right, tuple(torch.randint(1, 5, (2, 3)))).roots
    assert first.evidence.rung >= Rung.PROVED_HERE
    assert second.evidence.rung is Rung.UNDECIDED


def test_an_index_taken_to_be_no_less_than_zero_is_said_to_be():
    def plain(table, i):
        return table[i]

    def absolute(table, i):
        return table[i.abs()]

    verdict = check(plain, absolute, (torch.randn(4, 5), torch.randint(0, 3, (4,))))
    assert verdict.verdict == "undecided" or "0 ≤ i ≤ B − 1" in conditions(verdict)
    table, negative = torch.randn(4, 5), torch.tensor([1, -1, 2, 0])
    assert check(plain, absolute, (table, negative)).verdict == "different"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.int64])
def test_only_integers_lie_in_the_range_that_a_lookup_demands(dtype):
    inputs = torch.randn(4, 5), torch.ones(3, dtype=dtype)
    graph = capture(lambda table, x: table.index_select(0, x.to(torch.int64)), inputs)
    assert demanded(graph, lambda node: False) == ({"x": (0, 3)} if dtype is torch.int64 else {})


# ------------------------------------------------------------------------- what a proof takes for granted, it says

LAWS = {
    "the square of a root": (lambda x: x.sqrt() ** 2, lambda x: x * 1, "x[i, j] ≥ 0"),
    "a root times a root": (lambda x: x.sqrt() * x.sqrt(), lambda x: x * 1, "x[i, j] ≥ 0"),
    "a power over a root": (lambda x: x**1.5 / x.sqrt(), lambda x: x * 1, "x[i, j] ≥ 0"),
    "a root is not negative": (lambda x: (x.sqrt() >= 0).double(), lambda x: x * 0 + 1, "x[i, j] ≥ 0"),
    "a square is positive": (lambda x: (x**-2 > -1).double(), lambda x: x * 0 + 1, "x[i, j] ≠ 0"),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_law_that_holds_for_some_numbers_names_them(law):
    left, right, condition = LAWS[law]
    verdict = check(left, right, (torch.rand(4, 5) + 0.5,), ignore=("dtype",))
    assert verdict.verdict != "same" or condition in conditions(verdict)


def test_a_least_float_taken_for_minus_infinity_is_said_to_differ_where_it_fills_a_row():
    least = torch.finfo(torch.float32).min

    def uniform(scores, kept):
        return scores.masked_fill(~kept, least).softmax(-1)

    def zero(scores, kept):
        weights = scores.masked_fill(~kept, -torch.inf).softmax(-1)
        return torch.where(kept.any(-1, keepdim=True), weights, 0.0)

    kept = torch.ones(4, 5, dtype=torch.bool).tril(1)
    verdict = check(uniform, zero, (torch.randn(4, 5), kept))
    assert verdict.verdict == "undecided" or any("a softmax over nothing else" in c for c in conditions(verdict))
    kept[1] = False
    assert check(uniform, lambda *given: torch.nan_to_num(zero(*given)), (torch.randn(4, 5), kept)).verdict != "same"


# ----------------------------------------------------------------------------------------- which tensor is which


@pytest.mark.long
def test_outputs_are_compared_by_name():
    x = torch.randn(4, 5)

    def left(x):
        return {"first": x + 1, "second": x + 2}

    def swapped(x):
        return {"second": x + 1, "first": x + 2}

    def reordered(x):
        return {"second": x + 2, "first": x + 1}

    def renamed(x):
        return {"third": x + 1, "first": x + 2}

    assert check(left, swapped, (x,)).verdict == "different"
    assert check(left, reordered, (x,)).verdict == "same"
    assert check(left, renamed, (x,)).verdict == "different"


@pytest.mark.long
def test_inputs_that_are_given_by_name_are_paired_by_name():
    x = torch.randn(4, 5)

    def left(a, b):
        return a - 2 * b

    def reordered(b, a):
        return a - 2 * b

    def swapped(b, a):
        return b - 2 * a

    equal = {"a": x, "b": x.clone()}
    assert check(left, swapped, equal).verdict == "different"
    assert check(left, reordered, equal).verdict == "same"
    assert check(left, reordered, {"a": x, "b": x + 1}).verdict == "same"
    assert check(left, swapped, tuple(equal.values())).verdict == "same"


def test_an_integer_is_not_said_to_be_a_float():
    def wide(i):
        return i.double() * 2

    pair = wide, lambda i: i * 2, (torch.randint(0, 9, (4,)),)
    assert check(*pair).verdict == "different"
    assert check(*pair, ignore=("dtype",)).verdict == "undecided"


# ------------------------------------------------------------------------------------- values that leave the graph

MAKERS = {
    "tensor": lambda x, numbers: torch.tensor(numbers),
    "tensor of tuples": lambda x, numbers: torch.tensor([tuple(numbers)]),
    "tensor by name": lambda x, numbers: torch.tensor(data=numbers),
    "as_tensor": lambda x, numbers: torch.as_tensor(numbers),
    "asarray": lambda x, numbers: torch.asarray(numbers),
    "new_tensor": lambda x, numbers: x.new_tensor(numbers),
    "new": lambda x, numbers: x.new(numbers),
    "Tensor": lambda x, numbers: torch.Tensor(numbers),
    "FloatTensor": lambda x, numbers: torch.FloatTensor(numbers),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_tensor_made_of_numbers_in_tensors_is_no_constant(maker):
    make = MAKERS[maker]
    with pytest.raises(Refused, match="the graph depends on data"):
        check(
            lambda x: make(x, [x[0, 0], x[0, 1]]),
            lambda x: make(x, [x[0, 0].abs(), x[0, 1]]),
            (torch.rand(4, 5) + 0.5,),
        )


def test_a_tensor_made_of_numbers_alone_is_a_constant():
    x = torch.randn(4, 2)
    assert check(lambda x: x * torch.tensor([2, 2]), lambda x: 2 * x, (x,)).verdict == "same"
