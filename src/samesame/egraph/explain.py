"""Explanations: why two terms are equal, as steps that a person can read and `replay` can check.

Each step equates two terms for one reason. A congruence step rests on earlier steps, which equate its arguments; the
last steps chain the two terms in question together. Every step is needed: the steps form a forest, so without any one
of them the terms fall apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from samesame.egraph.congruence import TermGraph
from samesame.egraph.terms import CONGRUENCE, Evidence, Reason, RuleUse, Term, show_term


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


def explain(
    graph: TermGraph, a: int, b: int, taken: Callable[[int, int], bool] = lambda one, other: False
) -> Explanation:
    """Why `a` equals `b`. The graph must be rebuilt. Raises EGraphError if they are not known to be equal.

    Arguments that are `taken` to be equal are not explained, so the steps replay only together with what says so."""
    steps: list[Step] = []
    number: dict[int, int] = {}                     # edge of the proof forest → its step
    edge_of, arguments, path = graph.edge, graph.arguments, graph.path
    todo: list[tuple[int, int, list[int] | None]] = [(edge, near, None) for edge, near in reversed(path(a, b))]
    while todo:
        edge, near, below = todo.pop()              # an edge waits once more for those below it
        if edge in number:
            continue
        left, right, reason = edge_of(edge)
        if near != left:
            left, right = right, left
        if below is None and reason is CONGRUENCE:
            pairs = dict.fromkeys(zip(arguments(left), arguments(right), strict=True))
            hops = [hop for one, other in pairs if one != other and not taken(one, other) for hop in path(one, other)]
            todo.append((edge, near, [edge for edge, _ in hops]))
            todo += [(edge, near, None) for edge, near in reversed(hops) if edge not in number]
            continue
        number[edge] = len(steps)
        since = tuple(sorted({number[edge] for edge in below})) if below else ()
        steps.append(Step(left, right, reason, near == edge_of(edge)[0], since))
    return Explanation(a, b, tuple(steps), Inside(graph, (a, b), steps))


class Inside(Mapping[int, Term]):
    """Every term that some steps between two terms speak of, and those inside them, by id, arguments first.

    Gathered when it is first looked into: a proof of many steps is often wanted for its steps alone.
    """

    def __init__(self, graph: TermGraph, ends: tuple[int, int], steps: list[Step]) -> None:
        self._graph, self._ends, self._steps = graph, ends, steps

    @cached_property
    def _terms(self) -> dict[int, Term]:
        found: dict[int, Term] = {}
        todo = [*self._ends, *(end for step in self._steps for end in (step.left, step.right))]
        while todo:
            term = todo.pop()
            if term not in found:
                found[term] = self._graph.term(term)
                todo.extend(found[term].arguments)
        return dict(sorted(found.items()))

    def __getitem__(self, term: int) -> Term:
        return self._terms[term]

    def __iter__(self) -> Iterator[int]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)
