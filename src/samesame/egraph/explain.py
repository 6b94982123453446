"""Explanations: why two terms are equal, as steps that a person can read and `replay` can check.

Each step equates two terms for one reason. A congruence step rests on earlier steps, which equate its arguments; the
last steps chain the two terms in question together. Every step is needed: the steps form a forest, so without any one
of them the terms fall apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from samesame.egraph.congruence import TermGraph
from samesame.egraph.terms import Congruence, Evidence, Reason, RuleUse, Term, show_term


@dataclass(frozen=True, slots=True)
class Step:
    """left = right. `forward` is False where the reason was stated the other way round.

    `since` tells the reader which earlier steps (counted from 0) equate the arguments of a congruence; a checker
    finds out for itself.
    """

    left: int
    right: int
    reason: Reason
    forward: bool = True
    since: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """left = right, by these steps; `terms` holds every term they speak of, and those inside."""

    left: int
    right: int
    steps: tuple[Step, ...]
    terms: Mapping[int, Term]

    def text(self, name: Callable[[int], str | None] | None = None, depth: int = 3) -> str:
        """One numbered line for each step.

        `name` may name a term, such as by its origin, and `depth` limits how much of it shows.
        """

        def show(term: int) -> str:
            return show_term(term, self.terms, depth, name)

        lines = [f"{show(self.left)} = {show(self.right)}"]
        for number, step in enumerate(self.steps, 1):
            lines.append(f"{number:4}. {show(step.left)} = {show(step.right)}    {_because(step)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def _because(step: Step) -> str:
    match step.reason:
        case RuleUse(rule):
            return f"by {rule}" if step.forward else f"by {rule}, right to left"
        case Evidence(id):
            return f"given: {id}"
    return f"since {', '.join(str(number + 1) for number in step.since)}"


def explain(graph: TermGraph, a: int, b: int) -> Explanation:
    """Why `a` equals `b`. The graph must be rebuilt. Raises EGraphError if they are not known to be equal."""
    steps: list[Step] = []
    number: dict[int, int] = {}                     # edge of the proof forest → its step
    rests_on: dict[int, tuple[int, ...]] = {}       # congruence edge → the edges that equate its arguments
    todo = [(edge, near, False) for edge, near in reversed(graph.path(a, b))]
    while todo:
        edge, near, ready = todo.pop()
        if edge in number:
            continue
        left, right, reason = graph.edge(edge)
        forward = near == left
        if not forward:
            left, right = right, left
        if not ready and isinstance(reason, Congruence):
            paths = [graph.path(*pair) for pair in _argument_pairs(graph, left, right)]
            rests_on[edge] = tuple(dict.fromkeys([below for path in paths for below, _ in path]))
            todo.append((edge, near, True))
            todo.extend((*hop, False) for path in reversed(paths) for hop in reversed(path))
            continue
        number[edge] = len(steps)
        below = rests_on.get(edge, ())
        since = tuple(sorted([number[e] for e in below])) if below else below
        steps.append(Step(left, right, reason, forward, since))
    ends = [end for step in steps for end in (step.left, step.right)]
    return Explanation(a, b, tuple(steps), _terms(graph, [a, b, *ends]))


def _argument_pairs(graph: TermGraph, left: int, right: int) -> list[tuple[int, int]]:
    pairs = zip(graph.arguments(left), graph.arguments(right), strict=True)
    return list(dict.fromkeys([(a, b) for a, b in pairs if a != b]))


def _terms(graph: TermGraph, roots: list[int]) -> dict[int, Term]:
    """The roots and every term inside them, by id, arguments first."""
    found: dict[int, Term] = {}
    while roots:
        term = roots.pop()
        if term not in found:
            found[term] = graph.term(term)
            roots.extend(found[term].arguments)
    return dict(sorted(found.items()))
