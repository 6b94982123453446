"""Replay accepts what the e-graph found and rejects it once anything in it is changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explanations import ReplayError, replay
from samesame.egraph import CONGRUENCE, Budget, EGraph, Evidence, Explanation, RuleUse, Step, Term, rules

RULES = rules("""
    either   add(x, y)              = add(y, x)
    regroup  add(add(x, y), z)      = add(x, add(y, z))
    twice    double(x)              = add(x, x)
    shift    move(move(x; a); b)    = move(x; a + b)
    stay     move(x; 0)             = x
    small    move(x; a)             = add(x, step(; a))       if a < 3
""")


@st.composite
def saturated(draw: st.DrawFn) -> tuple[EGraph, list[int]]:
    """A graph of random terms, some given to be equal, with a few rounds of rules."""
    g = EGraph()
    made = [g.add(name) for name in "abc"]
    for _ in range(draw(st.integers(1, 12))):
        operator = draw(st.sampled_from(["add", "double", "move"]))
        pick = st.sampled_from(made)
        arguments = (draw(pick), draw(pick)) if operator == "add" else (draw(pick),)
        made.append(g.add(operator, (draw(st.integers(-1, 3)),) if operator == "move" else (), arguments))
    if draw(st.booleans()):
        g.union(draw(st.sampled_from(made)), draw(st.sampled_from(made)), Evidence("given"))
    g.saturate(RULES, Budget(iterations=3, nodes=400))
    return g, made


def explanations(g: EGraph, made: list[int]) -> list[Explanation]:
    return [g.explain(a, b) for a in made for b in g.members(a)[-6:]]


@given(saturated())
@settings(deadline=None, max_examples=25)
def test_every_explanation_replays(graph: tuple[EGraph, list[int]]) -> None:
    g, made = graph
    for explanation in explanations(g, made):
        replay(explanation, explanation.terms, RULES, g.evidence)


@given(saturated())
@settings(deadline=None, max_examples=25)
def test_no_step_can_be_dropped(graph: tuple[EGraph, list[int]]) -> None:
    g, made = graph
    for e in explanations(g, made):
        for i in range(len(e.steps)):
            with pytest.raises(ReplayError):
                replay(replace(e, steps=e.steps[:i] + e.steps[i + 1 :]), e.terms, RULES, g.evidence)


@given(saturated(), st.data())
@settings(deadline=None, max_examples=25)
def test_no_end_of_a_step_can_be_another_term(graph: tuple[EGraph, list[int]], data: st.DataObject) -> None:
    """Unless the other term is congruent by what came before, which makes it as true."""
    g, made = graph
    for e in explanations(g, made):
        for i, step in enumerate(e.steps):
            if step.reason is CONGRUENCE:
                continue
            others = [term for term in e.terms if term not in (step.left, step.right)]
            other = data.draw(st.sampled_from(others or [None]))
            if other is None or (isinstance(step.reason, RuleUse) and step.reason.rule == "either"):
                continue
            with pytest.raises(ReplayError):
                replay(replace(e, steps=replaced(e.steps, i, replace(step, right=other))), e.terms, RULES, g.evidence)


def replaced(steps: tuple[Step, ...], at: int, step: Step) -> tuple[Step, ...]:
    return (*steps[:at], step, *steps[at + 1 :])


@pytest.fixture
def shifted() -> tuple[EGraph, Explanation]:
    """double(move(move(a; 1); 1)) = add(move(a; 2), move(b; 2)), where a is given to be b."""
    g = EGraph()
    a, b = g.add("a"), g.add("b")
    left = g.add("double", (), (g.add("move", (1,), (g.add("move", (1,), (a,)),)),))
    right = g.add("add", (), (g.add("move", (2,), (a,)), g.add("move", (2,), (b,))))
    g.union(a, b, Evidence("input"))
    g.saturate(RULES, Budget(iterations=3))
    return g, g.explain(left, right)


def test_the_untampered_explanation_holds(shifted: tuple[EGraph, Explanation]) -> None:
    g, e = shifted
    assert {type(step.reason) for step in e.steps} == {Evidence, RuleUse, type(CONGRUENCE)}
    replay(e, e.terms, RULES, g.evidence)


def test_tampered_rule_uses_are_rejected(shifted: tuple[EGraph, Explanation]) -> None:
    g, e = shifted
    uses = [(i, step, step.reason) for i, step in enumerate(e.steps) if isinstance(step.reason, RuleUse)]
    assert len(uses) >= 2
    for i, step, use in uses:
        bound = dict(use.substitution)
        reasons = [RuleUse(rule.name, bound) for rule in RULES if rule.name != use.rule]
        reasons += [RuleUse(use.rule, {**bound, name: other}) for name in bound for other in (1 - bound[name], "x")]
        reasons += [RuleUse(use.rule, {**bound, "more": 0}), RuleUse(use.rule, dict(list(bound.items())[1:]))]
        changes = [replace(step, reason=reason) for reason in reasons]
        changes += [replace(step, reason=CONGRUENCE), replace(step, reason=Evidence("input"))]
        changes += [replace(step, forward=not step.forward), replace(step, left=step.right), replace(step, right=10**6)]
        for change in changes:
            with pytest.raises(ReplayError):
                replay(replace(e, steps=replaced(e.steps, i, change)), e.terms, RULES, g.evidence)


def test_a_rule_must_be_known_and_still_say_the_same(shifted: tuple[EGraph, Explanation]) -> None:
    g, e = shifted
    with pytest.raises(ReplayError, match="there is no rule"):
        replay(e, e.terms, (), g.evidence)
    changed = [*rules("shift  move(move(x; a); b) = move(x; a - b)"), *(rule for rule in RULES if rule.name != "shift")]
    with pytest.raises(ReplayError, match="shift does not give the right side"):
        replay(e, e.terms, changed, g.evidence)


def test_a_condition_is_checked_again() -> None:
    g = EGraph()
    moved = g.add("move", (5,), (g.add("a"),))
    wrong = g.add("add", (), (g.add("a"), g.add("step", (5,))))
    terms = {id: g.term(id) for id in range(len(g))}
    claim = Explanation(moved, wrong, (Step(moved, wrong, RuleUse("small", {"x": 0, "a": 5})),), terms)
    with pytest.raises(ReplayError, match="small does not give the right side"):
        replay(claim, terms, RULES, {})


def test_evidence_counts_only_for_the_pair_it_was_given_for(shifted: tuple[EGraph, Explanation]) -> None:
    g, e = shifted
    with pytest.raises(ReplayError, match="evidence"):
        replay(e, e.terms, RULES, {})
    with pytest.raises(ReplayError, match="evidence"):
        replay(e, e.terms, RULES, {"input": {(0, 3)}})
    with pytest.raises(ReplayError, match="evidence"):
        replay(e, e.terms, RULES, {"another": g.evidence["input"]})


def test_congruence_needs_equal_arguments_operator_and_attributes(shifted: tuple[EGraph, Explanation]) -> None:
    g, e = shifted
    for i, step in enumerate(e.steps):
        if step.reason is CONGRUENCE:
            for change in ({"operator": "other"}, {"attributes": (9,)}, {"arguments": ()}):
                terms = {**e.terms, step.left: replace(e.terms[step.left], **change)}
                with pytest.raises(ReplayError):
                    replay(e, terms, RULES, g.evidence)
            with pytest.raises(ReplayError, match="no earlier step makes argument"):
                replay(replace(e, steps=(step, *e.steps[:i], *e.steps[i + 1 :])), e.terms, RULES, g.evidence)


def test_the_claim_itself_cannot_be_swapped(shifted: tuple[EGraph, Explanation]) -> None:
    g, e = shifted
    with pytest.raises(ReplayError, match="do not lead"):
        replay(replace(e, right=min(e.terms)), e.terms, RULES, g.evidence)


def test_a_table_in_which_a_term_contains_itself_is_rejected() -> None:
    terms = {0: Term("f", (), (0,))}
    with pytest.raises(ReplayError, match="does not come before"):
        replay(Explanation(0, 0, (), terms), terms, (), {})


def test_types_are_computed_again() -> None:
    def typed(operator: str, attributes: tuple[Any, ...], types: tuple[Any, ...]) -> Any:
        return types[0][::-1] if operator == "transpose" else None

    table = rules("square  transpose(x) = x  if x.type[0] == x.type[1]")
    terms = {0: Term("a", type=(2, 3)), 1: Term("transpose", (), (0,), (2, 3))}
    claim = Explanation(0, 1, (Step(1, 0, RuleUse("square", {"x": 0})),), terms)
    with pytest.raises(ReplayError, match="square does not give"):
        replay(claim, terms, table, {})
    with pytest.raises(ReplayError, match=r"its arguments make it \(3, 2\)"):
        replay(claim, terms, table, {}, typed)
    terms[1] = replace(terms[1], type=(3, 2))
    with pytest.raises(ReplayError, match=r"of type \(3, 2\) cannot equal one of type \(2, 3\)"):
        replay(claim, terms, table, {}, typed)


def test_terms_that_differ_in_attributes_alone_are_not_congruent() -> None:
    for other in (2, 1.0, True):
        terms = {0: Term("a"), 1: Term("f", (1,), (0,)), 2: Term("f", (other,), (0,))}
        with pytest.raises(ReplayError, match="attributes differ"):
            replay(Explanation(1, 2, (Step(1, 2, CONGRUENCE),), terms), terms, (), {})


def test_a_family_does_not_stretch_to_other_operators() -> None:
    table = rules("odd  f(neg(x)) = neg(f(x))", f=("sin", "tanh"))
    for operator, holds in (("sin", True), ("cos", False)):
        terms = {0: Term("x"), 1: Term("neg", (), (0,)), 2: Term(operator, (), (1,))}
        terms |= {3: Term(operator, (), (0,)), 4: Term("neg", (), (3,))}
        claim = Explanation(2, 4, (Step(2, 4, RuleUse("odd", {"x": 0, "f": operator})),), terms)
        if holds:
            replay(claim, terms, table, {})
        else:
            with pytest.raises(ReplayError, match="not for this operator"):
                replay(claim, terms, table, {})
