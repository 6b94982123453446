"""A rank may take steps in another order the next time, where these do not hang on each other; it is the same rank."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from samesame.capture.ranks.record import capture_ranks
from samesame.evidence import Refused

Step = Callable[[torch.Tensor, torch.Tensor], object]
X = torch.arange(1.0, 7.0)


def run(*steps: Step) -> Callable[[torch.Tensor], torch.Tensor]:
    """A program that takes these steps, with its input x and memory y for six numbers and three rows of four."""

    def program(x: torch.Tensor) -> torch.Tensor:
        y = torch.ones(18)
        for step in steps:
            step(x, y)
        return y * 2

    return program


def rows(y: torch.Tensor) -> torch.Tensor:
    return y[6:].view(3, 4)


def front(x: torch.Tensor, y: torch.Tensor) -> None:
    y[:3] = x[:3]


def back(x: torch.Tensor, y: torch.Tensor) -> None:
    y[3:6] = x[3:] * 2


def middle(x: torch.Tensor, y: torch.Tensor) -> None:
    y[2:4] = x[:2] * 3


def row(x: torch.Tensor, y: torch.Tensor) -> None:
    rows(y)[0] = x[:4]


def other_row(x: torch.Tensor, y: torch.Tensor) -> None:
    rows(y)[-1] = x[2:]


def column(x: torch.Tensor, y: torch.Tensor) -> None:
    rows(y).t()[0] = x[:3] * 5


def column_from_above(x: torch.Tensor, y: torch.Tensor) -> None:
    rows(y)[:, 1] = x[:3] * 7


def other_column(x: torch.Tensor, y: torch.Tensor) -> None:
    rows(y).t()[1] = x[3:]


def every_other(x: torch.Tensor, y: torch.Tensor) -> None:
    y[0:6:2] += 1


def front_again(x: torch.Tensor, y: torch.Tensor) -> None:
    y[:3] = y[:3] * x[0]


def first_of_back(x: torch.Tensor, y: torch.Tensor) -> None:
    y[6] = y[3]


def row_by_halves(x: torch.Tensor, y: torch.Tensor) -> None:
    memory = rows(y)
    memory[1][:2], memory[1][2:] = x[:2], x[4:]


def row_by_halves_from_behind(x: torch.Tensor, y: torch.Tensor) -> None:
    memory = rows(y)
    memory[1][2:], memory[1][:2] = x[4:], x[:2]


def recorded_as(*orders: tuple[Step, ...]) -> None:
    """Record a rank that takes its steps in these orders, one each time that it is made."""
    times = count()
    capture_ranks(lambda *_: run(*orders[next(times) % len(orders)]), (X,), 1, again=True)
    assert next(times) == 2, "it was recorded on other values too"


@pytest.mark.parametrize("one, other", [
    ((front, back), (back, front)),
    ((row, other_row), (other_row, row)),
    ((column, other_column), (other_column, column)),
    ((row_by_halves,), (row_by_halves_from_behind,)),
    ((front, middle, row), (row, front, middle)),          # of which two overlap, and stay in order
    ((front, back, front_again), (back, front, front_again)),
    ((back, front, first_of_back), (back, first_of_back, front)),      # a part is read that was not written meanwhile
], ids=["slices", "rows", "columns", "in a row", "beside", "twice", "read"])
def test_writes_that_do_not_overlap_may_come_in_any_order(one, other):
    recorded_as(one, other)


@pytest.mark.parametrize("one, other", [
    ((front, middle), (middle, front)),
    ((row, column), (column, row)),
    ((row, column_from_above), (column_from_above, row)),
    ((front, every_other), (every_other, front)),
    ((front, front_again), (front_again, front)),
    ((back, first_of_back), (first_of_back, back)),
    ((first_of_back, row), (row, first_of_back)),
    ((front, back), (front,)),
    ((front,), (front, back)),
], ids=["slices", "row and column", "from above", "every other", "twice", "read", "read and written", "less", "more"])
def test_those_that_overlap_stay_in_order(one, other):
    with pytest.raises(Refused, match=r"test_woven.py:\d+ does something else on other inputs"):
        recorded_as(one, other)


STEPS = (front, back, middle, row, other_row, column, column_from_above, other_column, every_other, front_again,
         first_of_back, row_by_halves, row_by_halves_from_behind)


@pytest.mark.parametrize("first", STEPS[:-1], ids=lambda step: step.__name__)
def test_what_may_come_in_any_order_computes_the_same(first):
    for second in STEPS[STEPS.index(first) + 1 :]:
        try:
            recorded_as((first, second), (second, first))
        except Refused:
            continue
        assert torch.equal(run(first, second)(X), run(second, first)(X)), second.__name__


def test_a_refusal_names_a_line_that_is_not_merely_in_another_place():
    with pytest.raises(Refused) as why:
        recorded_as((front, back, row), (back, front, other_row))
    line = other_row.__code__.co_firstlineno + 1
    assert f"test_woven.py:{line} " in str(why.value)


class Looking(nn.Module):
    """Looks at a weight where no recorder sees it; multiplies by the first weight, or `otherwise`."""

    def __init__(self, otherwise: Callable[[Looking], object]) -> None:
        super().__init__()
        self.first, self.second = nn.Parameter(X + 1), nn.Parameter(X + 2)
        self.shared, self.otherwise = self.first.detach().numpy(), otherwise

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        both = x * self.first
        if self.shared[0] < 0:
            return both * self.otherwise(self)
        return both * self.first


@pytest.mark.parametrize("otherwise", [lambda it: 1, lambda it: it.second], ids=["a number", "another weight"])
def test_what_a_step_takes_tells_it_apart(otherwise):
    """A number is no operand, though it be that many steps after the first; and a weight is not another one."""
    with pytest.raises(Refused, match=r"test_woven.py:\d+ does something else on other inputs"):
        capture_ranks(lambda *_: Looking(otherwise), (X,), 1, again=True)


class Choosing(Looking):
    """The same, where all that it computes is of the weight that it chose."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (self.second if self.shared[0] < 0 else self.first)


def test_a_weight_that_takes_the_place_of_another_is_another_one():
    with pytest.raises(Refused, match=r"test_woven.py:\d+ does something else on other inputs"):
        capture_ranks(lambda *_: Choosing(lambda it: 1), (X,), 1, again=True)


class Unused(nn.Module):
    """One weight that is used, and many that are not."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.others = nn.Linear(3, 1), nn.ModuleList(nn.Linear(1, size) for size in range(1, 9))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.used(x)


@pytest.mark.parametrize("options", [{}, {"bucket_cap_mb": 1e-4}, {"gradient_as_bucket_view": True}],
                         ids=["one bucket", "several buckets", "views"])
def test_weights_that_a_rank_does_not_use_are_cleared_in_any_order(options):
    """Torch goes through them by the addresses of their nodes in autograd, so sixteen are hardly twice in one order."""

    def program(rank: int, ranks: int) -> nn.Module:
        return DistributedDataParallel(Unused(), find_unused_parameters=True, **options)

    for graph in capture_ranks(program, (torch.ones(2, 3),), 2, backward=True, again=True):
        assert any(name.startswith("grad.module.used") for name, _ in graph.roots)


def test_collectives_come_in_turn():
    sizes = count()

    def program(rank: int, ranks: int) -> Callable[[torch.Tensor], torch.Tensor]:
        pieces = [slice(0, 3), slice(3, 6)]
        if next(sizes) % 2:
            pieces.reverse()

        def one(x: torch.Tensor) -> torch.Tensor:
            parts = [x[piece].clone() for piece in pieces]
            for part in parts:
                dist.all_reduce(part)
            return torch.cat(sorted(parts, key=lambda part: pieces[0 if part is parts[0] else 1].start))

        return one

    with pytest.raises(Refused, match="does something else on other inputs"):
        capture_ranks(program, (X,), 1, again=True)
