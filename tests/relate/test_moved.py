"""What takes elements by constants is what cuts, rolls and permutes them, where places say so, and only there."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from torch import nn

from samesame import check
from samesame.certificate.replay import Broken, naming, replay
from samesame.evidence import Rung
from samesame.formula.expr import Size
from samesame.graph import Node, TensorType
from samesame.relate.moved import Moved

H, W, SIDE, SHIFT = 4, 6, 2, 1
PLACES = torch.arange(H * W).view(H, W)


def windows(grid: torch.Tensor) -> torch.Tensor:
    """Rows of windows of a grid [H, W, …] that was rolled by one."""
    rolled = grid.roll((-SHIFT, -SHIFT), (0, 1))
    cut = rolled.reshape(H // SIDE, SIDE, W // SIDE, SIDE, *grid.shape[2:])
    return cut.transpose(1, 2).reshape(-1, SIDE * SIDE, *grid.shape[2:])


class Rolled(nn.Module):
    """Attention in windows: x [B, H · W, C]."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.qkv, self.norm = nn.Linear(4, 12), nn.LayerNorm(4)

    def attended(self, parts: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(parts).chunk(3, -1)
        return (q @ k.transpose(-1, -2)).softmax(-1) @ v

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x).view(-1, H, W, 4).permute(1, 2, 0, 3)
        y = self.attended(windows(y).permute(2, 0, 1, 3))
        y = y.reshape(-1, H // SIDE, W // SIDE, SIDE, SIDE, 4).transpose(2, 3).reshape(-1, H, W, 4)
        return x + y.roll((SHIFT, SHIFT), (1, 2)).reshape(x.shape)


class Taken(Rolled):
    """The same by an index and its inverse, and a norm by hand."""

    def __init__(self, index: Callable[[], torch.Tensor] = lambda: windows(PLACES)) -> None:
        super().__init__()
        self.register_buffer("index", index())
        self.register_buffer("back", torch.argsort(windows(PLACES).flatten()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        middle = x - x.mean(-1, keepdim=True)
        y = middle / (middle.square().mean(-1, keepdim=True) + self.norm.eps).sqrt() * self.norm.weight + self.norm.bias
        return x + self.attended(y[:, self.index]).flatten(1, 2)[:, self.back]


def swapped() -> torch.Tensor:
    index = windows(PLACES).clone()
    index[0, :2] = index[0, :2].flip(0)
    return index


def twice() -> torch.Tensor:
    index = windows(PLACES).clone()
    index[1, 0] = index[0, 0]
    return index


def test_windows_by_an_index_are_rolled_and_cut() -> None:
    found = check(Rolled(), Taken(), (torch.randn(2, H * W, 4),), certify=True)
    assert (found.verdict, found.evidence) == ("same", Rung.PROVED_HERE)
    assert any("moved" in reason for _, _, reason in found.certificate["steps"])
    replay(found.certificate)


@pytest.mark.parametrize("index", [swapped, twice])
def test_by_another_index_they_differ(index: Callable[[], torch.Tensor]) -> None:
    assert check(Rolled(), Taken(index), (torch.randn(2, H * W, 4),), timeout=20).verdict == "different"


MOVES = {
    "flip": lambda x: x.flip(-1), "roll": lambda x: x.roll(2, 1),
    "transpose": lambda x: x.transpose(0, 1).reshape(x.shape), "halves": lambda x: torch.cat(x.chunk(2, -1)[::-1], -1),
    "pairs": lambda x: x.reshape(4, 3, 2).flip(-1).reshape(4, 6), "first": lambda x: x[:, :1].expand(4, 6),
    "rows": lambda x: torch.stack(x.unbind(0)[::-1]),
}


@settings(max_examples=15)
@drawn(st.lists(st.sampled_from(sorted(MOVES)), min_size=1, max_size=4), st.integers(0, 10**6))
def test_any_moves_are_one_index(names: list[str], seed: int) -> None:
    """Of a random tensor, the program that takes all elements by one index; and none that takes another one."""
    def moved(x: torch.Tensor) -> torch.Tensor:
        for name in names:
            x = MOVES[name](x)
        return x.cumsum(-1)

    dice = torch.Generator().manual_seed(seed)
    places = torch.arange(24).view(4, 6)
    for name in names:
        places = MOVES[name](places)
    other = places.clone()
    other[int(torch.randint(4, (), generator=dice)), int(torch.randint(6, (), generator=dice))] += 1
    x = (torch.randn(4, 6, generator=dice),)
    assert check(moved, lambda x: x.flatten()[places].cumsum(-1), x).verdict == "same"
    assert check(moved, lambda x: x.flatten()[other % 24].cumsum(-1), x, timeout=5).verdict == "different"


def test_places_that_are_numbers_of_the_program_are_no_places_of_a_tensor() -> None:
    index = torch.tensor([2, 0, 1, 3])
    assert check(lambda x: torch.cat([x[index[:2]], index[:, None].float()]), lambda x: torch.cat([x[[2, 0]], x]),
                 (torch.randn(4, 1),)).verdict == "different"


def sealed() -> dict:
    index = torch.arange(40).roll(3).view(4, 10).t().flatten()
    found = check(lambda x: x.roll(3, 0).view(4, 10, 3).transpose(0, 1).reshape(40, 3).cumsum(0),
                  lambda x: x[index].cumsum(0), (torch.randn(40, 3),), certify=True)
    form = copy.deepcopy(found.certificate)
    replay(form)
    return form


def at(form: dict) -> tuple[list, dict]:
    return next((step, step[2]) for step in form["steps"] if "moved" in step[2])


def refused(form: dict) -> str:
    with pytest.raises(Broken) as error:
        replay(naming(form, {}))
    return str(error.value)


def test_a_certificate_is_held_to_where_elements_are() -> None:
    form = sealed()
    step, reason = at(form)
    kinds = [term[0] for term in form["terms"]]
    reason["terms"] = {"left": step[0], "right": step[1]}
    assert "not equal before" in refused(form)
    reason["terms"] = {"left": len(kinds), "right": 0}
    assert "names no terms" in refused(form)
    reason["terms"] = {}
    assert "names no terms" in refused(form)

    form = sealed()
    step, _ = at(form)
    form["terms"] += [["aten.exp.default", [[{"slot": 0}], []], [step[0]], form["terms"][step[0]][3]]]
    step[0] = len(kinds)
    assert "does more than move" in refused(form)

    form = sealed()
    step, _ = at(form)
    form["terms"] += [["aten.flip.default", [[{"slot": 0}, [0]], []], [step[0]], form["terms"][step[0]][3]]]
    step[0] = len(kinds)
    assert "other elements" in refused(form)


def given(name: str, *shape: int, dtype: str = "int64") -> Node:
    return Node(name, "input", (), {}, TensorType(shape, dtype))


def test_a_tensor_that_says_how_elements_are_moved_is_none_of_those_that_are() -> None:
    x, start, index = given("x", 4), given("start"), given("index", 4)
    made = {
        "narrow": Node("n", "aten.narrow.Tensor", (x, start, start, 2), {}, TensorType((2,), "int64")),
        "by a keyword": Node("t", "aten.take_along_dim.default", (), {"indices": index, "self": x},
                             TensorType((4,), "int64")),
        "symbolic": Node("r", "aten.roll.default", (x, (Size("n", 1),)), {}, TensorType((4,), "int64")),
    }
    for node in made.values():
        moved = Moved()
        reads = list(range(len(node.inputs)))
        moved.enter(node, 9, reads, [None] * len(reads))
        moved.enter(node, 9, reads, [None, *[torch.tensor([1, 0, 2, 3])] * (len(reads) - 1)])
        assert 9 not in moved.held


def test_a_size_may_say_how_elements_are_moved() -> None:
    index = torch.tensor([3, 1, 0, 2, 5, 7, 6, 4])
    for program in (lambda x: x.sum(0)[index].roll(x.shape[0]), lambda x: x.sum(0)[index][x.shape[0] - 2 : x.shape[0]]):
        found = check(program, program, (torch.randn(5, 8),))
        assert found.verdict == "same" and not any("failed at" in note for note in found.notes)


def test_an_index_that_counts_is_worked_out_by_the_replayer() -> None:
    index = torch.arange(10).reshape(5, 2).flip(0)
    found = check(lambda x: x.flip(0) * 2, lambda x: x.flatten()[index] * 2, (torch.randn(5, 2),), certify=True)
    assert any("moved" in step[2] for step in found.certificate["steps"])
    assert not any("hold the same elements" in line for line in replay(found.certificate)[1])
