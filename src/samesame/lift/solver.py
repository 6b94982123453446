"""Questions about indices, put to Z3: does this follow, and if not, what is a counterexample?

Expressions of the formula grammar become Z3 terms. Every size and index brings its range along, so a question needs
only the conditions that hold besides. Elements of integer tensors are unknown functions of their indices, within the
tensor's bounds where it has some; reals are uninterpreted. Each query has its own time limit, and all of them together
have a deadline; `unknown` is never an answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from samesame.formula.expr import (
    FALSE,
    TRUE,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Index,
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
    not_,
)

Facts = tuple[Expr, ...]


@dataclass
class Prover:
    """Answers for one kernel; what was asked once is not asked again. `milliseconds` limits one query."""

    milliseconds: int = 600
    seconds: float = 60.0
    queries: int = 0
    spent: float = 0.0
    assumed: list[Expr] = field(default_factory=list)       # preconditions, which hold in every question
    exhausted: bool = False

    def __post_init__(self) -> None:
        self._terms: dict[Expr, tuple[Any, frozenset[Any]]] = {}
        self._names: dict[Expr, Any] = {}
        self._answers: dict[tuple[frozenset[Expr], Expr], bool | None] = {}
        self._keep: list[Any] = []
        self._began = time.monotonic()

    def assume(self, condition: Expr) -> None:
        """A precondition from here on: earlier answers that found it missing are forgotten."""
        self.assumed.append(condition)
        self._answers = {key: answer for key, answer in self._answers.items() if answer}

    def proves(self, facts: Iterable[Expr], goal: Expr) -> bool:
        """Whether the goal follows for all sizes and indices; False also where this is not known."""
        return self.decide(facts, goal) is True

    def decide(self, facts: Iterable[Expr], goal: Expr) -> bool | None:
        """True if the goal follows, False if there is a counterexample, None if neither is known."""
        if goal is TRUE or goal is FALSE:
            if goal is TRUE:
                return True
        known = frozenset(facts)
        if goal in known:
            return True
        key = (known, goal)
        if key not in self._answers:
            self._answers[key] = self._ask(known, goal)[0]
        return self._answers[key]

    def counterexample(self, facts: Iterable[Expr], goal: Expr) -> dict[str, int] | None:
        """Values of sizes and indices where the facts hold and the goal does not; indices are named by `name_of`."""
        answer, model = self._ask(frozenset(facts), goal)
        if answer is not False or model is None:
            return None
        found: dict[str, int] = {}
        for expr, term in self._names.items():
            if isinstance(expr, Size | Index):
                value = model.eval(term)
                if z3.is_int_value(value):
                    found[name_of(expr)] = value.as_long()
        return found

    def consistent(self, facts: Iterable[Expr]) -> bool | None:
        """Whether the facts can hold together."""
        answer = self._ask(frozenset(facts), FALSE)[0]
        return None if answer is None else not answer

    def _ask(self, facts: frozenset[Expr], goal: Expr) -> tuple[bool | None, Any]:
        left = self.seconds - (time.monotonic() - self._began)
        if left <= 0:
            self.exhausted = True
            return None, None
        started = time.perf_counter()
        solver = z3.Solver()
        solver.set("timeout", max(1, int(min(self.milliseconds, 1000 * left))))
        try:
            for fact in (*facts, *self.assumed, not_(goal)):
                term, constraints = self.term(fact)
                solver.add(term, *constraints)
        except Untranslatable:
            return None, None
        answer = solver.check()
        self.queries += 1
        self.spent += time.perf_counter() - started
        if answer == z3.unsat:
            return True, None
        return (False, solver.model()) if answer == z3.sat else (None, None)

    # ------------------------------------------------------------------------------------------------ translation

    def term(self, expr: Expr) -> tuple[Any, frozenset[Any]]:
        """The Z3 term of an integer or boolean, and what is known of the atoms in it."""
        found = self._terms.get(expr)
        if found is None:
            found = self._terms[expr] = self._translate(expr)
        return found

    def _all(self, exprs: Sequence[Expr]) -> tuple[list[Any], frozenset[Any]]:
        pairs = [self.term(expr) for expr in exprs]
        return [term for term, _ in pairs], frozenset().union(*(known for _, known in pairs))

    def _named(self, expr: Expr, sort: Any) -> Any:
        if expr not in self._names:
            self._names[expr] = z3.Const(f"{name_of(expr)}!{len(self._names)}", sort)
        return self._names[expr]

    def _translate(self, expr: Expr) -> tuple[Any, frozenset[Any]]:
        match expr:
            case Num(value) if value.denominator == 1:
                return z3.IntVal(int(value)), frozenset()
            case Truth(value):
                return z3.BoolVal(value), frozenset()
            case Size(_, minimum):
                term = self._named(expr, z3.IntSort())
                return term, frozenset([term >= minimum])
            case Index(_, extent):
                term = self._named(expr, z3.IntSort())
                end, known = self.term(extent)
                return term, known | {term >= 0, term < end}
            case Add(terms):
                parts, known = self._all(terms)
                return z3.Sum(parts), known
            case Mul(factors):
                parts, known = self._all(factors)
                product = parts[0]
                for part in parts[1:]:
                    product = product * part
                return product, known
            case Pow(base, exponent) if exponent.denominator == 1 and exponent > 0:
                return self.term(Mul((base,) * int(exponent)))
            case FloorDiv(a, b):
                return self._quotient(expr, a, b)
            case Mod(a, b):
                (x, y), known = self._all((a, b))
                q, more = self.term(FloorDiv(a, b))
                return x - y * q, known | more
            case Compare(op, a, b) if a.kind == "int" and b.kind == "int":
                (x, y), known = self._all((a, b))
                return {"<": x < y, "≤": x <= y, "=": x == y}[op], known
            case Not(a):
                term, known = self.term(a)
                return z3.Not(term), known
            case And(parts):
                terms, known = self._all(parts)
                return z3.And(*terms), known
            case Or(parts):
                terms, known = self._all(parts)
                return z3.Or(*terms), known
            case Where(c, x, y) if expr.kind in ("int", "bool"):
                (condition, then, otherwise), known = self._all((c, x, y))
                return z3.If(condition, then, otherwise), known
            case Extremum(op, parts) if expr.kind == "int":
                terms, known = self._all(parts)
                best = terms[0]
                for other in terms[1:]:
                    best = z3.If(other >= best if op == "max" else other <= best, other, best)
                return best, known
            case Load(leaf, indices):
                return self._element(expr, leaf, indices)
            case Opaque() if expr.kind == "int":
                parts, known = self._all([i for i in expr.indices])
                if expr.arguments:
                    return self._named(expr, z3.IntSort()), known
                function = z3.Function(f"{expr.name}!{expr.attributes!r}", *[z3.IntSort()] * (len(parts) + 1))
                return function(*parts), known
        if expr.kind == "bool":
            return self._named(expr, z3.BoolSort()), frozenset()
        if expr.kind == "int":
            return self._named(expr, z3.IntSort()), frozenset()
        raise Untranslatable(type(expr).__name__)

    def _quotient(self, expr: Expr, a: Expr, b: Expr) -> tuple[Any, frozenset[Any]]:
        (x, y), known = self._all((a, b))
        if isinstance(b, Num) and b.value > 0:
            return x / y, known                                # rounds down for a positive divisor
        term = self._named(expr, z3.IntSort())
        rest = x - y * term
        return term, known | {z3.Implies(y > 0, z3.And(rest >= 0, rest < y))}

    def _element(self, expr: Expr, leaf: Any, indices: tuple[Expr, ...]) -> tuple[Any, frozenset[Any]]:
        parts, known = self._all(indices)
        sort = {"int": z3.IntSort(), "bool": z3.BoolSort()}.get(leaf.kind)
        if sort is None:
            raise Untranslatable(leaf.name)
        if not parts:
            term = self._named(expr, sort)
        else:
            term = z3.Function(f"{leaf.name}!{leaf.kind}{len(parts)}", *[z3.IntSort()] * len(parts), sort)(*parts)
        if leaf.kind == "int" and leaf.bounds is not None:
            (low, high), more = self._all([end if isinstance(end, Expr) else Num(end) for end in leaf.bounds])
            known |= more | {term >= low, term <= high}
        return term, known


class Untranslatable(Exception):
    """An expression that is no statement about integers."""


def name_of(expr: Expr) -> str:
    """A size's name, or that of an index by its serial number."""
    if isinstance(expr, Size):
        return expr.name
    return f"i{expr.serial}" if isinstance(expr, Index) else type(expr).__name__
