"""Questions about indices, put to Z3: does this follow for all sizes?

Expressions of the formula grammar become Z3 terms. Every size and index brings its range along, so a question needs
only the conditions that hold besides. Elements of integer tensors are unknown functions of their indices, within the
tensor's range where one is assumed; reals are uninterpreted.

What follows from ranges alone (`ranges.py`), or fails at a point that is known (`points.py`), is not asked at all.
Offsets multiply indices by sizes, and solvers for such arithmetic are slow and fickle. So a question is asked twice:
first with each product as a number of its own, together with what inequalities say when they are multiplied by a size
(`products.py`), which is linear and answered at once; then, if that did not prove it, with products as products. Where
the solver names a case against it, that is one more point.
Each query may do so much work by the solver's own count, so what is proved once is proved on every machine, busy or
not; all of them together have a deadline. `unknown` is never an answer.
"""

from __future__ import annotations

import time
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from typing import Any

import z3

from samesame.formula import polynomials
from samesame.formula.expr import (
    TRUE,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Index,
    Lambda,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Opaque,
    Or,
    Pow,
    Size,
    Where,
    const,
    not_,
)
from samesame.formula.smt import Formulas, Untranslatable, decided, is_count, new_context
from samesame.kernels import clock
from samesame.kernels.execution.positions import position_in
from samesame.kernels.indices import integers
from samesame.kernels.indices.points import Points, drawn_in
from samesame.kernels.indices.products import consequences, multiplies
from samesame.kernels.indices.ranges import holds_by_ranges
from samesame.kernels.stated import Apart, Rising, Sum, followed

Facts = tuple[Expr, ...]
Ranges = dict[str, tuple[Expr, Expr]]
Known = Mapping[str, tuple[Expr, Expr]]
LINEAR_WORK, WORK = 500_000, 2_000_000  # of one query, by the solver's own count; 1,600 are a millisecond or so


def outside(facts: Facts, bound: tuple[Index, ...]) -> Facts:
    """The facts that hold inside a fold: a variable that it binds is not the one of that name outside."""
    hidden = frozenset(bound)
    return tuple(fact for fact in facts if not fact.free & hidden) if any(f.free & hidden for f in facts) else facts


def with_fact(facts: Facts, fact: Expr) -> Facts:
    """One fact more; a conjunction as its parts, whatever stands in these."""
    return (*facts, *dict.fromkeys(part for part in conjuncts(fact) if part not in facts and part is not TRUE))


def conjuncts(fact: Expr) -> Iterator[Expr]:
    match fact:
        case And(parts):
            yield from chain.from_iterable(map(conjuncts, parts))
        case Not(Or(parts)):
            yield from chain.from_iterable(conjuncts(not_(part)) for part in parts)
        case _:
            yield fact


@dataclass
class IndexProver:
    """Answers for one kernel; what was asked once is not asked again. `work` limits one query."""

    work: int = WORK
    seconds: float = 60.0
    queries: int = 0
    spent: float = 0.0
    assumed: list[Expr] = field(default_factory=list)  # preconditions, which hold in every question
    ranges: Ranges = field(default_factory=dict)  # inclusive, of the elements of leaves, as they are assumed
    dtypes: Ranges = field(default_factory=dict)  # the same as their dtypes tell, where nothing is assumed
    excepted: dict[str, tuple[int, ...]] = field(default_factory=dict)  # numbers outside of them that elements may be
    distinct: dict[str, Apart] = field(default_factory=dict)  # leaves whose elements are
    ascending: dict[str, Rising] = field(default_factory=dict)  # leaves whose elements do
    sums: list[Sum] = field(default_factory=list)  # of elements at one place, that are no more than a number
    exhausted: bool = False

    def __post_init__(self) -> None:
        self._answers: dict[tuple[frozenset[Expr], Expr], bool] = {}
        self._began = time.thread_time()  # a busy machine proves no less
        self.context = new_context()  # what was asked before, of other kernels, changes nothing here
        self.terms_anew()

    def terms_anew(self) -> None:
        self._linear, self._full = (Terms(self, linear) for linear in (True, False))
        self._points = Points(self.known)

    @property
    def known(self) -> Known:
        """What the elements of leaves lie in, by assumption or by their dtypes."""
        return ChainMap(self.ranges, self.dtypes)

    @property
    def held(self) -> Ranges:
        """What all elements of leaves are assumed to lie in; not those of which some number is excepted."""
        return {leaf: ends for leaf, ends in self.ranges.items() if not self.excepted[leaf]}

    def assume(self, condition: Expr) -> None:
        """A precondition from here on: earlier answers that found it missing are forgotten."""
        self.assumed.append(condition)
        self._answers = {key: answer for key, answer in self._answers.items() if answer}

    def assume_range(self, leaf: str, low: Expr, high: Expr, excepted: tuple[int, ...] = ()) -> None:
        """The elements of an integer tensor lie in a range from here on, or are one of the excepted numbers."""
        self.ranges[leaf] = low, high
        self.excepted[leaf] = excepted
        self.terms_anew()
        self._answers = {key: answer for key, answer in self._answers.items() if answer}

    def assume_sum(self, one: Sum) -> None:
        """A limit on sums of elements from here on."""
        self.sums.append(one)
        self._answers = {key: answer for key, answer in self._answers.items() if answer}

    def withdraw_range(self, leaf: str) -> None:
        """Nothing is assumed of the elements of a tensor any more; what was proved with it is forgotten."""
        del self.ranges[leaf], self.excepted[leaf]
        self.terms_anew()
        self._answers.clear()

    def proves(self, facts: Iterable[Expr], goal: Expr, *, thorough: bool = True) -> bool:
        """Whether the goal follows for all sizes and indices; False also where this is not known. `thorough`: ask
        once more with products as products."""
        if goal is TRUE:
            return True
        clock.look()
        known = tuple(dict.fromkeys(facts))
        if goal in known or holds_by_ranges(goal):
            return True
        if isinstance(goal, And):
            return all(self.proves(known, part, thorough=thorough) for part in goal.arguments)
        both = without_extremum(goal)
        if both:
            return all(self.proves(known, part, thorough=thorough) for part in both)
        sides = choice_of(goal)
        if sides:
            return all(self.proves(with_fact(known, c), side, thorough=thorough) for c, side in sides)
        key = (frozenset(known), goal)
        if key not in self._answers:
            cases = cases_of(goal)
            if cases and thorough and self.proves(known, integers.less(0, cases[0]), thorough=False):
                answer = all(self.proves((*known, *facts_), part) for facts_, part in cases[1])
            else:
                answer = self._asked(known, goal, thorough)
            if not answer and not thorough:
                return False
            self._answers[key] = answer
        return self._answers[key]

    def _asked(self, facts: Facts, goal: Expr, thorough: bool) -> bool:
        started = time.perf_counter()
        try:
            facts_ = [*facts, *self.assumed]
            for held in (self.distinct, self.ascending):
                facts_ += followed([*facts_, goal], held) if held else ()
            facts_ += [fact for one in self.sums for fact in one.told([*facts_, goal])]
            if self._points.refute(facts_, goal):
                return False
            known = [*facts_, not_(goal)]
            answer, case = self._ask(self._linear, [*known, *consequences(known)], LINEAR_WORK)
            if case is not None and (self._points.learn(case, facts_, goal) or not any(map(multiplies, known))):
                return False
            if answer != z3.unsat and thorough:
                answer, case = self._ask(self._full, known, self.work)
                if case is not None:
                    self._points.learn(case, facts_, goal)
            return bool(answer == z3.unsat)
        except Untranslatable:
            return False
        finally:
            self.spent += time.perf_counter() - started

    def _ask(self, terms: Terms, claims: Sequence[Expr], work: int) -> tuple[Any, Case | None]:
        """Whether the claims can hold together, and values for which they do where they can."""
        asked: dict[int, Any] = {}
        for claim in claims:
            term, facts = terms.with_facts(claim)
            asked |= {term.get_id(): term, **facts}
        solver = z3.SimpleSolver(ctx=self.context) if terms.linear else z3.Solver(ctx=self.context)
        solver.add(*asked.values())
        answer = self.checked(solver, work)
        return answer, terms.case(solver.model(), claims) if answer == z3.sat else None

    def checked(self, solver: z3.Solver, work: int) -> Any:
        """What a solver finds in so much work; `unknown` where no time is left."""
        left = min(self.seconds - (time.thread_time() - self._began), clock.left())
        if left <= 0:
            self.exhausted = True
            return z3.unknown
        self.queries += 1
        return decided(solver, work, left)


Case = dict[Expr, Any]  # values of what occurs in a question


class Terms(Formulas):
    """Z3 terms for integers and booleans, and what is known of the unknowns in them. `linear`: a product of unknowns is
    one unknown."""

    def __init__(self, prover: IndexProver, linear: bool) -> None:
        super().__init__(prover.context)
        self.ranges, self.excepted = prover.known, prover.excepted
        self.linear = linear

    def case(self, model: Any, claims: Sequence[Expr]) -> Case:
        """What a model says of everything in the claims that is not worked out from other things."""
        found: Case = {}
        for e in dict.fromkeys(e for claim in claims for e in drawn_in(claim)):
            if e not in self._made:
                continue
            value = model.eval(self._made[e][0])
            if z3.is_int_value(value):
                found[e] = value.as_long()
            elif z3.is_true(value) or z3.is_false(value):
                found[e] = z3.is_true(value)
        return found

    def translated(self, thing: Expr) -> Any:
        if thing.kind == "real":
            raise Untranslatable("a real number")
        match thing:
            case Mul(factors) if self.linear and sum(not isinstance(f, Num) for f in factors) > 1:
                return self.product(factors)
            case Pow(base, exponent) if self.linear:
                return self.product([base] * int(exponent))
            case FloorDiv(a, b) if not is_count(b):
                return self.quotient(thing, a, b)
            case Mod(a, b):
                return self.term(integers.remainder(a, b))
            case Compare(_, a, b) if not a.kind == "int" == b.kind:
                return self.unknown(thing)
        return super().translated(thing)

    def unknown(self, expr: Expr) -> Any:
        """A number or truth value in its range; an element or a result at the same indices is the same one."""
        match expr:
            case Load(leaf, indices) if indices:
                term = self.applied(f"{leaf.name}!{leaf.kind}{len(indices)}", indices, leaf.kind)
            case Opaque() if expr.kind == "int" and not expr.arguments:
                term = self.applied(f"{expr.name}!{expr.attributes!r}", expr.indices, "int")
            case _:
                term = self.named(expr, expr.kind)
        match expr:
            case Size(_, minimum):
                self.tell(term >= minimum)
            case Index(_, extent):
                end = self.term(extent)
                self.tell(term >= 0, term < end)
            case Load(leaf, _) if expr.kind == "int" and (ends := self.ranges.get(leaf.name, leaf.bounds)) is not None:
                low, high = (self.term(const(end)) for end in ends)
                others = self.excepted.get(leaf.name, ())
                inside = term >= low, term <= high
                self.tell(*([z3.Or(z3.And(*inside), *(term == n for n in others))] if others else inside))
            case Opaque(_, _, (Lambda((v,), _),), (), _) if position_in(expr) is not None:
                end = self.term(v.extent)
                self.tell(z3.Implies(end > 0, z3.And(term >= 0, term < end)))
        return term

    def applied(self, name: str, indices: Sequence[Expr], kind: str) -> Any:
        """A function of which nothing is known, at these indices."""
        places = list(map(self.term, indices))
        return z3.Function(name, *[self.sorts["int"]] * len(places), self.sorts[kind])(*places)

    def product(self, factors: Sequence[Expr]) -> Any:
        """A number times one unknown for all that is multiplied."""
        others = [f for f in factors if not isinstance(f, Num)]
        atom = polynomials.written(polynomials.polynomial(Mul(tuple(others))))
        for other in others:
            self.term(other)  # what is known of it
        numbers = (int(f.value) for f in factors if isinstance(f, Num))
        return prod(numbers, start=self.named(atom, "int"))

    def quotient(self, expr: Expr, a: Expr, b: Expr) -> Any:
        """q with 0 ≤ a − b·q < b where b is positive. The rest is multiplied out, so that it may cancel."""
        self.term(a)
        divisor, found = self.term(b), self.named(expr, "int")
        before = len(self._made)
        self._made[expr] = found, {}
        rest = self.term(integers.minus(a, integers.times_(b, expr)))
        for made in list(self._made)[before:]:  # these do not bring the quotient's range along
            del self._made[made]
        self.tell(z3.Implies(divisor > 0, z3.And(rest >= 0, rest < divisor)))
        lowest = polynomials.least(expr)
        if lowest is not None:  # which takes a division to see where b·q is an unknown
            self.tell(found >= lowest)
        return found


def without_extremum(goal: Expr) -> list[Expr]:
    """0 ≤ min(a, b) + r as 0 ≤ a + r and 0 ≤ b + r, and the same for −max; nothing where there is none."""
    if not isinstance(goal, Compare) or goal.op != "≤" or goal.right.kind != "int":
        return []
    p = polynomials.polynomial(integers.minus(goal.right, goal.left))
    for monomial, c in p.items():
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, Extremum) and (c > 0) == (atom.op == "min"):
            rest = polynomials.written({m: d for m, d in p.items() if m != monomial})
            return [integers.at_least_zero(integers.plus_(rest, integers.times_(part, c))) for part in atom.arguments]
    return []


def choice_of(goal: Expr) -> list[tuple[Expr, Expr]]:
    """A goal in which a choice between two integers is multiplied: what each of the two makes of it, with when it is
    taken; nothing where there is none."""
    if not isinstance(goal, Compare) or goal.op != "≤" or goal.right.kind != "int":
        return []
    p = integers.minus(goal.right, goal.left)
    for monomial in polynomials.polynomial(p):
        for atom in monomial if len(monomial) > 1 else ():
            if isinstance(atom, Where):
                sides = (atom.condition, atom.then), (not_(atom.condition), atom.otherwise)
                return [(c, integers.at_least_zero(put(p, {atom: side}))) for c, side in sides]
    return []


def cases_of(goal: Expr) -> tuple[Expr, list[tuple[Facts, Expr]]] | None:
    """A goal in which min(a, c) is multiplied, for a small number c and some a ≥ 1: one goal for each value of the
    minimum, in which nothing is multiplied by it. The answer is a, and the goals with what holds in each case."""
    if not isinstance(goal, Compare) or goal.op != "≤" or goal.right.kind != "int":
        return None
    p = integers.minus(goal.right, goal.left)
    for monomial in polynomials.polynomial(p):
        for atom in monomial if len(monomial) > 1 else ():
            if not isinstance(atom, Extremum) or atom.op != "min" or len(atom.arguments) != 2:
                continue
            most = next((x for x in atom.arguments if isinstance(x, Num)), None)
            other = next((x for x in atom.arguments if not isinstance(x, Num)), None)
            if most is None or other is None or not 1 <= most.value <= MOST_CASES:
                continue
            last = (integers.at_most(most, other),), integers.at_least_zero(put(p, {atom: most}))
            found: list[tuple[Facts, Expr]] = [last]
            for k in range(1, int(most.value)):
                same = solved_for(other, k)
                found.append(((integers.equal(other, k),), integers.at_least_zero(put(p, {atom: const(k), **same}))))
            return other, found
    return None


MOST_CASES = 16


def solved_for(expr: Expr, value: int) -> dict[Expr, Expr]:
    """From expr = value, one of its atoms in terms of the others."""
    p = polynomials.polynomial(expr)
    for monomial, c in p.items():
        if len(monomial) == 1 and abs(c) == 1 and not isinstance(monomial[0], Index):
            rest = integers.minus(value, polynomials.written({m: d for m, d in p.items() if m != monomial}))
            return {monomial[0]: integers.times_(rest, c)}
    return {}


def put(p: Expr, values: dict[Expr, Expr]) -> Expr:
    """A polynomial with others in place of some atoms."""
    total: Expr = const(0)
    for monomial, c in polynomials.polynomial(p).items():
        product: Expr = const(c)
        for atom in monomial:
            product = integers.times_(product, values.get(atom, atom))
        total = integers.plus_(total, product)
    return total
