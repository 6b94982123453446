"""Replay: checks an explanation from scratch, trusting neither the e-graph nor the order in which it found things.

A step counts only if it is one of three things: a rule's instance (the rule is run again on the recorded
substitution, and must give exactly these two terms); two terms of the same operator and attributes whose arguments
earlier steps made equal; or a pair that outside evidence was given for. The two ends must be equal by the steps that
counted. What is left to trust: the rules, the evidence, and that the table of terms says what the terms are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from samesame.egraph.congruence import Typed
from samesame.egraph.explain import Explanation, Step
from samesame.egraph.pattern import Apply, Family, Literal, Made, Several, Variable
from samesame.egraph.rules import Rule, RuleError, unique
from samesame.egraph.terms import Congruence, EGraphError, Evidence, RuleUse, Term, exact


class ReplayError(EGraphError):
    """An explanation that does not establish what it says; the message names the step."""


def replay(
    explanation: Explanation,
    terms: Mapping[int, Term],
    rules: Iterable[Rule],
    evidence: Mapping[str, Collection[tuple[int, int]]],
    typed: Typed | None = None,
) -> None:
    """Check every step and that together they equate the two ends; ReplayError if not.

    `terms` says what each id stands for. `evidence` gives, for each evidence id that is believed, the pairs of terms
    it was given for. With `typed`, the types that conditions look at are computed again where it can tell them.
    """
    _check_terms(terms, typed)
    by_name = unique(rules)
    equal = Classes()
    for number, step in enumerate(explanation.steps, 1):
        if step.left in terms and step.right in terms:
            fault = _fault(step, terms, by_name, evidence, equal)
        else:
            fault = "it speaks of a term that is not in the table"
        if fault:
            raise ReplayError(f"step {number} does not hold: {fault}")
        equal.join(step.left, step.right)
    if not equal.same(explanation.left, explanation.right):
        raise ReplayError(f"the steps do not lead from term {explanation.left} to term {explanation.right}")


class Classes:
    """Which terms the steps so far have made equal: each class a set, the smaller poured into the larger."""

    def __init__(self) -> None:
        self._of: dict[int, set[int]] = {}

    def same(self, a: int, b: int) -> bool:
        return a == b or b in self._of.get(a, ())

    def join(self, a: int, b: int) -> None:
        one, other = self._of.get(a, {a}), self._of.get(b, {b})
        small, large = sorted((one, other), key=len)
        large |= small
        self._of.update(dict.fromkeys(small, large))
        self._of.update({a: large, b: large})


def _check_terms(terms: Mapping[int, Term], typed: Typed | None) -> None:
    """Terms are built from earlier ones, so that none contains itself, and have the types that their operators give."""
    for id, term in terms.items():
        if not all(argument in terms and argument < id for argument in term.arguments):
            raise ReplayError(f"term {id} has an argument that does not come before it")
        if typed is not None:
            found = typed(term.operator, term.attributes, tuple(terms[argument].type for argument in term.arguments))
            if found is not None and found != term.type:
                raise ReplayError(f"term {id} is said to be of type {term.type}, but its arguments make it {found}")


def _fault(
    step: Step,
    terms: Mapping[int, Term],
    rules: Mapping[str, Rule],
    evidence: Mapping[str, Collection[tuple[int, int]]],
    equal: Classes,
) -> str | None:
    """What is wrong with the step; None if it holds."""
    stated = (step.left, step.right) if step.forward else (step.right, step.left)
    left, right = terms[step.left], terms[step.right]
    if left.type != right.type:
        return f"a term of type {left.type} cannot equal one of type {right.type}"
    match step.reason:
        case Evidence(id):
            return None if stated in evidence.get(id, ()) else f"the evidence {id!r} was not given for this pair"
        case Congruence():
            return _congruence_fault(left, right, equal)
        case RuleUse(name, substitution):
            rule = rules.get(name)
            return f"there is no rule {name}" if rule is None else _rule_fault(rule, dict(substitution), stated, terms)
    return "it gives no reason"


def _congruence_fault(left: Term, right: Term, equal: Classes) -> str | None:
    if (left.operator, exact(left.attributes)) != (right.operator, exact(right.attributes)):
        return "the operators or their attributes differ"
    if len(left.arguments) != len(right.arguments):
        return "the numbers of arguments differ"
    for place, (a, b) in enumerate(zip(left.arguments, right.arguments, strict=True), 1):
        if not equal.same(a, b):
            return f"no earlier step makes argument {place} equal on both sides"
    return None


def _rule_fault(
    rule: Rule, substitution: dict[str, Any], stated: tuple[int, int], terms: Mapping[int, Term]
) -> str | None:
    if substitution.keys() != rule.kinds.keys():
        return f"rule {rule.name} has other variables than the substitution"
    for name, kind in rule.kinds.items():
        if not _fits(substitution[name], kind, terms):
            return f"the variable {name} of rule {rule.name} stands for {kind}, not for {substitution[name]!r}"
    if not _families_hold(rule.left, substitution):
        return f"rule {rule.name} is not for this operator"
    if not _is(instance(rule.left, substitution), stated[0], terms):
        return f"the left side is no instance of rule {rule.name}"
    try:
        results = rule.apply(substitution, lambda term: terms[term].type)
    except RuleError as error:
        return str(error)
    if not any(_is(result, stated[1], terms) for result in results):
        return f"rule {rule.name} does not give the right side"
    return None


def _fits(value: Any, kind: str, terms: Mapping[int, Term]) -> bool:
    """Whether a substitution's value is of the kind that its variable stands for."""
    match kind:
        case "a term":
            return type(value) is int and value in terms
        case "terms":
            return isinstance(value, tuple) and all(type(term) is int and term in terms for term in value)
        case "attributes":
            return isinstance(value, tuple)
        case "an operator":
            return isinstance(value, str)
    return True


def _families_hold(pattern: Apply | Variable | Several, substitution: Mapping[str, Any]) -> bool:
    if not isinstance(pattern, Apply):
        return True
    if isinstance(pattern.operator, Family) and substitution[pattern.operator.name] not in pattern.operator.operators:
        return False
    return all(_families_hold(argument, substitution) for argument in pattern.arguments)


def instance(pattern: Apply | Variable, substitution: Mapping[str, Any]) -> Made | int:
    """The pattern with its variables replaced: a description of a term, or the id of one. Arguments in it are ids."""
    if isinstance(pattern, Variable):
        return int(substitution[pattern.name])
    operator = substitution[pattern.operator.name] if isinstance(pattern.operator, Family) else pattern.operator
    attributes: list[Any] = []
    for attribute in pattern.attributes:
        if isinstance(attribute, Literal):
            attributes.append(attribute.value)
        elif isinstance(attribute, Several):
            attributes.extend(substitution[attribute.name])
        else:
            attributes.append(substitution[attribute.name])
    arguments: list[Any] = []
    for argument in pattern.arguments:
        if isinstance(argument, Several):
            arguments.extend(substitution[argument.name])
        else:
            arguments.append(instance(argument, substitution))
    return Made(operator, tuple(attributes), tuple(arguments))


def _is(made: Made | int, term: int, terms: Mapping[int, Term]) -> bool:
    """Whether the description describes exactly this term."""
    if not isinstance(made, Made):
        return made == term
    here = terms[term]
    return (
        (made.operator, exact(made.attributes)) == (here.operator, exact(here.attributes))
        and len(made.arguments) == len(here.arguments)
        and all(_is(part, argument, terms) for part, argument in zip(made.arguments, here.arguments, strict=True))
    )
