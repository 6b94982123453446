"""The algebra: every rule is proved for all sizes, and works out the same; what loses accuracy is derived by none."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from optimize.named import worked_out
from samesame.egraph import Budget, EGraph
from samesame.evaluator import Agreement, compare
from samesame.formula.dag import claim
from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.expr import Leaf, Size, index
from samesame.formula.tensor import tensor
from samesame.optimize.forms import (
    Form,
    Part,
    Place,
    cast,
    concat,
    extent,
    extremum,
    fn,
    fold,
    formula,
    load,
    minus,
    number,
    plus,
    power,
    text,
    times,
    walk,
)
from samesame.optimize.operators import softmax_of
from samesame.optimize.rules import RULES, add, form_of, typed

SIZES = {"m": 2, "n": 3, "k": 4, "r": 2, "s": 5, "c": 7, "d": 8}
EXTENTS = {axis: Size(axis.upper(), 1) for axis in SIZES}
EXTENTS |= {"c": EXTENTS["r"] + EXTENTS["s"], "d": EXTENTS["r"] + 1 + EXTENTS["s"]}
X, W, A, B = load("X", "m", "k"), load("W", "n", "k"), load("A", "n", "r"), load("B", "r", "k")
U, V, S, D = load("U", "n", "s"), load("V", "n", "k"), load("S", "m"), load("D", "k")
P, Q, C, T = load("P", "m", "r"), load("Q", "m", "s"), load("C", "n", "c"), load("T", "n")
BESIDE = concat("c", "rs", [P, Q])                       # of two axes; of two, and one element between them
BETWEEN = concat("d", ["r", None, "s"], [P, S, Q])
BUDGET = Budget(nodes=2000, iterations=6, seconds=5.0)


def total(axes, *factors):
    return fold("sum", axes, times(*factors))


def tensors(*forms):
    draw = torch.Generator().manual_seed(0)
    shapes = {part.attributes[0]: [SIZES[p.axis] for p in part.attributes[1:]]
              for form in forms for part in walk(form) if part.operator == "load"}
    return {name: torch.rand(shape, generator=draw, dtype=torch.float64) + 0.5 for name, shape in shapes.items()}


def leaves_of(form):
    """Leaves that have the extents of the axes along which the form loads them."""
    return {part.attributes[0]: Leaf(part.attributes[0], tuple(EXTENTS[p.axis] for p in part.attributes[1:]))
            for part in walk(form) if part.operator == "load"}


def as_tensor(form, leaves):
    """The form as a formula over leaves."""
    shape = tuple(EXTENTS[axis] for axis in form.axes)
    return tensor(shape, lambda *i: formula(form, dict(zip(form.axes, i, strict=True)), EXTENTS, leaves))


def saturated(form, rules):
    graph = EGraph(typed)
    root = add(graph, form, {})
    return graph, root, graph.saturate(rules, BUDGET)


CASES = {
    "sum-of-sums": [total("n", total("k", X, W), U), total("k", X, plus(D, D), total("r", load("B", "r", "n"))),
                    total("m", S, total("k", X)), times(number(Fraction(1, 2)), total("k", X, W))],
    "take-out": [total(["n", "k"], X, W, U), total("k", X, W, S), total("k", number(3), W, S),
                 total(["k", "n"], X, load("E", "n"))],
    "linearity": [total("k", X, plus(W, total("r", A, B))), total("k", plus(W, load("E", "n"), number(2))),
                  total("k", X, plus(D, number(1)))],
    "round-later": [total("k", cast("bfloat16", times(X, S)), W)],
    "split-concat": [total("c", BESIDE, T), total("d", BETWEEN), total(["c", "n"], BESIDE, T),
                     total("c", concat("c", "rs", [P, load("q", "m")]))],
    "load-in-concat": [total("c", BESIDE, C), times(BESIDE, C), total("d", BETWEEN, load("D", "d", "n")),
                       total("c", concat("c", "sr", [Q, P]), C, load("g", "c"))],
    "concat-by-concat": [total("c", BESIDE, concat("c", "rs", [load("b", "n", "r"), load("e", "s")]))],
    "function-inside": [fn("tanh", BESIDE), total("c", power(BESIDE, 2), C), cast("bfloat16", BETWEEN)],
    "concat-outside": [concat("c", "rs", [total("k", X, load("b", "k", "r")), total("k", X, load("e", "k", "s"), D)]),
                       concat("c", "rs", [times(S, P), times(S, Q)])],
    "common-factor": [plus(total("k", X, W), total("k", X, V)), plus(total("k", X, W), total(["k", "r"], X, A, B)),
                      plus(times(X, S), times(number(2), X))],
}


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_every_rule_is_proved_for_all_sizes(name):
    """Whatever the rule makes equal, the core proves equal, and the second prover finds equal in exact numbers; and so
    does torch at small sizes."""
    rules = [rule for rule in RULES if rule.name in (name, "turn")]
    for form in CASES.get(name, [form for forms in CASES.values() for form in forms]):
        graph, root, report = saturated(form, rules)
        assert report.uses.get(name) or name == "turn", f"{name} says nothing of {text(form)}"
        proved(graph, root, form)


GUARDED = {                                              # an axis that is bound in one place and free in another
    "a part's axis is free beside": total("c", BESIDE, load("u", "r"), C),
    "a part's axis is free in what is multiplied": total("c", BESIDE, load("u", "r", "c")),
    "a part's axis is summed": total(["c", "r"], BESIDE, load("u", "r")),
    "cut in two ways": total("c", BESIDE, concat("c", "sr", [Q, P])),
    "a part's axis is common": concat("c", "rs", [times(P, load("u", "m")), times(load("u", "m"), Q)]),
    "one of two is summed": plus(total("k", X, W), times(X, V)),
    "summed and not": times(X, total("k", X, W)),
    "summed twice": total("k", X, total("k", X, W)),
    "a sum that lacks the axis": total("n", W, total("k", W)),
}


@pytest.mark.parametrize("name", GUARDED)
def test_axes_are_not_confused(name):
    graph, root, _ = saturated(GUARDED[name], RULES)
    proved(graph, root, GUARDED[name])


def proved(graph, root, form):
    """Every form of the class is the same, for all sizes and at some."""
    at = {axis: index(EXTENTS[axis]) for axis in form.axes}
    leaves, given = leaves_of(form), tensors(form)
    wanted, exact = formula(form, at, EXTENTS, leaves), as_tensor(form, leaves)
    for other in {form_of(graph, term, {}) for term in graph.members(root)}:
        assert other.axes == form.axes
        answer = prove_equal(wanted, formula(other, at, EXTENTS, leaves))
        assert isinstance(answer, Proved), f"{text(form)} = {text(other)}: {answer}"
        assert other is form or isinstance(compare(claim(exact, as_tensor(other, leaves))), Agreement)
        torch.testing.assert_close(worked_out(other, given, SIZES), worked_out(form, given, SIZES))


def equal(left: Form, right: Form) -> bool:
    graph, known = EGraph(typed), {}
    one, other = add(graph, left, known), add(graph, right, known)
    graph.saturate(RULES, BUDGET)
    return graph.equal(one, other)


def mean(x, axis):
    return times(power(extent(axis), -1), fold("sum", [axis], x))


SCORES = load("Q", "m", "s")
MEAN = mean(X, "k")
RMS = power(plus(mean(power(X, 2), "k"), number(Fraction(1, 1000))), Fraction(-1, 2))
SOFTMAX = softmax_of(SCORES, ["s"])
EXP = fn("exp", SCORES)
LAYER_NORM = times(minus(X, MEAN), power(plus(mean(power(minus(X, MEAN), 2), "k"), number(Fraction(1, 1000))),
                                         Fraction(-1, 2)))
Y = load("Y", "m", "k")
FORBIDDEN = {                                            # the first half is true of real numbers, the second is false
    "softmax without its maximum": (SOFTMAX, times(EXP, power(fold("sum", ["s"], EXP), -1))),
    "variance in one pass": (mean(power(minus(X, MEAN), 2), "k"), minus(mean(power(X, 2), "k"), power(MEAN, 2))),
    "one pass, as a product": (total("k", minus(X, MEAN), minus(X, MEAN)),
                               minus(total("k", X, minus(X, MEAN)), total("k", MEAN, minus(X, MEAN)))),
    "the mean moved behind a matmul": (total("k", minus(X, MEAN), W),
                                       minus(total("k", X, W), times(MEAN, total("k", W)))),
    "exp of a sum": (fn("exp", plus(X, S)), times(fn("exp", X), fn("exp", S))),
    "a matrix divided before": (total("k", X, power(Y, -1), W), times(total("k", X, W), power(Y, -1))),
    "an epsilon dropped": (times(X, RMS), times(X, power(mean(power(X, 2), "k"), Fraction(-1, 2)))),
    "an epsilon moved": (times(X, RMS), times(X, power(plus(power(mean(power(X, 2), "k"), Fraction(1, 2)), number(
        Fraction(1, 1000))), -1))),
    "the norm instead of the root mean square": (
        times(X, power(mean(power(X, 2), "k"), Fraction(-1, 2))),
        times(X, power(fold("sum", ["k"], power(X, 2)), Fraction(-1, 2)))),
    "a maximum taken out": (fold("max", ["k"], times(S, X)), times(S, fold("max", ["k"], X))),
    "relu of a sum": (extremum("max", plus(X, S), number(0)), plus(extremum("max", X, number(0)), S)),
    "a nonlinear function of a sum": (total("k", fn("silu", X), W), fn("silu", total("k", X, W))),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_no_rule_derives_what_is_forbidden(name):
    assert not equal(*FORBIDDEN[name])


def test_what_is_allowed_is_derived():
    """The same sides, one step milder: so the test above can fail."""
    values, inverse = load("Z", "s", "k"), power(fold("sum", ["s"], fn("exp", SCORES)), -1)
    assert equal(total("s", EXP, inverse, values), times(inverse, total("s", EXP, values)))
    assert equal(total("k", X, RMS, D, W), times(RMS, total("k", X, D, W)))
    assert equal(total("k", X, plus(W, total("r", A, B))), plus(total("k", X, W), total("r", total("k", X, B), A)))
    assert equal(mean(total("k", X, W), "m"), total("k", mean(X, "m"), W))


def test_the_diagonal_of_a_concatenation_is_not_split():
    """What stands one after the other along c depends on c itself."""
    _, _, report = saturated(total("c", concat("c", "rs", [load("b", "c", "r"), load("e", "c", "s")]), C), RULES)
    assert "split-concat" not in report.uses


def split_at(first, second):
    """Σ_r P·C + Σ_s Q·C, where C is read from these offsets on."""
    return plus(*(total(axis, x, load("C", "n", Place((Part(axis),), *offset)))
                  for axis, x, offset in (("r", P, first), ("s", Q, second))))


SPLIT = {                                                # behind |r| is right
    "behind the other part": ((0,), (0, ("s",))), "one too early": ((0,), (-1, ("r",))),
    "over one another": ((0,), (0,)), "in the other order": ((0, ("s",)), (0,)),
    "twice behind": ((0,), (0, ("r", "r"))),
}


@pytest.mark.parametrize("name", SPLIT)
def test_a_concatenation_is_split_where_its_parts_meet(name):
    whole, right, wrong = total("c", BESIDE, C), split_at((0,), (0, ("r",))), split_at(*SPLIT[name])
    graph, root, _ = saturated(whole, RULES)
    derived = {form_of(graph, term, {}) for term in graph.members(root)}
    assert right in derived
    assert wrong not in derived
    at, leaves = {axis: index(EXTENTS[axis]) for axis in "mn"}, leaves_of(whole)
    meant, good, bad = (formula(form, at, EXTENTS, leaves) for form in (whole, right, wrong))
    assert isinstance(prove_equal(meant, good), Proved)
    assert isinstance(prove_equal(meant, bad), NotProved)


def test_products_do_not_blow_up():
    """Eight factors in a chain, each order of which is a contraction: few nodes, all found."""
    names = "mkrsn"
    axes = [f"{letter}{d}" for d in range(2) for letter in names][:9]
    form = load("T0", axes[0], axes[1])
    for d in range(1, 8):
        form = total([axes[d]], form, load(f"T{d}", axes[d], axes[d + 1]))
    graph, _, report = saturated(form, RULES)
    assert graph.node_count < 2500
    assert report.matches < 10_000, report
