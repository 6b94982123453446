"""The second prover: accepts what holds, refutes what does not, says when it compared nothing; and agrees with the
evaluator on what any formula means."""

# ruff: noqa: E501    tables: one line for each claim

from __future__ import annotations

import ast
import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from all_claims import ALL

from samesame import evaluator
from samesame.evaluator import Agreement, Cannot, Disagreement, Grid, compare
from samesame.formula import dag
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Lambda,
    Opaque,
    Size,
    Sum,
    absolute,
    and_,
    const,
    eq,
    exp,
    floordiv,
    fn,
    fold,
    index,
    le,
    log,
    lt,
    maximum,
    minimum,
    mod,
    not_,
    or_,
    power,
    sqrt,
    where,
)
from samesame.formula.scalars import SCALARS
from samesame.formula.tensor import leaf, tensor

TENSORS = [claim for claim in ALL if claim.theme != "loops and scans"]
x, y, n = leaf("x", (5,)), leaf("y", (5,)), Size("n", 2)


def about(left, right, shape=(5,)):
    return compare(dag.claim(tensor(shape, left), tensor(shape, right)))


def test_what_holds_nothing_is_never_read():
    """A part of no rows, as an empty cache has, stands in front of what is read."""
    nothing = leaf("nothing", (3, 0))

    def joined(i, j):
        return where(lt(j, 0), nothing[i, j], x[j] + i)

    assert isinstance(about(joined, lambda i, j: x[j] + i, (3, 5)), Agreement)
    assert isinstance(about(joined, lambda i, j: x[j], (3, 5)), Disagreement)


@pytest.mark.parametrize("k", range(len(TENSORS)), ids=[claim.name for claim in TENSORS])
def test_a_true_claim_is_agreed_with_and_its_twin_refuted(k):
    """Over size symbols, and every fourth at the claim's own sizes too."""
    for symbolic in (True, False)[: 1 if k % 4 else 2]:
        left, right, twin = TENSORS[k].sides(symbolic)
        assert isinstance(compare(dag.claim(left, right)), Agreement)
        assert isinstance(compare(dag.claim(left, twin)), Disagreement)


def test_it_shares_no_code():
    tree = ast.parse(Path(evaluator.__file__).read_text())
    imported = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    imported += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert not [name for name in imported if name.startswith("samesame")]


def test_it_knows_every_function_that_formulas_have():
    known = {*evaluator.FUNCTIONS, *evaluator.EXACT, *evaluator.DERIVED}
    assert set(SCALARS) == known, f"evaluator.py must work out {set(SCALARS) - known}, on its own: see DERIVED there"


# ------------------------------------------------------------------------------------------- agreement with the evaluator


def random_formula(draw, depth, indices, kind="real"):
    """A formula of this kind over leaves x[3, 4], z[4], k[3] (0 to 2) and m[3]; indices maps extents to variables."""
    def go(kind="real", depth=depth - 1):
        return random_formula(draw, depth, indices, kind)

    def position(size):
        own = [i for i, e in indices if e == size]
        return mod(go("int", depth - 1), size) if depth > 0 else draw.choice([*own, draw.randrange(size)])

    if depth <= 0 or draw.random() < 0.1:
        return draw.choice({
            "real": [lambda: X[position(3), position(4)], lambda: Z[position(4)], lambda: const(Fraction(draw.randint(-3, 3), 2))],
            "int": [lambda: K[position(3)], lambda: const(draw.randint(-2, 3)), lambda: draw.choice(indices)[0]],
            "bool": [lambda: M[position(3)]],
        }[kind])()
    if kind == "bool":
        return draw.choice([
            lambda: lt(go(), go()), lambda: le(go("int"), go("int")), lambda: eq(go("int"), go("int")),
            lambda: not_(go("bool")), lambda: and_(go("bool"), go("bool")), lambda: or_(go("bool"), go("bool")),
            lambda: fold(draw.choice(["any", "all"]), 3, lambda i: random_formula(draw, depth - 1, [*indices, (i, 3)], "bool")),
        ])()
    if kind == "int":
        return draw.choice([
            lambda: go("int") + go("int"), lambda: go("int") * draw.randint(-2, 2), lambda: floordiv(go("int"), draw.randint(1, 3)),
            lambda: mod(go("int"), draw.randint(1, 3)), lambda: where(go("bool"), go("int"), go("int")),
            lambda: minimum(go("int"), go("int")), lambda: where(go("bool"), 1, 0),
        ])()
    return draw.choice([
        lambda: go() + go(), lambda: go() * go(), lambda: go() - go("int"), lambda: go() / go(),
        lambda: power(go(), Fraction(draw.randint(-2, 3), draw.choice([1, 1, 2, 3]))),
        lambda: fn(draw.choice(["tanh", "sigmoid", "sin", "cos", "atan", "erf", "abs", "sign", "exp", "log", "softplus"]))(go()),
        lambda: where(go("bool"), go(), go()), lambda: maximum(go(), go()), lambda: minimum(go(), go(), 1),
        lambda: fold(draw.choice(["sum", "sum", "max", "min", "prod"]), 4,
                     lambda i: random_formula(draw, depth - 1, [*indices, (i, 4)])),
        lambda: Sum(indices[0][0] + 1, lambda i: random_formula(draw, depth - 2, [*indices, (i, 3)])),
        lambda: exp(where(go("bool"), go(), NEG_INF)),
    ])()


X, Z, K, M = leaf("x", (3, 4)), leaf("z", (4,)), leaf("k", (3,), "int", (0, 2)), leaf("m", (3,), "bool")


@pytest.mark.parametrize("seed", range(200))
def test_a_random_formula_means_what_the_evaluator_says(seed):
    memo = {}

    def at(i, j):
        return memo.setdefault((i, j), random_formula(random.Random(seed), 4, [(i, 3), (j, 4)]))

    formula = tensor((3, 4), at)
    form = json.loads(json.dumps(dag.claim(formula, formula)))
    grid = Grid(form, {}, "0", 1 << 30)
    grid.compared()
    axes = tuple(form["indices"])
    found = np.broadcast_to(grid.spread(grid.number(form["left"], True), axes), (len(evaluator.DRAWS), 3, 4))
    for draw in range(len(evaluator.DRAWS)):
        values = {name: number_array(grid, grid.leaf(k)[draw], kind)
                  for k, (name, _, kind, _) in enumerate(form["leaves"])}
        expected = evaluate(formula, values)
        for point in np.ndindex(3, 4):
            mine, theirs = found[(draw, *point)], expected[point]
            if mine is evaluator.UNDEFINED or not np.isfinite(theirs):
                if mine is not evaluator.UNDEFINED and mine is not evaluator.BOTTOM:
                    assert abs(mine) > 1e15 * grid.one or not np.isfinite(theirs)
                continue
            if mine is not evaluator.BOTTOM and abs(theirs) < 1e9:
                assert float(Fraction(mine) / grid.one) == pytest.approx(theirs, rel=1e-5, abs=1e-7)


def number_array(grid, array, kind):
    if kind != "real":
        return array.astype(np.int64 if kind == "int" else bool)
    return np.asarray([float(Fraction(v) / grid.one) for v in array.flat]).reshape(array.shape)


# --------------------------------------------------------------------------------------------------- corners of meaning


HOLDS = {
    "a difference of 10^-30 of a draw": (lambda i: x[i] + Fraction(1, 10**30), lambda i: x[i], False),
    "fractions are exact": (lambda i: (x[i] + y[i]) / 3, lambda i: x[i] / 3 + y[i] / 3, True),
    "ties of max": (lambda i: where(lt(x[i], y[i]), 1, 0), lambda i: where(le(x[i], y[i]), 1, 0), False),
    "max by cases": (lambda i: maximum(x[i], y[i]), lambda i: where(lt(x[i], y[i]), y[i], x[i]), True),
    "max is not softmax": (lambda i: maximum(x[i], y[i]), lambda i: log(exp(x[i]) + exp(y[i])), False),
    "relu6 at 6": (lambda i: minimum(maximum(x[i], 0), 6), lambda i: maximum(x[i], 0), False),
    "a small epsilon": (lambda i: x[i] / sqrt(x[i] ** 2 + Fraction(1, 10**5)),
                        lambda i: x[i] / sqrt(x[i] ** 2 + Fraction(1, 10**6)), False),
    "log of a product": (lambda i: log(x[i] * y[i]), lambda i: log(x[i]) + log(y[i]), True),
    "a root of a square": (lambda i: sqrt(x[i] ** 2), lambda i: absolute(x[i]), True),
    "a root of a square without its sign": (lambda i: sqrt(x[i] ** 2), lambda i: x[i], False),
    "an unknown function": (lambda i: fn("mystery")(x[i] + y[i]), lambda i: fn("mystery")(y[i] + x[i]), True),
    "an unknown function is not additive": (lambda i: fn("mystery")(x[i] + y[i]),
                                            lambda i: fn("mystery")(x[i]) + fn("mystery")(y[i]), False),
    "an unknown function of rounded reals": (lambda i: fn("mystery")(exp(x[i] + y[i])),
                                             lambda i: fn("mystery")(exp(x[i]) * exp(y[i])), True),
    "an unknown function of a number that is drawn, a root of it, squared": (
        lambda i: fn("mystery")(sqrt(x[i]) * sqrt(x[i])), lambda i: fn("mystery")(x[i]), True),
    "an unknown function of numbers near each other": (
        lambda i: fn("mystery")(exp(x[i])), lambda i: fn("mystery")(exp(x[i]) + Fraction(1, 10**38)), False),
    "exp(−∞) = 0": (lambda i: exp(where(lt(x[i], 0), NEG_INF, x[i])), lambda i: where(lt(x[i], 0), 0, exp(x[i])), True),
    "−∞ is the identity of max": (lambda i: maximum(NEG_INF, x[i]), lambda i: x[i], True),
    "−∞ is no number": (lambda i: where(lt(x[i], 0), NEG_INF, x[i]), lambda i: where(lt(x[i], 0), -10**9, x[i]), False),
    "a load out of range is not looked at": (lambda i: where(lt(i, 4), x[i], x[i - 5]), lambda i: where(lt(i, 4), x[i], x[4]),
                                             True),
    "a load at a rounded place": (lambda i: x[fn("floor")(i + Fraction(1, 2))], lambda i: x[i], True),
    "a load at another rounded place": (lambda i: x[fn("floor")(i - Fraction(1, 2))], lambda i: x[i], False),
    "a load between places is not looked at": (lambda i: where(lt(i, 4), x[i], x[i - Fraction(1, 2)]), lambda i: x[i], True),
    "a sum of as many as come before": (lambda i: Sum(i, lambda k: x[k]),
                                        lambda i: Sum(5, lambda k: where(lt(k, i), x[k], 0)), True),
    "an empty sum is 0": (lambda i: Sum(i, lambda k: x[k]) * where(eq(i, 0), 1, 0), lambda i: 0, True),
}


@pytest.mark.parametrize("name", HOLDS)
def test_corners(name):
    left, right, holds = HOLDS[name]
    assert isinstance(about(left, right), Agreement if holds else Disagreement)


def sort_of(row, place, attributes=(), name="sort"):
    k = index(5)
    return Opaque(name, attributes, (Lambda((k,), row(k)),), (place,), "real")


OPAQUE = {
    "equal rows": (lambda i: sort_of(lambda k: x[k] + y[k], i), lambda i: sort_of(lambda k: y[k] + x[k], i), True),
    "another row": (lambda i: sort_of(lambda k: x[k], i), lambda i: sort_of(lambda k: y[k], i), False),
    "a row of roots, squared": (lambda i: sort_of(lambda k: sqrt(x[k]) * sqrt(x[k]), i), lambda i: sort_of(lambda k: x[k], i),
                                True),
    "a permuted row": (lambda i: sort_of(lambda k: x[k], i), lambda i: sort_of(lambda k: x[4 - k], i), False),
    "another attribute": (lambda i: sort_of(lambda k: x[k], i, (1,)), lambda i: sort_of(lambda k: x[k], i, (1.0,)), False),
    "another operator": (lambda i: sort_of(lambda k: x[k], i), lambda i: sort_of(lambda k: x[k], i, (), "rot"), False),
    "another place": (lambda i: sort_of(lambda k: x[k], i), lambda i: sort_of(lambda k: x[k], 4 - i), False),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_an_operator_without_a_meaning_is_a_map_of_whole_tensors(name):
    left, right, holds = OPAQUE[name]
    assert isinstance(about(left, right), Agreement if holds else Disagreement)


def test_where_nothing_is_defined_nothing_is_agreed():
    found = about(lambda i: x[i] / (x[i] - x[i]), lambda i: y[i] / (y[i] - y[i]))
    assert found == Cannot("nowhere are both sides defined")


def test_what_is_defined_between_0_and_1_alone_is_judged_there():
    many = leaf("many", (10,))

    def roots(shift):
        return fold("prod", 10, lambda k: sqrt(many[k]) * sqrt(1 - many[k])) + shift

    def root(_):
        return fold("prod", 10, lambda k: sqrt(many[k] - many[k] * many[k]))

    assert isinstance(about(lambda _: roots(0), root), Agreement)
    assert isinstance(about(lambda _: roots(Fraction(1, 1000)), root), Disagreement)


def test_a_claim_with_too_many_elements_is_not_judged():
    big = leaf("b", (4000, 4000))
    found = compare(dag.claim(*(tensor((4,), lambda i: Sum((4000, 4000), lambda j, k: big[j, k]))for _ in "ab")))
    assert isinstance(found, Cannot) and "too large" in found.reason


def test_a_large_output_is_compared_at_some_elements():
    rows = leaf("r", (300, 40))
    shifted = tensor((300, 40), lambda i, j: rows[i, j] + 1)
    same = tensor((300, 40), lambda i, j: 1 + rows[i, j])
    last = tensor((300, 40), lambda i, j: rows[i, j] + where(eq(i, 299), 2, 1))
    assert isinstance(compare(dag.claim(shifted, same)), Agreement)
    found = compare(dag.claim(shifted, last))
    assert isinstance(found, Disagreement) and found.element[0] == 299


def test_sizes_that_are_equal_by_chance_hide_nothing():
    m, k = Size("m", 2), Size("k", 2)
    mean = tensor((m,), lambda i: Sum(k, lambda j: leaf("a", (m, k))[i, j]) / k)
    assert isinstance(compare(dag.claim(mean, tensor((m,), lambda i: mean[i] * k / m))), Disagreement)


def test_a_disagreement_names_where_and_what():
    found = about(lambda i: x[i], lambda i: where(eq(i, 3), x[i] + 1, x[i]))
    assert isinstance(found, Disagreement) and found.element == (3,)
    assert Fraction(found.right) - Fraction(found.left) == 1


def test_the_same_seed_gives_the_same_answer():
    claim = dag.claim(tensor((5,), lambda i: exp(x[i])), tensor((5,), lambda i: exp(y[i])))
    assert compare(claim, 3) == compare(claim, 3) != compare(claim, 4)


MALFORMED = [
    {},
    {"nodes": [["load", 0, []]], "leaves": [], "indices": [], "left": 0, "right": 0},
    {"nodes": [["nonsense"]], "leaves": [], "indices": [], "left": 0, "right": 0},
    {"nodes": [["add", [7, 8]]], "leaves": [], "indices": [], "left": 0, "right": 0},
    {"nodes": [["num", "one"]], "leaves": [], "indices": [], "left": 0, "right": 0},
    {"nodes": [["num", "1"]], "leaves": [], "indices": [], "left": 0, "right": 5},
    {"nodes": [["size", "n", 2], ["index", 0, 0]], "leaves": [], "indices": [0], "left": 1, "right": 1},
    {"nodes": [3], "leaves": [], "indices": [], "left": 0, "right": 0},
]


@pytest.mark.parametrize("claim", MALFORMED)
def test_a_malformed_claim_is_refused_without_a_crash(claim):
    assert isinstance(compare(claim), Cannot)


def meddle(monkeypatch, what):
    """Break the second prover in one place."""
    monkeypatch.setitem(*{
        "exp": (evaluator.DERIVED, "sigmoid", lambda f, v: f("exp", v)),
        "abs": (evaluator.EXACT, "abs", lambda v: v),
        "sign": (evaluator.EXACT, "sign", lambda v: 1),
    }[what])


@pytest.mark.parametrize("what", ["exp", "abs", "sign"])
def test_a_broken_second_prover_is_noticed_by_the_claims(monkeypatch, what):
    meddle(monkeypatch, what)
    found = [compare(dag.claim(*claim.sides(False)[:2])) for claim in TENSORS if claim.name in NOTICING]
    assert any(isinstance(answer, Disagreement) for answer in found)


NOTICING = {"sign(v)·|v| = v", *(claim.name for claim in TENSORS if "igmoid" in claim.name or "|v|" in claim.name)}
