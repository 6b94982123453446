"""Draws: both sides get the same values, weights keep their meaning, and inputs stay where the example put them."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame.capture import capture
from samesame.relate.draws import LABELS, draw, take_draws
from samesame.relate.layout import values
from samesame.relate.relating import input_relation


class Apart(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k, self.o = nn.Linear(7, 6), nn.Linear(7, 4), nn.Linear(10, 7, bias=False)
        self.scale = nn.Parameter(torch.ones(7))
        with torch.no_grad():
            self.q.bias.zero_()

    def forward(self, x, ids):
        x = x * self.scale + ids[..., None]
        return self.o(torch.cat([self.q(x), self.k(x)], -1))


class Fused(nn.Module):
    def __init__(self, apart, extra=0.0):
        super().__init__()
        self.scale = nn.Parameter(apart.scale.detach().clone())
        self.weight = nn.Parameter(torch.cat([apart.q.weight, apart.k.weight]).detach())
        self.bias = nn.Parameter(torch.cat([apart.q.bias, apart.k.bias]).detach())
        self.back = nn.Parameter(apart.o.weight.T.contiguous().detach())
        self.extra = nn.Parameter(torch.full((7,), extra).cumsum(0))

    def forward(self, x, ids):
        return F.linear(x * self.scale + ids[..., None], self.weight, self.bias) @ self.back + self.extra


@pytest.fixture(scope="module")
def pair():
    apart = Apart()
    inputs = torch.randn(3, 5, 7), torch.randint(2, 9, (3, 5))
    graphs = capture(apart, inputs, name="left"), capture(Fused(apart, 0.5), inputs, name="right")
    return graphs, input_relation(*graphs)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("label", LABELS)
def test_right_weights_are_their_layouts_of_left_weights(pair, label, seed):
    graphs, relation = pair
    taken = draw(label, *graphs, relation.layouts, seed=seed)
    assert len(relation.layouts) == 4
    for name, layout in relation.layouts.items():
        assert torch.equal(taken.right[name], values(layout, taken.left.__getitem__))


@pytest.mark.parametrize("label", LABELS)
def test_both_sides_get_the_same_inputs(pair, label):
    graphs, relation = pair
    taken = draw(label, *graphs, relation.layouts)
    for a, b in zip(graphs[0].sources("input"), graphs[1].sources("input"), strict=True):
        assert torch.equal(taken.left[a.name], taken.right[b.name])
        assert taken.left[a.name].dtype == graphs[0].tensors[a.name].dtype


def test_the_example_is_taken_as_it_is(pair):
    graphs, relation = pair
    taken = draw(LABELS[0], *graphs, relation.layouts)
    for side, graph in ((taken.left, graphs[0]), (taken.right, graphs[1])):
        assert all(torch.equal(value, graph.tensors[name]) for name, value in side.items())


@pytest.mark.parametrize("label", LABELS[1:])
def test_weights_move_and_keep_their_sign(pair, label):
    """All-ones norm weights and zero biases say something afterwards."""
    graphs, relation = pair
    taken = draw(label, *graphs, relation.layouts)
    for node in graphs[0].sources("parameter"):
        before, after = graphs[0].tensors[node.name], taken.left[node.name]
        assert not torch.equal(before, after)
        assert bool((before * after >= 0).all())
        assert after.unique().numel() == after.numel(), "generic, though ones and zeros were equal"


@pytest.mark.parametrize("label", LABELS)
def test_a_weight_without_a_partner_keeps_its_values(pair, label):
    graphs, relation = pair
    assert len(relation.unpaired_right) == 1
    (name,) = relation.unpaired_right
    assert torch.equal(draw(label, *graphs, relation.layouts).right[name], graphs[1].tensors[name])


@pytest.mark.parametrize("label", LABELS)
def test_integers_stay_within_the_range_of_the_example(pair, label):
    graphs, relation = pair
    (ids,) = [node.name for node in graphs[0].sources("input") if node.type.dtype == "int64"]
    given, drawn = graphs[0].tensors[ids], draw(label, *graphs, relation.layouts).left[ids]
    assert int(drawn.min()) >= int(given.min()) and int(drawn.max()) <= int(given.max())
    assert torch.equal(given, drawn) == (label in ("the example", "near the example"))


def test_the_small_draw_is_small(pair):
    graphs, relation = pair
    x = graphs[0].sources("input")[0].name
    example, small = (draw(label, *graphs, relation.layouts).left[x] for label in ("the example", "small"))
    assert 0 < small.abs().max() < 0.1 * example.abs().max()


@pytest.mark.parametrize("label", LABELS)
def test_the_same_seed_gives_the_same_draw_and_another_seed_another(pair, label):
    graphs, relation = pair
    one, again, other = (draw(label, *graphs, relation.layouts, seed=seed).left for seed in (3, 3, 4))
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert (label == LABELS[0]) == all(torch.equal(one[name], other[name]) for name in one)


def test_positive_inputs_stay_positive_and_masks_stay_masks():
    inputs = torch.rand(4, 6), torch.rand(4, 6) < 0.5, torch.zeros(4, 6).masked_fill(torch.rand(4, 6) < 0.5, -torch.inf)
    graphs = [capture(lambda x, keep, mask: x.log() * keep + mask.exp(), inputs) for _ in range(2)]
    x, keep, mask = (node.name for node in graphs[0].sources("input"))
    for label in LABELS:
        taken = draw(label, *graphs, {}).left
        assert bool((taken[x] >= 0).all())
        assert torch.equal(taken[keep], inputs[1]) and torch.equal(taken[mask], inputs[2])


def test_large_weights_are_drawn_alike_each_time_and_all_elements_move():
    class Large(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(300, 500))
            self.weight.data[100:200] = 0.0
            self.weight.data[200:] = torch.randn(100, 500)

        def forward(self, x):
            return x @ self.weight

    graph = capture(Large(), (torch.randn(2, 300),))
    relation = input_relation(graph, graph)
    taken, again = (draw("jittered", graph, graph, relation.layouts, loose=(["weight"], [])) for _ in range(2))
    drawn, given = taken.left["weight"], graph.tensors["weight"]
    assert torch.equal(drawn, again.left["weight"]) and torch.equal(drawn, again.right["weight"])
    assert bool((drawn != given).all())
    assert torch.equal(drawn.sign()[given != 0], given.sign()[given != 0]), "signs stay"
    assert len(torch.unique(drawn, dim=0)) == 300, "and no two rows are alike any more"
    assert not torch.equal(drawn, draw("small", graph, graph, relation.layouts, loose=(["weight"], [])).left["weight"])


def test_fields_with_ranges_of_their_own_are_drawn_in_these() -> None:
    """A table for several fields, one after another: numbers of the first one lead beyond it in the last."""
    sizes = torch.tensor([7, 3, 4])
    starts = torch.tensor([0, 7, 10])

    def rows(fields: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return table[fields + starts].sum(1)

    fields = (torch.rand(6, 3, generator=torch.Generator().manual_seed(0)) * sizes).long()
    fields[:3] = torch.stack([torch.zeros(3, dtype=torch.long), sizes - 1, sizes // 2])
    given = fields, torch.randn(14, 4)
    graph = capture(rows, given)
    taken, _ = take_draws((graph, graph), {}, 0)
    drawn = [draw.left[graph.sources("input")[0].name] for draw in taken]
    assert len(drawn) == 3 and not torch.equal(drawn[1], fields)
    assert all(bool((one < sizes).all()) for one in drawn)
