"""Random small changes to formulas, for tests that nothing false is ever proved."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np

from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Add,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Load,
    Mod,
    Mul,
    Num,
    Pow,
    Unsupported,
    Where,
    add,
    compare,
    const,
    floordiv,
    fold,
    maximum,
    mod,
    mul,
    not_,
    power,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.tensor import Tensor, leaf

FUNCTIONS = ["exp", "sigmoid", "tanh", "sin", "cos", "abs", "erf", "log"]


def replace(expr: Expr, old: Expr, new: Expr) -> Expr:
    """The expression with every occurrence of a sub-expression replaced."""
    memo = {old: new}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = rebuild(e, go)
        return memo[e]

    return go(expr)


def mutate(expr: Expr, random: Random) -> Expr | None:
    """One random change somewhere, or None if the chosen place allows none."""
    nodes = [e for e in walk(expr) if not isinstance(e, Index)]
    old = random.choice(nodes)
    new = changed(old, nodes, random)
    return None if new is None or new is old else replace(expr, old, new)


def changed(e: Expr, nodes: list[Expr], random: Random) -> Expr | None:
    alike = [n for n in nodes if n.kind == e.kind and n.free <= e.free and n is not e]
    if alike and random.random() < 0.15:
        return random.choice(alike)
    match e:
        case Num(value):
            return const(
                random.choice(
                    [value + 1, value - 1, -value, value * 2, Fraction(value) / 2 if e.kind == "real" else value + 2]
                )
            )
        case Add(terms):
            parts = list(terms)
            k = random.randrange(len(parts))
            kind = random.randrange(3)
            if kind == 0 and e.kind == "real":
                return mul(*parts)
            if kind == 1:
                parts[k] = mul(-1, parts[k])
                return add(*parts)
            return add(*(parts[:k] + parts[k + 1 :]))
        case Mul(factors):
            parts = list(factors)
            k = random.randrange(len(parts))
            kind = random.randrange(3)
            if kind == 0:
                return add(*parts)
            if kind == 1 and e.kind == "real":
                parts[k] = power(parts[k], 2)
                return mul(*parts)
            return mul(*(parts[:k] + parts[k + 1 :]))
        case Pow(base, exponent):
            return power(base, random.choice([-exponent, exponent * 2, exponent / 2]))
        case Fn(name, argument):
            return random.choice([Fn(random.choice(FUNCTIONS), argument), Fn(name, mul(-1, argument)), argument])
        case Compare(op, a, b):
            return random.choice(
                [compare("<", a, b), compare("≤", a, b), compare("<", b, a), compare("=", a, b), not_(e)]
            )
        case Where(condition, then, otherwise):
            return random.choice([where(condition, otherwise, then), then, otherwise])
        case Extremum(op, arguments):
            return random.choice([Extremum("min" if op == "max" else "max", arguments), arguments[0], add(*arguments)])
        case Fold(monoid, bound, body) if monoid in ("sum", "max"):
            k = random.randrange(len(bound))
            pinned = substitute(body, {bound[k]: const(0)})
            rest = bound[:k] + bound[k + 1 :]
            return random.choice(
                [Fold("max" if monoid == "sum" else "sum", bound, body), Fold(monoid, rest, pinned) if rest else pinned]
            )
        case Load(leaf, indices) if indices:
            parts = list(indices)
            k = random.randrange(len(parts))
            same = [d for d in range(len(parts)) if leaf.shape[d] == leaf.shape[k] and d != k]
            if same and random.random() < 0.6:
                d = random.choice(same)
                parts[k], parts[d] = parts[d], parts[k]
            else:
                n = leaf.shape[k]
                parts[k] = random.choice([mod(parts[k] + 1, n), n - 1 - parts[k], const(0)])
            return Load(leaf, tuple(parts))
        case FloorDiv(a, b):
            return random.choice([mod(a, b), a])
        case Mod(a, b):
            return random.choice([floordiv(a, b), a])
    return None


def as_tensor(shape, indices, expr: Expr) -> Tensor:
    return Tensor(shape, lambda *i: substitute(expr, dict(zip(indices, map(const, i), strict=True))))


def differ(left: Tensor, right: Tensor, draws: list[dict]) -> bool | None:
    """Whether the two differ at a point where both are defined; None where they cannot be compared."""
    comparable = False
    for inputs in draws:
        try:
            with np.errstate(all="ignore"):
                a, b = evaluate(left, inputs), evaluate(right, inputs)
        except (Unsupported, MemoryError, ValueError):  # an index bound twice, one inside the other, among others
            return None
        both = np.isfinite(a) & np.isfinite(b)
        comparable = comparable or bool(both.any())
        if (np.abs(a[both] - b[both]) > 1e-6 * (1 + np.abs(a[both]))).any():
            return True
    return False if comparable else None


# ----------------------------------------------------------------------------------------------------- random formulas

LEAVES = {
    "x": leaf("x", (3,)),
    "z": leaf("z", (3, 2)),
    "flag": leaf("flag", (3,), "bool"),
    "ids": leaf("ids", (3,), "int", (0, 2)),
}


def leaf_values(seed: int) -> dict:
    draw = np.random.default_rng(seed)
    return {
        "x": draw.normal(size=3),
        "z": draw.normal(size=(3, 2)),
        "flag": draw.random(3) < 0.5,
        "ids": draw.integers(0, 3, 3),
    }


def random_formula(random: Random, scope: list, depth: int) -> Expr:
    """A real formula over the leaves; `scope` holds (index, extent) pairs."""
    if depth == 0:
        kind = random.randrange(4)
        if kind == 0:
            return const(Fraction(random.choice([-2, -1, 1, 2, 3]), random.choice([1, 2])))
        if kind == 1:
            return LEAVES["z"][random_index(random, scope, 3), random_index(random, scope, 2)]
        return LEAVES["x"][random_index(random, scope, 3)]
    kind = random.randrange(9)

    def part() -> Expr:
        return random_formula(random, scope, depth - 1)

    if kind == 0:
        return add(part(), part())
    if kind == 1:
        return mul(part(), part())
    if kind == 2:
        return Fn(random.choice(["exp", "exp", "sigmoid", "tanh", "abs", "sin", "log"]), part())
    if kind == 3:
        return power(part(), random.choice([2, -1, Fraction(1, 2), 3]))
    if kind == 4:
        return maximum(part(), part())
    if kind == 5:
        return where(random_condition(random, scope, depth - 1), part(), part())
    if kind == 6:
        return Fn("exp", where(random_condition(random, scope, depth - 1), part(), NEG_INF))
    outer = [v for v, n in scope if n == 3]
    extent = random.choice([3, 3, 2, *outer])
    size = 3 if extent in outer else extent
    monoid = "max" if random.random() < 0.25 and extent not in outer else "sum"
    return fold(monoid, extent, lambda k: random_formula(random, [*scope, (k, size)], depth - 1))


def random_index(random: Random, scope: list, size: int) -> Expr:
    """An index below the size."""
    fitting = [v for v, n in scope if n <= size]
    kind = random.randrange(6)
    if kind == 0 or not fitting:
        return const(random.randrange(size))
    v = random.choice(fitting)
    if kind == 1:
        return size - 1 - v
    if kind == 2:
        return mod(v + random.randrange(1, size), size)
    if kind == 3 and size == 3:
        return LEAVES["ids"][v]
    if kind == 4:
        return where(random_condition(random, scope, 0), v, const(0))
    return v


def random_condition(random: Random, scope: list, depth: int) -> Expr:
    v, n = random.choice(scope)
    kind = random.randrange(5)
    if kind == 0:
        return LEAVES["flag"][v]
    if kind == 1 and depth > 0:
        return compare("<", random_formula(random, scope, 0), random_formula(random, scope, depth - 1))
    if kind == 2:
        return compare("=", LEAVES["ids"][v], random.choice(scope)[0])
    return compare(random.choice("<≤="), v, random.choice([random.randrange(n), random.choice(scope)[0]]))
