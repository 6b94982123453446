"""The e-graph: many equal programs in one structure, and a proof for every equality.

    g = EGraph()
    x, w = g.add("x"), g.add("w")
    y = g.add("linear", (), (x, w))
    g.union(y, g.add("z"), Evidence("input"))
    g.saturate(RULES, Budget(seconds=10))
    print(g.explain(a, b))

Saturation alternates two phases. *Search*: every rule is matched where it may match anew since it last ran, at the
nodes that hold or are a node whose arguments or class changed. *Apply*: for every match, the instance of the left side
and the right side are added and united, with the rule and its substitution as the reason. It stops when nothing
changes or a budget is spent, and can be resumed. A rule that matches too often is rested for some rounds, so that one
explosive rule does not starve the others; what it has not seen is kept for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from samesame.egraph.congruence import TermGraph, Typed
from samesame.egraph.explain import Explanation, explain
from samesame.egraph.extract import Cost, Extraction, extract
from samesame.egraph.matcher import Match, Place
from samesame.egraph.pattern import Made
from samesame.egraph.rules import Rule, unique
from samesame.egraph.terms import EGraphError, Evidence, RuleUse


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one saturation: nodes in all, rounds, seconds of the thread's own time, so that a busy machine finds no
    less, and matches of one rule in a round before it rests."""

    nodes: int = 1_000_000
    iterations: int = 30
    seconds: float = 60.0
    matches: int = 100_000


@dataclass(slots=True)
class Report:
    """What a saturation did. `stopped` is why it ended: "saturated", "nodes", "time" or "iterations"."""

    iterations: int = 0
    matches: int = 0
    stopped: str = "iterations"
    uses: dict[str, int] = field(default_factory=dict)
    rested: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


REST = 3          # rounds a rule rests the first time it matches too often; both double each time
AT_ONCE = 1000    # nodes that are searched between two looks at the clock

Clock = Callable[[], float]
Look = Callable[[], None]                   # at the clock; raises OutOfTime


class OutOfTime(Exception):
    """The time budget of a saturation is spent."""


class _Way(NamedTuple):
    """Where an operator leads: the rules whose root it is (a set of nodes each), and upwards from inside others."""

    roots: list[dict[int, None]]
    above: dict[str, _Way]


def _ways(roots: Mapping[Rule, dict[int, None]], *, inside: bool) -> dict[str, _Way]:
    """The ways from an operator to the roots of the rules that look for it at the root and, if so told, inside."""
    ways: dict[str, _Way] = {}
    for rule, found in roots.items():
        for place in rule.matcher.places[: None if inside else 1]:
            ends, here = [ways], place
            while True:
                met = [end.setdefault(operator, _Way([], {})) for end in ends for operator in here.operators]
                if here.above is None:
                    break
                ends, here = [way.above for way in met], rule.matcher.places[here.above]
            for way in met:
                way.roots.append(found)
    return ways


class EGraph(TermGraph):
    """Terms, classes, rules. Equal terms share a class, and every equality can be explained."""

    def __init__(self, typed: Typed | None = None) -> None:
        super().__init__(typed)
        self._evidence: dict[str, set[tuple[int, int]]] = {}
        self._seen: dict[Rule, int] = {}          # how far each rule has read the list of changes

    # -------------------------------------------------------------------------------------------------------- evidence

    def union(self, a: int, b: int, reason: Evidence | RuleUse) -> bool:
        if isinstance(reason, Evidence):
            self._evidence.setdefault(reason.id, set()).add((a, b))
        return super().union(a, b, reason)

    @property
    def evidence(self) -> Mapping[str, set[tuple[int, int]]]:
        """The pairs of terms that each evidence id was given for."""
        return self._evidence

    def explain(self, a: int, b: int) -> Explanation:
        """Why the two terms are equal, step by step. Raises EGraphError if they are not known to be."""
        self.rebuild()
        return explain(self, a, b)

    def extract(self, roots: Iterable[int], cost: Cost) -> Extraction:
        """The cheapest terms equal to the roots, shared parts counted once (see extract.py)."""
        self.rebuild()
        return extract(self, tuple(roots), cost)

    # ------------------------------------------------------------------------------------------------------ saturation

    def saturate(self, rules: Iterable[Rule], budget: Budget = Budget(), clock: Clock = time.thread_time) -> Report:
        """Apply the rules until nothing changes or the budget is spent; its seconds are those of `clock`."""
        rules = tuple(unique(rules).values())
        report, start = Report(), clock()

        def look() -> None:
            if clock() - start > budget.seconds:
                raise OutOfTime

        resting = dict.fromkeys(rules, 0)
        try:
            for report.iterations in range(1, budget.iterations + 1):
                self.rebuild()
                before = (len(self._edges), len(self._node_of))
                awake = [rule for rule in rules if resting[rule] < report.iterations]
                read = len(self._changes)
                found = self._search(awake, budget, report, look)
                for rule in awake:
                    if rule not in found:
                        report.rested[rule.name] = times = report.rested.get(rule.name, 0) + 1
                        resting[rule] = report.iterations + (REST << (times - 1))
                for rule, matched in found.items():
                    if not self._apply(rule, matched, budget, report, look):
                        report.stopped = "nodes"
                        return report
                    self._seen[rule] = read
                self.rebuild()
                if before == (len(self._edges), len(self._node_of)):
                    if len(found) == len(rules):
                        report.stopped = "saturated"
                        return report
                    resting = dict.fromkeys(rules, 0)
        except OutOfTime:
            report.stopped = "time"
        finally:
            self.rebuild()
            report.seconds = clock() - start
        return report

    def _search(self, rules: list[Rule], budget: Budget, report: Report, look: Look) -> dict[Rule, list[Match]]:
        """The new matches of each rule; a rule that matches too often is left out."""
        found: dict[Rule, list[Match]] = {}
        for since in sorted({self._seen.get(rule, 0) for rule in rules}):
            group = [rule for rule in rules if self._seen.get(rule, 0) == since]
            for rule, roots in self._roots(group, since).items():
                found[rule] = []
                for at in range(0, len(roots), AT_ONCE):
                    look()
                    found[rule] += rule.matcher.matches(self, roots[at : at + AT_ONCE], since)
                    if len(found[rule]) > budget.matches << report.rested.get(rule.name, 0):
                        del found[rule]
                        break
        return found

    def _roots(self, rules: list[Rule], since: int) -> dict[Rule, list[int]]:
        """The nodes at which each rule may match anew: those whose arguments changed since then, and those that hold,
        where the rule looks for its operator, a node that changed."""
        roots: dict[Rule, dict[int, None]] = {rule: {} for rule in rules}
        ways = _ways(roots, inside=since > 0)                    # at first every node is new, and so every root
        keys, heads, parents, find = self._keys, self._heads, self._parents, self.find
        for node in dict.fromkeys(self._changes[since:]):
            key = keys[node]
            way = None if key is None else ways.get(heads[key[0]][0])
            if way is None:
                continue
            if self._keyed[node] >= since:
                for found in way.roots:
                    found[node] = None
            todo = [(node, way.above)] if way.above else []
            while todo:
                inside, above = todo.pop()
                for parent in parents[find(inside)]:
                    key = keys[parent]
                    onward = None if key is None else above.get(heads[key[0]][0])
                    if onward is not None:
                        for found in onward.roots:
                            found[parent] = None
                        if onward.above:
                            todo.append((parent, onward.above))
        return {rule: list(found) for rule, found in roots.items()}

    def _apply(self, rule: Rule, matched: list[Match], budget: Budget, report: Report, look: Look) -> bool:
        """Unite both sides of each match; False when the node budget is spent."""
        places, variables, types = rule.matcher.places, tuple(rule.kinds), self._types.__getitem__
        first = len(places)
        for match in matched:
            if len(self._node_of) > budget.nodes:
                return False
            look()
            values = match[first:]
            results = rule.results(values, types)
            if not results:
                continue
            report.matches += 1
            report.uses[rule.name] = report.uses.get(rule.name, 0) + 1
            for result in results:
                known = self.lookup(result)
                if known is not None and self.find(known) == self.find(match[0]):
                    continue
                substitution = dict(zip(variables, values, strict=True))
                try:
                    left = self._instance(places, match)
                    right = self.build(result, self._types[left])
                    self._merge(left, right, RuleUse(rule.name, substitution))
                except EGraphError as error:
                    raise EGraphError(f"rule {rule.name} breaks on {substitution}: {error}") from error
        return True

    def _instance(self, places: tuple[Place, ...], match: Match) -> int:
        """The left side's instance: the nodes that matched, put in the place of the arguments that they equal, and each
        variable by one term wherever it occurs."""
        terms: list[int] = list(match[: len(places)])
        inside: list[list[tuple[int, int]]] = [[] for _ in places]
        for number in range(len(places) - 1, -1, -1):
            place = places[number]
            if inside[number] or place.again:
                key: list[int] = list(self._terms[terms[number]])
                for index, term in inside[number]:
                    key[index] = term
                for where, variable in place.again:
                    key[where] = match[len(places) + variable]
                terms[number] = self._interned(tuple(key), self._types[terms[number]])
            if place.above is not None:
                inside[place.above].append((place.index, terms[number]))
        return terms[0]

    def lookup(self, made: Made | int) -> int | None:
        """A node equal to the described term, if there is one."""
        if not isinstance(made, Made):
            return made
        find, key = self.find, [self._head(made.operator, made.attributes)]
        for argument in made.arguments:
            found = self.lookup(argument) if isinstance(argument, Made) else argument
            if found is None:
                return None
            key.append(find(found))
        return self._node_of.get(tuple(key))

    def build(self, made: Made | int, type: Hashable = None) -> int:
        """Add the described term. Where nobody can tell its type, it is the one given."""
        if not isinstance(made, Made):
            return made
        arguments = [self.build(argument) if isinstance(argument, Made) else argument for argument in made.arguments]
        key = (self._head(made.operator, made.attributes), *arguments)
        known = self._term_of.get(key)
        if known is not None:
            return known
        told = self._typed and self._typed(made.operator, made.attributes, tuple(map(self.type, arguments)))
        return self._make(key, type if told is None else told)
