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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from samesame.formula import polynomials
from samesame.formula.expr import (
    TRUE,
    Add,
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
    Truth,
    Where,
    const,
    not_,
)
from samesame.formula.smt import decided, new_context
from samesame.kernels import clock
from samesame.kernels.execution.positions import position_in
from samesame.kernels.indices import integers
from samesame.kernels.indices.points import Points, drawn_in
from samesame.kernels.indices.products import consequences, multiplies
from samesame.kernels.indices.ranges import holds_by_ranges
from samesame.kernels.stated import Apart, Sum, followed

Facts = tuple[Expr, ...]
Ranges = dict[str, tuple[Expr, Expr]]
Known = Mapping[str, tuple[Expr, Expr]]
LINEAR_WORK, WORK = 500_000, 2_000_000  # of one query, by the solver's own count; 1,600 are a millisecond or so


def outside(facts: Facts, bound: tuple[Index, ...]) -> Facts:
    """The facts that hold inside a fold: a variable that it binds is not the one of that name outside."""
    hidden = frozenset(bound)
    return tuple(fact for fact in facts if not fact.free & hidden) if any(f.free & hidden for f in facts) else facts


def with_fact(facts: Facts, fact: Expr) -> Facts:
    """One fact more; a conjunction as its parts."""
    parts = fact.arguments if isinstance(fact, And) else (fact,)
    if isinstance(fact, Not) and isinstance(fact.argument, Or):
        parts = tuple(map(not_, fact.argument.arguments))
    return (*facts, *(part for part in parts if part not in facts and part is not TRUE))


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
            facts_ += followed([*facts_, goal], self.distinct) if self.distinct else ()
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
        found = [terms.term(claim) for claim in claims]
        solver = z3.SimpleSolver(ctx=self.context) if terms.linear else z3.Solver(ctx=self.context)
        solver.add(*{t.get_id(): t for term, constraints in found for t in (term, *constraints.values())}.values())
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


Constraints = dict[int, Any]  # by the number that Z3 gives a term, in the order in which they were met
Translated = tuple[Any, Constraints]
Case = dict[Expr, Any]  # values of what occurs in a question


class Terms:
    """Z3 terms for integers and booleans, and what is known of the atoms in them. `linear`: a product of unknowns is
    one unknown."""

    def __init__(self, prover: IndexProver, linear: bool) -> None:
        self.context, self.ranges, self.excepted = prover.context, prover.known, prover.excepted
        self.linear = linear
        self.whole, self.truth = z3.IntSort(self.context), z3.BoolSort(self.context)
        self._terms: dict[Expr, Translated] = {}
        self._names: dict[Expr, Any] = {}

    def term(self, expr: Expr) -> Translated:
        found = self._terms.get(expr)
        if found is None:
            found = self._terms[expr] = self._translate(expr)
        return found

    def case(self, model: Any, claims: Sequence[Expr]) -> Case:
        """What a model says of everything in the claims that is not worked out from other things."""
        found: Case = {}
        for e in dict.fromkeys(e for claim in claims for e in drawn_in(claim)):
            if e not in self._terms:
                continue
            value = model.eval(self._terms[e][0])
            if z3.is_int_value(value):
                found[e] = value.as_long()
            elif z3.is_true(value) or z3.is_false(value):
                found[e] = z3.is_true(value)
        return found

    def _all(self, exprs: Sequence[Expr]) -> tuple[list[Any], Constraints]:
        pairs = [self.term(expr) for expr in exprs]
        return [term for term, _ in pairs], {number: c for _, known in pairs for number, c in known.items()}

    def _named(self, expr: Expr, sort: Any) -> Any:
        if expr not in self._names:
            self._names[expr] = z3.Const(f"{type(expr).__name__}!{len(self._names)}", sort)
        return self._names[expr]

    def _translate(self, expr: Expr) -> Translated:
        match expr:
            case Num(value) if value.denominator == 1:
                return z3.IntVal(int(value), self.context), {}
            case Truth(value):
                return z3.BoolVal(value, self.context), {}
            case Size(_, minimum):
                term = self._named(expr, self.whole)
                return term, told(term >= minimum)
            case Index(_, extent):
                term = self._named(expr, self.whole)
                end, known = self.term(extent)
                return term, known | told(term >= 0, term < end)
            case Add(terms):
                parts, known = self._all(terms)
                return z3.Sum(parts), known
            case Mul(factors):
                return self._product(expr, factors)
            case Pow(base, exponent) if exponent.denominator == 1 and exponent > 0:
                return self._product(expr, (base,) * int(exponent))
            case FloorDiv(a, b):
                return self._quotient(expr, a, b)
            case Mod(a, b):
                return self.term(integers.remainder(a, b))
            case Compare(op, a, b) if a.kind == "int" and b.kind == "int":
                (x, y), known = self._all((a, b))
                return {"<": x < y, "≤": x <= y, "=": x == y}[op], known
            case Not(a):
                term, known = self.term(a)
                return z3.Not(term), known
            case And(parts):
                found, known = self._all(parts)
                return z3.And(*found), known
            case Or(parts):
                found, known = self._all(parts)
                return z3.Or(*found), known
            case Where(c, x, y) if expr.kind in ("int", "bool"):
                (condition, then, otherwise), known = self._all((c, x, y))
                return z3.If(condition, then, otherwise), known
            case Extremum(op, parts) if expr.kind == "int":
                found, known = self._all(parts)
                best = found[0]
                for other in found[1:]:
                    best = z3.If(other >= best if op == "max" else other <= best, other, best)
                return best, known
            case Load(leaf, indices):
                return self._element(expr, leaf, indices)
            case Opaque() if expr.kind == "int" and not expr.arguments:
                found, known = self._all(expr.indices)
                function = z3.Function(f"{expr.name}!{expr.attributes!r}", *[self.whole] * (len(found) + 1))
                return function(*found), known
            case Opaque(_, _, (Lambda((v,), _),), (), _) if position_in(expr) is not None:
                end, known = self.term(v.extent)
                term = self._named(expr, self.whole)
                return term, known | told(z3.Implies(end > 0, z3.And(term >= 0, term < end)))
        if expr.kind == "bool":
            return self._named(expr, self.truth), {}
        if expr.kind == "int":
            return self._named(expr, self.whole), {}
        raise Untranslatable(type(expr).__name__)

    def _product(self, expr: Expr, factors: Sequence[Expr]) -> Translated:
        if self.linear:
            numbers = [f for f in factors if isinstance(f, Num)]
            others = [f for f in factors if not isinstance(f, Num)]
            if len(others) > 1:
                atom = polynomials.written(polynomials.polynomial(Mul(tuple(others))))
                parts, known = self._all(others)
                term = self._named(atom, self.whole)
                for number in numbers:
                    term = term * int(number.value)
                return term, known
        parts, known = self._all(factors)
        product = parts[0]
        for part in parts[1:]:
            product = product * part
        return product, known

    def _quotient(self, expr: Expr, a: Expr, b: Expr) -> Translated:
        (x, y), known = self._all((a, b))
        if isinstance(b, Num) and b.value > 0:
            return x / y, known  # rounds down for a positive divisor
        term = self._named(expr, self.whole)
        before = len(self._terms)
        self._terms[expr] = term, {}
        rest, more = self.term(integers.minus(a, integers.times_(b, expr)))
        for made in list(self._terms)[before:]:  # these do not bring the quotient's range along
            del self._terms[made]
        return term, known | more | told(z3.Implies(y > 0, z3.And(rest >= 0, rest < y)))

    def _element(self, expr: Expr, leaf: Any, indices: tuple[Expr, ...]) -> Translated:
        parts, known = self._all(indices)
        sort = {"int": self.whole, "bool": self.truth}.get(leaf.kind)
        if sort is None:
            raise Untranslatable(leaf.name)
        if not parts:
            term = self._named(expr, sort)
        else:
            term = z3.Function(f"{leaf.name}!{leaf.kind}{len(parts)}", *[self.whole] * len(parts), sort)(*parts)
        bounds = self.ranges.get(leaf.name, leaf.bounds)
        if leaf.kind == "int" and bounds is not None:
            (low, high), more = self._all([const(end) for end in bounds])
            others = self.excepted.get(leaf.name, ())
            inside = term >= low, term <= high
            known |= more | told(*([z3.Or(z3.And(*inside), *(term == n for n in others))] if others else inside))
        return term, known


def told(*constraints: Any) -> Constraints:
    return {c.get_id(): c for c in constraints}


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


class Untranslatable(Exception):
    """An expression that is no statement about integers."""
