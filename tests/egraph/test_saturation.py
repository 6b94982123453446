"""Saturation: the same classes as egglog, budgets that stop it, and extraction of the cheapest term."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explanations import replay
from samesame.egraph import Budget, EGraph, EGraphError, Evidence, rules

RULES = rules("""
    either        add(x, y)                    = add(y, x)
    regroup       add(add(x, y), z)            = add(x, add(y, z))
    distribute    mul(add(x, y), z)            = add(mul(x, z), mul(y, z))
    square        mul(x, x)                    = power(x; 2)
    unsquare      power(x; 2)                  = mul(x, x)
    power-power   power(power(x; m); n)        = power(x; m * n)       if m < 5 and n < 5
    power-one     power(x; 1)                  = x
    first         take(pair(x, y); i)          = x                     if i < 1
    second        take(pair(x, y); i)          = y                     if 0 < i
    surjective    pair(take(x; 0), take(x; 1)) = x
    idempotent    f(f(x))                      = f(x)
""")
EXPLOSIVE = [rule for rule in RULES if rule.name in ("either", "regroup")]
SHAPES = {"add": (2, 0), "mul": (2, 0), "pair": (2, 0), "power": (1, 1), "take": (1, 1), "f": (1, 0)}


@st.composite
def graphs(draw: st.DrawFn) -> EGraph:
    g = EGraph()
    made = [g.add(name) for name in ("a", "b", "c")]
    for _ in range(draw(st.integers(1, 14))):
        operator = draw(st.sampled_from(list(SHAPES)))
        arguments, attributes = SHAPES[operator]
        numbers = tuple(draw(st.integers(0, 3)) for _ in range(attributes))
        made.append(g.add(operator, numbers, tuple(draw(st.sampled_from(made)) for _ in range(arguments))))
    for _ in range(draw(st.integers(0, 2))):
        g.union(draw(st.sampled_from(made)), draw(st.sampled_from(made)), Evidence("given"))
    return g


@given(graphs(), st.lists(st.sampled_from(RULES), unique=True), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_the_classes_are_those_of_egglog(g: EGraph, table: list, rounds: int) -> None:
    egglog_text = pytest.importorskip("benchmarks.egglog_text", exc_type=ImportError)
    engine = egglog_text.load(g, table)
    terms = range(len(g))
    g.saturate(table, Budget(iterations=rounds))
    egglog_text.run(engine, f"(run {rounds})")
    for a, b in itertools.combinations(terms, 2):
        operator = "=" if g.equal(a, b) else "!="
        egglog_text.run(engine, f"(check ({operator} (At {a}) (At {b})))")


def sum_of(g: EGraph, count: int) -> int:
    total = g.add("t0")
    for i in range(1, count):
        total = g.add("add", (), (total, g.add(f"t{i}")))
    return total


def test_all_sums_of_six_terms_are_found_and_explained() -> None:
    g = EGraph()
    left = sum_of(g, 6)
    right = g.add("t0")
    for i in (3, 1, 5, 2, 4):
        right = g.add("add", (), (g.add(f"t{i}"), right))
    report = g.saturate(EXPLOSIVE)
    assert report.stopped == "saturated"
    assert len(g.classes()) == 2**6 - 1                              # one for each non-empty set of terms
    explanation = g.explain(left, right)
    replay(explanation, explanation.terms, EXPLOSIVE, {})


def test_the_node_budget_stops_an_explosion() -> None:
    g = EGraph()
    sum_of(g, 14)
    report = g.saturate(EXPLOSIVE, Budget(nodes=2000))
    assert report.stopped == "nodes" and 1900 < g.node_count < 2010  # a last rebuild may join some


def test_the_time_budget_stops_an_explosion() -> None:
    g = EGraph()
    sum_of(g, 40)
    looks = itertools.count()
    report = g.saturate(EXPLOSIVE, Budget(seconds=1000, nodes=10**9, iterations=10**6), clock=lambda: next(looks))
    assert report.stopped == "time" and next(looks) < 1010


def test_the_time_budget_is_the_threads_own(monkeypatch) -> None:
    """A machine that is busy otherwise, on which hours pass between two looks."""
    hours = itertools.count(0.0, 3600.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(hours))
    g = EGraph()
    sum_of(g, 5)
    assert g.saturate(EXPLOSIVE, Budget(seconds=60)).stopped == "saturated"


def test_the_round_budget_stops_and_a_later_call_goes_on() -> None:
    chain = rules("next  count(x; n) = count(x; n + 1)  if n < 20")
    g = EGraph()
    first, a = g.add("count", (0,), (g.add("a"),)), g.add("a")
    report = g.saturate(chain, Budget(iterations=7))
    assert (report.stopped, report.iterations, g.node_count) == ("iterations", 7, 9)
    report = g.saturate(chain)
    assert report.stopped == "saturated" and g.equal(first, g.add("count", (20,), (a,)))
    assert g.saturate(chain).matches == 0


def test_stopping_for_any_budget_loses_nothing() -> None:
    whole, pieces = EGraph(), EGraph()
    sum_of(whole, 6), sum_of(pieces, 6)
    whole.saturate(EXPLOSIVE)
    for nodes in range(10, 400, 7):
        pieces.saturate(EXPLOSIVE, Budget(nodes=nodes, iterations=1))
    assert pieces.saturate(EXPLOSIVE).stopped == "saturated"
    assert len(whole.classes()) == len(pieces.classes()) and whole.node_count == pieces.node_count


def test_a_rule_that_matches_too_often_rests_and_the_others_go_on() -> None:
    g = EGraph()
    sum_of(g, 9)
    powers = g.add("power", (1,), (g.add("power", (1,), (g.add("a"),)),))
    report = g.saturate(RULES, Budget(iterations=4, matches=20))
    assert report.rested.keys() <= {"either", "regroup"} and report.rested
    assert g.equal(powers, g.add("a"))


def test_a_rested_rule_is_not_forgotten() -> None:
    rested, free = EGraph(), EGraph()
    sum_of(rested, 5), sum_of(free, 5)
    report = rested.saturate(EXPLOSIVE, Budget(matches=5, iterations=500))
    free.saturate(EXPLOSIVE)
    assert report.rested and report.stopped == "saturated"
    assert len(rested.classes()) == len(free.classes()) and rested.node_count == free.node_count


def test_new_rules_see_old_terms_and_old_rules_see_new_terms() -> None:
    g = EGraph()
    a = g.add("a")
    ffa = g.add("f", (), (g.add("f", (), (a,)),))
    g.saturate(EXPLOSIVE)
    g.saturate(RULES)
    assert g.equal(ffa, g.add("f", (), (a,)))
    b = g.add("b")
    g.saturate(RULES)
    ffb = g.add("f", (), (g.add("f", (), (b,)),))
    g.saturate(RULES)
    assert g.equal(ffb, g.add("f", (), (b,)))


def test_a_match_made_possible_deep_below_is_found() -> None:
    deep = rules("deep  f(g(h(x, k()))) = x")
    g = EGraph()
    a, b, k = g.add("a"), g.add("b"), g.add("k")
    top = g.add("f", (), (g.add("g", (), (g.add("h", (), (a, b)),)),))
    g.saturate(deep)
    assert not g.equal(top, a)
    g.union(b, k, Evidence("later"))
    g.saturate(deep)
    assert g.equal(top, a)


def test_arguments_that_become_equal_later_match() -> None:
    cancel = rules("cancel  sub(x, x) = zero()")
    g = EGraph()
    a, b = g.add("a"), g.add("b")
    difference = g.add("sub", (), (a, b))
    g.saturate(cancel)
    g.union(a, b, Evidence("later"))
    assert g.saturate(cancel).matches == 1 and g.equal(difference, g.add("zero"))


@pytest.mark.parametrize("heavier", ["argument", "inner node"])
def test_an_argument_that_becomes_a_node_later_matches_whichever_class_is_larger(heavier: str) -> None:
    inside = rules("inside  f(g(x)) = x")
    g = EGraph()
    a, b = g.add("a"), g.add("b")
    outer, inner = g.add("f", (), (a,)), g.add("g", (), (b,))
    for name in "klmn":
        g.union(a if heavier == "argument" else inner, g.add(name), Evidence("given"))
    g.saturate(inside)
    g.union(a, inner, Evidence("later"))
    g.saturate(inside)
    assert g.equal(outer, b)


def test_a_thousand_layers() -> None:
    layer = rules("layer  plain(x; i) = fused(x; i)")
    g = EGraph()
    left = right = g.add("x")
    for i in range(1000):
        left, right = g.add("plain", (i,), (left,)), g.add("fused", (i,), (right,))
    g.saturate(layer)
    explanation = g.explain(left, right)
    replay(explanation, explanation.terms, layer, {})
    extraction = g.extract([left], lambda operator, *_: 2.0 if operator == "plain" else 1.0)
    assert extraction.terms == (right,) and extraction.cost == 1001


# ----------------------------------------------------------------------------------------------------------- extraction


def unit(*_: object) -> float:
    return 1.0


def test_shared_parts_are_paid_once() -> None:
    """Two ways to write the root: small(a, b), or wide(big, big), where big is needed by the other root anyway."""
    g = EGraph()
    big = g.add("f", (), (g.add("f", (1,), (g.add("f", (2,), (g.add("x"),)),)),))
    small = g.add("small", (), (g.add("p", (), (g.add("y"),)), g.add("q")))
    wide = g.add("wide", (), (big, big))
    g.union(small, wide, Evidence("given"))
    assert g.extract([small], unit).terms == (small,)
    both = g.extract([small, big], unit)
    assert both.terms == (wide, big) and both.cost == 5


def test_a_class_that_contains_itself_gives_a_finite_term() -> None:
    g = EGraph()
    x = g.add("expensive", (), (g.add("a"),))
    g.union(x, g.add("cheap", (), (x,)), Evidence("given"))
    extraction = g.extract([x], lambda operator, *_: {"expensive": 9.0, "a": 1.0, "cheap": 0.0}[operator])
    assert extraction.terms == (x,) and extraction.cost == 10


def test_operators_without_a_cost_are_not_used() -> None:
    g = EGraph()
    dirty, clean = g.add("mul", (), (g.add("a"), g.add("a"))), g.add("slice", (0,), (g.add("a"),))
    g.union(dirty, clean, Evidence("given"))

    def allowed(operator: str, *_: object) -> float | None:
        return None if operator == "mul" else 1.0

    assert g.extract([dirty], allowed).terms == (clean,)
    with pytest.raises(EGraphError, match="no term of allowed operators"):
        g.extract([g.add("mul", (), (clean, clean))], allowed)
    with pytest.raises(EGraphError, match="at least 0"):
        g.extract([dirty], lambda *_: -1.0)


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_extracted_terms_equal_the_roots_and_cost_what_they_say(g: EGraph) -> None:
    g.saturate(RULES, Budget(iterations=3, nodes=300))
    roots = [term for term in range(min(len(g), 12))]
    prices = {"add": 3.0, "mul": 5.0, "power": 4.0, "pair": 1.0, "take": 1.0, "f": 2.0}
    extraction = g.extract(roots, lambda operator, *_: prices.get(operator, 0.5))
    inside, todo = set(), list(extraction.terms)
    while todo:
        term = todo.pop()
        if term not in inside:
            inside.add(term)
            todo.extend(g.term(term).arguments)
    assert all(g.equal(a, b) for a, b in zip(roots, extraction.terms, strict=True))
    assert sum(prices.get(g.term(term).operator, 0.5) for term in inside) == pytest.approx(extraction.cost)
    for a, b in zip(roots, extraction.terms, strict=True):
        explanation = g.explain(a, b)
        replay(explanation, explanation.terms, RULES, g.evidence)
