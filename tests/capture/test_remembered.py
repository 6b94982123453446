"""What was recorded serves again at equal inputs, and never where anything that a recording goes by is another."""

from collections import Counter

import pytest
import torch
from torch import nn

from samesame import check
from samesame.capture.course import Departs
from samesame.capture.sizes.remembered import Remembered
from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.relate.sides import Sides


class Recorded:
    """A recording of nothing, which counts how often it is asked."""

    def __init__(self, refuses=None):
        self.times, self.refuses, self.how = 0, refuses, "record"
        self.remembered = Remembered(self, lambda: self.how)

    def __call__(self, example):
        self.times += 1
        if self.refuses is not None:
            raise self.refuses
        return "left", "right", self.times


def test_equal_inputs_are_recorded_once():
    recorded, x = Recorded(), torch.arange(6.0)
    first = recorded.remembered({"x": x, "scale": 2})
    assert recorded.remembered({"x": x.clone(), "scale": 2}) is first and recorded.times == 1


OTHERS = {
    "numbers": lambda x: x + 1,
    "the sign of zero": lambda x: torch.where(x == 0, -0.0, x),
    "a shape": lambda x: x.reshape(3, 2),
    "a length": lambda x: torch.cat([x, x]),
    "a dtype": lambda x: x.double(),
    "strides": lambda x: x.T.contiguous().T,
    "gradients": lambda x: x.clone().requires_grad_(),
    "a class": lambda x: nn.Parameter(x, requires_grad=False),
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_other_inputs_are_recorded_anew(change):
    recorded, x = Recorded(), torch.arange(6.0).reshape(2, 3)
    first = recorded.remembered((x, 2))
    assert recorded.remembered((change(x), 2)) != first
    assert recorded.remembered((x, 2)) == first and recorded.times == 2


def test_numbers_beside_tensors_one_tensor_twice_and_how_inputs_are_nested_count():
    recorded, x = Recorded(), torch.ones(3)
    for example in (x, 2), (x, 2.0), (x, True), ((x, 2),), {"x": x, "y": 2}, (x, x), (x, x.clone()):
        recorded.remembered(example)
    assert recorded.times == 7


def test_a_tensor_that_holds_other_numbers_meanwhile_is_recorded_anew():
    recorded, x = Recorded(), torch.ones(3)
    first = recorded.remembered((x,))
    x[1] = 5
    assert recorded.remembered((x,)) != first and recorded.times == 2


def test_in_another_way_it_is_recorded_anew():
    recorded, x = Recorded(), torch.ones(3)
    first = recorded.remembered((x,))
    recorded.how = "gradients"
    assert recorded.remembered((x,)) != first and recorded.times == 2


@pytest.mark.parametrize(
    "refused", [Refused("it gives up"), Departs(Origin("at.py", 3), "gives up"), SystemExit("it gives up")]
)
def test_a_refusal_is_one_again_and_keeps_no_frames(refused):
    recorded, x = Recorded(refused), torch.ones(3)
    for _ in range(2):
        with pytest.raises(type(refused), match="gives up") as raised:
            recorded.remembered((x,))
        assert vars(raised.value) == vars(refused)
    (kept,) = recorded.remembered.known.values()
    assert recorded.times == 1 and kept.__traceback__ is None


def test_what_is_no_answer_is_not_remembered():
    recorded, x = Recorded(KeyboardInterrupt()), torch.ones(3)
    with pytest.raises(KeyboardInterrupt):
        recorded.remembered((x,))
    recorded.refuses = None
    assert recorded.remembered((x,))[2] == 2


@pytest.fixture
def shapes(monkeypatch):
    """How often both programs are recorded at these shapes."""
    asked, own = Counter(), Sides.at_other_sizes

    def at_other_sizes(sides, example):
        asked[tuple(tensor.shape for tensor in example)] += 1
        return own(sides, example)

    monkeypatch.setattr(Sides, "at_other_sizes", at_other_sizes)
    return asked


def test_a_check_records_once_at_each_size_and_the_next_one_anew(shapes):
    """Sizes are first varied together and then apart. Weights may be others in the next check."""
    module, (x, y) = nn.Linear(3, 3), torch.randn(2, 4, 3)

    def spelled(x, y):
        return x @ weight.T + module.bias + y

    weight = module.weight.data
    first = check(lambda x, y: module(x) + y, spelled, (x, y))
    assert first.verdict == "same" and len(shapes) > 3 and set(shapes.values()) == {1}
    module.weight = nn.Parameter(2 * weight)
    assert check(lambda x, y: module(x) + y, spelled, (x, y)).verdict == "different"
