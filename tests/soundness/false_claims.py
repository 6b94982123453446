"""False claims, made and measured: a claim is false when its two sides differ in float64.

Every claim is worked out by `evaluate` at several sizes on several draws. What differs at two sizes at least, on two
draws each (or, in numbers, on two draws), is *false*; what differs at fewer is false at *some* sizes, and may not be
proved for all of them either. What never differs is dropped. No way of proving may accept a false claim: over symbols
and in numbers, as a whole and by cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from random import Random
from typing import Any

import numpy as np
from changes import one_change
from formula_mutations import as_tensor
from test_meanings import run_opaque
from true_claims import Sides, Source

from samesame.formula.cases import prove_by_cases
from samesame.formula.equal import Budget, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    Expr,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Opaque,
    Size,
    Unsupported,
    const,
    index,
    rebuild,
    walk,
)
from samesame.formula.sizes import symbols, value_at
from samesame.formula.tensor import Dim

SIZES = 3                   # instances of the sizes at which a claim is worked out
DRAWS = 3                   # of the inputs at each: normal numbers, positive ones, large ones
MOST = 5                    # a size is at most so much above its minimum
APART = 1e-6                # relative
TRIES = 8                   # changes of one true claim until one is false
SECONDS = 1.0               # for each way of proving
LARGEST = 1 << 18           # numbers in an input

Numbers = Mapping[str, int]


@dataclass(frozen=True)
class FalseClaim:
    """Two formulas that differ, where they differ, and what was changed."""

    name: str
    family: str
    change: str
    sides: Sides
    differs_at: tuple[Numbers, ...]
    everywhere: bool = field(default=True)

    def accepted(self, seconds: float = SECONDS) -> list[str]:
        """The ways in which it is proved, with the proof; there must be none."""
        budget, found = Budget(seconds=seconds), []
        ways: dict[str, Callable[..., Any]] = {"whole": prove_tensors_equal, "by cases": prove_by_cases}
        symbolic = sizes_of(self.sides)
        instances = [("all sizes", self.sides)] if symbolic else [("these sizes", self.sides)]
        if symbolic:
            instances.append((f"at {dict(self.differs_at[0])}", at_sizes(self.sides, self.differs_at[0])))
        for (where, sides), (way, prove) in product(instances, ways.items()):
            left, right = (as_tensor(sides.shape, sides.indices, e) for e in (sides.left, sides.right))
            try:
                answer = prove(left, right, budget=budget)
            except Unsupported:                            # a meaning that does not exist proves nothing
                continue
            if isinstance(answer, Proved):
                found.append(f"{where}, {way}: {answer}")
        return found

    def __str__(self) -> str:
        sides = f"{self.sides.left!r}\n    {self.sides.right!r}"
        return f"{self.name} ({self.change}), different at {self.differs_at[0]}:\n    {sides}"


def changed_once(source: Source, random: Random) -> FalseClaim | None:
    """A false claim from one change of one side of a true one; None if none is found in a few tries."""
    true = source.sides
    for _ in range(TRIES if true is not None else 0):
        mutant = one_change(true.right, random)
        if mutant is not None:
            kind, expr = mutant
            sides = Sides(true.shape, true.indices, true.left, expr)
            claim = measured(source.name, source.family, kind, sides, random)
            if claim is not None:
                return claim
    return None


def measured(
    name: str, family: str, change: str, sides: Sides, random: Random, instances: Sequence[Numbers] | None = None
) -> FalseClaim | None:
    """The claim, if its sides differ somewhere."""
    instances = instances or some_sizes(sizes_of(sides), random)
    apart = [(sizes, sum(differs(sides, sizes, draw, random) for draw in range(DRAWS))) for sizes in instances]
    found = tuple(sizes for sizes, draws in sorted(apart, key=lambda item: -item[1]) if draws)
    often = sum(draws >= 2 for _, draws in apart)
    distinct = len({tuple(sizes.items()) for sizes in instances})
    return FalseClaim(name, family, change, sides, found, often >= min(2, distinct)) if found else None


def some_sizes(symbolic: frozenset[Size], random: Random) -> list[Numbers]:
    """Small values for the symbols; of many symbols, smaller ones."""
    least, most = {s.name: s.minimum for s in symbolic}, MOST if len(symbolic) < 4 else 3
    times = SIZES if symbolic else 1
    return [{name: least[name] + random.randrange(most) for name in sorted(least)} for _ in range(times)]


def differs(sides: Sides, sizes: Numbers, draw: int, random: Random) -> bool:
    """Whether the sides differ at an element where both are defined, on one draw of the inputs."""
    try:
        shape = tuple(value_at(n, sizes) for n in sides.shape)
        values = inputs(sides, sizes, draw, random.randrange(1 << 30))
        with np.errstate(all="ignore"):
            a, b = (evaluate(as_tensor(shape, sides.indices, e), values, sizes, partial(run_opaque, sizes))
                    for e in (sides.left, sides.right))
    except Unsupported:
        return False                                       # it cannot be worked out here: nothing is claimed of it
    both = np.isfinite(a) & np.isfinite(b)
    return bool((np.abs(a[both] - b[both]) > APART * (1 + np.abs(a[both]))).any())


def inputs(sides: Sides, sizes: Numbers, draw: int, seed: int) -> dict[str, np.ndarray]:
    """Values of every leaf; raises Unsupported where one is too large."""
    rng, found = np.random.default_rng(seed), {}
    for leaf in leaves_of(sides):
        shape = tuple(value_at(n, sizes) for n in leaf.shape)
        if np.prod(shape, dtype=float) > LARGEST:
            raise Unsupported(f"{leaf.name} has the shape {shape}")
        if leaf.kind == "bool":
            found[leaf.name] = rng.random(shape) < 0.6
        elif leaf.kind == "int":
            low, high = leaf.bounds if leaf.bounds is not None else (-3, 6)
            found[leaf.name] = rng.integers(value_at(low, sizes), value_at(high, sizes) + 1, shape)
        else:
            normal = rng.normal(size=shape)
            found[leaf.name] = (normal, np.abs(normal) + 0.1, 3 * normal)[draw]
    return found


def leaves_of(sides: Sides) -> list[Leaf]:
    found = {e.leaf.name: e.leaf for side in (sides.left, sides.right) for e in walk(side) if isinstance(e, Load)}
    return [found[name] for name in sorted(found)]


def sizes_of(sides: Sides) -> frozenset[Size]:
    """Every size symbol of a claim: in its shape, its formulas, and the extents and leaves in them."""
    found: set[Size] = set()
    for dim in (*sides.shape, *(n for leaf in leaves_of(sides) for n in (*leaf.shape, *(leaf.bounds or ())))):
        found |= symbols(dim)
    for side in (sides.left, sides.right):
        for e in walk(side):
            found |= symbols(e.extent) if isinstance(e, Index) else {e} if isinstance(e, Size) else set()
            for v in e.bound if isinstance(e, Fold | Lambda) else ():
                found |= {s for s in walk(v.extent) if isinstance(s, Size)}
    return frozenset(found)


def at_sizes(sides: Sides, sizes: Numbers) -> Sides:
    """The claim with numbers for its size symbols."""
    memo: dict[Expr, Expr] = {}

    def number(size: Dim) -> int:
        return value_at(size, sizes)

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = one(e)
        return memo[e]

    def one(e: Expr) -> Expr:
        match e:
            case Size(name, _):
                return const(sizes[name])
            case Index(_, extent):
                return index(go(extent))
            case Load(leaf, indices):
                bounds = leaf.bounds and (number(leaf.bounds[0]), number(leaf.bounds[1]))
                numbers = Leaf(leaf.name, tuple(map(number, leaf.shape)), leaf.kind, bounds)
                return Load(numbers, tuple(map(go, indices)))
            case Fold(monoid, bound, body):
                return Fold(monoid, tuple(map(go, bound)), go(body))
            case Lambda(bound, body):
                return Lambda(tuple(map(go, bound)), go(body))
            case Opaque(name, attributes, arguments, indices, kind):
                return Opaque(name, put(attributes), tuple(map(go, arguments)), tuple(map(go, indices)), kind)
        return rebuild(e, go)

    def put(attribute: Any) -> Any:
        if isinstance(attribute, tuple):
            return tuple(map(put, attribute))
        return number(attribute) if isinstance(attribute, Expr) else attribute

    indices = tuple(go(i) for i in sides.indices)
    return Sides(tuple(map(number, sides.shape)), indices, go(sides.left), go(sides.right))
