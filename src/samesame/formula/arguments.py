"""Functions of equal arguments: f(a) and f(b) are one where a − b vanishes, however a and b are written.

A sum that is divided by counts as a function of itself: equal denominators are then one, and need not be multiplied out
one after the other. The exponentials of a product count together, by the sum of their exponents: exp(a)·exp(b) is
exp(c) where a + b − c vanishes. Pairs that differ at a random point are not looked at further."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations

from samesame.formula.at_random import at_random, may_be_equal
from samesame.formula.effort import limited, step
from samesame.formula.poly import Atom, Element, Poly, Var, free_of
from samesame.formula.rewrite import Draft, rewritten
from samesame.formula.terms import Apply, Factors, Form, add, ends, form_of, next_open, opened, scale, subtract

MOST_SHARED = 12            # pairs of functions whose arguments are compared
PLACES = 1000               # where the names of variables that stand for bound ones begin
ONCE = Fraction(1)


def shared_arguments(form: Form, vanishes: Callable[[Form], bool], *, told: bool = True) -> Form | None:
    """The form with one of f(a) and f(b) for both, where a − b `vanishes`; None where no two arguments turn out equal.
    Where both are `told` at a random point they must agree there, and without that no pair is tried."""
    same: dict[Function, Function] = {}
    tried = 0
    functions = _functions(form)
    leaves = {function: _leaves(function) for function in functions}
    ranges = {function: [_ranges(v, function, form) for v in _bound(function)] for function in functions}
    for one, other in combinations(functions, 2):
        step()
        if one[0][0].head != other[0][0].head or other in same or leaves[one] != leaves[other]:
            continue
        if not _alike(one, other):
            continue
        common = [Var("part", (PLACES + k,), *_range(a | b))
                  for k, (a, b) in enumerate(zip(ranges[one], ranges[other], strict=True))]
        mine, yours = _argument(one, common), _argument(other, common)
        if mine is yours or not may_be_equal(mine, yours) or (told and None in (at_random(mine), at_random(yours))):
            continue
        tried += 1
        if tried > MOST_SHARED:
            limited(f"more than {MOST_SHARED} pairs of functions whose arguments may be equal")
            break
        if vanishes(subtract(mine, yours)):
            same[other] = same.get(one, one)
    return _with(form, same) if same else None


Factor = tuple[Atom, Fraction]
Function = tuple[tuple[Apply, Fraction], ...]              # a function, or the exponentials of one product


def _functions(form: Form) -> list[Function]:
    """Each function that is a factor, and the exponentials of each product that has several."""
    single = {a: None for a in form.atoms() if isinstance(a, Apply) and _is_function(a)}
    found: dict[Function, None] = {((a, ONCE),): None for a in sorted(single, key=lambda a: a.key)}
    found |= dict.fromkeys(exps for t, _ in form.terms if len(exps := _exponentials(t.factors)) > 1)
    return list(found)


def _exponentials(factors: Factors) -> Function:
    return tuple((a, e) for a, e in factors if isinstance(a, Apply) and a.head == "exp")


def _with(form: Form, same: dict[Function, Function]) -> Form:
    """The form with functions in the place of those that are the same."""
    items = []
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        names = dict(zip(term.bound, bound, strict=True))
        draft = Draft(bound, guards, tuple(_put(term.factors, factors, same, names)))
        items += [(t, c * d) for t, d in rewritten(draft).terms]
    return form_of(items)


def _put(closed: Factors, opened: Factors, same: dict[Function, Function], names: dict[Var, Var]) -> Iterator[Factor]:
    """A term's factors under the names of its open variables, with what they are the same as in their place."""
    exps = _exponentials(closed)
    together = same.get(exps) if len(exps) > 1 else None
    if together is not None:
        yield from _in_place(together, exps, names)
    for own, renamed in zip(closed, opened, strict=True):
        if together is not None and own in exps:
            continue
        single = ((own[0], ONCE),) if isinstance(own[0], Apply) else ()
        found = same.get(single)
        if found is None:
            yield renamed
        else:
            yield from ((a, own[1]) for a, _ in _in_place(found, single, names))


def _in_place(function: Function, other: Function, names: dict[Var, Var]) -> Iterator[Factor]:
    """The function at the variables that the other one has, by the names these have in the term that is open: a bound
    name may mean another variable inside of it."""
    variables = tuple((v, names[w]) for v, w in zip(_bound(function), _bound(other), strict=True))
    return ((a.rename(variables), e) for a, e in function)


def _is_function(atom: Apply) -> bool:
    return atom.head in ("exp", "log", "sum") or atom.head.startswith("fn:")


def _leaves(function: Function) -> frozenset[str]:
    """The tensors inside: what a quick look can tell two arguments apart by."""
    return frozenset().union(*(_inside(a) for a, _ in function), frozenset[str]())


def _inside(atom: Atom) -> frozenset[str]:
    if isinstance(atom, Element):
        return frozenset([atom.leaf.name])
    if isinstance(atom, Apply):
        return frozenset().union(*(_inside(a) for a in atom.argument.atoms()), frozenset[str]())
    return frozenset()


def _bound(function: Function) -> list[Var]:
    """The variables that sums around it bind, in order. What they are called hangs on what else stands in the sum."""
    return sorted((v for v in free_of(a for a, _ in function) if v.sort == "bound"), key=lambda v: v.number)


def _alike(one: Function, other: Function) -> bool:
    """Whether they hang on the same variables, but for the names of as many bound ones."""
    mine, yours = (free_of(a for a, _ in function) - {*_bound(function)} for function in (one, other))
    return mine == yours and len(_bound(one)) == len(_bound(other))


def _argument(function: Function, places: Sequence[Var]) -> Form:
    """Its argument for all values of its variables; those bound around it keep the range that all their sums give
    them."""
    names = tuple(zip(_bound(function), places, strict=True))
    return reduce(add, (scale(a.argument.rename(names), e) for a, e in function))


Range = tuple[Poly | None, Poly | None]


def _ranges(v: Var, function: Function, form: Form) -> set[Range]:
    atoms = {a for a, _ in function}
    return {ends(v, t.bound, t.guards) for t, _ in form.terms if any(a in atoms for a, _ in t.factors)}


def _range(ranges: set[Range]) -> Range:
    return next(iter(ranges)) if len(ranges) == 1 else (None, None)
