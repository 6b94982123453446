"""Extraction: the cheapest program in an e-graph, counting what is shared once.

Finding the cheapest set of nodes is NP-hard, so this is a good answer and not always the best. *First*, every class
gets its cheapest node as if nothing were shared, cheapest classes first, as Dijkstra's algorithm does; that choice
has no cycles. *Then* each class in use is reconsidered: taking its node out frees what nothing else uses, and putting
another in pays only for what is not in use yet; the cheapest stays, unless it would close a cycle. Rounds go on while
they save.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from samesame.egraph.congruence import TermGraph
from samesame.egraph.terms import EGraphError

Cost = Callable[[str, tuple[Hashable, ...], tuple[Any, ...], Any], float | None]
ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Extraction:
    """One term for each root, in order; the cost of all of them together, with shared parts counted once."""

    terms: tuple[int, ...]
    cost: float


def extract(graph: TermGraph, roots: tuple[int, ...], cost: Cost) -> Extraction:
    """The cheapest terms equal to the roots. The graph must be rebuilt.

    `cost(operator, attributes, argument types, type)` is at least 0, or None where the operator may not be used.
    Raises EGraphError if a root has no term of allowed operators. The terms are added to the graph, so that `explain`
    can say why they equal the roots.
    """
    choices = Choices(graph, cost)
    for root in roots:
        if graph.find(root) not in choices.node:
            raise EGraphError(f"no term of allowed operators equals term {root}")
        choices.use(graph.find(root))
    for _ in range(ROUNDS):
        if not any([choices.improve(cls) for cls in choices.in_use_top_down()]):
            break
    tops = [graph.find(root) for root in roots]
    plan = [(cls, choices.node[cls], choices.below(choices.node[cls])) for cls in reversed(choices.in_use_top_down())]
    made: dict[int, int] = {}                        # adding terms may renumber classes: look none up from here on
    for cls, node, below in plan:
        operator, attributes, _ = graph.application(node)
        made[cls] = graph.add(operator, attributes, tuple(made[part] for part in below), graph.type(node))
    return Extraction(tuple(made[top] for top in tops), choices.total)


class Choices:
    """One node for each class, and how often each class is used by the roots and the nodes in use."""

    def __init__(self, graph: TermGraph, cost: Cost) -> None:
        self.graph = graph
        self.costs: dict[int, float] = {}            # node → cost, where it may be used
        self.node: dict[int, int] = {}               # class → the node chosen for it
        self.uses: dict[int, int] = {}               # class → uses; a root is one
        self.place: dict[int, int] = {}              # class → a number larger than those of the classes below it
        self.total = 0.0
        self._choose(cost)

    def below(self, node: int) -> tuple[int, ...]:
        """The argument classes of a node."""
        return tuple(map(self.graph.find, self.graph.application(node)[2]))

    def _choose(self, cost: Cost) -> None:
        """The cheapest node for every class, nothing shared: classes are settled in order of their cost."""
        graph = self.graph
        ready: list[tuple[float, int]] = []
        waiting: dict[int, list[int]] = {}           # class → nodes that wait for it
        missing: dict[int, int] = {}                 # node → arguments not settled yet
        for cls in graph.classes():
            for node in graph.nodes(cls):
                operator, attributes, arguments = graph.application(node)
                price = cost(operator, attributes, tuple(graph.type(a) for a in arguments), graph.type(node))
                if price is None:
                    continue
                if not price >= 0:
                    raise EGraphError(f"the cost of {operator} is {price}; costs are at least 0")
                self.costs[node] = price
                below = set(self.below(node))
                missing[node] = len(below)
                for argument in below:
                    waiting.setdefault(argument, []).append(node)
                if not below:
                    ready.append((price, node))
        heapq.heapify(ready)
        settled: dict[int, float] = {}
        while ready:
            price, node = heapq.heappop(ready)
            cls = graph.find(node)
            if cls in settled:
                continue
            settled[cls], self.node[cls] = price, node
            self.place[cls] = len(self.place)
            for above in waiting.get(cls, ()):
                missing[above] -= 1
                if not missing[above]:
                    price = self.costs[above] + sum(settled[below] for below in self.below(above))
                    heapq.heappush(ready, (price, above))

    def use(self, cls: int) -> None:
        """Count one more use of a class; the first brings its node in, and uses what is below."""
        todo = [cls]
        while todo:
            cls = todo.pop()
            self.uses[cls] = self.uses.get(cls, 0) + 1
            if self.uses[cls] == 1:
                self.total += self.costs[self.node[cls]]
                todo.extend(self.below(self.node[cls]))

    def release(self, cls: int) -> None:
        """Undo one use; the last takes the node out, and releases what is below."""
        todo = [cls]
        while todo:
            cls = todo.pop()
            self.uses[cls] -= 1
            if not self.uses[cls]:
                del self.uses[cls]
                self.total -= self.costs[self.node[cls]]
                todo.extend(self.below(self.node[cls]))

    def in_use_top_down(self) -> list[int]:
        """The classes in use, each before those below it."""
        return sorted(self.uses, key=lambda cls: -self.place[cls])

    def improve(self, cls: int) -> bool:
        """Choose the node that makes the whole cheapest, all other choices kept; whether that saves anything."""
        others = [node for node in self.graph.nodes(cls) if node in self.costs and node != self.node[cls]]
        if not others or cls not in self.uses:
            return False
        before, best = self.total, self.node[cls]
        cheapest = before
        for node in others:
            if all(below in self.node for below in self.below(node)) and not self._closes_cycle(cls, node):
                self._switch(cls, node)
                if self.total < cheapest - 1e-9 * abs(cheapest):
                    cheapest, best = self.total, node
        self._switch(cls, best)
        if any(self.place[below] >= self.place[cls] for below in self.below(best)):
            self._number()
        return cheapest < before

    def _switch(self, cls: int, node: int) -> None:
        old, self.node[cls] = self.node[cls], node
        self.total += self.costs[node] - self.costs[old]
        for below in self.below(node):
            self.use(below)
        for below in self.below(old):
            self.release(below)

    def _closes_cycle(self, cls: int, node: int) -> bool:
        """Whether the class is below the node's arguments; only classes with larger places can be above it."""
        todo, seen = list(self.below(node)), set[int]()
        while todo:
            below = todo.pop()
            if below == cls:
                return True
            if below not in seen and self.place[below] > self.place[cls]:
                seen.add(below)
                todo.extend(self.below(self.node[below]))
        return False

    def _number(self) -> None:
        """Number the classes anew, each after those below it."""
        order: dict[int, int] = {}
        todo = [(cls, False) for cls in self.node]
        while todo:
            cls, done = todo.pop()
            if cls in order:
                continue
            if done:
                order[cls] = len(order)
                continue
            todo.append((cls, True))
            todo.extend((below, False) for below in self.below(self.node[cls]))
        self.place = order
