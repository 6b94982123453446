"""Matching, compiled: a left side becomes a Python function of nested loops, one for each operator in it.

For `linear(x, concat(v, w; 0, n, m))` the function reads, but for checks of how many arguments and attributes it has,

    for node0 in roots:                                         # nodes that apply linear
        for node1 in nodes[keys[node0][2]].get("concat", ()):   # every concat in the class of the second argument
            if attributes1[0] is not 0 and not same(attributes1[0], 0): continue
            if keyed[node0] >= since or changed[node1] >= since:
                found.append((node0, node1, x, v, w, n, m))

so that what the table of rules says is worked out once, and not again at every node. The last test keeps later rounds
cheap: where all nodes of a match have stood as they are since the rule last looked, it was found then.

A match is a tuple: a node for each operator of the pattern, as `places` lists them, then the value of each variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from samesame.egraph.congruence import TermGraph
from samesame.egraph.pattern import Apply, Attribute, Family, Literal, Several, Variable
from samesame.egraph.terms import exact

Match = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """An operator in a pattern: what it may be; the number of the place it is an argument of, and its index there.

    The index counts from 1, or back from the end (-1) where a `Several` stands before it. `again` has the arguments
    that are variables met before: their index, or slice, and which variable it is.
    """

    operators: tuple[str, ...]
    above: int | None
    index: int
    again: list[tuple[int | slice, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Matcher:
    """A compiled pattern. `search(roots, since, *graph.tables())` lists the matches at these nodes, which must be nodes
    of the first place's operators, but for those that hold no node changed since then."""

    places: tuple[Place, ...]
    search: Callable[..., list[Match]]

    def matches(self, graph: TermGraph, roots: Iterable[int], since: int) -> list[Match]:
        return self.search(roots, since, *graph.tables())


def compiled(pattern: Apply, variables: Iterable[str]) -> Matcher:
    """The matcher of a pattern; a match gives the values of the variables in their order here."""
    writer = _Writer(list(variables))
    writer.write(pattern)
    namespace: dict[str, Any] = {"same": same, **writer.constants}
    exec(compile("\n".join(writer.lines), "<pattern>", "exec"), namespace)
    return Matcher(tuple(writer.places), namespace["search"])


def same(a: Any, b: Any) -> bool:
    """Are two attributes the very same?"""
    return exact(a) == exact(b)


class _Writer:
    """The function's lines, its places, and the values in it that have no text."""

    def __init__(self, variables: list[str]) -> None:
        self.names = {name: f"v{k}" for k, name in enumerate(variables)}     # the table's names may be Python's
        self.bound: set[str] = set()
        self.lines = [
            "def search(roots, since, terms, keys, heads, nodes, keyed, changed):",
            "    found = []",
            "    for node0 in roots:",
        ]
        self.indent = 2
        self.places: list[Place] = []
        self.constants: dict[str, Any] = {}

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def loop(self, text: str) -> None:
        self.line(text)
        self.indent += 1

    def require(self, condition: str) -> None:
        """Go on to the next node of the innermost loop unless it holds."""
        self.line(f"if not ({condition}): continue")

    def write(self, pattern: Apply) -> None:
        self.application(pattern, None, 0)
        inner = [f"changed[node{k}] >= since" for k in range(1, len(self.places))]
        if inner:
            self.loop(f"if {' or '.join(['keyed[node0] >= since', *inner])}:")
        values = [f"node{k}" for k in range(len(self.places))] + list(self.names.values())
        self.line(f"found.append(({', '.join(values)},))")
        self.lines.append("    return found")

    def application(self, pattern: Apply, above: int | None, index: int) -> None:
        """The checks of one node, and the loops over the nodes inside it."""
        n = len(self.places)
        self.places.append(Place(pattern.operators, above, index))
        self.line(f"key{n}, term{n} = keys[node{n}], terms[node{n}]")
        self.line(f"operator{n}, attributes{n} = heads[key{n}[0]]")
        if isinstance(pattern.operator, Family):
            self.family(pattern.operator, n)
        self.count(f"key{n}", pattern.arguments, 1)
        self.count(f"attributes{n}", pattern.attributes, 0)
        for at, attribute in _indexed(pattern.attributes, 0):
            self.attribute(attribute, f"attributes{n}[{at}]")
        for at, argument in _indexed(pattern.arguments, 1):
            if not isinstance(argument, Apply):
                self.variable(argument, n, at)
        for at, argument in _indexed(pattern.arguments, 1):
            if isinstance(argument, Apply):
                self.inside(argument, n, at)

    def inside(self, argument: Apply, above: int, at: str) -> None:
        """A loop over the nodes that an argument may be, and what it holds."""
        n, operator = len(self.places), repr(argument.operator)
        if isinstance(argument.operator, Family):
            operator = self.names[argument.operator.name]
            if argument.operator.name not in self.bound:
                self.bound.add(argument.operator.name)
                self.loop(f"for {operator} in {argument.operators!r}:")
        self.loop(f"for node{n} in nodes[key{above}[{at}]].get({operator}, ()):")
        self.application(argument, above, int(at))

    def family(self, family: Family, n: int) -> None:
        if family.name not in self.bound:
            self.bound.add(family.name)
            self.line(f"{self.names[family.name]} = operator{n}")

    def count(self, whole: str, parts: tuple[Any, ...], more: int) -> None:
        several = any(isinstance(part, Several) for part in parts)
        self.require(f"len({whole}) {'>=' if several else '=='} {len(parts) - several + more}")

    def attribute(self, pattern: Attribute | Several | Literal, value: str) -> None:
        known = self.constant(pattern.value) if isinstance(pattern, Literal) else self.names[pattern.name]
        if isinstance(pattern, Literal) or pattern.name in self.bound:
            self.require(f"{value} is {known} or same({value}, {known})")
        else:
            self.bound.add(pattern.name)
            self.line(f"{known} = {value}")

    def variable(self, pattern: Variable | Several, n: int, at: str) -> None:
        """Its value is the term as it was given; where it occurs again, the class must be the same."""
        name = self.names[pattern.name]
        if pattern.name not in self.bound:
            self.bound.add(pattern.name)
            self.line(f"{name}, {name}_class = term{n}[{at}], key{n}[{at}]")
            return
        self.require(f"key{n}[{at}] == {name}_class")
        start, colon, stop = at.partition(":")
        where = slice(int(start), int(stop) if stop else None) if colon else int(at)
        self.places[n].again.append((where, list(self.names).index(pattern.name)))

    def constant(self, value: Any) -> str:
        name = f"constant{len(self.constants)}"
        self.constants[name] = value
        return name


def _indexed(parts: tuple[Any, ...], first: int) -> Iterator[tuple[str, Any]]:
    """The parts, each with its index, or its slice, in a tuple that starts with `first` other things."""
    behind = False
    for k, part in enumerate(parts):
        if isinstance(part, Several):
            behind = True
            yield f"{k + first}:{k + 1 - len(parts) or ''}", part
        else:
            yield str(k - len(parts) if behind else k + first), part
