"""Arrangements of weights are read off from where their lines occur: cut, moved, flipped, in any nesting; and what is
none, or occurs by chance, is not taken for one."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung
from samesame.relate.arrangement import Arrangements, _keys
from samesame.relate.layout import values, wholes
from samesame.relate.parameters import relate_parameters


def held() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    small = {name: torch.randn(4, 8, dtype=torch.float64) for name in ("k", "v", "gate0", "gate1", "up0", "up1")}
    kernel = torch.randn(3, 4, 5, 5, dtype=torch.float64)
    encoding = torch.randn(4, 15, dtype=torch.float64)
    return {"q": torch.randn(12, 8, dtype=torch.float64), "kernel": kernel, **small, "encoding": encoding}


def heads(w, n, name):
    return w[name].view(n, -1, 8)


# What is made of the weights, and of how many of them.
MADE = {
    "rows by group, then q, k and v": (lambda w: torch.cat([heads(w, 2, n) for n in "qkv"], 1).reshape(20, 8), 3),
    "the same, transposed": (lambda w: torch.cat([heads(w, 2, n) for n in "qkv"], 1).reshape(20, 8).T, 3),
    "a stack of stacks": (
        lambda w: torch.stack([torch.stack([w[f"{n}{k}"].T for k in (0, 1)]) for n in ("up", "gate")]), 4),
    "rows of two in turn, stacked": (
        lambda w: torch.stack([torch.stack([w[f"gate{k}"], w[f"up{k}"]], 1).reshape(8, 8) for k in (1, 0)]), 4),
    "gates in another order": (lambda w: w["q"].view(4, 3, 8)[[0, 3, 1, 2]].reshape(12, 8), 2),
    "a kernel flipped": (lambda w: w["kernel"].flip(2, 3).transpose(0, 1), 1),
    "rotary pairs": (lambda w: w["q"].view(2, 3, 2, 8).transpose(1, 2).reshape(12, 8), 1),
    "rotary pairs of two, and a third": (
        lambda w: torch.cat([w["q"].view(2, 3, 2, 8).transpose(1, 2).reshape(12, 8),
                             w["k"].view(2, 2, 8).transpose(0, 1).reshape(4, 8), w["v"]]), 3),
    "encoded: what comes first, then sines, then cosines, whose frequencies come last": (
        lambda w: torch.cat([w["encoding"][:, :3], w["encoding"][:, 3:].view(4, 2, 2, 3).permute(0, 2, 3, 1)
                             .flatten(1)],
                            1), 2),
    "the same at the end": (
        lambda w: torch.cat([w["encoding"][:, :12].view(4, 2, 2, 3).permute(0, 2, 3, 1).flatten(1),
                             w["encoding"][:, 12:].flip(1)], 1), 2),
    "a head of each of three": (lambda w: torch.cat([w["q"][3:6], w["k"][2:4], w["v"][:2]]), 3),
}


@pytest.mark.parametrize("name", MADE)
def test_arrangements_are_described_in_few_pieces(name):
    weights, (make, tensors) = held(), MADE[name]
    value = make(weights).contiguous()
    layout = relate_parameters(weights, {"made": value}).layouts["made"]
    assert torch.equal(values(layout, weights.__getitem__), value)
    assert len(wholes(layout)) == tensors


@pytest.mark.parametrize("name", MADE)
def test_what_is_arranged_is_found_in_the_arrangement(name):
    """The other way round: each weight that is whole in it is cut out of it."""
    weights, (make, _) = held(), MADE[name]
    made = {"made": make(weights).contiguous()}
    for other, layout in relate_parameters(made, weights).layouts.items():
        assert torch.equal(values(layout, made.__getitem__), weights[other])
    if "a head" not in name:
        whole = wholes(relate_parameters(weights, made).layouts["made"])
        assert set(whole) <= set(relate_parameters(made, weights).layouts)


def arrangements(weights):
    return Arrangements(weights, {torch.float64: list(weights)})


def test_coarse_numbers_that_occur_by_chance_are_no_arrangement():
    """A large matrix in bfloat16 holds nearly every number of another tensor somewhere."""
    torch.manual_seed(0)
    weights = {"w": torch.randn(500, 500).bfloat16()}
    for shape in ((8,), (30,), (3, 2), (2, 2, 3)):
        value = torch.randn(shape).bfloat16()
        assert relate_parameters(weights, {"made": value}).unpaired_right == ["made"]
    line = {"w": torch.randn(64, dtype=torch.float64)}
    assert relate_parameters(line, {"made": line["w"][[3, 5, 13, 9]]}).unpaired_right == ["made"]


SCALARS = {"scales": torch.tensor([0.31, 1.7, 0.25]), "noise": torch.tensor(0.4), "mean": torch.tensor([[-0.3]])}


def test_scalars_put_into_one_vector_are_told_by_being_all_of_it():
    packed = torch.tensor([0.4, 0.31, 1.7, 0.25, -0.3])
    found = relate_parameters(SCALARS, {"packed": packed})
    layout = found.layouts["packed"]
    assert torch.equal(values(layout, SCALARS.__getitem__), packed) and wholes(layout) == ("noise", "scales", "mean")
    assert not found.unpaired_right


@pytest.mark.parametrize("weights, packed", [
    (SCALARS, [0.4, 0.31, 1.7, -0.3]),                                  # not all of the scales
    (SCALARS | {"other": torch.tensor([0.4, 5.5])}, [0.4, 0.31, 1.7, 0.25, -0.3]),    # whose is 0.4?
    (SCALARS, [0.4, 0.4, -0.3]),
])
def test_a_few_numbers_that_are_not_all_of_some_tensors_are_no_vector_of_them(weights, packed):
    assert relate_parameters(weights, {"packed": torch.tensor(packed)}).unpaired_right == ["packed"]


def test_many_lines_of_coarse_numbers_are_told_apart():
    """All low bits of a widened bfloat16 are zero; lines are told apart nevertheless."""
    torch.manual_seed(0)
    w = torch.randn(20_000, 8).bfloat16().double()
    distinct = len(torch.unique(w, dim=0))
    assert len(torch.unique(_keys(w, 1))) == distinct


def test_numbers_in_no_order_are_no_arrangement():
    weights = {"w": torch.randn(100, 100, dtype=torch.float64)}
    mixed = weights["w"].flatten()[torch.randperm(10_000)].reshape(100, 100)
    assert not list(arrangements(weights).of(mixed))
    mixed = weights["w"].clone()
    mixed[7, 3] += 1e-12
    assert not list(arrangements(weights).of(mixed))


def test_whole_numbers_and_copies_occur_everywhere():
    weights = {"w": torch.arange(24.0, dtype=torch.float64), "s": torch.rand(4, 3, dtype=torch.float64)}
    assert not list(arrangements(weights).of(torch.tensor([3.0, 4.0, 1.0], dtype=torch.float64)))
    copies = weights["s"].repeat_interleave(2, 1)
    assert not list(arrangements(weights).of(copies))
    assert torch.equal(values(next(arrangements(weights).of(copies, repeated=True)), weights.__getitem__), copies)


class Separate(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k, self.v = (nn.Linear(12, 12) for _ in range(3))

    def forward(self, x):
        q, k, v = (part(x).unflatten(-1, (3, 4)).transpose(1, 2) for part in (self.q, self.k, self.v))
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class ByHead(nn.Module):
    """The rows of the fused matrix are by head, then q, k and v of it; read `as_stored`, or in the common order."""

    def __init__(self, other, as_stored=True):
        super().__init__()
        self.qkv, self.as_stored = nn.Linear(12, 36), as_stored
        for name in ("weight", "bias"):
            parts = [getattr(getattr(other, part), name).detach().unflatten(0, (3, 4)) for part in "qkv"]
            setattr(self.qkv, name, nn.Parameter(torch.stack(parts, 1).flatten(0, 2)))

    def forward(self, x):
        shape, dim = ((3, 3, 4), 3) if self.as_stored else ((3, 3, 4), 2)
        q, k, v = (part.transpose(1, 2) for part in self.qkv(x).unflatten(-1, shape).unbind(dim))
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


def test_rows_by_head_are_the_same_and_read_in_another_order_they_are_not():
    left, given = Separate(), (torch.randn(2, 5, 12),)
    verdict = check(left, ByHead(left), given)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE and not verdict.unpaired
    assert check(left, ByHead(left, as_stored=False), given).verdict == "different"


class Gated(nn.Module):
    """A linear layer whose rows are four gates, combined in this order."""

    def __init__(self, weight, order):
        super().__init__()
        self.weight, self.order = nn.Parameter(weight), order

    def forward(self, x):
        parts = F.linear(x, self.weight).chunk(4, -1)
        a, b, c, d = (parts[k] for k in self.order)
        return a.sigmoid() * b + c.sigmoid() * d.tanh()


def test_gates_in_another_order_are_the_same_and_their_proof_is_replayed():
    torch.manual_seed(0)
    weight, given = torch.randn(12, 5), (torch.randn(3, 5),)
    moved = weight.view(4, 3, 5)[[0, 3, 2, 1]].reshape(12, 5)
    verdict = check(Gated(weight, (0, 1, 2, 3)), Gated(moved, (0, 3, 2, 1)), given, certify=True)
    assert verdict.verdict == "same" and verdict.evidence is Rung.PROVED
    assert replay(verdict.certificate, None)[0]
    assert check(Gated(weight, (0, 1, 2, 3)), Gated(moved, (0, 1, 2, 3)), given).verdict == "different"


def test_rows_from_the_other_end_are_the_same():
    torch.manual_seed(0)
    weight, given = torch.randn(6, 5), (torch.randn(3, 5),)
    left = nn.Linear(5, 6, bias=False)
    left.weight = nn.Parameter(weight)

    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(weight.flip(0))

        def forward(self, x):
            return F.linear(x, self.w).flip(-1)

    verdict = check(left, Turned(), given)
    assert verdict.verdict == "same" and any("flip(" in relation.layout for relation in verdict.relations)
