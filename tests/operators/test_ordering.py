"""What argmax, topk and sort pick of a row does not hang on a monotone function of the whole row, and hangs on any
other: with torch, ties included, and as claims."""

import numpy as np
import pytest
import torch
from test_meanings import run_opaque

from samesame import check
from samesame.formula.equal import Budget, NotProved, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import NEG_INF, eq, exp, lt, where
from samesame.formula.tensor import leaf, tensor
from samesame.operators import meaning_of

ROWS, LENGTH = 4, 5
BUDGET = Budget(seconds=3.0)
x, mask = leaf("x", (ROWS, LENGTH)), leaf("mask", (ROWS, LENGTH), "bool")
TIED = torch.tensor([[1, 2, 2, -1, 0], [0, 0, 0, 0, 0], [3, -3, 3, -3, 3], [0.5, 0.25, 0.5, 2, -2]]).double()
PICKS = {
    "topk": ("aten.topk.default", (3,)),
    "the smallest": ("aten.topk.default", (2, 1, False)),
    "unsorted": ("aten.topk.default", (2, -1, True, False)),
    "columns": ("aten.topk.default", (2, 0)),
    "sort": ("aten.sort.default", ()),
    "sort down": ("aten.sort.default", (1, True)),
    "argmax": ("aten.argmax.default", (-1,)),
    "argmin": ("aten.argmin.default", (0, True)),
    "argmax of all": ("aten.argmax.default", ()),
}
MONOTONE = {
    "softmax": lambda d: ("aten.softmax.int", (d,)),
    "log-softmax": lambda d: ("aten.log_softmax.int", (d,)),
    "sigmoid": lambda d: ("aten.sigmoid.default", ()),
    "tanh": lambda d: ("aten.tanh.default", ()),
    "turned": lambda d: ("aten.neg.default", ()),
    "thrice": lambda d: ("aten.mul.Tensor", (3,)),
    "one minus": lambda d: ("aten.rsub.Scalar", (1,)),
}


def applied(name, given, *arguments):
    """The results of an operator's meaning, as a tuple."""
    found = meaning_of(name)(given, *arguments)
    return found if isinstance(found, tuple) else (found,)


def by_torch(name, given, *arguments):
    namespace, packet, overload = name.split(".")
    found = getattr(getattr(getattr(torch.ops, namespace), packet), overload)(given, *arguments)
    return found if isinstance(found, tuple) else (found,)


def along(pick):
    name, arguments = PICKS[pick]
    if name.startswith("aten.topk"):
        return arguments[1] if len(arguments) > 1 else -1
    return arguments[0] if arguments else -1


@pytest.mark.parametrize("function", MONOTONE)
@pytest.mark.parametrize("pick", PICKS)
def test_a_formula_says_what_torch_picks_ties_included(pick, function):
    (of, told), (name, arguments) = MONOTONE[function](along(pick)), PICKS[pick]
    formulas = applied(name, applied(of, x, *told)[0], *arguments)
    wanted = by_torch(name, by_torch(of, TIED, *told)[0], *arguments)
    for formula, value in zip(formulas, wanted, strict=True):
        found = evaluate(formula, {"x": TIED.numpy()}, opaque=lambda *of: run_opaque({}, *of))
        assert np.allclose(found, value.numpy(), rtol=1e-12)


@pytest.mark.parametrize("pick", ["topk", "columns", "sort", "argmax"])
@pytest.mark.parametrize("function", ["softmax", "log-softmax", "sigmoid", "tanh", "thrice"])
def test_positions_are_those_of_the_row_itself(pick, function):
    (of, told), (name, arguments) = MONOTONE[function](along(pick)), PICKS[pick]
    left, right = applied(name, applied(of, x, *told)[0], *arguments), applied(name, x, *arguments)
    assert isinstance(prove_tensors_equal(left[-1], right[-1], budget=BUDGET), Proved)


FALSE = {
    "a decreasing function": lambda y: tensor(y.shape, lambda i, j: -y[i, j]),
    "a factor of unknown sign": lambda y: tensor(y.shape, lambda i, j: y[i, j] * leaf("w", (ROWS,))[i]),
    "a bias of the element": lambda y: tensor(y.shape, lambda i, j: y[i, j] + leaf("b", (LENGTH,))[j]),
    "a scale of the element": lambda y: tensor(y.shape, lambda i, j: exp(y[i, j]) * exp(leaf("b", (LENGTH,))[j])),
    "a square": lambda y: tensor(y.shape, lambda i, j: y[i, j] ** 2),
    "a sum over the other dimension": lambda y: meaning_of("aten.softmax.int")(y, 0),
    "a wave": lambda y: meaning_of("aten.sin.default")(y),
    "a corner": lambda y: meaning_of("aten.relu.default")(y),
    "a mask": lambda y: tensor(y.shape, lambda i, j: where(mask[i, j], y[i, j], NEG_INF)),
}


@pytest.mark.parametrize("function", FALSE)
@pytest.mark.parametrize("pick", ["topk", "sort", "argmax"])
def test_no_other_function_leaves_the_positions_where_they_are(pick, function):
    name, arguments = PICKS[pick]
    left, right = applied(name, FALSE[function](x), *arguments), applied(name, x, *arguments)
    for a, b in zip(left, right, strict=True):
        assert isinstance(prove_tensors_equal(a, b, budget=BUDGET), NotProved)


def test_the_largest_of_all_is_not_the_largest_of_rows_that_are_scaled_apart():
    softmax = meaning_of("aten.softmax.int")(x, -1)
    left, right = (meaning_of("aten.argmax.default")(y) for y in (softmax, x))
    assert isinstance(prove_tensors_equal(left, right, budget=BUDGET), NotProved)


@pytest.mark.parametrize("arguments", [(2,), (3, 0), (3, -1, False), (3, -1, True, False)])
def test_other_options_pick_otherwise(arguments):
    _, left = applied("aten.topk.default", meaning_of("aten.softmax.int")(x, arguments[1] if arguments[1:] else -1), 3)
    _, right = applied("aten.topk.default", x, *arguments)
    assert isinstance(prove_tensors_equal(left, right, budget=BUDGET), NotProved)


@pytest.mark.parametrize("name, wrong", [("aten.topk.default", (3, -1, False)), ("aten.sort.default", (-1, True))])
def test_a_turned_row_is_picked_from_the_other_end(name, wrong):
    right_way = {"aten.topk.default": ((3,), (3, -1, False)), "aten.sort.default": ((), (-1, True))}[name]
    turned = tensor(x.shape, lambda i, j: 1 - 2 * x[i, j])
    values, positions = applied(name, turned, *right_way[0])
    own_values, own_positions = applied(name, x, *right_way[1])
    assert isinstance(prove_tensors_equal(positions, own_positions, budget=BUDGET), Proved)
    back = tensor(values.shape, lambda i, j: 1 - 2 * own_values[i, j])
    assert isinstance(prove_tensors_equal(values, back, budget=BUDGET), Proved)
    assert isinstance(prove_tensors_equal(values, own_values, budget=BUDGET), NotProved)


def test_what_is_picked_of_masked_rows_may_be_minus_infinity():
    """Where a mask leaves less than two, the second largest is −∞, and its exp is 0."""
    masked = tensor(x.shape, lambda i, j: where(mask[i, j], x[i, j], NEG_INF))
    values = meaning_of("aten.topk.default")(masked, 2)[0]
    never = tensor((ROWS, 2), lambda *_: 0, "int")
    infinite = tensor((ROWS, 2), lambda i, j: where(eq(values[i, j], NEG_INF), 1, 0), "int")
    assert isinstance(prove_tensors_equal(infinite, never, budget=BUDGET), NotProved)
    weights = meaning_of("aten.topk.default")(tensor(x.shape, lambda i, j: exp(masked[i, j])), 2)[0]
    zero = tensor((ROWS, 2), lambda i, j: where(lt(0, weights[i, j]), 0, 1), "int")
    assert isinstance(prove_tensors_equal(zero, never, budget=BUDGET), NotProved)


def test_what_is_picked_of_the_exp_of_masked_rows_is_a_number():
    """It stays an exp where the mask is, and 0 elsewhere: the mask is not taken out of it."""
    masked = tensor(x.shape, lambda i, j: exp(where(mask[i, j], x[i, j], NEG_INF)))
    spelled = tensor(x.shape, lambda i, j: where(mask[i, j], exp(x[i, j]), 0))
    (left, _), (right, _) = (meaning_of("aten.topk.default")(y, 2) for y in (masked, spelled))
    assert isinstance(prove_tensors_equal(left, right, budget=BUDGET), Proved)


# ---------------------------------------------------------------------------------------------------- routes of experts


def all_then_chosen(x, k=2):
    """Mixtral's: a softmax over all experts, divided by the sum of those chosen."""
    weights, experts = x.softmax(-1).topk(k)
    return weights / weights.sum(-1, keepdim=True), experts


def chosen_then_all(x, k=2):
    weights, experts = x.topk(k)
    return weights.softmax(-1), experts


def chosen_less_the_sum(x, k=2):
    weights, experts = x.topk(k)
    return (weights - x.logsumexp(-1, keepdim=True)).exp(), experts


def chosen_of_all(x, k=2):
    return x.softmax(-1).topk(k)


@pytest.mark.parametrize("pair", [(all_then_chosen, chosen_then_all), (chosen_of_all, chosen_less_the_sum)])
def test_routes_of_experts_are_the_same(pair):
    verdict = check(*pair, (torch.randn(3, LENGTH),))
    assert verdict.verdict == "same" and "proved" in str(verdict.evidence)


def test_weights_that_do_not_sum_to_one_are_others():
    assert check(all_then_chosen, chosen_of_all, (torch.randn(3, LENGTH),)).verdict == "different"
