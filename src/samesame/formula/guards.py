"""Conditions on indices: literals, and what follows from a conjunction of them.

A literal says that an index polynomial is ≥ 0, = 0 or ≠ 0, or that an opaque boolean (a comparison of reals, a mask's
element) holds or does not. `Guards` is a conjunction in key order; a constructor that meets a contradiction gives
None. Questions are answered in order of cost: by ranges, by all points where these are few, by a random one that
settles the matter, then by the solver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import gcd
from random import Random
from typing import Any

from samesame.formula import smt
from samesame.formula.effort import remember, step
from samesame.formula.gone_through import have_a_point
from samesame.formula.poly import (
    NOTHING,
    Atom,
    IntegerAtom,
    Poly,
    Ratio,
    Renaming,
    SizeAtom,
    Substitution,
    Thing,
    Var,
    at_least_zero,
    collect,
    free_of,
    linear,
)
from samesame.formula.radix import first_digit


class Literal(Thing):
    """`subject op`, op one of "≥0", "=0", "≠0" (subject a polynomial), "holds", "fails" (subject a boolean atom)."""

    __slots__ = ("op", "subject")

    def __init__(self, op: str, subject: Poly | Atom) -> None:
        self.op, self.subject = op, subject
        self.key = f"{subject.key}{op}" if isinstance(subject, Poly) else f"{op} {subject.key}"
        self.free, self.height = subject.free, subject.height

    @property
    def poly(self) -> Poly | None:
        return self.subject if isinstance(self.subject, Poly) else None

    def said_of(self, value: Any) -> Any:
        """What it says of its polynomial's value: a number, many at once, or the solver's term."""
        return value >= 0 if self.op == "≥0" else value == 0 if self.op == "=0" else value != 0

    def rename(self, names: Renaming) -> Literal:
        return Literal(self.op, self.subject.rename(names)) if self.free else self


Guards = tuple[Literal, ...]
NO_GUARDS: Guards = ()


def at_least_zero_literal(p: Poly) -> Literal | bool:
    """p ≥ 0, divided by what its coefficients have in common, without a last digit that changes nothing; p = 0 where an
    element's bounds let it be no more."""
    if p.constant is not None:
        return p.constant >= 0
    if _is_bounded(-p):
        return zero_literal(p)
    first = first_digit(p)
    if first is not None:
        return at_least_zero_literal(first)
    common = gcd(*(c for m, c in p.terms if m))
    return Literal("≥0", collect((m, c // common) for m, c in p.terms))


def zero_literal(p: Poly) -> Literal | bool:
    """p = 0, with a positive first coefficient."""
    if p.constant is not None:
        return p.constant == 0
    common = gcd(*(c for m, c in p.terms if m))
    if any(c % common for _, c in p.terms):
        return False
    if p.terms[0][1] < 0:
        common = -common
    return Literal("=0", collect((m, c // common) for m, c in p.terms))


def _is_bounded(p: Poly) -> bool:
    """Whether p ≥ 0 by the bounds of integers that tensors hold."""
    return not any(isinstance(a, Var) for a in p.atoms()) and at_least_zero(p)


def less(a: Poly, b: Poly) -> Literal | bool:
    return at_least_zero_literal(b - a - 1)


def negation(literal: Literal | bool) -> Literal | bool:
    if isinstance(literal, bool):
        return not literal
    p = literal.poly
    if p is not None and literal.op == "≥0":
        return at_least_zero_literal(-p - 1)
    if p is not None and literal.op == "=0":           # of labels up to 5, not to be 5 is to be 4 or less
        beyond = next((q for q in (p, -p) if _is_bounded(q)), None)
        return Literal("≠0", p) if beyond is None else at_least_zero_literal(beyond - 1)
    return Literal({"≠0": "=0", "holds": "fails", "fails": "holds"}[literal.op], literal.subject)


def conjunction(literals: Iterable[Literal | bool]) -> Guards | None:
    """All of them; None when one is false or contradicts another outright."""
    kept: dict[Literal, None] = {}
    for literal in literals:
        if literal is False:
            return None
        if isinstance(literal, Literal):
            kept[literal] = None
    if any(negation(literal) in kept for literal in kept):
        return None
    pinned = [literal for literal in kept if literal.op == "≥0" and (p := literal.poly) is not None
              and Literal("≥0", -p) in kept and not any(isinstance(a, Var) for a in p.atoms())]
    if pinned:                                   # what a tensor holds is neither above a number nor below it
        held = (zero_literal(p) for literal in pinned if (p := literal.poly) is not None)
        return conjunction([*(literal for literal in kept if literal not in pinned), *held])
    return tuple(sorted(kept, key=lambda literal: literal.key))


def at(literal: Literal, values: Substitution) -> Literal | bool:
    """A literal about indices with polynomials in place of variables."""
    p = literal.poly
    if p is None:
        raise TypeError("a literal about reals is substituted where forms are")
    return of_op(literal.op, p.at(values))


def of_op(op: str, p: Poly) -> Literal | bool:
    if op == "≥0":
        return at_least_zero_literal(p)
    return zero_literal(p) if op == "=0" else negation(zero_literal(p))


def bounds(v: Var, guards: Guards) -> tuple[list[tuple[Poly, Literal]], list[tuple[Poly, Literal]], list[Literal]]:
    """Lower bounds l ≤ v, upper bounds v ≤ h, each with its literal, and the other literals that mention v."""
    lows, highs, others = [], [], []
    for literal in guards:
        if v not in literal.free:
            continue
        p = literal.poly
        if p is not None and literal.op == "≥0":
            slope, rest = linear(p, v)
            if slope is not None and slope.constant in (1, -1) and v not in rest.free:
                if slope.constant == 1:
                    lows.append((-rest, literal))
                else:
                    highs.append((rest, literal))
                continue
        others.append(literal)
    return lows, highs, others


def solved(p: Poly, v: Var) -> Poly | None:
    """The polynomial r with p = 0 ⟺ v = r, if p = ±(v − r)."""
    slope, rest = linear(p, v)
    if slope is None or slope.constant not in (1, -1) or v in rest.free:
        return None
    return rest * -slope.constant


# ------------------------------------------------------------------------------------------------------------ inference


def implied(guards: Guards, literal: Literal | bool, forgetting: frozenset[Var] = NOTHING) -> bool:
    """Whether the guards, and the ranges of the variables not in `forgetting`, force the literal."""
    if isinstance(literal, bool):
        return literal
    return _implied(guards, literal, forgetting)


@remember
def _implied(guards: Guards, literal: Literal, forgetting: frozenset[Var]) -> bool:
    if literal in guards:
        return True
    p = literal.poly
    if p is None or negation(literal) in guards:
        return False
    if literal.op == "≥0" and _bounded_below(guards, p, forgetting):
        return True
    if literal.op == "≠0" and (at_least_zero(p - 1, forgetting) or at_least_zero(-p - 1, forgetting)):
        return True
    guards = next((group for group in _apart((*guards, literal)) if literal in group), ())
    guards = tuple(g for g in guards if g is not literal)
    otherwise = (*guards, negated(literal))
    found = have_a_point(otherwise, forgetting)
    if found is not None:
        return not found
    return not find_point(guards, literal, forgetting) and smt.unsatisfiable(otherwise, forgetting)


def negated(literal: Literal) -> Literal:
    """The negation of a literal that is not constant, which is not constant either."""
    result = negation(literal)
    assert isinstance(result, Literal)
    return result


def _about_indices(guards: Iterable[Literal]) -> Guards:
    return tuple(g for g in guards if g.poly is not None)


def _known_nonnegative(guards: Guards) -> list[Poly]:
    return [g.poly for g in guards if g.poly is not None and g.op == "≥0"]


def _bounded_below(guards: Guards, p: Poly, forgetting: frozenset[Var]) -> bool:
    """p ≥ 0 by ranges, after taking away none, one or two of the guards known to be ≥ 0."""
    if at_least_zero(p, forgetting):
        return True
    known = [q for q in _known_nonnegative(guards) if q.free & p.free]
    if any(at_least_zero(p - q, forgetting) for q in known):
        return True
    known = _known_nonnegative(guards)
    return len(known) <= 8 and any(at_least_zero(p - q - r, forgetting) for q, r in combinations(known, 2))


@remember
def infeasible(guards: Guards) -> bool:
    """Whether the guards, with the ranges of their variables, contradict each other."""
    if any(negation(g) in guards for g in guards):
        return True
    known = _known_nonnegative(guards)
    if any(at_least_zero(-p - 1) for p in known) or any(at_least_zero(-p - q - 1) for p, q in combinations(known, 2)):
        return True
    return any(map(_is_empty, _apart(guards)))


def _is_empty(group: Guards) -> bool:
    found = have_a_point(group, NOTHING)
    return not found if found is not None else not find_point(group) and smt.unsatisfiable(group)


@remember
def _apart(guards: Guards) -> tuple[Guards, ...]:
    """Guards about indices in groups that share no integer: what one group says, the others neither help nor hinder."""
    groups: list[tuple[set[Atom], list[Literal]]] = []
    for literal in _about_indices(guards):
        own, rest = {*_integers(literal)}, [literal]
        for atoms, group in [pair for pair in groups if pair[0] & own]:
            groups.remove((atoms, group))
            own, rest = own | atoms, [*group, *rest]
        groups.append((own, rest))
    return tuple(tuple(sorted(group, key=lambda g: g.key)) for _, group in groups)


@remember
def _integers(thing: Literal | Atom) -> frozenset[Atom]:
    """The integers that a condition is about, and those that their ranges and divisions hang on."""
    polys: list[Poly | None] = [thing.poly] if isinstance(thing, Literal) else []
    if isinstance(thing, Ratio):
        polys += [thing.numerator, thing.divisor]
    elif isinstance(thing, IntegerAtom) and not isinstance(thing, SizeAtom):
        polys += thing.range(NOTHING)
    inner = [atom for p in polys if p is not None for atom in p.atoms()]
    own = () if isinstance(thing, Literal) else (thing,)
    return frozenset((*own, *inner)).union(*map(_integers, inner))


class _NoPoint(Exception):
    """This draw left a range empty."""


def find_point(guards: Guards, refuted: Literal | None = None, forgetting: frozenset[Var] = NOTHING) -> bool:
    """Whether a random integer point satisfies the guards (and refutes a literal): it settles feasibility without a
    solver."""
    guards = _about_indices(guards)
    random = Random(1)
    for _ in range(POINTS):
        point = Point(random, forgetting)
        try:
            if (refuted is None or not point.holds(refuted)) and all(map(point.holds, guards)):
                return True
        except _NoPoint:
            continue
    return False


POINTS = 40


class Point:
    """Random integers for atoms, drawn as they are met, within their ranges."""

    def __init__(self, random: Random, forgetting: frozenset[Var]) -> None:
        self.random, self.forgetting = random, forgetting
        self.values: dict[Atom, int] = {}

    def holds(self, literal: Literal) -> bool:
        assert literal.poly is not None
        return bool(literal.said_of(literal.poly.value(self.of)))

    def of(self, atom: Atom) -> int:
        if atom not in self.values:
            self.values[atom] = self._draw(atom)
        return self.values[atom]

    def _draw(self, atom: Atom) -> int:
        if isinstance(atom, SizeAtom):
            return atom.minimum + self.random.choice((0, 1, 2, 3, 5, 8))
        if isinstance(atom, Ratio):
            divisor: int = atom.divisor.value(self.of)
            if divisor <= 0:
                raise _NoPoint
            above: int = atom.numerator.value(self.of)
            return above // divisor if atom.op == "//" else above % divisor
        low, high = atom.range(NOTHING) if isinstance(atom, IntegerAtom) else (None, None)
        least = low.value(self.of) if low is not None else -3
        most = high.value(self.of) if high is not None else max(least, 0) + 12
        if atom in self.forgetting:  # its range is not a fact here, but still a good guess
            return self.random.choice(
                (least - 1, least, most, most + 1, self.random.randint(least - 3, max(most, least) + 3))
            )
        if most < least:
            raise _NoPoint
        return self.random.choice((least, most, self.random.randint(least, most)))


# --------------------------------------------------------------------------------------------------- cases of a boolean


Cases = tuple[Guards, ...]  # disjoint conjunctions: the boolean holds when one of them does
ALWAYS: Cases = (NO_GUARDS,)
NEVER: Cases = ()


def case(literal: Literal | bool) -> Cases:
    guards = conjunction([literal])
    return NEVER if guards is None else (guards,)


def both(a: Cases, b: Cases) -> Cases:
    joined = (conjunction((*x, *y)) for x in a for y in b)
    return _feasible(joined)


def _feasible(candidates: Iterable[Guards | None]) -> Cases:
    found: dict[Guards, None] = {}
    for guards in candidates:
        step(0)                                  # cases multiply, and no term is written for them
        if guards is not None and not infeasible(guards):
            found[guards] = None
    return tuple(found)


def opposite(cases: Cases) -> Cases:
    """The cases in which the boolean does not hold, disjoint as well."""
    remaining: Cases = ALWAYS
    for guards in cases:
        remaining = _feasible(x for rest in remaining for x in _outside(rest, guards))
    return remaining


def _outside(rest: Guards, guards: Guards) -> Iterator[Guards | None]:
    """`rest` without `guards`, as disjoint pieces: the first literal fails, or it holds and the second fails, …"""
    held: Guards | None = rest
    for literal in guards:
        if held is None:
            return
        yield conjunction((*held, negation(literal)))
        held = conjunction((*held, literal))


def either(a: Cases, b: Cases) -> Cases:
    return opposite(both(opposite(a), opposite(b)))


def mentions(guards: Iterable[Literal]) -> frozenset[Var]:
    return free_of(guards)
