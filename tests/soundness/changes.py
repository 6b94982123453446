"""One-place changes of a formula: what goes wrong when programs are written, as a table by the kind of place.

`formula_mutations` has the changes of operators, numbers and indices; here are those of sizes, of the ends of sums and
of which variable is read, and a choice that gives every kind of place its share.
"""

from __future__ import annotations

from random import Random

from formula_mutations import changed, replace

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Lambda,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Or,
    Pow,
    Size,
    Where,
    and_,
    index,
    minimum,
    or_,
    substitute,
    walk,
)

PLACES: dict[str, tuple[type[Expr], ...]] = {
    "a number": (Num,),
    "a size": (Size,),
    "a sum's or maximum's range": (Fold,),
    "an index": (Load,),
    "a variable": (Load,),
    "a quotient or remainder of indices": (FloorDiv, Mod),
    "a condition": (Compare, Not, And, Or, Where),
    "a sum or product": (Add, Mul),
    "a power": (Pow,),
    "a function": (Fn, Extremum),
}


def one_change(expr: Expr, random: Random) -> tuple[str, Expr] | None:
    """The kind of place and the changed formula; None where the place that was chosen allows no change."""
    nodes = [e for e in walk(expr) if not isinstance(e, Lambda)]       # a whole tensor is no element
    places = {kind: [e for e in nodes if isinstance(e, types)] for kind, types in PLACES.items()}
    kind = random.choice([kind for kind, found in places.items() if found] or ["none"])
    if kind == "none":
        return None
    old = random.choice(places[kind])
    new = other(kind, old, nodes, random)
    if new is None or new is old or not new.free <= expr.free | old.free:
        return None
    result = replace(expr, old, new)
    return None if result is expr or binds_twice(result) else (kind, result)


def binds_twice(expr: Expr) -> bool:
    """Whether an index is bound by a fold and by another one inside it, which no program's formula does."""
    folds = [e for e in walk(expr) if isinstance(e, Fold | Lambda)]
    return any(isinstance(inner, Fold | Lambda) and set(inner.bound) & set(outer.bound)
               for outer in folds for inner in walk(outer.body))


def other(kind: str, old: Expr, nodes: list[Expr], random: Random) -> Expr | None:
    """What stands in the place of `old`, one of the nodes of a formula."""
    match kind, old:
        case "a size", Size():
            others = [n for n in nodes if isinstance(n, Size) and n is not old]
            return random.choice([old - 1, old + 1, *others])
        case "a variable", Load(leaf, indices):
            others = [n.leaf for n in nodes
                      if isinstance(n, Load) and n.leaf.kind == leaf.kind and len(n.leaf.shape) == len(leaf.shape)]
            alike = [n for n in nodes if isinstance(n, Load) and n.kind == old.kind and n.free <= old.free]
            return random.choice([Load(random.choice(others), indices), random.choice(alike)])
        case "an index", Load(leaf, indices) if indices and random.random() < 0.3:
            k = random.randrange(len(indices))
            beside = minimum(indices[k] + 1, leaf.shape[k] - 1)
            return Load(leaf, (*indices[:k], beside, *indices[k + 1 :]))
        case _, Fold(monoid, bound, body) if random.random() < 0.5:
            return shortened(monoid, bound, body, random)
        case _, And(parts) | Or(parts):
            k = random.randrange(len(parts))
            rest = parts[:k] + parts[k + 1 :]
            return random.choice([and_(*rest), or_(*rest), and_(*parts), or_(*parts)])
        case _, Not(argument):
            return argument
    return changed(old, nodes, random)


def shortened(monoid: str, bound: tuple[Index, ...], body: Expr, random: Random) -> Expr | None:
    """The fold without the last or the first of its range."""
    v = random.choice(bound)
    if any(v in w.extent.free for w in bound):
        return None
    shorter = index(v.extent - 1)
    at = random.choice([shorter, shorter + 1])
    return Fold(monoid, tuple(shorter if w is v else w for w in bound), substitute(body, {v: at}))
