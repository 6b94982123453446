"""The domain: an integer tensor that indexes lies where the lookup demands it, if every element of it is looked up."""

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.capture import capture
from samesame.relate.domain import demanded, labels, positions

IDS = torch.randint(0, 4, (2, 5))
TABLE = torch.randn(11, 3)
WIDE = torch.randn(2, 9)

DEMANDS = {
    "embedding": (lambda ids: F.embedding(ids, TABLE), (0, 10)),
    "a reshaped lookup": (lambda ids: F.embedding(ids.t().reshape(-1), TABLE), (0, 10)),
    "a lookup of the next one, round the end": (lambda ids: F.embedding(ids.roll(-1, dims=1), TABLE), (0, 10)),
    "a lookup from the last to the first": (lambda ids: F.embedding(ids.flip(0), TABLE), (0, 10)),
    "gather": (lambda ids: WIDE.gather(1, ids), (0, 8)),
    "gather from the last dimension": (lambda ids: WIDE.gather(-1, ids), (0, 8)),
    "one column of indices": (lambda ids: TABLE.index_select(0, ids.flatten()), (0, 10)),
    "indexing": (lambda ids: TABLE[ids], (0, 10)),
    "scatter": (lambda ids: WIDE.scatter_reduce(1, ids, WIDE, "amax"), (0, 8)),
    "one-hot": (lambda ids: F.one_hot(ids, 6), (0, 5)),
    "two lookups, the narrower": (
        lambda ids: F.embedding(ids, TABLE)[..., :1] + F.embedding(ids, TABLE[:7])[..., :1],
        (0, 6),
    ),
}


@pytest.mark.parametrize("program, bounds", DEMANDS.values(), ids=DEMANDS)
def test_a_lookup_demands_that_the_row_exists(program, bounds):
    graph = capture(program, (IDS,))
    (name,) = [node.name for node in graph.sources("input")]
    assert demanded(graph, lambda node: False) == {name: bounds}


@pytest.mark.parametrize("program, bounds", DEMANDS.values(), ids=DEMANDS)
def test_torch_refuses_what_lies_outside(program, bounds):
    """The demand is a fact: on the last index allowed the program runs, and past it it does not."""
    program(torch.full_like(IDS, bounds[1]))
    with pytest.raises((IndexError, RuntimeError)):
        program(torch.full_like(IDS, bounds[1] + 1))


FREE = {
    "part of it is looked up": lambda ids: F.embedding(ids[:, 1:], TABLE).sum((1, 2)) + ids[:, 0],
    "a number made of it is looked up": lambda ids: F.embedding(ids % 11, TABLE),
    "it is added": lambda ids: ids + 1,
}


@pytest.mark.parametrize("program", FREE.values(), ids=FREE)
def test_anything_else_demands_nothing(program):
    assert demanded(capture(program, (IDS,)), lambda node: False) == {}


def test_negative_indices_count_from_the_end_where_they_occur():
    graph = capture(lambda ids: TABLE[ids], (IDS,))
    (name,) = [node.name for node in graph.sources("input")]
    assert demanded(graph, lambda node: True) == {name: (-11, 10)}
    assert demanded(graph, lambda node: False) == {name: (0, 10)}


@pytest.mark.parametrize(
    "operator, result, args, of",
    [
        ("aten.topk.default", 1, (None, 2), lambda x: x.topk(2)[1]),
        ("aten.topk.default", 1, (None, 2, 0), lambda x: x.topk(2, 0)[1]),
        ("aten.sort.default", 1, (None,), lambda x: x.sort()[1]),
        ("aten.argsort.default", None, (None, 0), lambda x: x.argsort(0)),
        ("aten.argmax.default", None, (None, 1), lambda x: x.argmax(1)),
    ],
)
def test_positions_lie_within_the_dimension(operator, result, args, of):
    low, high = positions(operator, result, (4, 9), args, {})
    found = torch.stack([of(torch.randn(4, 9)) for _ in range(50)])
    assert (low, high) == (0, int(found.max())), "and every position occurs"
    assert int(found.min()) == 0


def test_the_dimension_may_be_given_by_name():
    assert positions("aten.sort.default", 1, (4, 9), (None,), {"dim": 0}) == (0, 3)
    assert positions("aten.argmax.default", None, (4, 9), (None,), {"dim": 0}) == (0, 3)


def test_what_is_no_position_has_no_range():
    assert positions("aten.topk.default", 0, (4, 9), (None, 2), {}) is None, "the values"
    assert positions("aten.argmax.default", None, (4, 9), (None,), {}) is None, "a position in the flattened tensor"
    assert positions("aten.floor.default", None, (4, 9), (), {}) is None


def test_the_range_is_used_and_stated():
    """One-hot rows times a table are a lookup, for indices that are rows of the table."""
    verdict = check(
        lambda ids, table: F.embedding(ids, table),
        lambda ids, table: F.one_hot(ids, 11).to(table.dtype) @ table,
        (IDS, TABLE),
    )
    assert verdict.verdict == "same"
    assert [*map(str, verdict.roots[0].evidence.conditions)] == ["0 ≤ ids ≤ 10"]


def test_the_range_of_what_is_computed_is_stated_with_its_place_and_of_each_instance_by_its_own_size():
    """The second and third lookups are instances of a rule about the first."""

    def one(first, second, third):
        at = torch.arange(3) + 1
        return first[at], second[at], third[at]

    def other(first, second, third):
        at = torch.arange(1, 4)
        return tuple(F.one_hot(at, len(table)).to(table.dtype) @ table for table in (first, second, third))

    verdict = check(one, other, tuple(torch.randn(n, 4) for n in (7, 9, 12)))
    assert verdict.verdict == "same"
    told = [str(condition) for root in verdict.roots for condition in root.evidence.conditions]
    letters = [varying.split(" = ")[0] for varying in verdict.sizes.varying if "shape[0]" in varying]
    place = "tests/relate/test_domain.py:110"
    assert sorted(told) == sorted(f"0 ≤ add ({place}) ≤ {letter} − 1" for letter in letters) and len(letters) == 3


# -------------------------------------------------------------------------------------------------------------- labels

SCORES = torch.randn(5, 6)
LABELS = torch.randint(0, 6, (5,))
LOSSES = {
    "cross entropy": F.cross_entropy,
    "of a sum": lambda x, labels: F.cross_entropy(x, labels, reduction="sum"),
    "another label ignored": lambda x, labels: F.nll_loss(x, labels, ignore_index=-1),
    "of an image": lambda x, labels: F.nll_loss(x.reshape(1, 6, 5, 1), labels.reshape(1, 5, 1)),
    "of one sample": lambda x, labels: F.cross_entropy(x[0], labels.reshape(5, 1)[0, 0]) + F.cross_entropy(x, labels),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_label_is_a_class(loss):
    graph = capture(loss, (SCORES, LABELS))
    name = [node.name for node in graph.sources("input")][1]
    assert demanded(graph, lambda node: False) == {}, "what is ignored may be any number"
    assert labels(graph, lambda node: False) == {name: (0, 5)}
    loss(SCORES, torch.full_like(LABELS, 5))
    for outside in (6, -2):
        with pytest.raises((IndexError, RuntimeError)):
            loss(SCORES, torch.full_like(LABELS, outside))


def looked_up(compared):
    """A row of ones at each label that is not ignored, as the gradient of a loss has it; `compared` says which is."""
    return lambda x, given: torch.zeros_like(x).scatter(1, torch.where(compared(given), given, 0)[:, None], 1.0)


def test_a_label_that_is_looked_up_unless_it_is_ignored_is_a_class():
    graph = capture(looked_up(lambda given: given != -100), (SCORES, LABELS))
    assert demanded(graph, lambda node: False) == {}, "what is ignored may be any number"
    (name,) = (node.name for node in graph.sources("input") if node.type.dtype == "int64")
    assert labels(graph, lambda node: False) == {name: (0, 5)}
    assert labels(graph, lambda node: True) == {}


OTHER_CONDITIONS = {
    "a class is ignored": lambda given: given != 3,
    "those below are chosen": lambda given: given < 3,
    "another tensor decides": lambda given: given.flip(0) != -100,
    "only it is chosen": lambda given: given == -100,
}


@pytest.mark.parametrize("compared", OTHER_CONDITIONS.values(), ids=OTHER_CONDITIONS)
def test_under_another_condition_nothing_is_said(compared):
    assert labels(capture(looked_up(compared), (SCORES, LABELS)), lambda node: False) == {}


def test_what_is_computed_from_labels_may_be_the_number_that_is_ignored():
    """Nobody tries that number on it: 0 is ignored here, and one program forgets to."""

    def masked(given, table):
        label = given - 1
        return table[torch.where(label != -1, label, 0)] * (label != -1)

    def forgotten(given, table):
        label = given - 1
        return table[torch.where(label != -1, label, 0)]

    assert check(masked, forgotten, (torch.tensor([1, 3, 2, 5, 4, 1]), torch.randn(7))).verdict != "same"


def test_nothing_is_said_of_labels_that_were_negative_or_whose_ignored_number_is_not():
    assert labels(capture(F.cross_entropy, (SCORES, LABELS)), lambda node: True) == {}
    padded = capture(lambda x, given: F.cross_entropy(x, given, ignore_index=255), (SCORES, LABELS))
    assert labels(padded, lambda node: False) == {}


def shifted(x, given):
    """Labels one step on, with the number that is ignored at the end."""
    return F.cross_entropy(x, F.pad(given, (0, 1), value=-100)[1:])


def test_labels_may_be_shifted_and_padded():
    graph = capture(shifted, (SCORES, LABELS))
    assert labels(graph, lambda node: False) == {graph.sources("input")[1].name: (0, 5)}
    verdict = check(shifted, lambda x, given: -picked(x[:-1], given[1:]) / 4, (SCORES, LABELS))
    assert verdict.verdict == "same" and any("if no element of given is -100" in told for told in verdict.only)


def round_the_end(x, given):
    """Labels one step on, and the first one where there is none; what the last row loses is left out."""
    return F.cross_entropy(x, given.roll(-1), reduction="none")[:-1].sum()


def test_labels_may_be_rolled():
    graph = capture(round_the_end, (SCORES, LABELS))
    assert labels(graph, lambda node: False) == {graph.sources("input")[1].name: (0, 5)}
    verdict = check(round_the_end, lambda x, given: -picked(x[:-1], given[1:]), (SCORES, LABELS))
    assert verdict.verdict == "same"
    one_too_far = check(round_the_end, lambda x, given: -picked(x[1:], given[1:]), (SCORES, LABELS))
    assert one_too_far.verdict == "different"


def picked(x, given):
    """The log-probability of each label, by comparing it with every class: nothing for what is no class."""
    return (x.log_softmax(1) * (given.unsqueeze(1) == torch.arange(6))).sum()


def test_a_proof_rests_on_labels_that_are_classes_only_where_it_must():
    def conditions(left, right):
        verdict = check(left, right, (SCORES, LABELS))
        assert verdict.verdict == "same", verdict.notes
        return {str(condition) for root in verdict.roots for condition in root.evidence.conditions}

    alike = conditions(F.cross_entropy, lambda x, given: F.nll_loss(2 * x.log_softmax(1), given) / 2)
    compared = conditions(F.cross_entropy, lambda x, given: -picked(x, given) / 5)
    assert "labels are classes, 0 ≤ target ≤ 5; those that a loss ignores are not covered" in compared
    assert not any("labels are classes" in condition for condition in alike)


def test_a_label_that_is_ignored_is_no_class():
    ignoring = torch.tensor([3, -100, 5, 0, 1])
    verdict = check(F.cross_entropy, lambda x, given: -picked(x, given) / 5, (SCORES, ignoring))
    assert verdict.verdict == "different"
