"""Expressions into normal form.

Real expressions become forms. Integer expressions become index polynomials, one on each cell where they are
conditional, so that an index such as `where(i < n, i, i - n)` splits the domain instead of hiding in a load. Boolean
expressions become disjoint cases, each a conjunction of guards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product as cartesian
from math import prod

from samesame.formula import matrices
from samesame.formula.complements import complemented
from samesame.formula.defined import assume_defined, has_values, is_mean_of_exponentials, is_number
from samesame.formula.effort import current, meant_under, remember, step
from samesame.formula.expr import (
    ZERO,
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
    Leaf,
    Load,
    Mod,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Opaque,
    Or,
    Pow,
    Size,
    Truth,
    Unsupported,
    Where,
    absolute,
    and_,
    const,
    index,
    lt,
    where,
)
from samesame.formula.expr import add as sum_of
from samesame.formula.expr import substitute as put
from samesame.formula.extrema import Family, count_with_floor, maximum, minimum, of_multiples
from samesame.formula.functions import (
    boolean,
    by_cells,
    exp,
    is_minus_infinity,
    is_whole,
    log,
    named,
    piece,
    power,
    truth_of,
)
from samesame.formula.guards import (
    ALWAYS,
    NEVER,
    NO_GUARDS,
    Cases,
    Guards,
    Literal,
    at_least_zero_literal,
    both,
    case,
    conjunction,
    either,
    less,
    opposite,
)
from samesame.formula.infinite import PLUS_INFINITY, holds_infinity, negated, turned
from samesame.formula.limits import without_idle_limits
from samesame.formula.monotone import place
from samesame.formula.monotone import under as under_extremum
from samesame.formula.poly import (
    Element,
    Poly,
    Ratio,
    SizeAtom,
    Var,
    at_least_zero,
    collect,
    divide,
    free_of,
    number,
    variable,
)
from samesame.formula.products import logarithms, product_of
from samesame.formula.rewrite import Draft, bind, guarded, multiply, substitute, under, whole_of
from samesame.formula.signs import is_nonnegative, is_positive
from samesame.formula.standing import by_order
from samesame.formula.terms import (
    MINUS_INFINITY,
    Body,
    Form,
    OpaqueAtom,
    Symbol,
    add,
    as_poly,
    body,
    constant,
    form_of,
    next_open,
    of_atom,
    of_poly,
    scale,
    subtract,
)

UNROLLED = 16  # products over at most so many factors are written out


@remember
def normal(expr: Expr) -> Form:
    """The normal form of a numeric expression; a boolean counts as 1 or 0."""
    step()
    if expr.kind == "bool":
        return of_cases(cases(expr))
    match expr:
        case Num(value):
            return constant(value)
        case Named(name):
            return of_atom(Symbol(name))
        case NegInf():
            return of_atom(Symbol(MINUS_INFINITY))
        case Size() | Index() | FloorDiv() | Mod():
            return _integer(expr)
        case Load(leaf, indices):
            return on_polys(indices, lambda at: of_atom(element(leaf, at)))
        case Add(terms):
            return complemented(add(*map(normal, terms)))
        case Mul(factors):
            apart = turned(expr)
            return _product([normal(factor) for factor in factors]) if apart is expr else normal(apart)
        case Pow(base, exponent):
            return _power(base, exponent)
        case Fn("log", argument):
            return _log(argument)
        case Fn(name, argument):
            return named(name)(normal(argument))
        case Where(condition, then, otherwise):
            return _chosen(cases(condition), then, otherwise)
        case Extremum(op, arguments):
            return _extremum(op, arguments)
        case Fold("max" | "min" as monoid, bound, body) if (outside := under_extremum(monoid, bound, body)) is not expr:
            return normal(outside)
        case Fold(monoid, bound, body):
            return _fold(monoid, bound, body)
        case Opaque():
            return on_polys(expr.indices, lambda at: _opaque_element(opaque(expr, at)))
    raise Unsupported(f"no normal form for {type(expr).__name__}")


def _product(forms: list[Form]) -> Form:
    if any(form.has(MINUS_INFINITY) for form in forms):
        others = [form for form in forms if not form.has(MINUS_INFINITY)]
        if len(others) < len(forms) - 1 or not all(map(is_positive, others)):
            raise Unsupported("−∞ is multiplied by something that is not known to be positive")
    return reduce(multiply, forms)


def _power(base: Expr, exponent: Fraction) -> Form:
    """(a·b)^p = a^p·b^p, for whole p, and where all factors but one are known to be ≥ 0."""
    factors = [normal(factor) for factor in base.factors] if isinstance(base, Mul) else [normal(base)]
    apart = exponent.denominator == 1 or sum(not is_nonnegative(factor) for factor in factors) <= 1
    if len(factors) > 1 and apart and not any(factor.has(MINUS_INFINITY) for factor in factors):
        return reduce(multiply, (power(factor, exponent) for factor in factors))
    return power(_product(factors), exponent)


def _log(argument: Expr) -> Form:
    """log(a·b) = log a + log b and log(a^q) = q·log a, where all factors but one, or a, are known to be positive; of a
    determinant d, log |d|, which is log d wherever that has a value."""
    if isinstance(argument, Opaque) and argument.name == matrices.DETERMINANT:
        return log(normal(absolute(argument)))
    if isinstance(argument, Mul):
        factors = [(factor, normal(factor)) for factor in argument.factors]
        if sum(not is_positive(form) for _, form in factors) <= 1:
            return add(*(_log(factor) for factor, _ in factors))
    if isinstance(argument, Pow) and is_positive(normal(argument.base)):
        return scale(_log(argument.base), argument.exponent)
    return log(normal(argument))


def _chosen(condition: Cases, then: Expr, otherwise: Expr) -> Form:
    chosen = [(guards, then) for guards in condition] + [(guards, otherwise) for guards in opposite(condition)]
    return add(*(guarded(guards, _normal_under(guards, e)) for guards, e in chosen))


def _normal_under(guards: Guards, expr: Expr) -> Form:
    """The normal form of what counts where the guards hold."""
    with meant_under(guards):
        return normal(expr)


# ------------------------------------------------------------------------------------------------------------- integers


def index_variable(index: Index) -> Var:
    """The variable for an index, 0 ≤ v < extent."""
    return Var("free", (index.serial,), number(0), size_poly(index.extent) - 1)


def size_poly(extent: Expr | int) -> Poly:
    """A size as a polynomial."""
    p = index_poly(const(extent))
    if p is None:
        raise Unsupported("a size is not a polynomial in sizes")
    return p


@remember
def index_poly(expr: Expr) -> Poly | None:
    """An unconditional integer expression as a polynomial; None where it is conditional or not integer."""
    match expr:
        case Num(value):
            return number(int(value)) if value.denominator == 1 else None
        case Size(name, minimum):
            return variable(SizeAtom(name, minimum))
        case Index():
            return number(0) if size_poly(expr.extent).constant == 1 else variable(index_variable(expr))
        case Add(terms):
            return _all_polys(terms, lambda *ps: reduce(lambda a, b: a + b, ps))
        case Mul(factors):
            return _all_polys(factors, lambda *ps: reduce(lambda a, b: a * b, ps))
        case FloorDiv(a, b):
            return _all_polys((a, b), lambda p, q: divide(p, q)[0] if rotation(p, q) is None else None)
        case Mod(a, b):
            return _all_polys((a, b), lambda p, q: divide(p, q)[1] if rotation(p, q) is None else None)
        case Load(leaf, indices) if leaf.kind == "int":
            return _all_polys(indices, lambda *at: variable(element(leaf, at)))
    return None


def _all_polys(parts: Sequence[Expr], combine: Callable[..., Poly | None]) -> Poly | None:
    polys = [index_poly(part) for part in parts]
    return None if any(p is None for p in polys) else combine(*polys)


def on_polys(exprs: Sequence[Expr], build: Callable[[tuple[Poly, ...]], Form]) -> Form:
    """A form built from integer expressions as polynomials, on each cell where these are unconditional."""

    def go(done: tuple[Poly, ...]) -> Form:
        if len(done) == len(exprs):
            return build(done)
        expr = exprs[len(done)]
        p = index_poly(expr)
        if p is not None:
            return go((*done, p))

        def on_cell(form: Form) -> Form:
            there = as_poly(form)
            if there is None and not is_whole(form):
                raise Unsupported(f"an index is not an integer polynomial: {form.key[:100]}")
            return go((*done, whole_of(form) if there is None else there))

        return by_cells(normal(expr), on_cell)

    return go(())


def _integer(expr: Expr) -> Form:
    match expr:
        case FloorDiv(a, b):
            return on_polys((a, b), lambda pq: _divided_form(*pq)[0])
        case Mod(a, b):
            return on_polys((a, b), lambda pq: _divided_form(*pq)[1])
    return on_polys((expr,), lambda ps: of_poly(ps[0]))


def _divided_form(p: Poly, q: Poly) -> tuple[Form, Form]:
    """p // q and p mod q as forms: of a rotated index by cases, `(i + s) mod q` being i + s or i + s − q."""
    turn = rotation(p, q)
    if turn is None:
        quotient, remainder = divide(p, q)
        return of_poly(quotient), of_poly(remainder)
    over = indicator(at_least_zero_literal(p - q * (turn + 1)))
    return add(constant(turn), over), subtract(of_poly(p - q * turn), multiply(over, of_poly(q)))


@remember
def rotation(p: Poly, q: Poly) -> int | None:
    """The t for which t·q ≤ p < (t + 2)·q, if p is an index below q, plus a shift: what rolling a tensor writes. None
    if it is not, or if a plain division settles it."""
    shift = collect(term for term in p.terms if all(isinstance(a, SizeAtom) for a in term[0]))
    start = p - shift
    if not shift.terms or not start.terms or not (at_least_zero(start) and at_least_zero(q - 1 - start)):
        return None
    if not any(isinstance(a, Ratio) for part in divide(p, q) for a in part.atoms()):
        return None
    return next((t for t in (-1, 0) if at_least_zero(shift - q * t) and at_least_zero(q * (t + 1) - shift)), None)


def element(leaf: Leaf, indices: tuple[Poly, ...]) -> Element:
    bounds_ = None if leaf.bounds is None else (size_poly(leaf.bounds[0]), size_poly(leaf.bounds[1]))
    return Element(leaf, bounds_, indices)


def opaque(expr: Opaque, indices: tuple[Poly, ...]) -> OpaqueAtom:
    """An element of an uninterpreted result; its whole-tensor arguments in normal form."""
    match expr:
        case Opaque("aten.argmax" | "aten.argmin" as name, (), (row,), (), _):
            expr = place(name, row)
    bodies = tuple(_body(argument) for argument in expr.arguments)
    if expr.result_kind == "real" and any(part.form.has(MINUS_INFINITY) for part in bodies):
        raise Unsupported(f"{expr.name} is given −∞ and may return it, and an atom is a finite number")
    operator, attributes = str(expr.name), expr.attributes
    if len(bodies) == 1:
        operator, attributes, simpler = by_order(operator, attributes, bodies[0])
        bodies = (simpler,)
    return OpaqueAtom(operator, repr(attributes), expr.result_kind, bodies, indices)


def _opaque_element(atom: OpaqueAtom) -> Form:
    return matrices.element(atom) if atom.name in matrices.FUNCTIONS else of_atom(atom)


def _body(argument: Lambda) -> Body:
    variables = tuple(map(index_variable, argument.bound))
    return body(variables, tuple(size_poly(v.extent) for v in argument.bound), normal(argument.body))


# ---------------------------------------------------------------------------------------------------- folds and extrema


def _extremum(op: str, arguments: Sequence[Expr]) -> Form:
    if op == "min" and any(map(holds_infinity, arguments)):
        return scale(_extremum("max", tuple(negated(argument) for argument in arguments)), -1)
    arguments = without_idle_limits(op, arguments)
    sign = 1 if op == "max" else -1
    if all(argument.kind == "int" for argument in arguments):
        return scale(reduce(_larger_integer, (scale(normal(argument), sign) for argument in arguments)), sign)
    if len(arguments) == 2 and not any(isinstance(e, Fold) and e.monoid == op for e in arguments):
        signed = [scale(normal(argument), sign) for argument in arguments]
        multiple = of_multiples(*signed) or of_multiples(*reversed(signed))
        if multiple is not None:
            return scale(multiple, sign)
    families = [family for argument in arguments for family in _families(op, argument)]
    return maximum(families) if op == "max" else minimum(families)


def _families(op: str, argument: Expr) -> Iterator[Family]:
    """What an extremum is taken over: an argument, or what one that is such an extremum itself is taken over. By
    itself that one has to have an element; beside others it need not."""
    if not isinstance(argument, Fold) or argument.monoid != op:
        yield (), NO_GUARDS, normal(argument)
        return
    variables, guards, form = domain(innermost_first(argument.bound), normal(argument.body))
    if guards is not None:
        yield variables, guards, form


def _larger_integer(a: Form, b: Form) -> Form:
    """max(a, b) by cases, so that the result can still be an index. Where both are equal it is the one that data says:
    x[max{s, 0}] is x[s] for 0 ≤ s, as a mask has it."""
    floored = count_with_floor(a, b) or count_with_floor(b, a)
    if floored is not None:
        return floored
    if hangs_on_data(a) and not hangs_on_data(b):
        a, b = b, a
    a_is_larger = compared("positive", subtract(a, b))
    parts = [guarded(guards, a) for guards in a_is_larger]
    return add(*parts, *(guarded(guards, b) for guards in opposite(a_is_larger)))


def hangs_on_data(form: Form) -> bool:
    return any(isinstance(atom, Element) for atom in form.atoms())


def _fold(monoid: str, bound: tuple[Index, ...], inside: Expr) -> Form:
    if monoid == "sum":
        bound, inside = _no_further(bound, inside)
    indices = innermost_first(bound)
    if monoid == "sum":
        return bind(normal(inside), [(index_variable(v), size_poly(v.extent)) for v in indices])
    if monoid == "prod":
        return _product_fold(indices, inside)
    if monoid == "min" and holds_infinity(inside):
        return scale(_fold("max", bound, negated(inside)), -1)
    variables, guards, form = domain(indices, normal(inside))
    if guards is None:
        raise Unsupported(f"a {monoid} over nothing")
    return (maximum if monoid == "max" else minimum)([(variables, guards, form)])


def _no_further(bound: tuple[Index, ...], inside: Expr) -> tuple[tuple[Index, ...], Expr]:
    """The indices of a sum, an extent min(a, b) + r as a + r where that is known to be no less than zero, and a guard
    for b + r: what a program adds up between the start of its rows and where they end."""
    for v in bound:
        parts = v.extent.terms if isinstance(v.extent, Add) else (v.extent,)
        least = next((part for part in parts if isinstance(part, Extremum) and part.op == "min"), None)
        if least is None or any(v in other.extent.free for other in bound):
            continue
        ends = [sum_of(end, *(part for part in parts if part is not least)) for end in least.arguments]
        polys = [index_poly(end) for end in ends]
        chosen = next((k for k, p in enumerate(polys) if p is not None and at_least_zero(p) and not p.free), None)
        if chosen is None:
            continue
        w = index(ends[chosen])
        bound = tuple(w if other is v else other for other in bound)
        within = and_(*(lt(w, end) for k, end in enumerate(ends) if k != chosen))
        inside = where(within, put(inside, {v: w}), ZERO)
    return bound, inside


def innermost_first(bound: tuple[Index, ...]) -> list[Index]:
    """Bound indices in an order in which no extent mentions an index that has already been bound."""
    left, ordered = list(bound), list[Index]()
    while left:
        inner = next((v for v in reversed(left) if not any(v in w.extent.free for w in left)), None)
        if inner is None:
            raise Unsupported("the extents of a fold's indices depend on each other")
        left.remove(inner)
        ordered.append(inner)
    return ordered


def domain(indices: Sequence[Index], form: Form) -> tuple[tuple[Var, ...], Guards | None, Form]:
    """Open variables for bound indices, the guards that limit them, and the form under those names."""
    extents = [size_poly(v.extent) for v in indices]
    first = next_open(form.free, free_of(extents))
    opened: list[Var] = []
    literals: list[Literal | bool] = []
    for k, v in enumerate(indices):
        old, extent = index_variable(v), extents[k]
        new = Var("open", (first + k,), number(0), extent - 1)
        names = ((old, new),)
        form, extents = form.rename(names), [p.rename(names) for p in extents]
        literals = [g.rename(names) if isinstance(g, Literal) else g for g in literals]
        literals += [at_least_zero_literal(variable(new)), less(variable(new), extent)]
        opened.append(new)
    return tuple(opened), conjunction(literals), form


def _product_fold(indices: list[Index], inside: Expr) -> Form:
    extents = [size_poly(v.extent) for v in indices]
    sizes = [p.constant for p in extents]
    form = normal(inside)
    if all(size is not None for size in sizes) and prod(filter(None, sizes)) <= UNROLLED:
        points = cartesian(*(range(size or 0) for size in sizes))
        variables = [index_variable(v) for v in indices]
        values = (tuple((v, number(k)) for v, k in zip(variables, point, strict=True)) for point in points)
        return reduce(multiply, (substitute(form, value) for value in values), constant(1))
    ranges = list(zip(map(index_variable, indices), extents, strict=True))
    real, formal = (bind(part, ranges) for part in logarithms(form))
    return multiply(exp(real), product_of(formal))


# ------------------------------------------------------------------------------------------------------------- booleans


@remember
def cases(expr: Expr) -> Cases:
    """The disjoint cases in which a boolean expression holds."""
    step()
    match expr:
        case Truth(value):
            return ALWAYS if value else NEVER
        case Not(argument):
            return opposite(cases(argument))
        case And(arguments):
            return reduce(both, map(cases, arguments))
        case Or(arguments):
            return reduce(either, map(cases, arguments))
        case Where(condition, then, otherwise):
            chosen = cases(condition)
            return either(both(chosen, cases(then)), both(opposite(chosen), cases(otherwise)))
        case Compare(op, left, right):
            return _compared(op, left, right)
        case Load(leaf, indices):
            return cases_of(on_polys(indices, lambda at: indicator(Literal("holds", element(leaf, at)))))
        case Opaque():
            return cases_of(on_polys(expr.indices, lambda at: indicator(Literal("holds", opaque(expr, at)))))
        case Fold("any", bound, inside):
            return _exists(innermost_first(bound), cases(inside))
        case Fold("all", bound, inside):
            return opposite(_exists(innermost_first(bound), opposite(cases(inside))))
    raise Unsupported(f"no truth value for {type(expr).__name__}")


def indicator(literal: Literal | bool) -> Form:
    """1 where the literal holds, else 0."""
    return constant(int(literal)) if isinstance(literal, bool) else guarded((literal,), constant(1))


def of_cases(holds: Cases) -> Form:
    """1 in the cases, else 0."""
    return add(*(guarded(guards, constant(1)) for guards in holds))


def cases_of(form: Form) -> Cases:
    """The cases in which a form that is 1 or 0 is 1."""
    if any(c != 1 or t.factors or t.bound for t, c in form.terms):
        raise Unsupported("a truth value is undefined somewhere")
    return tuple(t.guards for t, _ in form.terms)


def compared(head: str, form: Form) -> Cases:
    """The cases in which form > 0 ("positive") or form = 0 ("zero")."""
    return cases_of(by_cells(form, lambda on_cell: indicator(truth_of(head, on_cell))))


def _compared(op: str, left: Expr, right: Expr) -> Cases:
    if PLUS_INFINITY in (left, right):
        left, right = negated(right), negated(left)
    a, b = normal(left), normal(right)
    if a.has(MINUS_INFINITY) or b.has(MINUS_INFINITY):
        return _compared_with_infinity(op, a, b)
    for side in (a, b):
        assume_defined(side)
    if op != "<" and a is b and is_mean_of_exponentials(a):
        return ALWAYS
    if op != "<" and a is b and not is_number(a):
        return cases_of(by_cells(a, lambda on_cell: indicator(truth_of("number", on_cell))))
    if op == "<":
        return compared("positive", subtract(b, a))
    if op == "≤":
        return opposite(compared("positive", subtract(a, b)))
    return compared("zero", subtract(a, b))


def _compared_with_infinity(op: str, a: Form, b: Form) -> Cases:
    """Reals are finite: −∞ equals only −∞ and lies below everything else. What may have a pole, as log x and 1/x have
    one at 0, is not finite there."""
    current().infinite = True
    if not all(form.has(MINUS_INFINITY) or has_values(form) for form in (a, b)):
        raise Unsupported("what may be infinite itself is compared with an infinity")

    def infinite(form: Form) -> Cases:
        return cases_of(by_cells(form, lambda on_cell: constant(int(is_minus_infinity(on_cell)))))

    of_a, of_b = infinite(a), infinite(b)
    if of_a != ALWAYS and of_b != ALWAYS:
        raise Unsupported("a comparison of forms that are −∞ in places")
    if op == "<":
        return opposite(of_b) if of_a == ALWAYS else NEVER
    if op == "≤":
        return ALWAYS if of_a == ALWAYS else of_a
    return both(of_a, of_b)


def _exists(indices: Sequence[Index], holds: Cases) -> Cases:
    """The cases in which some point of the indices' ranges satisfies one of the cases; what the guards do not settle
    becomes an opaque boolean."""
    found: list[Form] = []
    for guards in holds:
        variables, limits, there = domain(indices, guarded(guards, piece(constant(1))))
        if limits is not None:
            found.append(under(Draft(variables, limits, ()), there))
    terms = [t for t, _ in add(*found).terms]
    settled = reduce(either, ((t.guards,) for t in terms if not t.bound), NEVER)
    left = form_of((t, Fraction(1)) for t in terms if t.bound)
    if not left.terms:
        return settled
    truth = boolean("exists", left)
    return (
        ALWAYS
        if truth is True
        else either(settled, case(truth if isinstance(truth, bool) else Literal("holds", truth)))
    )
