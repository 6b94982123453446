"""Classes are exactly what congruence closure says, whatever the order of additions and unions."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explanations import replay
from samesame.egraph import EGraph, EGraphError, Evidence

Plan = list[tuple[str, int, int, int]]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Steps that add a term over earlier terms, or unite two earlier terms."""
    act = st.sampled_from(["f", "g", "leaf", "union", "rebuild"])
    return draw(st.lists(st.tuples(act, *[st.integers(0, 99)] * 3), max_size=40))


def follow(plan: Plan) -> tuple[EGraph, list[int], list[tuple[int, int]]]:
    g = EGraph()
    made, given_equal = [g.add("a")], []
    for act, i, j, k in plan:
        a, b = made[i % len(made)], made[j % len(made)]
        if act == "leaf":
            made.append(g.add("leaf", (k % 4,)))
        elif act == "f":
            made.append(g.add("f", (k % 2,), (a, b)))
        elif act == "g":
            made.append(g.add("g", (), (a,)))
        elif act == "union":
            g.union(a, b, Evidence(f"{a}={b}"))
            given_equal.append((a, b))
        else:
            g.rebuild()
    return g, made, given_equal


def naive_closure(g: EGraph, pairs: list[tuple[int, int]]) -> dict[int, int]:
    """Relabel until nothing changes: no union-find, no hash-consing, no parents."""
    label = {term: term for term in range(len(g))}

    def merge(a: int, b: int) -> bool:
        old, new = label[a], label[b]
        for term in label:
            if label[term] == old:
                label[term] = new
        return old != new

    for a, b in pairs:
        merge(a, b)
    changed = True
    while changed:
        changed = False
        seen: dict[object, int] = {}
        for id in label:
            term = g.term(id)
            key = (term.operator, term.attributes, tuple(label[a] for a in term.arguments))
            if key in seen and label[seen[key]] != label[id]:
                changed = merge(seen[key], id)
                break
            seen[key] = id
    return label


@given(plans())
@settings(deadline=None)
def test_classes_are_the_congruence_closure(plan: Plan) -> None:
    g, made, pairs = follow(plan)
    label = naive_closure(g, pairs)
    for a in made:
        for b in made:
            assert g.equal(a, b) == (label[a] == label[b])
        assert g.members(a) == sorted(term for term in label if label[term] == label[a])


@given(plans())
@settings(deadline=None)
def test_every_class_holds_one_node_for_each_operator_attributes_and_argument_classes(plan: Plan) -> None:
    g, _, _ = follow(plan)
    g.rebuild()
    nodes = [node for cls in g.classes() for node in g.nodes(cls)]
    keys = {(t.operator, t.attributes, tuple(map(g.find, t.arguments))) for t in map(g.term, nodes)}
    every = {(t.operator, t.attributes, tuple(map(g.find, t.arguments))) for t in map(g.term, range(len(g)))}
    assert len(keys) == len(nodes) == g.node_count and keys == every


@given(plans())
@settings(deadline=None)
def test_explanations_of_congruence_replay(plan: Plan) -> None:
    g, made, _ = follow(plan)
    for a in made[:8]:
        for b in g.members(a):
            explanation = g.explain(a, b)
            replay(explanation, explanation.terms, (), g.evidence)
            if a == b:
                assert not explanation.steps


def test_a_term_keeps_the_arguments_it_was_made_with() -> None:
    g = EGraph()
    a, b = g.add("a"), g.add("b")
    fa = g.add("f", (), (a,))
    g.union(a, b, Evidence("same weight"))
    fb = g.add("f", (), (b,))
    assert fa != fb and g.equal(fa, fb)
    assert g.term(fb).arguments == (b,)
    assert str(g.explain(fb, fa)) == (
        "f(b) = f(a)\n"
        "   1. b = a    given: same weight\n"
        "   2. f(b) = f(a)    since 1"
    )


def test_attributes_that_python_calls_equal_are_different_terms() -> None:
    g = EGraph()
    made = {g.add("full", (value,)) for value in (1, 1.0, True, (1,), (True,), 0.0, -0.0)}
    assert len(made) == 7
    assert g.add("full", (1,)) == g.add("full", (1,))


def test_terms_of_different_types_cannot_be_equal() -> None:
    g = EGraph()
    a, b = g.add("a", type=(2, 3)), g.add("b", type=(3, 2))
    with pytest.raises(EGraphError, match=r"a .*\(2, 3\) cannot equal b .*\(3, 2\)"):
        g.union(a, b, Evidence("wrong"))
    assert not g.equal(a, b)


def test_a_type_stated_must_be_the_type_computed() -> None:
    g = EGraph(typed=lambda operator, attributes, types: types[0][::-1] if operator == "transpose" else None)
    a = g.add("a", type=(2, 3))
    assert g.type(g.add("transpose", (), (a,))) == (3, 2)
    with pytest.raises(EGraphError, match="transpose is given the type"):
        g.add("transpose", (), (g.add("b", type=(2, 3)),), type=(2, 3))
    with pytest.raises(EGraphError, match="does not exist"):
        g.add("transpose", (), (77,))


def test_what_is_not_equal_has_no_explanation() -> None:
    g = EGraph()
    with pytest.raises(EGraphError, match="nothing to explain"):
        g.explain(g.add("a"), g.add("b"))


def test_a_chain_of_congruences_five_thousand_deep() -> None:
    g = EGraph()
    a, b = g.add("a"), g.add("b")
    left, right = a, b
    for _ in range(5000):
        left, right = g.add("f", (), (left,)), g.add("f", (), (right,))
    g.union(a, b, Evidence("input"))
    explanation = g.explain(left, right)
    assert len(explanation.steps) == 5001
    assert len(explanation.text().splitlines()) == 5002
    replay(explanation, explanation.terms, (), g.evidence)


def test_a_class_of_five_thousand_terms() -> None:
    g = EGraph()
    terms = [g.add(f"t{i}") for i in range(5000)]
    for a, b in itertools.pairwise(terms):
        g.union(a, b, Evidence("next"))
    explanation = g.explain(terms[0], terms[-1])
    assert len(explanation.steps) == 4999
    replay(explanation, explanation.terms, (), g.evidence)
