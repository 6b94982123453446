"""Formulas as data: written the same way every time, and read back as what was written."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from formula_claims import CLAIMS

from samesame.formula import dag
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    PI,
    Lambda,
    Opaque,
    Size,
    Unsupported,
    and_,
    const,
    eq,
    fold,
    index,
    le,
    maximum,
    minimum,
    mod,
    not_,
    or_,
    sqrt,
    substitute,
    tanh,
    where,
)
from samesame.formula.tensor import leaf, tensor

N = Size("N", 2)


def every_kind(n):
    """An expression that holds every kind of node, over new index variables."""
    x, k = leaf("x", (n, 3)), leaf("k", (n,), "int", (0, n - 1))
    i, j, v = index(n), index(3), index(n)
    told = (1, 1.0, True, None, "name", Fraction(1, 3), (n, complex(0, 1)))
    opaque = Opaque("ns.op", told, (Lambda((v,), x[v, j]),), (i,), "real")
    guard = or_(and_(le(i, j), not_(eq(k[i], 1))), const(False))
    body = fold("sum", (n, 3), lambda a, b: x[k[a], b] * tanh(x[a, b] + PI) - a // 2 + mod(a, 2))
    return where(guard, maximum(body, NEG_INF), minimum(sqrt(x[i, j]) ** -3, opaque)) + Fraction(2, 7)


def test_what_is_read_back_is_written_the_same_way():
    written = json.loads(json.dumps(dag.encoded([every_kind(N), every_kind(4)])))
    assert dag.encoded(dag.decoded(written)) == written


def test_names_of_variables_do_not_matter():
    """Two formulas that differ in their index variables only are written alike, however often it is done."""
    first, second = every_kind(N), every_kind(N)
    assert first is not second and dag.encoded([first]) == dag.encoded([second])


def test_what_is_read_back_has_variables_of_its_own():
    i = index(3)
    (again,) = dag.decoded(dag.encoded([leaf("x", (3,))[i]]))
    assert i not in again.free and len(again.free) == 1


def test_a_number_and_a_truth_value_are_told_apart():
    def op(attribute):
        return Opaque("op", (attribute,), (), (), "real")

    forms = [json.dumps(dag.encoded([op(a)])) for a in (1, 1.0, True, "1", Fraction(1), None, (1,))]
    assert len(set(forms)) == len(forms)


@pytest.mark.parametrize("claim", CLAIMS[::6], ids=lambda claim: claim.name)
def test_a_claim_read_back_has_the_same_value(claim):
    left, right, _ = claim.sides(False)
    form = json.loads(json.dumps(dag.claim(left, right)))
    *indices, a, b = dag.decoded({**form, "roots": [*form["indices"], form["left"], form["right"]]})
    draw = np.random.default_rng(0)
    inputs = {}
    for name, shape, kind, bounds in form["leaves"]:
        sizes = [int(form["nodes"][p][1]) for p in shape]
        ends = bounds and [int(form["nodes"][p][1]) for p in bounds]
        inputs[name] = draw.integers(ends[0], ends[1] + 1, sizes) if kind == "int" else draw.normal(size=sizes)
    for original, again in ((left, a), (right, b)):
        def at(*places, again=again):
            return substitute(again, dict(zip(indices, places, strict=True)))

        expected = evaluate(original, inputs)
        np.testing.assert_allclose(evaluate(tensor(original.shape, at), inputs), expected, rtol=1e-12)


BROKEN = {
    "a place that does not come before": lambda f: f["nodes"].__setitem__(0, ["not", 0]),
    "an unknown tag": lambda f: f["nodes"].__setitem__(0, ["nonsense"]),
    "a number that is none": lambda f: f["nodes"].__setitem__(0, ["num", "one"]),
    "a leaf that is not there": lambda f: f["leaves"].clear(),
    "no roots": lambda f: f.pop("roots"),
    "half an operator": lambda f: f["nodes"].__setitem__(-1, ["where", 0]),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_what_is_no_formula_is_refused(fault):
    form = dag.encoded([every_kind(4)])
    BROKEN[fault](form)
    with pytest.raises(ValueError, match=r"this is no formula|literal"):
        dag.decoded(form)


def test_tensors_of_different_rank_make_no_claim():
    with pytest.raises(Unsupported, match="ranks differ"):
        dag.claim(leaf("x", (2,)), leaf("y", (2, 2)))


def test_a_shared_part_is_written_once():
    e = leaf("x", (2,))[0]
    for _ in range(200):
        e = e * e + 1
    assert len(dag.encoded([e])["nodes"]) < 1000
