"""What rules can say: movement of tensors, for any number of parts, each line proved on numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from explanations import replay
from samesame.egraph import Budget, EGraph, EGraphError, Evidence, Operand, RuleError, rules

Shape = tuple[int, ...]
POINTWISE = {"tanh": np.tanh, "exp": np.exp, "neg": np.negative}


def compose(p: Shape, q: Shape) -> Shape:
    return tuple(p[i] for i in q)


def places(xs: Sequence[Operand], d: int) -> Iterator[tuple[int, int, int]]:
    """Each part's number, and where it starts and ends in the concat."""
    low = 0
    for k, x in enumerate(xs):
        yield k, low, low + x.type[d]
        low += x.type[d]


def sizes(xs: Sequence[Operand], d: int) -> list[int]:
    return [x.type[d] for x in xs]


def last(x: Operand) -> int:
    return len(x.type) - 1


RULES = rules("""
    slice-of-concat     slice(concat(*xs; d); d, a, b)         = slice(xs[k]; d, a - low, b - low)
                            for k, low, high in places(xs, d) if low <= a and b <= high
    slice-of-slice      slice(slice(x; d, a, b); d, e, f)      = slice(x; d, a + e, a + f)
    slice-of-permute    slice(permute(x; p); d, a, b)          = permute(slice(x; p[d], a, b); p)
    slice-of-all        slice(x; d, 0, n)                      = x     if n == x.type[d]
    concat-of-one       concat(x; d)                           = x
    concat-of-concat    concat(concat(*xs; d), *ys; d)         = concat(*xs, *ys; d)
    concat-of-slices    concat(slice(x; d, a, b), slice(x; d, b, c), *rest; d)  = concat(slice(x; d, a, c), *rest; d)
    permute-of-permute  permute(permute(x; p); q)              = permute(x; compose(p, q))
    permute-of-concat   permute(concat(*xs; d); p)             = concat(*[permute(x; p) for x in xs]; p.index(d))
    permute-of-nothing  permute(x; p)                          = x     if p == tuple(range(len(p)))
    reshape-of-reshape  reshape(reshape(x; s); t)              = reshape(x; t)
    reshape-of-nothing  reshape(x; s)                          = x     if s == x.type
    pointwise-of-concat pointwise(concat(*xs; d))              = concat(*[pointwise(x) for x in xs]; d)
    sum-of-concats      sum(concat(*xs; d), concat(*ys; d))    = concat(*[sum(x, y) for x, y in zip(xs, ys)]; d)
                            if sizes(xs, d) == sizes(ys, d)
    linear-to-concat    linear(x, concat(*ws; 0))              = concat(*[linear(x, w) for w in ws]; last(x))
    linear-of-concats   linear(concat(*xs; d), concat(*ws; 1)) = sum(*[linear(x, w) for x, w in zip(xs, ws)])
                            if d == last(xs[0]) and sizes(xs, d) == sizes(ws, 1)
""", compose, places, sizes, last, pointwise=POINTWISE)                                                   # fmt: skip


def run(operator: str, attributes: tuple[Any, ...], arguments: list[np.ndarray]) -> np.ndarray:
    """The operator on numbers."""
    match operator, attributes:
        case "slice", (d, a, b):
            return arguments[0].take(range(a, b), axis=d)
        case "concat", (d,):
            return np.concatenate(arguments, axis=d)
        case "permute", (p,):
            return arguments[0].transpose(p)
        case "reshape", (shape,):
            return arguments[0].reshape(shape)
        case "linear", ():
            return arguments[0] @ arguments[1].T
        case "sum", ():
            return np.sum(arguments, axis=0)
    return POINTWISE[operator](arguments[0])


def typed(operator: str, attributes: tuple[Any, ...], types: tuple[Any, ...]) -> Shape | None:
    return run(operator, attributes, [np.zeros(shape) for shape in types]).shape if types else None


class Tensors:
    """An e-graph over tensors that hold numbers."""

    def __init__(self) -> None:
        self.graph, self.random = EGraph(typed), np.random.default_rng(0)
        self.values: dict[int, np.ndarray] = {}

    def input(self, name: str, *shape: int) -> int:
        term = self.graph.add(name, type=shape)
        self.values[term] = self.random.normal(size=shape)
        return term

    def __call__(self, operator: str, *arguments: int, at: tuple[Any, ...] = ()) -> int:
        return self.graph.add(operator, at, arguments)

    def value(self, term: int) -> np.ndarray:
        if term not in self.values:
            here = self.graph.term(term)
            self.values[term] = run(here.operator, here.attributes, [self.value(a) for a in here.arguments])
        return self.values[term]

    def check(self) -> None:
        """Every term of every class has the same value."""
        for cls in self.graph.classes():
            for term in self.graph.members(cls):
                np.testing.assert_allclose(self.value(term), self.value(cls), rtol=1e-9, atol=1e-9)


def test_every_rule_is_used_and_true_on_numbers() -> None:
    t = Tensors()
    x, y = t.input("x", 2, 6), t.input("y", 2, 4)
    w, v, u = t.input("w", 3, 6), t.input("v", 5, 6), t.input("u", 3, 4)
    wide = t("concat", t("concat", x, y, at=(1,)), x, at=(1,))
    t("slice", t("slice", wide, at=(1, 6, 12)), at=(1, 0, 3))
    t("slice", t("permute", wide, at=((1, 0),)), at=(0, 6, 10))
    t("concat", *[t("slice", x, at=(1, i, i + 2)) for i in (0, 2, 4)], at=(1,))
    t("permute", t("permute", t("tanh", wide), at=((1, 0),)), at=((1, 0),))
    t("reshape", t("reshape", x, at=((3, 4),)), at=((2, 6),))
    t("linear", x, t("concat", w, v, at=(0,)))
    both = t("concat", x, y, at=(1,))
    t("linear", both, t("concat", w, u, at=(1,)))
    t("sum", both, both)
    report = t.graph.saturate(RULES, Budget(iterations=8, nodes=3000))
    assert report.stopped == "saturated" and set(report.uses) == {rule.name for rule in RULES}
    t.check()


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_slices_of_a_fused_projection_are_the_plain_projections(parts: int) -> None:
    t = Tensors()
    x = t.input("x", 5, 8)
    weights = [t.input(f"w{i}", 2 + i, 8) for i in range(parts)]
    fused = t("linear", x, t("concat", *weights, at=(0,)))
    ends = np.cumsum([0, *(2 + i for i in range(parts))]).tolist()
    cut = [t("slice", fused, at=(1, a, b)) for a, b in itertools.pairwise(ends)]
    plain = [t("linear", x, w) for w in weights]
    assert t.graph.saturate(RULES).stopped == "saturated"
    for a, b in zip(cut, plain, strict=True):
        explanation = t.graph.explain(a, b)
        assert len(explanation.steps) <= 4
        replay(explanation, explanation.terms, RULES, {}, typed)
    t.check()


def test_the_explanation_of_a_fused_projection_reads_well() -> None:
    t = Tensors()
    x, q, k, v = t.input("x", 5, 8), *(t.input(name, 4, 8) for name in ("wq", "wk", "wv"))
    fused = t.input("wqkv", 12, 8)
    t.graph.union(fused, t("concat", q, k, v, at=(0,)), Evidence("weights"))
    key, plain = t("slice", t("linear", x, fused), at=(1, 4, 8)), t("linear", x, k)
    t.graph.saturate(RULES)
    whole, parts = "linear(x, concat(wq, wk, wv; 0))", "concat(linear(x, wq), linear(x, wk), linear(x, wv); 1)"
    assert str(t.graph.explain(key, plain)).splitlines() == [
        "slice(linear(x, wqkv); 1, 4, 8) = linear(x, wk)",
        "   1. wqkv = concat(wq, wk, wv; 0)    given: weights",
        f"   2. linear(x, wqkv) = {whole}    since 1",
        f"   3. {whole} = {parts}    by linear-to-concat",
        f"   4. slice(linear(x, wqkv); 1, 4, 8) = slice({parts}; 1, 4, 8)    since 2, 3",
        f"   5. slice({parts}; 1, 4, 8) = slice(linear(x, wk); 1, 0, 4)    by slice-of-concat",
        "   6. slice(linear(x, wk); 1, 0, 4) = linear(x, wk)    by slice-of-all",
    ]
    named = t.graph.explain(key, plain).text(name={fused: "model.py:7 qkv_proj.weight"}.get)
    assert "1. model.py:7 qkv_proj.weight = concat" in named


def test_a_row_parallel_projection_is_a_sum_over_ranks() -> None:
    t = Tensors()
    ranks = [(t.input(f"x{r}", 5, 4), t.input(f"w{r}", 3, 4)) for r in range(4)]
    whole = t("linear", t("concat", *[x for x, _ in ranks], at=(1,)), t("concat", *[w for _, w in ranks], at=(1,)))
    parts = t("sum", *[t("linear", x, w) for x, w in ranks])
    t.graph.saturate(RULES)
    assert t.graph.equal(whole, parts)
    t.check()


def test_a_condition_that_fails_keeps_terms_apart() -> None:
    t = Tensors()
    x, y = t.input("x", 2, 6), t.input("y", 2, 4)
    across = t("slice", t("concat", x, y, at=(1,)), at=(1, 5, 7))
    swapped = t("permute", t.input("s", 3, 3), at=((1, 0),))
    t.graph.saturate(RULES)
    assert len(t.graph.members(across)) == len(t.graph.members(swapped)) == 1


def test_a_rule_that_changes_a_type_is_caught_when_it_is_used() -> None:
    t = Tensors()
    t("permute", t.input("x", 2, 3), at=((1, 0),))
    with pytest.raises(EGraphError, match=r"rule forget breaks on .*permute .*\(3, 2\) cannot equal x .*\(2, 3\)"):
        t.graph.saturate(rules("forget  permute(x; p) = x"))


def test_a_right_side_of_unknown_type_takes_the_left_sides() -> None:
    g = EGraph(lambda operator, attributes, types: None)
    a = g.add("a", type="real")
    g.add("f", (), (a,), type="real")
    g.saturate(rules("opaque  f(x) = g(h(x))"))
    assert {g.type(term) for term in range(len(g)) if g.term(term).operator == "g"} == {"real"}


def test_repeated_variables_mean_equal_arguments_and_identical_attributes() -> None:
    table = rules("""
        cancel  sub(x, x)                = zero()
        same    pair(f(x; n), f(y; n))   = both(x, y)
        seq     two(left(*xs), right(*xs)) = left(*xs)
    """)
    g = EGraph()
    a, b, c = (g.add(name) for name in "abc")
    g.union(a, b, Evidence("given"))
    zero, ab, ac = g.add("zero"), g.add("sub", (), (a, b)), g.add("sub", (), (a, c))
    integer, true = g.add("f", (1,), (a,)), g.add("f", (True,), (a,))
    pair, mixed = g.add("pair", (), (integer, integer)), g.add("pair", (), (integer, true))
    left, right = g.add("left", (), (a, c)), g.add("right", (), (b, c))
    two, not_two = g.add("two", (), (left, right)), g.add("two", (), (left, g.add("right", (), (a,))))
    assert g.saturate(table, Budget(iterations=1)).uses == {"cancel": 1, "same": 1, "seq": 1}
    assert g.equal(ab, zero) and not g.equal(ac, zero)
    assert len(g.members(pair)) == 2 and len(g.members(mixed)) == 1
    assert g.equal(two, left) and not g.equal(not_two, left)
    for one, other in ((ab, zero), (pair, g.add("both", (), (a, a))), (two, left)):
        explanation = g.explain(one, other)
        replay(explanation, explanation.terms, table, g.evidence)


def test_a_family_is_one_operator_on_both_sides() -> None:
    g = EGraph()
    a, b = g.add("a"), g.add("b")
    sin, exp = (g.add(f, (), (g.add("cat", (), (a, b)),)) for f in ("sin", "exp"))
    g.saturate(rules("map  f(cat(*xs)) = cat(*[f(x) for x in xs])", f=("sin", "cos")))
    assert [g.term(term).operator for term in g.members(sin)] == ["sin", "cat"]
    assert len(g.members(exp)) == 1 and "cos" not in {g.term(i).operator for i in range(len(g))}


def test_attributes_may_be_matched_as_a_sequence_and_operators_have_dotted_names() -> None:
    g = EGraph()
    kept = g.add("aten.relu.default", (1, 2, 3), (g.add("aten.clone.default", (), (g.add("a"),)),))
    g.saturate(rules("drop  aten.relu.default(aten.clone.default(x); first, *rest) = aten.relu.default(x; *rest)"))
    assert [g.term(term).attributes for term in g.members(kept)] == [(1, 2, 3), (2, 3)]


@pytest.mark.parametrize(
    "line, message",
    [
        ("lonely", "lonely has no sides"),
        ("half  f(x)", "no `=`"),
        ("var  x = f(x)", "applies no operator"),
        ("typo  f(x) = g(y)", "`y` is no variable"),
        ("typo  f(x) = x if helpr(x)", "`helpr` is no variable"),
        ("stars  f(*xs, *ys) = g(*xs)", "two starred"),
        ("kinds  f(x; x) = x", "stands for a term in one place and an attribute in another"),
        ("semi  f(x; a; b) = x", "two semicolons"),
        ("computed  f(x; a + 1) = x", "put it in a condition"),
        ("syntax  f(x = x", "cannot be read"),
        ("keyword  f(x, y=1) = x", "not an operator"),
        ("one  f(x) = x\n one  g(x) = x", "two rules are named one"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(line: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        rules(line)


def test_a_condition_that_fails_to_compute_names_the_rule() -> None:
    faults = {"x if x.type > 3": "TypeError", "g(3)": "where a term is expected", "g(x; x)": "as an attribute"}
    for right, fault in faults.items():
        g = EGraph()
        g.add("f", (), (g.add("a"),))
        with pytest.raises(RuleError, match=f"rule bad fails on .*{fault}"):
            g.saturate(rules(f"bad  f(x) = {right}"))
