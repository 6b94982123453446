"""The solver's side of formulas: expressions, index polynomials and literals as Z3 terms, and what contradicts itself.

What an expression is, given what its parts are, stands in a table; whoever asks a question says what stands for the
rest: unknowns, with what is known of them, or a value that may be infinite instead of a number (`meaning`).
Every query may do so much work by Z3's own count, and runs no longer than the proof has left. Only `unsat` counts;
`unknown` is never a proof. `with recording() as queries:` keeps the text of what was answered, for certificates.

Z3 works in contexts that belong to one thread each, so every thread has its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import reduce
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar, cast

import z3

from samesame.formula.effort import current, limited, step
from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Mod,
    Mul,
    Not,
    Num,
    Or,
    Pow,
    Truth,
    Unsupported,
    Where,
)
from samesame.formula.poly import NOTHING, Atom, IntegerAtom, Poly, Ratio, Var

if TYPE_CHECKING:  # these build on the solver
    from samesame.formula.guards import Guards, Literal

Facts = dict[int, Any]  # what is known, each once, by the number that Z3 gives it

_recorded: ContextVar[dict[str, None] | None] = ContextVar("recorded", default=None)


@contextmanager
def recording() -> Iterator[dict[str, None]]:
    """Keep the questions that the solver answers with `unsat` inside the block, as SMT-LIB text, each once."""
    found: dict[str, None] = {}
    token = _recorded.set(found)
    try:
        yield found
    finally:
        _recorded.reset(token)


def new_context() -> z3.Context:
    """A context of its own, for one thread at a time."""
    made = z3.Context()
    z3.Z3_enable_concurrent_dec_ref(made.ref())  # terms that lie in a circle any thread may throw away
    return made


class _Here(threading.local):
    """This thread's solver."""

    def __init__(self) -> None:
        self.context = new_context()


_here = _Here()


def context() -> z3.Context:
    """Z3's context of this thread."""
    return _here.context


def decided(solver: z3.Solver, work: int, seconds: float) -> Any:
    """What a solver finds in so much work by Z3's own count, which is the same on every machine; `seconds` are what the
    whole run has left."""
    solver.set("rlimit", work)
    solver.set("timeout", max(1, int(1000 * min(seconds, 3600))))
    return solver.check()


class Untranslatable(Unsupported):
    """What has no words for the solver."""


class Translation:
    """Z3 terms for things of one language, each made once.

    `facts` is what is known of the unknowns in all terms that were asked for, in the order in which it was met. A term
    keeps its own, so that it brings them along again."""

    def __init__(self, own: z3.Context | None = None) -> None:
        self.context = own or context()
        self.sorts = {
            "int": z3.IntSort(self.context),
            "real": z3.RealSort(self.context),
            "bool": z3.BoolSort(self.context),
        }
        self.facts: Facts = {}
        self._made: dict[Any, tuple[Any, Facts]] = {}
        self._named: dict[tuple[Any, str, str], Any] = {}

    def term(self, thing: Any) -> Any:
        if thing not in self._made:
            outside, self.facts = self.facts, {}
            try:
                self._made[thing] = self.translated(thing), self.facts
            finally:
                outside.update(self.facts)
                self.facts = outside
        term, facts = self._made[thing]
        self.facts.update(facts)
        return term

    def with_facts(self, thing: Any) -> tuple[Any, Facts]:
        """A term and what is known of the unknowns in it alone."""
        self.facts = {}
        return self.term(thing), self.facts

    def translated(self, thing: Any) -> Any:
        raise Untranslatable(f"{type(thing).__name__} has no words for the solver")

    def named(self, thing: Any, kind: str, role: str = "") -> Any:
        """An unknown that stands for a thing, or for what the role says of it."""
        key = thing, kind, role
        if key not in self._named:
            name = f"{role or type(thing).__name__}!{len(self._named)}"
            self._named[key] = z3.Const(name, self.sorts[kind])
        return self._named[key]

    def whole(self, value: int) -> Any:
        return z3.IntVal(value, self.context)

    def real(self, value: Fraction | int) -> Any:
        return z3.RealVal(str(value), self.context)

    def tell(self, *facts: Any) -> None:
        self.facts.update({fact.get_id(): fact for fact in facts})

    def solver(self, *claims: Any) -> z3.Solver:
        """A solver that is told the claims and the facts."""
        made = z3.Solver(ctx=self.context)
        made.add(*claims, *self.facts.values())
        return made


# ------------------------------------------------------------------------------------------------------- expressions


def is_count(expr: Expr) -> bool:
    """Whether it is 1, 2, 3 or a later one."""
    return isinstance(expr, Num) and expr.kind == "int" and expr.value > 0


MEANING: dict[type[Expr], Callable[..., Any]] = {  # what an expression is, given what its parts are
    Add: lambda e, *parts: z3.Sum(parts),
    Mul: lambda e, *parts: reduce(mul, parts),
    Pow: lambda e, base: reduce(mul, [base] * int(e.exponent)),
    FloorDiv: lambda e, a, b: a / b,
    Mod: lambda e, a, b: a % b,
    Extremum: lambda e, *parts: reduce(lambda a, b: z3.If(b >= a if e.op == "max" else b <= a, b, a), parts),
    Compare: lambda e, a, b: {"<": a < b, "≤": a <= b, "=": a == b}[e.op],
    Not: lambda e, a: z3.Not(a),
    And: lambda e, *parts: z3.And(*parts),
    Or: lambda e, *parts: z3.Or(*parts),
    Where: lambda e, c, a, b: z3.If(c, a, b),
}


class Formulas(Translation):
    """Expressions by a table of their meanings; who inherits says what stands for the rest."""

    meaning: ClassVar[Mapping[type[Expr], Callable[..., Any]]] = MEANING

    def translated(self, thing: Expr) -> Any:
        match thing:
            case Num(value):
                return self.number(value)
            case Truth(value):
                return z3.BoolVal(value, self.context)
        if not self.reads(thing):
            return self.unknown(thing)
        return self.meaning[type(thing)](thing, *map(self.term, thing.children))

    def reads(self, expr: Expr) -> bool:
        """Whether the table says what it is. Z3 rounds quotients down where the divisor is positive."""
        if isinstance(expr, FloorDiv | Mod) and not (expr.numerator.kind == "int" and is_count(expr.divisor)):
            return False
        if isinstance(expr, Pow) and not is_count(Num(expr.exponent)):
            return False
        return type(expr) in self.meaning

    def number(self, value: Fraction) -> Any:
        return self.whole(int(value)) if value.denominator == 1 else self.real(value)

    def unknown(self, expr: Expr) -> Any:
        """What stands for an expression that the table does not read."""
        return super().translated(expr)


# -------------------------------------------------------------------------------------------------- index polynomials


class Indices(Translation):
    """Polynomials over indices and literals. Their unknowns are in their ranges; a quotient and a remainder are two
    numbers with n = q·d + r and 0 ≤ r < d, whatever the divisor."""

    def __init__(self, forgetting: frozenset[Var] = NOTHING) -> None:
        super().__init__()
        self.forgetting = forgetting

    def translated(self, thing: Any) -> Any:
        match thing:
            case Poly(terms=terms):
                parts = (prod(map(self.term, m), start=self.whole(c)) for m, c in terms)
                return sum(parts, start=self.whole(0))
            case Ratio(numerator=above, divisor=below):
                q, r = (self.named(Ratio(op, above, below), "int") for op in ("//", "mod"))
                divisor = self.term(below)
                self.tell(self.term(above) == q * divisor + r, r >= 0, r < divisor)
                return q if thing.op == "//" else r
            case IntegerAtom():
                found = self.named(thing, "int")
                low, high = thing.range(self.forgetting)
                if low is not None:
                    self.tell(found >= self.term(low))
                if high is not None:
                    self.tell(found <= self.term(high))
                return found
        return super().translated(thing)

    def literal(self, literal: Literal) -> Any:
        if literal.poly is None:
            holds = self.boolean(cast(Atom, literal.subject))
            return holds if literal.op == "holds" else z3.Not(holds)
        return literal.said_of(self.term(literal.poly))

    def boolean(self, a: Atom) -> Any:
        """An opaque boolean."""
        return self.named(a, "bool")

    def all(self, guards: Iterable[Literal]) -> Any:
        return z3.And(*map(self.literal, guards), self.context)


# ---------------------------------------------------------------------------------------------------------- questions


def unsatisfiable(guards: Guards, forgetting: frozenset[Var] = NOTHING) -> bool:
    """Whether no integers satisfy the literals together with the ranges of their atoms."""
    translation = Indices(forgetting)
    return refuted(translation, [translation.all(guards)])


def refuted(translation: Translation, claims: list[Any]) -> bool:
    """Whether the claims contradict each other and what is known of the atoms."""
    step()
    effort = current()
    solver = translation.solver(*claims)
    effort.solver_calls += 1
    answer = decided(solver, effort.budget.solver, effort.seconds_left())
    if answer == z3.unknown:
        effort.solver_unknown += 1
        limited(f"a solver query of more than {effort.budget.solver:,} steps")
    effort.solver_proofs += answer == z3.unsat
    recorded = _recorded.get()
    if recorded is not None and answer == z3.unsat:
        recorded[solver.to_smt2()] = None
    return bool(answer == z3.unsat)
