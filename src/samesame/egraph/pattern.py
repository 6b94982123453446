"""Patterns, and matching them in an e-graph.

A pattern looks like a term, with variables: `slice(concat(*xs; d); d, lo, hi)`. Before the semicolon, a name stands
for any argument and `*xs` for any number of them; behind it, a name stands for any attribute and `*a` for any number.
A name that occurs twice must stand for equal arguments, or for the very same attribute. A *family* stands for one
operator out of several. Matching looks into classes, not terms: `permute(permute(x; p); q)` matches a node whose
argument is *equal to* a permute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from samesame.egraph.congruence import TermGraph
from samesame.egraph.terms import exact

Substitution = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Variable:
    """Any argument (a class of terms)."""

    name: str


@dataclass(frozen=True, slots=True)
class Several:
    """Any number of arguments, or of attributes: written `*name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """Any attribute."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """This attribute and no other."""

    value: Any


@dataclass(frozen=True, slots=True)
class Family:
    """One operator out of several."""

    name: str
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator applied to patterns. At most one argument and one attribute is `Several`."""

    operator: str | Family
    arguments: tuple[Apply | Variable | Several, ...] = ()
    attributes: tuple[Attribute | Several | Literal, ...] = ()
    exact: bool = field(init=False)             # nothing is `Several`: places pair off one by one

    def __post_init__(self) -> None:
        several = any(isinstance(part, Several) for part in (*self.arguments, *self.attributes))
        object.__setattr__(self, "exact", not several)

    @property
    def operators(self) -> tuple[str, ...]:
        """Every operator that this may be."""
        return self.operator.operators if isinstance(self.operator, Family) else (self.operator,)


class Made(NamedTuple):
    """A description of a term, over the ids of terms that exist; it exists itself once it is added."""

    operator: str
    attributes: tuple[Any, ...]
    arguments: tuple[Made | int, ...]


# ------------------------------------------------------------------------------------------------------------ matching

Goals = tuple[tuple[Apply, int], "Goals"] | None


def matches(graph: TermGraph, pattern: Apply, node: int) -> Iterator[Substitution]:
    """Every substitution under which the pattern equals this node."""
    entered = _enter(graph, pattern, node, {}, None)
    if entered is not None:
        yield from _solve(graph, *entered)


def _solve(graph: TermGraph, bound: Substitution, goals: Goals) -> Iterator[Substitution]:
    """Every extension of `bound` under which each (pattern, argument) of the linked list `goals` matches."""
    if goals is None:
        yield bound
        return
    (pattern, argument), rest = goals
    for operator in pattern.operators:
        for node in graph.nodes_of(argument, operator):
            entered = _enter(graph, pattern, node, bound, rest)
            if entered is not None:
                yield from _solve(graph, *entered)


def _enter(
    graph: TermGraph, pattern: Apply, node: int, bound: Substitution, goals: Goals
) -> tuple[Substitution, Goals] | None:
    """Match one node, but for the operators among its arguments, which become goals."""
    operator, attributes, arguments = graph.application(node)
    beside: Iterable[tuple[Any, Any]] | None
    below: Iterable[tuple[Any, Any]] | None
    if pattern.exact:
        if len(attributes) != len(pattern.attributes) or len(arguments) != len(pattern.arguments):
            return None
        beside, below = zip(pattern.attributes, attributes), zip(pattern.arguments, arguments)    # noqa: B905 just told
    else:
        beside, below = align(pattern.attributes, attributes), align(pattern.arguments, arguments)
    if beside is None or below is None:
        return None
    bound = bound.copy()
    if isinstance(pattern.operator, Family) and bound.setdefault(pattern.operator.name, operator) != operator:
        return None
    for wanted, value in beside:
        known = wanted.value if isinstance(wanted, Literal) else bound.setdefault(wanted.name, value)
        if known is not value and exact(known) != exact(value):
            return None
    for inner, argument in below:
        if isinstance(inner, Apply):
            goals = ((inner, argument), goals)
        else:
            known = bound.setdefault(inner.name, argument)
            if known is not argument and not _same_classes(graph, known, argument):
                return None
    return bound, goals


def _same_classes(graph: TermGraph, a: int | tuple[int, ...], b: int | tuple[int, ...]) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same_classes, [graph] * len(a), a, b))
    return isinstance(a, int) and isinstance(b, int) and graph.find(a) == graph.find(b)


def align(patterns: tuple[Any, ...], values: tuple[Any, ...]) -> Iterable[tuple[Any, Any]] | None:
    """Pair patterns with values, a `Several` with the tuple that is left for it; None if the numbers do not fit."""
    at = 0
    for pattern in patterns:
        if isinstance(pattern, Several):
            break
        at += 1
    else:
        return zip(patterns, values, strict=True) if len(patterns) == len(values) else None
    until = len(values) - (len(patterns) - at - 1)
    if until < at:
        return None
    before, behind = zip(patterns[:at], values, strict=False), zip(patterns[at + 1 :], values[until:], strict=True)
    return [*before, (patterns[at], values[at:until]), *behind]


# ----------------------------------------------------------------------------------------------------------- instances


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


# ----------------------------------------------------------------------------------------------------- what to look at


def height(pattern: Apply) -> int:
    """The depth of the deepest operator, or variable that occurs twice: no deeper change can make the pattern match."""
    deepest = 0
    places: dict[str, list[int]] = {}
    stack: list[tuple[Any, int]] = [(pattern, 0)]
    while stack:
        part, depth = stack.pop()
        if isinstance(part, Apply):
            deepest = max(deepest, depth)
            stack.extend((argument, depth + 1) for argument in part.arguments)
        else:
            places.setdefault(part.name, []).append(depth)
    return max([deepest, *(max(depths) for depths in places.values() if len(depths) > 1)])


def needs(pattern: Apply) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """(1 + place, operators) for each argument that must be one of some operators, as far as places are fixed."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for place, argument in enumerate(pattern.arguments, 1):
        if isinstance(argument, Several):
            break
        if isinstance(argument, Apply):
            found.append((place, argument.operators))
    return tuple(found)
