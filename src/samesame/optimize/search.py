"""Search: from the specification to a few cheap forms that are equal to it.

The e-graph is filled with what the rules make of the specification; then the cheapest form is taken out under several
weightings of what costs: multiplications, bytes of tensors that are read and written, the number of operators. No one
weighting is right on every machine, so each gives a candidate; which is fastest is measured later. The specification
itself is always the first.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from samesame.egraph import Budget, EGraph, RuleUse
from samesame.formula.expr import Leaf, Unsupported
from samesame.formula.mathml import mathml_tensor
from samesame.formula.tensor import tensor
from samesame.optimize.forms import Form, base, formula, size_of, text
from samesame.optimize.lengths import written
from samesame.optimize.pairs import priced, steps
from samesame.optimize.rules import RULES, SILENT, add, form_of, typed
from samesame.optimize.specification import Specification
from samesame.report.optimized import Step

LIMITS = Budget(nodes=2000, iterations=8, seconds=2.0, matches=1000)
SAME = 1e-3
LARGE = 300                                          # operators in a formula that is drawn, as it is written
FREE = ("load", "number", "position")


@dataclass(frozen=True, slots=True)
class Weights:
    """What an element moved, a multiplication, an operator cost, in one unit."""

    name: str
    moved: float
    flop: float
    operator: float
    fused: bool = False                              # a contraction is one loop nest, over all axes and factors


# A multiplication inside a matmul is some 30 times cheaper than an element through memory; a call, as 20,000 elements.
WEIGHTS = (
    Weights("time", 1.0, 0.03, 20_000.0),
    Weights("multiplications", 1e-3, 1.0, 1e-2),
    Weights("bytes", 1.0, 1e-4, 1e-2),
    Weights("operators", 1e-6, 1e-7, 1.0),
    Weights("loops", 1e-6, 1.0, 1.0, fused=True),
)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A form for each of the specification's roots, equal to it by the steps; what each weighting makes it cost."""

    outputs: tuple[Form, ...]
    steps: tuple[Step, ...] = ()
    cost: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_original(self) -> bool:
        return not self.steps


@dataclass(slots=True)
class Found:
    """The candidates, and how much was searched."""

    candidates: tuple[Rewriting, ...]
    nodes: int = 0


def searched(specification: Specification, until: float = inf) -> Found:
    """The specification's own form, then others equal to it, cheapest by time first; those that are found until then,
    on time.monotonic."""
    graph, known = EGraph(typed), dict[Form, int]()
    forms = tuple(root.form for root in specification.roots())
    roots = [add(graph, form, known) for form in forms]
    graph.saturate(RULES, LIMITS)
    prices = Prices(specification.extents)
    found: dict[tuple[Form, ...], Rewriting] = {forms: Rewriting(forms, (), prices.of(forms))}
    shown: dict[int, Form] = {}
    for weights in WEIGHTS:
        if time.monotonic() > until:
            break
        terms = graph.extract(roots, prices.weighted(weights)).terms
        outputs = tuple(form_of(graph, term, shown) for term in terms)
        cost = prices.of(outputs)
        if not any(alike(cost, other.cost) for other in found.values()):
            found[outputs] = Rewriting(outputs, explained(graph, roots, terms, shown, specification.extents), cost)
    first, *others = found.values()
    others.sort(key=lambda candidate: candidate.cost["time"])
    return Found((first, *others), graph.node_count)


def alike(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether two costs are the same under every weighting, but for a number in another place."""
    return all(abs(one[name] - other[name]) <= SAME * one[name] for name in one)


def explained(
    graph: EGraph, roots: Sequence[int], terms: Sequence[int], shown: dict[int, Form], extents: Mapping[str, int]
) -> tuple[Step, ...]:
    """The rules that lead from the specification to the terms."""
    found: dict[Step, None] = {}
    for root, term in zip(roots, terms, strict=True):
        for step in graph.explain(root, term).steps:
            if isinstance(step.reason, RuleUse) and step.reason.rule not in SILENT:
                before, after = (form_of(graph, end, shown) for end in (step.left, step.right))
                found[Step(step.reason.rule, text(before, brief=True), text(after, brief=True),
                           (drawn(before, extents), drawn(after, extents)))] = None
    return tuple(found)


def drawn(
    form: Form, extents: Mapping[str, int], axes: Sequence[str] = (), leaves: Mapping[str, Leaf] | None = None,
    name: str = "t",
) -> str:
    """The form, named so, as a <math> element; its indices are in the order of these axes, or of its own. Empty where
    it has no formula, or one that nobody would read."""
    if written(form) > LARGE:
        return ""
    order = tuple(axes) or form.axes
    sizes = tuple(extents[axis] if axis in extents else extents[base(axis)] for axis in order)
    try:
        return mathml_tensor(name, tensor(sizes, lambda *at: formula(
            form, dict(zip(order, at, strict=True)), extents, leaves)))
    except Unsupported:
        return ""


class Prices:
    """What forms cost, operator by operator, each result in memory once."""

    def __init__(self, extents: Mapping[str, int]) -> None:
        self.extents = extents
        self.prices: dict[Weights, Any] = {}

    def size(self, axes: Sequence[str]) -> int:
        return size_of(axes, self.extents)

    def weighted(self, weights: Weights) -> Any:
        """The cost of a term for the e-graph's extraction."""
        if weights not in self.prices:
            self.prices[weights] = self._weighted(weights)
        return self.prices[weights]

    def _weighted(self, weights: Weights) -> Any:
        memo: dict[Any, float] = {}
        pair = priced(self.extents, weights.moved, weights.flop, weights.operator)

        def price(operator: str, attributes: tuple[Hashable, ...], below: tuple[Any, ...], type: Any) -> float:
            if operator in FREE:
                return 0.0
            inside = tuple(sorted(axes for axes, _ in below)) if operator == "contract" else tuple(
                axes for axes, _ in below)
            key = operator, attributes, inside
            if key not in memo:
                if operator == "contract" and weights.fused:
                    spans = self.size([axis for axes in inside for axis in axes])
                    memo[key] = weights.flop * spans * len(inside) + weights.operator
                elif operator == "contract":
                    memo[key] = steps(inside, attributes[0], pair)[0]                     # type: ignore[arg-type]
                elif operator == "lookup":                       # of a table only what is looked up
                    memo[key] = weights.moved * (self.size(inside[1]) + 2 * self.size(type[0])) + weights.operator
                else:
                    moved = sum(map(self.size, inside)) + self.size(type[0])
                    memo[key] = weights.moved * moved + weights.flop * self.size(type[0]) + weights.operator
            return memo[key]

        return price

    def of(self, forms: Sequence[Form]) -> dict[str, float]:
        """The forms' cost under every weighting."""
        graph, known = EGraph(typed), dict[Form, int]()
        for form in forms:
            add(graph, form, known)
        terms = [graph.term(term) for term in range(len(graph))]
        return {
            weights.name: sum(
                self.weighted(weights)(t.operator, t.attributes, tuple(map(graph.type, t.arguments)), t.type)
                for t in terms)
            for weights in WEIGHTS
        }
