"""Programs that loop over a sequence: which graphs are read back as loops, and what is proved for every length."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from samesame import check
from samesame.capture import capture
from samesame.capture.sizes.family import family
from samesame.evidence import Rung
from samesame.formula.assumptions import Said, Within, holds
from samesame.formula.expr import Size, Sum, add, index, lt, sin
from samesame.formula.sizes import canonical
from samesame.formula.tensor import leaf
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import execute
from samesame.relate.induction import AFTER, BEFORE, _paired, families_by_induction
from samesame.relate.rounds import Rounds, rounds_of

X = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))


def decay(x: Any) -> Any:
    h, out = torch.zeros_like(x[0]), []
    for row in x.unbind(0):
        h = 0.5 * h + row
        out.append(h)
    return torch.stack(out)


def decay_by_number(x: Any) -> Any:
    out = [torch.zeros(1, *x.shape[1:])]
    for t in range(x.shape[0]):
        out.append(x[t : t + 1] + out[-1] / 2)
    return torch.cat(out[1:])


def decay_of_its_start(x: Any) -> Any:
    """What is carried from the start is read in every round, too."""
    first = h = torch.zeros_like(x[0])
    out = []
    for t in range(x.shape[0]):
        h = 0.5 * h + x[t] + first
        out.append(h)
    return torch.stack(out)


def backwards(x: Any) -> Any:
    h, out = torch.zeros_like(x[0]), []
    for t in range(x.shape[0] - 1, -1, -1):
        h = h * x[t].sin() + x[t]
        out.append(h)
    return torch.stack(out[::-1]), h


def turned(x: Any) -> Any:
    h, out, rows = torch.zeros(1, *x.shape[1:]), [], x.flip(0)
    sines = rows.sin()
    for t in range(x.shape[0]):
        h = rows[t] + sines[t] * h
        out.append(h)
    return torch.cat(out).flip(0), h[0]


def running(x: Any) -> Any:
    s, out = torch.zeros_like(x[0]), []
    for row in x:
        s = s + row
        out.append(s)
    return torch.stack(out, 1) * 2


def summed(x: Any) -> Any:
    return 2 * x.transpose(0, 1).cumsum(1)


@pytest.mark.parametrize("left, right", [
    pytest.param(decay, decay_by_number, marks=pytest.mark.long), (decay_of_its_start, decay), (backwards, turned),
    pytest.param(running, summed, marks=pytest.mark.long), (summed, running),
])
def test_a_loop_is_proved_for_every_length(left: Any, right: Any) -> None:
    found = check(left, right, (X,))
    assert found.verdict == "same" and found.evidence is Rung.PROVED_ALIKE, found.notes
    assert [said for said in found.sizes.varying if "x.shape[0]" in said], found.sizes
    assert any("is read off these runs" in said for said in found.sizes.lost)
    assert all("induction" in root.evidence.detail for root in found.roots)


# --------------------------------------------------------------------------------------------- several loops in a row


def both_ways(x: Any) -> Any:
    h, out = torch.zeros_like(x[0]), []
    for row in x.unbind(0):
        h = torch.sin(h / 2 + row)
        out.append(h)
    g, back = torch.zeros_like(x[0]), []
    for t in range(x.shape[0] - 1, -1, -1):
        g = torch.tanh(x[t] + 0.25 * g)
        back.append(g)
    return torch.cat([torch.stack(out), torch.stack(back[::-1])], -1)


def backwards_first(x: Any) -> Any:
    g, back, rows = torch.zeros(1, *x.shape[1:]), [], x.flip(0)
    for t in range(x.shape[0]):
        g = (rows[t : t + 1] + g / 4).tanh()
        back.append(g)
    h, out = torch.zeros_like(x[0]), []
    for t in range(x.shape[0]):
        h = (x[t] + 0.5 * h).sin()
        out.append(h)
    return torch.cat([torch.stack(out), torch.cat(back).flip(0)], -1)


def encoded(x: Any, y: Any) -> Any:
    """The second loop does what the first one does, on other rows, and goes on from its end."""
    h, made, out = torch.zeros_like(x[0]), [], []
    for row in x.unbind(0):
        h = torch.sin(0.5 * h + row)
        made.append(h)
    for row in y.unbind(0):
        h = torch.sin(0.5 * h + row)
        out.append(h)
    return torch.stack(out), torch.stack(made)


def encoded_by_number(x: Any, y: Any) -> Any:
    h, made, out = torch.zeros_like(x[0]), [], []
    for t in range(x.shape[0]):
        h = torch.sin(x[t] + h / 2)
        made.append(h)
    for t in range(y.shape[0]):
        h = torch.sin(y[t] + h / 2)
        out.append(h)
    return torch.stack(out), torch.stack(made)


class Layers(torch.nn.Module):
    def __init__(self, by_hand: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.by_hand, self.lstm = by_hand, torch.nn.LSTM(3, 4, num_layers=2)

    def forward(self, x: Any) -> Any:
        if not self.by_hand:
            return self.lstm(x)[0]
        for k in (0, 1):
            into, on, b, also = (getattr(self.lstm, f"{name}_l{k}")
                                 for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
            h = c = x.new_zeros(x.shape[1], 4)
            out = []
            for t in range(x.shape[0]):
                i, f, g, o = (x[t] @ into.T + h @ on.T + b + also).chunk(4, -1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
                out.append(h)
            x = torch.stack(out)
        return x


Y = torch.randn(4, 2, 3, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("left, right, inputs, places", [
    pytest.param(both_ways, backwards_first, (X,), ["x.shape[0]"], id="both ways"),
    pytest.param(encoded, encoded_by_number, (X, Y), ["x.shape[0]", "y.shape[0]"], id="of two lengths",
                 marks=pytest.mark.long),
    pytest.param(Layers(False), Layers(True), (X,), ["x.shape[0]"], id="layers", marks=pytest.mark.long),
])
def test_loops_one_after_the_other_are_proved_for_every_length(
    left: Any, right: Any, inputs: Any, places: list[str]
) -> None:
    found = check(left, right, inputs)
    assert found.verdict == "same" and found.evidence is Rung.PROVED_ALIKE, found.notes
    assert all(any(place in said for said in found.sizes.varying) for place in places), found.sizes


def twice(x: Any, second: Any) -> Any:
    h, out = torch.zeros_like(x[0]), []
    for row in x.unbind(0):
        h = torch.sin(0.5 * h + row)
        out.append(h)
    return second(torch.stack(out), x)


def averaged(made: Any, x: Any, stop: int = 0) -> Any:
    g, out = torch.zeros_like(made[0]), []
    for t in range(made.shape[0] - stop):
        g = torch.tanh(g * 0.25 + made[t])
        out.append(g)
    return torch.stack(out)


def turning(made: Any, x: Any) -> Any:
    """The same as long as there are no more than five rows."""
    g, out = torch.zeros_like(made[0]), []
    for t in range(made.shape[0]):
        g = torch.tanh(g / 4 + (made[t] if t < 5 else -made[t]))
        out.append(g)
    return torch.stack(out)


def ending_otherwise(made: Any, x: Any) -> Any:
    """The second loop begins with the sixth row of the first, if there is one."""
    g, out = made[5] if made.shape[0] > 5 else torch.zeros_like(made[0]), []
    for t in range(made.shape[0]):
        g = torch.tanh(g / 4 + made[t])
        out.append(g)
    return torch.stack(out)


@pytest.mark.parametrize("left, right", [
    (averaged, turning),
    pytest.param(averaged, ending_otherwise, marks=pytest.mark.long),
    pytest.param(partial(averaged, stop=1), lambda made, x: averaged(made[:-1] * 1, x), marks=pytest.mark.long),
], ids=["another round", "another start", "not as often"])
def test_what_holds_for_the_first_loop_alone_is_not_proved_for_every_length(left: Any, right: Any) -> None:
    found = check(lambda x: twice(x, left), lambda x: twice(x, right), (X,))
    assert found.verdict == "different" or not any("x.shape[0]" in said for said in found.sizes.varying), found.sizes


@pytest.mark.long
def test_a_certificate_is_of_the_examples_length() -> None:
    found = check(decay, decay_by_number, (X,), certify=True)
    assert found.certificate is not None and not any("x.shape[0]" in said for said in found.sizes.varying)


def test_rounds_are_told_from_several_of_them_together() -> None:
    found = check(decay, decay_by_number, (torch.randn(10, 2, 4),))          # ten rounds are not three of three
    assert [said for said in found.sizes.varying if "x.shape[0]" in said], found.sizes


def counted_down(x: Any, table: Any) -> Any:
    place, h = torch.zeros(x.shape[1], dtype=torch.int64) + 10, torch.zeros_like(x[0])
    for t in range(x.shape[0]):
        h = h / 2 + x[t] + table[place]
        place = place - 1
    return h, place


def counted_around(x: Any, table: Any) -> Any:
    """The same for eleven rounds: a ring of 11 rows, in a table of 16."""
    place, h = torch.zeros(x.shape[1], dtype=torch.int64) + 10, torch.zeros_like(x[0])
    for t in range(x.shape[0]):
        h = h / 2 + x[t] + table[torch.where(place < 0, place + 11, place)]
        place = place - 1
    return h, place


def rooted(x: Any, y: Any) -> Any:
    c, h = y * y + 20, torch.zeros_like(x[0])
    for t in range(x.shape[0]):
        h = h / 2 + x[t] * c.sqrt() ** 2
        c = c - 1
    return h, c


def plain(x: Any, y: Any) -> Any:
    """The same as long as c stays above 0."""
    c, h = y * y + 20, torch.zeros_like(x[0])
    for t in range(x.shape[0]):
        h = h / 2 + x[t] * c
        c = c - 1
    return h, c


@pytest.mark.parametrize("left, right, other", [(counted_down, counted_around, (16, 3)), (rooted, plain, (2, 3))])
def test_nothing_is_taken_for_granted_of_what_a_round_is_given(left: Any, right: Any, other: tuple[int, int]) -> None:
    found = check(left, right, (torch.randn(5, 2, 3), torch.randn(other)))
    assert not any("x.shape[0]" in said for said in found.sizes.varying), found.sizes


def test_the_lengths_that_were_run_are_named() -> None:
    found = check(decay_of_its_start, decay, (X,))
    assert found.sizes.run_at().startswith("B ∈ {2, 5, 7, 8, 11}, ")


def without_a_step(x: Any) -> Any:
    """The same as long as there are no more than five rows."""
    return torch.cat([decay(x)[:5], decay(x)[5:] * 2])


def test_what_differs_at_another_length_is_not_proved_for_it() -> None:
    found = check(decay, without_a_step, (X,))
    assert found.verdict == "different" or not any("x.shape[0]" in said for said in found.sizes.varying)


# ------------------------------------------------------------------------------------------------------- what is a loop


def squares(x: Any) -> Any:
    h = torch.zeros_like(x[0])
    for t in range(x.shape[0]):
        h = h + x[t] * (t * t)
    return h


def but_for_one(x: Any) -> Any:
    h = torch.zeros_like(x[0])
    for t in range(x.shape[0]):
        h = h + x[t if t != 3 else 2]
    return h


def two_back(x: Any) -> Any:
    made = [x[0], x[1]]
    for t in range(2, x.shape[0]):
        made.append(made[-1] + made[-2] + x[t])
    return made[-1]


def each_kept(x: Any) -> Any:
    made = [torch.zeros_like(x[0])]
    for t in range(x.shape[0]):
        made.append(made[-1] + x[t])
    return made[2] + made[-1]


@pytest.mark.parametrize("program", [squares, but_for_one, two_back, each_kept])
def test_what_departs_from_round_to_round_is_no_loop(program: Any) -> None:
    assert rounds_of(capture(program, (X,)), among={4, 5}) is None


def test_the_round_of_the_claims_is_any_round() -> None:
    programs = decay, decay_by_number

    def record(example: Any) -> Any:
        return tuple(capture(program, example) for program in programs)

    graphs = record((X,))
    values = tuple([execute(graph, graph.tensors)] for graph in graphs)
    (found,) = families_by_induction(graphs, values, record, partial(family, decay, (X,), tied=True), {})
    row = next(node for node in found.graphs[1].nodes if node.operator == "aten.slice.Tensor")
    before, after = Size(BEFORE, 0), Size(AFTER, 0)
    assert row.args[2:] == (before, add(before, 1)) and row.inputs[0].shape[0] == canonical(add(before, after, 1))
    assert [name for name, _ in found.graphs[0].roots] == ["0", "start 0", "round 0"]
    assert found.fed == {name: ["start 0", "round 0"] for name in ("carried 0", "made 0")}


def test_what_speaks_of_a_round_is_known_by_its_tensors_however_it_is_printed() -> None:
    """A tensor that is printed as what it is of others, or stands in a formula too long to print, is still one."""
    programs = decay, decay_by_number

    def record(example: Any) -> Any:
        return tuple(capture(program, example) for program in programs)

    graphs = record((X,))
    values = tuple([execute(graph, graph.tensors)] for graph in graphs)
    (found,) = families_by_induction(graphs, values, record, partial(family, decay, (X,), tied=True), {})
    given = next(node.name for node in found.graphs[0].sources("input") if node.name.startswith("carried"))
    carried, x = leaf(given, (5,)), leaf("x", (5,))
    k = index(5)
    long = Sum(5, lambda j: add(*(sin(carried[j] * p) * x[k] for p in range(1, 90))))
    printed = replace(holds(lt(0, carried[k])), calls=((given, "(the value of mul at loop.py:3)"),))
    assert given not in str(printed) and len(str(holds(lt(0, long)))) < 500
    assert all(map(found.mentions, (printed, holds(lt(0, long)), Within(given, 0, 4, called="another"))))
    assert found.mentions(holds(lt(0, x[k]), lt(0, carried[k])))
    assert not any(map(found.mentions, (holds(lt(0, leaf("y", (5,))[k])), Said("reading", f"{given} read as 1"))))


def test_a_loop_is_read_back() -> None:
    found = rounds_of(capture(backwards, (X,)))
    assert found is not None and len(found.rounds) == 5 and len(found.initial) == 1
    (stack,) = found.stacks.values()
    assert stack.turned and stack.dim == 0


@pytest.mark.parametrize("starts, other, pairs", [
    (("p", "q"), {}, None), (("p", "p"), {}, ((0, 0), (1, 0))), (("p", "q"), {0: "r"}, ((0, 0), (1, 0))),
])
def test_two_tensors_that_begin_apart_are_one_only_if_the_other_side_begins_with_something_to_hold_them_against(
    starts: tuple[str, str], other: dict[int, str], pairs: Any
) -> None:
    """In every round both have the numbers of the one tensor of the other side."""
    def loop(rounds: list[tuple[str, ...]], initial: dict[int, str]) -> Rounds:
        names = ("p", "q", "r", *sum(rounds, ()))
        made = {name: Node(name, "input", type=TensorType((2,), "float32")) for name in names}
        nodes = tuple(tuple(made[name] for name in row) for row in rounds)
        begun = {place: made[name] for place, name in initial.items()}
        return Rounds(Graph("left", tuple(made.values()), (), {}), nodes, begun, {}, frozenset(range(len(rounds[0]))))

    left, right = loop([("a", "b"), ("c", "d")], dict(enumerate(starts))), loop([("e",), ("f",)], other)
    first, second = torch.ones(2), torch.ones(2) * 3
    numbers = [{"a": first, "b": first, "c": second, "d": second}], [{"e": first, "f": second}]
    assert _paired((left, right), numbers) == pairs
