"""What one program makes in several tensors, another makes in one: the parts are found, and related as they stand."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from samesame import check
from samesame.capture import capture
from samesame.certificate.replay import replay
from samesame.evidence import Rung
from samesame.formula.expr import Size
from samesame.operators.table import packet
from samesame.relate.joined import PARTS, JoinProposer, cut_again
from samesame.relate.layout import Concat, Permute, Reshape, Slice, Whole, over_symbols_of, values, wholes
from samesame.relate.pieces import PieceProposer
from samesame.relate.propose import Proposer

D, MODELS = 4, 3


class Looped(nn.Module):
    """Networks of their own, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.ModuleList(nn.Linear(D, D) for _ in range(MODELS))
        self.second = nn.ModuleList(nn.Linear(D, 2 * D) for _ in range(MODELS))
        self.norm = nn.ModuleList(nn.LayerNorm(D) for _ in range(MODELS))
        for norm in self.norm:
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = []
        for k, (first, second, norm) in enumerate(zip(self.first, self.second, self.norm, strict=True)):
            h, gate = second(nn.functional.elu(first(x[:, k]))).chunk(2, -1)
            made.append(norm(x[:, k] + h * gate.sigmoid()))
        return torch.stack(made, -1).exp().sum(-1)


class AtOnce(nn.Module):
    """All networks at once, in the `order` given."""

    def __init__(self, one: Looped, order: tuple[int, ...] = (0, 1, 2)) -> None:
        super().__init__()

        def stacked(name: str, of: nn.ModuleList) -> nn.Parameter:
            return nn.Parameter(torch.stack([getattr(of[k], name).detach() for k in order]))

        self.w1, self.b1 = stacked("weight", one.first), stacked("bias", one.first)
        self.w2, self.b2 = stacked("weight", one.second), stacked("bias", one.second)
        self.scale, self.shift = stacked("weight", one.norm), stacked("bias", one.norm)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.einsum("bvi,voi->bvo", x, self.w1) + self.b1
        h = torch.where(h > 0, h, h.exp() - 1)
        h, gate = (torch.einsum("bvi,voi->bvo", h, self.w2) + self.b2).chunk(2, -1)
        y = nn.functional.layer_norm(x + h * gate.sigmoid(), (D,)) * self.scale + self.shift
        return y.exp().sum(1)


@pytest.mark.parametrize("turned", [False, True], ids=["loop first", "all at once first"])
def test_networks_in_a_loop_are_those_run_at_once(turned: bool) -> None:
    torch.manual_seed(0)
    looped = Looped()
    sides = (AtOnce(looped), looped) if turned else (looped, AtOnce(looped))
    verdict = check(*sides, (torch.randn(5, MODELS, D),), certify=True)
    assert verdict.verdict == "same" and str(verdict.evidence) == "proved for all sizes"
    made = [relation for relation in verdict.relations if relation.evidence.method != "input"]
    assert any(len(relation.left) == MODELS for relation in made) is not turned
    checked, _ = replay(verdict.certificate)
    assert checked


def test_a_certificate_may_have_a_size_that_no_formula_has() -> None:
    """Of the second dimension two rows are read, however many there are."""
    weights = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(7))
    verdict = check(lambda x: torch.bmm(torch.stack([x[:, 0], x[:, 1]], 0), weights),
                    lambda x: torch.stack([x[:, i] @ weights[i] for i in range(2)], 0),
                    (torch.randn(3, 2, 3),), certify=True)
    assert verdict.verdict == "same" and str(verdict.evidence) == "proved for all sizes"
    checked, _ = replay(verdict.certificate)
    assert checked


def test_networks_in_another_order_are_not() -> None:
    torch.manual_seed(0)
    looped = Looped()
    assert check(looped, AtOnce(looped, (0, 2, 1)), (torch.randn(5, MODELS, D),)).verdict == "different"


@st.composite
def cuttings(draw):
    shape = draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))
    dim = draw(st.integers(0, len(shape) - 1))
    widths = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    return (*shape[:dim], sum(widths), *shape[dim + 1 :]), dim, widths


class Plain:
    """A graph whose tensors nothing cuts."""

    nodes = ()


@given(cuttings())
def test_parts_of_any_widths_are_found(cutting):
    shape, dim, widths = cutting
    if min(w * torch.Size(shape).numel() // shape[dim] for w in widths) < 2:
        return                                              # one number tells nothing
    whole = [torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(k)) for k in (0, 1)]
    left = [{f"p{k}": part for k, part in enumerate(value.split(widths, dim))} for value in whole]
    sizes = {name: part.numel() for name, part in left[0].items()}
    right = [{"y": value} for value in whole]
    ((name, layout),) = JoinProposer(Proposer, Plain(), left, sizes).candidates(right, "y", shape)
    assert name == "p0" and all(torch.equal(values(layout, mine.__getitem__), y["y"])
                                for mine, y in zip(left, right, strict=True))
    for run in left:
        run["p1"] = run["p1"].clone()
        run["p1"].view(-1)[0] += 1e-3
    assert JoinProposer(Proposer, Plain(), left, sizes).candidates(right, "y", shape) == []


def test_one_tensor_may_stand_beside_itself():
    """What two passes compute of the same (classifier-free guidance), one pass does of it twice in a batch."""
    one = torch.randn(3, 4, dtype=torch.float64)
    ((_, layout),) = JoinProposer(Proposer, Plain(), [{"x": one}], {"x": 12}).candidates(
        [{"y": torch.cat([one, one])}], "y", (6, 4))
    assert layout == Concat((Whole("x"), Whole("x")), 0)


def test_guidance_in_one_pass_is_guidance_in_two():
    first, second = (torch.nn.Linear(4, 4) for _ in range(2))

    def network(x, c):
        h = torch.nn.functional.silu(first(x)) + c
        return second(torch.nn.functional.layer_norm(h, (4,)))

    def in_two(x, c, n):
        none = network(x, n)
        return none + 7.5 * (network(x, c) - none)

    def in_one(x, c, n):
        none, some = network(torch.cat([x] * 2), torch.cat([n, c])).chunk(2)
        return torch.add((1 - 7.5) * none, some, alpha=7.5)

    verdict = check(in_two, in_one, tuple(torch.randn(3, 4) for _ in range(3)))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE


def test_parts_that_are_equal_in_value_are_tried_in_turn():
    """A norm, and the norm where it is not too small: no draw tells them apart."""
    norm, mean = torch.randn(2, 3, dtype=torch.float64)

    def apart(x, y):
        return tuple(h / h.norm(dim=-1, keepdim=True).clamp_min(1e-12) for h in (x.exp(), y.exp()))

    def in_one(x, y):
        h = torch.cat([x, y]).exp()
        norm = h.norm(dim=-1, keepdim=True)
        return (h / norm.clamp_min(1e-12)).chunk(2)

    draws = [{"norm": norm, "clamped": norm, "mean": mean, "copy": mean}]
    found = JoinProposer(Proposer, Plain(), draws, dict.fromkeys(draws[0], 3)).candidates(
        [{"y": torch.cat([norm, mean])}], "y", (6,))
    assert [wholes(layout) for _, layout in found] == [("norm", "mean"), ("clamped", "copy")]
    assert check(apart, in_one, (torch.randn(3, 4), torch.randn(3, 4))).verdict == "same"


def test_a_share_of_a_row_is_cut_within_a_tensor():
    a, b, c = (torch.randn(*shape, dtype=torch.float64) for shape in [(5,), (3, 4), (2,)])
    row = torch.cat([a, b.flatten(), c])
    left = [{"a": a, "b": b, "c": c}]
    proposer = JoinProposer(PieceProposer, Plain(), left, {name: value.numel() for name, value in left[0].items()})
    flat = Reshape(Whole("b"), (12,))
    shares = (row[:10], (Whole("a"), Slice(flat, 0, 0, 5))), (row[10:], (Slice(flat, 0, 5, 12), Whole("c")))
    for share, parts in shares:
        (_, layout), *_ = proposer.candidates([{"y": share}], "y", tuple(share.shape))
        assert layout == Concat(parts, 0)
    (_, layout), *_ = proposer.candidates([{"y": row[7:15]}], "y", (8,))
    assert layout == Concat((Slice(flat, 0, 2, 10),), 0)                     # begins and ends within it
    assert proposer.candidates([{"y": row[10:].flip(0)}], "y", (9,)) == []


def test_very_many_are_no_parts():
    many = torch.randn(PARTS + 1, 4, dtype=torch.float64)
    left = [{f"p{k}": row for k, row in enumerate(many)}]
    sizes = dict.fromkeys(left[0], 4)
    assert JoinProposer(Proposer, Plain(), left, sizes).candidates([{"y": many}], "y", tuple(many.shape)) == []
    fewer = many[:PARTS].contiguous()
    assert JoinProposer(Proposer, Plain(), left, sizes).candidates([{"y": fewer}], "y", tuple(fewer.shape))


def test_what_is_cut_again_is_left_to_its_pieces():
    def program(x: torch.Tensor) -> torch.Tensor:
        both, kept = x.exp(), x.sin()
        q, k = both.reshape(2, 2, 2).transpose(0, 1).chunk(2, 1)
        return q * k + kept.sum() + kept[0, 0]

    graph = capture(program, (torch.randn(2, 4),), name="left")
    by = {packet(node.operator).removeprefix("aten."): node.name for node in graph.nodes}
    found = cut_again(graph)
    assert by["exp"] in found and by["sin"] not in found


def test_over_symbols_each_part_is_whole_or_one_position_wide():
    batch, width = Size("B", 2), Size("W", 2)
    joined = Concat((Whole("a"), Permute(Reshape(Whole("b"), (4, 5)), (1, 0))), 1)
    shapes = {"a": (batch, width), "b": (width, batch)}
    assert over_symbols_of(joined, shapes, (batch, width)) is None         # nobody knows where b begins
    stacked = Concat((Reshape(Whole("a"), (5, 1, 4)), Reshape(Whole("b"), (5, 1, 4))), 1)
    over = over_symbols_of(stacked, {"a": (batch, width), "b": (batch, width)}, (batch, 2, width))
    assert over == Concat((Reshape(Whole("a"), (batch, 1, width)), Reshape(Whole("b"), (batch, 1, width))), 1)
    assert over_symbols_of(Slice(Whole("a"), 0, 0, 2), shapes, (2, width)) == Slice(Whole("a"), 0, 0, 2)
