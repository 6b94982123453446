"""What is the same for numbers of one sign only is proved where the operators before it tell that sign."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.test_certificate import refused, renamed

from samesame import check
from samesame.capture import capture
from samesame.certificate.replay import OF_A_SIGN, replay
from samesame.evidence import Rung
from samesame.formula.assumptions import Said, holds
from samesame.formula.expr import and_, eq, exp, le, lt, not_, where
from samesame.formula.spans import ALL, FINITE, POSITIVES, ZEROS, Places, between, of_function, where_it_holds
from samesame.formula.tensor import leaf
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import execute
from samesame.relate.blocks import Block
from samesame.relate.infinities import lying, spans_of
from samesame.relate.of_a_sign import TAKES_ON, is_told, of_a_sign

INPUTS = tuple(torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0)))


def after(function, start):
    """A program whose last line is a function of what many lines make of a start, none of which is short to read."""
    def program(x, y):
        p = start(x)
        for _ in range(4):
            p = p @ start(y).T @ start(x) + p * start(y)
        return function(p)

    return program


def positive(x):
    return torch.softmax(x, -1)


def any_number(x):
    return x.sin()


def certified(left, right):
    verdict = check(left, right, INPUTS, certify=True)
    assert verdict.evidence is Rung.PROVED
    return verdict


SAME = {
    "a root of a square": (lambda p: (p * p).sqrt(), lambda p: p * 1),
    "a rectifier": (torch.relu, lambda p: p * 1),
    "a root of a product": (lambda p: (p * p.sum()).sqrt(), lambda p: p.sqrt() * p.sum().sqrt()),
    "a logarithm of a product": (lambda p: (p * p.T.sum()).log(), lambda p: p.log() + p.sum().log()),
}


@pytest.mark.parametrize("name", SAME)
def test_it_is_the_same_of_positive_tensors(name):
    left, right = SAME[name]
    verdict = certified(after(left, positive), after(right, positive))
    assert not verdict.roots[0].evidence.conditions


@pytest.mark.parametrize("name", ["a root of a square", "a rectifier"])
def test_it_is_not_of_others(name):
    left, right = SAME[name]
    assert check(after(left, any_number), after(right, any_number), INPUTS).verdict == "different"


def kept_above(number):
    """A program that gives x back above a number, and what is positive below it."""
    return lambda x: torch.where(x > number, x, x.exp())


@pytest.mark.parametrize(("start", "known"), [
    (positive, True), (any_number, False), (torch.relu, False), (torch.nn.functional.softplus, True),
    (kept_above(0), True), (kept_above(-20), False)])
def test_the_operators_tell_the_sign_and_the_example_does_not(start, known):
    inputs = tuple(value.abs().clamp(0.1, 1.5) for value in INPUTS)       # on which all of these are above zero
    graph = capture(after(torch.clone, start), inputs)
    (_, root), = graph.roots
    assert (spans_of(graph, execute(graph, dict(zip(("x", "y"), inputs, strict=True))))[root] <= POSITIVES) is known


@pytest.mark.parametrize("operator", TAKES_ON)
def test_the_functions_take_on_the_numbers_of_a_sign_and_no_others(operator):
    name = operator.split(".")[1]
    assert frozenset().union(*(of_function(name, span) for span in FINITE)) == TAKES_ON[operator]
    numbers = getattr(torch, name)(torch.tensor([-1e3, -1, 0, 1, 1e3], dtype=torch.float64))
    assert (numbers.min() == 0) and (numbers.max() == 1) == (name == "sigmoid")          # they come near all of them
    assert TAKES_ON.keys() == OF_A_SIGN.keys()


@given(st.sets(st.sampled_from(sorted(ALL)), min_size=1).map(frozenset))
def test_a_claim_is_about_any_number_of_the_sign(spans):
    type_ = TensorType((5,), "float64")
    x = Node("x", "input", type=type_)
    sides = [Node(side, "aten.mul.Tensor", (x, factor), type=type_) for side, factor in (("a", 2.0), ("b", 3.0))]
    claim = Block(Graph("claim", (x, *sides), tuple(zip(("left", "right"), sides, strict=True)), {}), {"x": 7}, {},
                  False, "key", terms={"x": 7})
    found = of_a_sign(claim, {"x": spans})
    if not spans <= POSITIVES | ZEROS:
        assert found is None
        return
    value = torch.tensor([-2.0, -0.5, 0.0, 0.5, 2.0], dtype=torch.float64)
    made = execute(found.graph, {"x v": value})
    assert found.frontier == {"x v": 7} and found.free == {"x v"} and found.key != claim.key
    assert torch.equal(made[found.left.name], 2 * made["x"]) and bool((made["x"] >= 0).all())
    assert bool((made["x"] > 0).all()) or not spans <= POSITIVES


@given(st.sampled_from([lt, le, eq]), st.booleans(), st.booleans(), st.sampled_from([-2, 1, 3]),
       st.sampled_from([-2, -1, 0, 1, 2]), st.sampled_from([-7, -1, -0.5, 0, 0.5, 1, 7]))
def test_what_a_comparison_with_a_number_chooses_lies_where_it_holds(op, swapped, negated, times, number, value):
    x = leaf("x", ())[()]
    sides = (number, times * x) if swapped else (times * x, number)
    condition = not_(op(*sides)) if negated else op(*sides)
    given_ = dict(zip((number, times * x), (number, times * value), strict=True))
    a, b = (given_[side] for side in sides)
    holds_there = {lt: a < b, le: a <= b, eq: a == b}[op] is not negated
    (span,) = lying(torch.tensor([value]))
    chosen, refused_ = where_it_holds(condition, x), where_it_holds(not_(condition), x)
    assert span in (chosen if holds_there else refused_)
    assert Places({}).of(where(condition, x, 5)) == chosen & FINITE | between(5, 5)
    assert where_it_holds(condition, exp(x)) == ALL


def test_a_comparison_says_no_more_than_it_does():
    x = leaf("x", ())[()]
    for condition, spans in ((lt(0, x), POSITIVES | {8}), (lt(20, x), {7, 8}), (le(0, x), POSITIVES | ZEROS | {8}),
                             (lt(-20, x), ALL - {0}), (lt(0, -2 * x), {0, 1, 2, 3}), (eq(x, 3), {7}),
                             (and_(lt(0, x), lt(x, 1)), {5}), (not_(eq(x, 0)), ALL), (lt(0, x + 1), ALL)):
        assert where_it_holds(condition, x) == spans, condition


def test_only_conditions_on_signs_are_told_by_them():
    x, y = leaf("x", ())[()], leaf("y", ())[()]
    known = {"x": POSITIVES, "y": POSITIVES | ZEROS}
    for that, is_so in ((lt(0, x), True), (lt(0, y), False), (le(0, y), True), (le(0, -y), False),
                        (lt(0, x * y), False), (le(0, x * y), True), (not_(eq(x, 0)), True), (not_(eq(y, 0)), False),
                        (lt(0, x + y), True), (lt(1, x), False), (lt(x, 2), False), (eq(x, y), False),
                        (lt(0, exp(-y)), True)):
        assert is_told(holds(that), known) is is_so, that
    assert not is_told(holds(lt(0, x)), {})
    assert not is_told(Said("guard", "x > 0"), known)


@pytest.fixture(scope="module")
def certificate():
    left, right = SAME["a root of a square"]
    return certified(after(left, positive), after(right, positive)).certificate


def test_its_certificate_names_the_sign_as_trusted(certificate):
    words = "that what aten.add.Tensor makes lies above 0, wherever it has a value, in front of 1 proof"
    assert words in replay(certificate)[1]


@pytest.mark.parametrize("forged", ["another function", "a number for two", "a number for none", "of an input"])
def test_a_sign_that_is_none_is_noticed(certificate, forged):
    form = json.loads(json.dumps(certificate))
    (proof,) = [proof for proof in form["proofs"].values()
                if any(node["operator"] in OF_A_SIGN for node in proof["block"]["nodes"])]
    nodes = proof["block"]["nodes"]
    of_sign = next(node for node in nodes if node["operator"] in OF_A_SIGN)
    if forged == "another function":
        of_sign["operator"] = "aten.neg.default"
    elif forged == "a number for two":
        nodes.insert(nodes.index(of_sign), {**of_sign, "name": "another"})
        for _, _, reason in form["steps"]:
            if "terms" in reason:
                reason["terms"]["another"] = reason["terms"][of_sign["name"]]
    elif forged == "a number for none":
        nodes.insert(0, {**nodes[0], "name": "nobody's"})
    else:
        form["terms"][next(reason["terms"][of_sign["name"]] for _, _, reason in form["steps"]
                           if of_sign["name"] in reason.get("terms", {}))][0] = "input"
    refused(renamed(form))
