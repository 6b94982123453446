"""The e-graph: many equal programs in one structure, and a proof for every equality.

    g = EGraph()
    x, w = g.add("x"), g.add("w")
    y = g.add("linear", (), (x, w))
    g.union(y, g.add("z"), Evidence("input"))
    g.saturate(RULES, Budget(seconds=10))
    print(g.explain(a, b))

Saturation alternates two phases. *Search*: every rule is matched against the nodes that may match anew since it last
ran: those above a class that changed, as many levels up as the rule looks down. *Apply*: for every match, the
instance of the left side and the right side are added and united, with the rule and its substitution as the reason.
It stops when nothing changes or a budget is spent, and can be resumed. A rule that matches too often is rested for
some rounds, so that one explosive rule does not starve the others; what it has not seen is kept for it.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from samesame.egraph.congruence import TermGraph, Typed
from samesame.egraph.explain import Explanation, explain
from samesame.egraph.extract import Cost, Extraction, extract
from samesame.egraph.pattern import Made, Substitution, instance, matches
from samesame.egraph.rules import Rule, unique
from samesame.egraph.terms import EGraphError, Evidence, RuleUse


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one saturation: nodes in all, rounds, seconds, and matches of one rule in a round before it rests."""

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


Match = tuple[Rule, int, Substitution, list[Made | int]]
REST = 3          # rounds a rule rests the first time it matches too often; both double each time


class OutOfTime(Exception):
    """The time budget of a saturation is spent."""


class EGraph(TermGraph):
    """Terms, classes, rules. Equal terms share a class, and every equality can be explained."""

    def __init__(self, typed: Typed | None = None) -> None:
        super().__init__(typed)
        self._evidence: dict[str, set[tuple[int, int]]] = {}
        self._seen: dict[Rule, int] = {}          # how far each rule has read the list of touched classes

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

    def saturate(self, rules: Iterable[Rule], budget: Budget = Budget()) -> Report:
        """Apply the rules until nothing changes or the budget is spent."""
        rules = tuple(unique(rules).values())
        report, start = Report(), time.monotonic()
        resting = dict.fromkeys(rules, 0)
        try:
            for report.iterations in range(1, budget.iterations + 1):
                self.rebuild()
                before = (len(self._edges), len(self._node_of))
                awake = [rule for rule in rules if resting[rule] < report.iterations]
                read = len(self._touched)
                found = self._search(awake, budget, report, start)
                for rule in awake:
                    if rule not in found:
                        report.rested[rule.name] = times = report.rested.get(rule.name, 0) + 1
                        resting[rule] = report.iterations + (REST << (times - 1))
                for rule, matched in found.items():
                    if not self._apply(matched, budget, report, start):
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
            report.seconds = time.monotonic() - start
        return report

    def _search(self, rules: list[Rule], budget: Budget, report: Report, start: float) -> dict[Rule, list[Match]]:
        """What each rule may do next; a rule that matches too often is left out."""
        found: dict[Rule, list[Match]] = {rule: [] for rule in rules}
        for since in sorted({self._seen.get(rule, 0) for rule in rules}):
            group = [rule for rule in rules if self._seen.get(rule, 0) == since]
            by_operator: dict[str, list[Rule]] = {}
            for rule in group:
                for operator in rule.left.operators:
                    by_operator.setdefault(operator, []).append(rule)
            for cls, distance in self._above(since, max(rule.height for rule in group)).items():
                if time.monotonic() - start > budget.seconds:
                    raise OutOfTime
                for operator, nodes in self._nodes[cls].items():
                    for rule in by_operator.get(operator, ()):
                        if rule.height < distance or rule not in found:
                            continue
                        found[rule] += self._match(rule, nodes)
                        if len(found[rule]) > budget.matches << report.rested.get(rule.name, 0):
                            del found[rule]
        return found

    def _match(self, rule: Rule, nodes: Iterable[int]) -> list[Match]:
        """Every use of the rule at the nodes of one class."""
        found: list[Match] = []
        for node in nodes:
            if rule.needs and not self._may_match(node, rule):
                continue
            for substitution in matches(self, rule.left, node):
                results = rule.apply(substitution, self._types.__getitem__)
                if results:
                    found.append((rule, node, substitution, results))
        return found

    def _may_match(self, node: int, rule: Rule) -> bool:
        """A quick first test: the arguments that must be certain operators can be."""
        key = self._keys[node]
        if key is None:
            return False
        for place, operators in rule.needs:
            if place >= len(key) or self._nodes[key[place]].keys().isdisjoint(operators):
                return False
        return True

    def _above(self, since: int, height: int) -> dict[int, int]:
        """The classes touched since then, and those up to `height` levels above them, with the number of levels."""
        find = self.find
        found = dict.fromkeys(map(find, self._touched[since:]), 0)
        layer = list(found)
        for level in range(1, height + 1):
            parents = (parent for cls in layer for parent in self._parents[cls] if self._keys[parent] is not None)
            layer = [cls for cls in dict.fromkeys(map(find, parents)) if cls not in found]
            found.update(dict.fromkeys(layer, level))
        return found

    def _apply(self, matched: list[Match], budget: Budget, report: Report, start: float) -> bool:
        """Unite both sides of each match; False when the node budget is spent."""
        for rule, node, substitution, results in matched:
            if self.node_count > budget.nodes:
                return False
            if time.monotonic() - start > budget.seconds:
                raise OutOfTime
            report.matches += 1
            report.uses[rule.name] = report.uses.get(rule.name, 0) + 1
            for result in results:
                try:
                    self._use(rule, node, substitution, result)
                except EGraphError as error:
                    raise EGraphError(f"rule {rule.name} breaks on {substitution}: {error}") from error
        return True

    def _use(self, rule: Rule, node: int, substitution: Substitution, result: Made | int) -> None:
        known = self.lookup(result)
        if known is not None and self.find(known) == self.find(node):
            return
        left = self.build(instance(rule.left, substitution))
        right = self.build(result, self._types[left])
        self._merge(left, right, RuleUse(rule.name, substitution))

    def lookup(self, made: Made | int) -> int | None:
        """A node equal to the described term, if there is one."""
        if not isinstance(made, Made):
            return made
        arguments: list[int] = []
        for argument in made.arguments:
            found = self.lookup(argument)
            if found is None:
                return None
            arguments.append(self.find(found))
        return self._node_of.get((self._head(made.operator, made.attributes), *arguments))

    def build(self, made: Made | int, type: Hashable = None) -> int:
        """Add the described term. Where nobody can tell its type, it is the one given."""
        if not isinstance(made, Made):
            return made
        arguments = tuple([self.build(argument) for argument in made.arguments])
        if type is not None and self._typed is not None:
            types = tuple([self._types[argument] for argument in arguments])
            type = None if self._typed(made.operator, made.attributes, types) is not None else type
        return self.add(made.operator, made.attributes, arguments, type)
