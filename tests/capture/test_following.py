"""Sizes that remember act as the numbers they are, and note all that is asked of them."""

from __future__ import annotations

import math
import operator

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.capture.sizes.following import Followings, follow


def asked(program, *shape: int) -> Followings:
    example = (torch.ones(*shape or (4, 6)),)
    return follow(program, example, capture(program, example))


def conditions(program, *shape: int) -> list[str]:
    found = asked(program, *shape)
    assert not found.failed and not found.log.lost, (found.failed, found.log.lost)
    return [str(condition) for condition in found.log.asked]


def losses(program, *shape: int) -> list[str]:
    found = asked(program, *shape)
    assert not found.failed, found.failed
    return [lost.what for lost in found.log.lost.values()]


def choose(question):
    return lambda x: x * 2 if question(x) else x * 3


ASKED = {
    "more": (choose(lambda x: x.shape[0] > 8), ["x:0 ≤ 8"]),
    "from the right": (choose(lambda x: x.shape[0] > 8), ["x:0 ≤ 8"]),
    "at least": (choose(lambda x: x.size(1) >= 6), ["x:1 ≥ 6"]),
    "equal": (choose(lambda x: x.shape[0] == 3), ["x:0 ≠ 3"]),
    "unequal": (choose(lambda x: x.shape[0] != 3), ["x:0 ≠ 3"]),
    "true": (choose(lambda x: x.shape[0] - 4), ["x:0 − 4 = 0"]),
    "two sizes": (choose(lambda x: x.shape[0] < x.shape[-1]), ["x:0 < x:1"]),
    "a length": (choose(lambda x: len(x) > 3), ["x:0 > 3"]),
    "a length by its method": (choose(lambda x: x.__len__() > 3), ["x:0 > 3"]),
    "a transposed tensor": (choose(lambda x: x.T.shape[0] > 8), ["permute:0 ≤ 8"]),
    "all elements": (choose(lambda x: x.numel() > 100), ["x:0·x:1 ≤ 100"]),
    "elements of a shape": (choose(lambda x: x.shape.numel() > 100), ["x:0·x:1 ≤ 100"]),
    "a stride": (choose(lambda x: x.stride(0) > 100), ["x:1 ≤ 100"]),
    "bytes": (choose(lambda x: x.nbytes > 100), ["4·x:0·x:1 ≤ 100"]),
    "a remainder": (choose(lambda x: x.shape[0] % 3 == 0), ["x:0 mod 3 ≠ 0"]),
    "a quotient": (choose(lambda x: x.shape[0] // 3 == 0), ["⌊x:0 / 3⌋ ≠ 0"]),
    "rounded up": (choose(lambda x: math.ceil(x.shape[0] / 3) > 4), ["−⌊(−x:0) / 3⌋ ≤ 4"]),
    "a half": (choose(lambda x: x.shape[0] / 2 > 4), ["x:0 / 2 ≤ 4"]),
    "a root": (choose(lambda x: math.sqrt(x.shape[0]) > 4), ["√x:0 ≤ 4"]),
    "a power": (choose(lambda x: x.shape[0] ** 2 > 100), ["x:0² ≤ 100"]),
    "the least": (lambda x: x[: min(x.shape[0], 9)], ["x:0 ≤ 9"]),
    "the greatest": (lambda x: x.new_ones(max(9, x.shape[0])).sum() + x, ["x:0 ≤ 9"]),
    "a place in a list": (choose(lambda x: x.shape[0] in (7, 9)), ["x:0 ≠ 7", "x:0 ≠ 9"]),
    "a slice's end": (lambda x: x[:, :9] + 1, ["9 ≥ x:1"]),
    "a slice's start": (lambda x: x[:, 2:] + 1, ["2 < x:1"]),
    "from the end": (lambda x: x[-9:] + 1, ["x:0 − 9 ≤ 0"]),
    "behind an ellipsis": (lambda x: x[..., :9] + 1, ["9 ≥ x:1"]),
    "a slice that is written": (
        lambda x: x.clone().__setitem__((slice(None), slice(0, 9)), 0.0) or x, ["0 < x:1", "9 ≥ x:1"],
    ),
    "the number of pieces": (lambda x: x.split(3, 1)[0] + 1, ["x:1 ≤ 6", "x:1 > 3"]),
    "inside a function of torch": (lambda x: F.avg_pool1d(F.pad(x, (1, 1)), 2), []),
    "a tensor made on the way": (choose(lambda x: torch.cat([x, x]).shape[0] > 9), ["cat:0 ≤ 9"]),
}


@pytest.mark.parametrize("question", ASKED)
def test_every_question_is_a_condition(question: str) -> None:
    program, expected = ASKED[question]
    assert [text for text in conditions(program) if text not in ("x:0 ≥ 0", "x:0 ≤ x:0", "x:0 ≥ x:0")] == expected


LOST = {
    "int": lambda x: x * int(x.shape[0]),
    "float": lambda x: x * float(x.shape[0]),
    "a range": lambda x: [x := x + 1 for _ in range(x.shape[0])][-1],
    "an index of a list": lambda x: x * [1, 2, 3, 4, 5][x.shape[0]],
    "a slice of a list": lambda x: x * len([1, 2, 3, 4, 5][: x.shape[0]]),
    "a key": lambda x: x * {4: 2}.get(x.shape[0], 1),
    "a set": lambda x: x * (2 if x.shape[0] in {4, 5} else 1),
    "text": lambda x: x * len(str(x.shape[0])),
    "an f-string": lambda x: x * len(f"{x.shape[0]}"),
    "a logarithm": lambda x: x * math.log(x.shape[0]),
    "a root of whole numbers": lambda x: x * math.isqrt(x.shape[0]),
    "bits": lambda x: x * x.shape[0].bit_length(),
    "a string as often": lambda x: x * len("a" * x.shape[0]),
    "a whole number again": lambda x: x * operator.index(x.shape[0]),
    "a tensor of a size": lambda x: x * torch.tensor(x.shape[0]),
}


@pytest.mark.parametrize("way", LOST)
def test_every_way_out_is_noted(way: str) -> None:
    assert losses(LOST[way])


def test_values_of_tensors_made_of_sizes_are_noted_where_the_program_looks_at_them() -> None:
    let_out = asked(lambda x: x * torch.arange(x.shape[0]).max().item()).let_out
    assert {found.doing for found in let_out} == {"calls .item() on a tensor"}


def test_a_condition_names_the_line_that_asked() -> None:
    (only,) = asked(choose(lambda x: x.shape[0] > 8)).log.asked.values()
    assert only.origin.file.endswith("test_following.py") and "x.shape[0] > 8" in only.origin.code


def test_sizes_of_weights_are_numbers() -> None:
    layer = nn.Linear(6, 3)
    assert conditions(lambda x: layer(x) if layer.weight.shape[0] > 2 else x) == []


def test_a_size_is_an_int_to_the_program() -> None:
    def program(x):
        n, shape = x.shape[0], x.shape
        assert isinstance(n, int) and isinstance(shape, torch.Size) and isinstance(n / 2, float)
        return x.reshape(n * 2, -1).reshape(shape) + n + n * x + n**0.5

    assert conditions(program) == []


def test_nothing_of_it_is_left_in_the_program() -> None:
    class Keeping(nn.Module):
        def forward(self, x):
            self.n, self.shape, self.list, self.table = x.shape[0], x.shape, [x.shape[1]], {"n": x.shape[0]}
            return x * 2

    module = Keeping()
    asked(module)
    kept = [module.n, module.list[0], module.table["n"], *module.shape]
    assert [type(n) for n in kept] == [int] * 5 and type(module.shape) is torch.Size


def test_a_run_that_is_followed_is_the_run_that_was_recorded() -> None:
    def program(x):
        return x * 2 if type(x.shape[0]) is int else x * 3

    assert "does something else while sizes are followed" in asked(program).failed


def test_code_that_torch_does_not_show_is_noted() -> None:
    @torch.jit.script
    def scripted(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.size(0) > 8 else x * 3

    assert any("which may decide on sizes" in what for what in losses(lambda x: scripted(x)))
