"""Functions of forms: powers, exp, log, max, comparisons, and the few laws each obeys.

A guard that depends on no bound variable splits the domain: a function of `[c]·x + [¬c]·y` is taken on each *cell*,
`[c]·f(x) + [¬c]·f(y)`. Then exp of a sum becomes a product of powers, which makes a softmax's shift, a running maximum
and a sigmoid's two spellings vanish; what the terms of a sum have in common leaves powers and logarithms; a maximum's
pieces are kept as the terms of a form, so that domains join there as they do in sums. Whatever a step assumes (x ≠ 0,
x > 0, a domain is not empty) is written down."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import ceil, lcm

from samesame.formula.contents import common_number, content
from samesame.formula.defined import assume_defined
from samesame.formula.effort import assume, current, meant_under, remember, step
from samesame.formula.expr import Unsupported
from samesame.formula.guards import (
    NO_GUARDS,
    Guards,
    Literal,
    at_least_zero_literal,
    conjunction,
    implied,
    infeasible,
    negation,
    zero_literal,
)
from samesame.formula.poly import Atom, IntegerAtom, divide, number
from samesame.formula.presence import counted, has_instance, is_count, points
from samesame.formula.primes import prime_factors
from samesame.formula.rewrite import Draft, guarded, leave_root, multiply, positive, rewritten, under, value_form
from samesame.formula.scalars import EVEN, ODD, ROUNDING, SCALARS
from samesame.formula.signs import has_point, is_generic, is_nonnegative, is_positive, piece_of
from samesame.formula.terms import (
    MINUS_INFINITY,
    UNDEFINED,
    Apply,
    Factors,
    Form,
    Function,
    Radical,
    Symbol,
    Term,
    add,
    as_poly,
    constant,
    form_of,
    laws,
    lone_atom,
    of_atom,
    of_poly,
    scale,
    subtract,
    value_of,
)
from samesame.formula.turns import quarter_turn, wave_value, without_turns

MOST_BITS = 4096  # of a number's power


def undefined() -> Form:
    return of_atom(Symbol(UNDEFINED))


def minus_infinity() -> Form:
    return of_atom(Symbol(MINUS_INFINITY))


# ---------------------------------------------------------------------------------------------------------------- cells


def by_cells(form: Form, function: Function, known: Guards = NO_GUARDS) -> Form:
    """The function on each cell on which the form has no guards but those on its bound variables."""
    literal = liftable(form)
    if literal is None:
        return undefined() if form.has(UNDEFINED) else function(form)
    result = constant(0)
    for side in (literal, negation(literal)):
        together = conjunction((*known, side))
        if together is not None and isinstance(side, Literal) and not infeasible(together):
            step()
            with meant_under((side,)):
                on_cell = by_cells(restricted(form, side, together), function, together)
            result = add(result, guarded((side,), on_cell))
    return result


def liftable(form: Form) -> Literal | None:
    """A guard that depends on no bound variable of its term."""
    return next((g for t, _ in form.terms for g in t.guards if not g.free & frozenset(t.bound)), None)


def restricted(form: Form, side: Literal, known: Guards) -> Form:
    """A form on a cell where `side` holds, and with it all that is known there."""
    items: list[tuple[Term, Fraction]] = []
    for term, c in form.terms:
        if negation(side) in term.guards:
            continue
        bound = frozenset(term.bound)
        guards = tuple(g for g in term.guards if g is not side and (g.free & bound or not implied(known, g)))
        if guards and infeasible(conjunction((*guards, *known)) or guards):
            continue
        if side.op == "fails" and has_instance(side, guards, frozenset(term.bound) | term.free):
            continue
        items.append((Term(term.bound, guards, term.factors), c))
    return form_of(items)


def is_minus_infinity(form: Form) -> bool:
    """Whether a form without liftable guards is −∞."""
    for term, _ in form.terms:
        if term.factors and term.factors[0][0].key == MINUS_INFINITY:
            if not has_point(term):
                raise Unsupported("a sum is −∞ only where its domain is not empty")
            return True
    return False


# --------------------------------------------------------------------------------------------------------------- powers


def power(form: Form, exponent: Fraction | int) -> Form:
    """form^exponent. Undefined at 0 for negative exponents."""
    p = Fraction(exponent)
    if p == 1:
        return form
    return _power(form, p)


@remember
def _power(form: Form, p: Fraction) -> Form:
    return by_cells(form, partial(_power_on_cell, p=p))


def _power_on_cell(form: Form, p: Fraction) -> Form:
    if form.has(MINUS_INFINITY):
        raise Unsupported("a power of −∞ appears")
    if not form.terms:
        return undefined() if p < 0 else constant(1 if p == 0 else 0)
    if p == 0:
        return constant(1)
    whole = p.denominator == 1
    if whole and p > 0 and not (len(form.terms) == 1 and form.terms[0][0].plain):
        result = form
        for _ in range(int(p) - 1):
            result = multiply(result, form)
        return result
    size, common, rest = content(form, is_generic if whole else positive)
    if whole and rest.terms[0][1] < 0:
        size, rest = -size, scale(rest, -1)
    for a, e in common:
        leave_root(a, e, e * p)
    factors = [(a, e * p) for a, e in common]
    result = number_power(size, p)
    if value_of(rest) != 1:
        factors += _power_factor(rest, p)
    return under(Draft((), NO_GUARDS, tuple(factors)), result)


def _power_factor(rest: Form, p: Fraction) -> Factors:
    """rest^p as factors."""
    if len(rest.terms) == 1 and rest.terms[0][0].plain and rest.terms[0][1] == 1:
        factors = rest.terms[0][0].factors
        if p.denominator == 1 and p > 0:
            return tuple((a, e * p) for a, e in factors)
        if p.denominator == 2 and all(e % 2 == 0 for _, e in factors):  # √(a²) = |a|
            return tuple((_magnitude(a), e * p) for a, e in factors)
        (atom, e), *more = factors
        base = atom if isinstance(atom, Apply) and atom.head == "sum" else Apply("sum", of_atom(atom))
        odd = e.numerator % 2 == 1 and p.denominator % 2 == 0    # √(a^−3) and a^(−3/2) have values for a > 0 both
        if not more and (odd or (base is atom and (e.denominator % 2 == 0 or positive(atom)))):
            return ((base, e * p),)
    return ((Apply("sum", rest), p),)


def _magnitude(atom: Atom) -> Atom:
    return atom if positive(atom) else Apply("fn:abs", of_atom(atom))


def together(form: Form) -> Form:
    """In a thorough attempt, a form over its common denominator, so that 1 − x/(1 + x) becomes 1/(1 + x)."""
    below: dict[Apply, Fraction] = {}
    for term, _ in form.terms if current().thorough else ():
        for a, e in term.factors:
            if not isinstance(a, Apply) or a.head != "sum" or a.free & frozenset(term.bound):
                continue
            if e < 0 and e.denominator == 1 and is_generic(a):
                below[a] = min(e, below.get(a, e))
    if not below:
        return form
    numerator = under(Draft((), NO_GUARDS, tuple((a, -e) for a, e in below.items())), form)
    (first, exponent), *more = below.items()
    if numerator.terms and exponent == -1 and not more:
        times = numerator.terms[0][1] / first.argument.terms[0][1]
        if scale(first.argument, times) is numerator:
            return constant(times)
    return under(Draft((), NO_GUARDS, tuple(below.items())), numerator)


def number_power(value: Fraction, p: Fraction) -> Form:
    """A nonzero number to a power; roots of primes stay as radicals."""
    if p.denominator == 1:
        if abs(int(p)) * (max(value.numerator.bit_length(), value.denominator.bit_length()) - 1) > MOST_BITS:
            raise Unsupported(f"a number to the power of {p} has too many digits")
        return constant(value ** int(p))
    factors = [(Radical(q), k * p) for q, k in prime_factors(value)]
    return rewritten(Draft((), NO_GUARDS, tuple(factors)))


# ------------------------------------------------------------------------------------------------------------- exp, log


@remember
def exp(form: Form) -> Form:
    """exp(Σ c·t) = Π exp(t)^c; exp(−∞) = 0; exp(c·log x) = x^c."""
    return by_cells(form, _exp_on_cell)


def _exp_on_cell(form: Form) -> Form:
    if is_minus_infinity(form):
        return constant(0)
    form = together(form)
    factors: list[tuple[Atom, Fraction]] = []
    result = constant(1)
    for term, c in form.terms:
        atom = term.factors[0][0] if term.plain and len(term.factors) == 1 and term.factors[0][1] == 1 else None
        if isinstance(atom, Apply) and atom.head == "log":
            if not is_positive(atom.argument):
                assume("> 0", atom.argument)
            result = multiply(result, power(atom.argument, c))
        else:
            factors.append((Apply("exp", Form(((term, Fraction(1)),))), c))
    return under(Draft((), NO_GUARDS, tuple(factors)), result)


@remember
def log(form: Form) -> Form:
    """log(c·Π a^e·rest) = log c + Σ e·log a + log rest for positive c and a; log a² = 2·log|a|; log 0 = −∞."""
    return by_cells(form, _log_on_cell)


def _log_on_cell(form: Form) -> Form:
    if form.has(MINUS_INFINITY):
        raise Unsupported("the logarithm of −∞ appears")
    if not form.terms:
        return minus_infinity()
    form = together(form)
    size, common, rest = content(form, positive)
    parts = [scale(_log_of_prime(q), k) for q, k in prime_factors(size)]
    for atom, e in common:
        parts.append(scale(_log_of_atom(atom), e))
    (term, c), *more = rest.terms
    if not more and c == 1 and term.plain and all(e % 2 == 0 and e > 0 for _, e in term.factors):
        parts += (scale(of_atom(Apply("log", of_atom(_magnitude(a)))), e) for a, e in term.factors)
    elif value_of(rest) != 1:
        parts.append(of_atom(Apply("log", rest)))
    return add(*parts)


def _log_of_atom(atom: Atom) -> Form:
    if isinstance(atom, Apply) and atom.head == "exp":
        return atom.argument
    if isinstance(atom, Apply) and atom.head == "sum":
        return log(atom.argument)
    if isinstance(atom, Radical):
        return _log_of_prime(atom.base)
    return of_atom(Apply("log", of_atom(atom)))


def _log_of_prime(q: int) -> Form:
    """log 5 is log 10 − log 2, so that log 10 is one term, as decibels are divided by it."""
    if q == 5:
        return add(of_atom(Apply("log", constant(10))), scale(of_atom(Apply("log", constant(2))), -1))
    return of_atom(Apply("log", constant(q)))


# ------------------------------------------------------------------------------------------------------ other functions


def _half_angle(form: Form, sign: int) -> Form:
    """(exp(2x) ± 1) / 2·exp(x)."""
    return scale(add(exp(form), scale(exp(scale(form, -1)), sign)), Fraction(1, 2))


def sigmoid(form: Form) -> Form:
    e = exp(form)
    return multiply(e, power(add(e, constant(1)), -1))


def tanh(form: Form) -> Form:
    e = exp(scale(form, 2))
    return multiply(add(e, constant(-1)), power(add(e, constant(1)), -1))


EXPANDED: dict[str, Function] = {  # functions that other functions express
    "exp": exp,
    "log": log,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "sinh": lambda x: _half_angle(x, -1),
    "cosh": lambda x: _half_angle(x, 1),
    "expm1": lambda x: add(exp(x), constant(-1)),
    "log1p": lambda x: log(add(x, constant(1))),
    "softplus": lambda x: log(add(exp(x), constant(1))),
    "erfc": lambda x: add(constant(1), scale(named("erf")(x), -1)),
    "log2": lambda x: multiply(log(x), power(log(constant(2)), -1)),
    "log10": lambda x: multiply(log(x), power(log(constant(10)), -1)),
    "sqrt": lambda x: power(x, Fraction(1, 2)),
    "rsqrt": lambda x: power(x, Fraction(-1, 2)),
    "tan": lambda x: multiply(named("sin")(x), power(named("cos")(x), -1)),
}


def named(name: str) -> Function:
    """A real function by its name; one that is not known is uninterpreted."""
    return EXPANDED.get(name) or partial(_by_name, name)


def _by_name(name: str, form: Form) -> Form:
    return _uninterpreted(name, form)


@remember
def _uninterpreted(name: str, form: Form) -> Form:
    return by_cells(form, partial(_uninterpreted_on_cell, name))


def _uninterpreted_on_cell(name: str, form: Form) -> Form:
    if form.has(MINUS_INFINITY):
        raise Unsupported(f"{name}(−∞) appears")
    form = together(form)
    if name in ("sin", "cos"):
        form = without_turns(form)
        if (known := wave_value(name, form)) is not None:
            return known
    if name == "atan" and len(form.terms) == 1 and is_positive(form) and (upright := power(form, -1)).key < form.key:
        return subtract(quarter_turn(), of_atom(Apply("fn:atan", upright)))     # of w/h and h/w one
    if name in ROUNDING:
        rounded = form if is_whole(form) else _rounded(name, form)
        if rounded is not None:
            return rounded
        outside, inside = _whole_part(form) if name in ("floor", "ceil") else (constant(0), form)
        if outside.terms:
            return add(outside, _uninterpreted(name, inside))
    if not form.terms and name in ODD | EVEN:
        return constant(SCALARS[name].at_zero)
    if name == "abs" and is_nonnegative(form):
        return form
    if name == "abs" and not current().by_signs:
        size, common, rest = content(form, positive)
        if common or size != 1:                              # |c·x| = c·|x| for positive c
            return under(Draft((), NO_GUARDS, common), scale(_uninterpreted(name, rest), size))
    if name in BY_SIGN and current().by_signs:
        return BY_SIGN[name](form)
    if form.terms and form.terms[0][1] < 0 and name in ODD | EVEN:
        flipped = of_atom(Apply(f"fn:{name}", scale(form, -1)))
        return scale(flipped, -1) if name in ODD else flipped
    return of_atom(Apply(f"fn:{name}", form))


def positive_part(form: Form) -> Form:
    """[form > 0] · form, for a form without liftable guards. Asked of −form where that is how the comparison is
    mostly spelled, so that x > 0 and x ≤ 0 are the only cells."""
    if form.terms and form.terms[0][1] < 0:
        return add(form, positive_part(scale(form, -1)))
    product = _signed_factor(form) if current().by_factors else None
    if product is not None:
        return _by_sign_of_factor(*product)
    literal = truth_of("positive", form)
    if isinstance(literal, bool):
        return form if literal else constant(0)
    otherwise = truth_of("positive", scale(form, -1)) if _asks_of_negative(literal) else True
    if isinstance(otherwise, Literal):                     # what is compared are factors or exponents of it
        return subtract(form, guarded((otherwise,), form))
    return guarded((literal,), form)


def _asks_of_negative(literal: Literal) -> bool:
    atom = literal.subject
    return isinstance(atom, Apply) and atom.head == "positive" and atom.argument.terms[0][1] < 0


def _signed_factor(form: Form) -> tuple[Atom, Fraction, Form] | None:
    """a, e and g of a form a^e·g, a factor of all its terms; None where there is none, or nothing else beside it."""
    size, common, rest = content(form, lambda a: not positive(a))
    if not common or (len(common) == 1 and value_of(rest) is not None):
        return None
    (atom, e), *others = common
    return atom, e, under(Draft((), NO_GUARDS, tuple(others)), scale(rest, size))


def _by_sign_of_factor(atom: Atom, e: Fraction, rest: Form) -> Form:
    """max(a·g, 0) is a·max(g, 0) for a > 0 and a·min(g, 0) for a ≤ 0, so that what is asked is asked of factors: of
    products too few are spelled alike."""
    above = positive_part(rest)
    literal = True if e.numerator % 2 == 0 or e.denominator % 2 == 0 else truth_of("positive", value_form(atom))
    factor = Draft((), NO_GUARDS, ((atom, e),))
    if isinstance(literal, bool):
        return under(factor, above if literal else subtract(rest, above))
    otherwise = negation(literal)
    assert isinstance(otherwise, Literal)
    return under(factor, add(guarded((literal,), above), guarded((otherwise,), subtract(rest, above))))


def _sign(form: Form) -> Form:
    """[form > 0] − [−form > 0]."""
    literals = (truth_of("positive", form), truth_of("positive", scale(form, -1)))
    above, below = (
        constant(int(g)) if isinstance(g, bool) else guarded((g,), constant(1)) for g in literals
    )
    return add(above, scale(below, -1))


BY_SIGN: dict[str, Function] = {  # in the attempt that looks at signs
    "abs": lambda x: add(positive_part(x), positive_part(scale(x, -1))),
    "sign": _sign,
}


def is_whole(form: Form) -> bool:
    """Whether the form is an integer: sums and products of integers, and of what was rounded or cut off before."""
    return all(
        c.denominator == 1 and all(e.denominator == 1 and e > 0 and _is_whole(a) for a, e in t.factors)
        for t, c in form.terms
    )


def _is_whole(atom: Atom) -> bool:
    if isinstance(atom, Apply) and atom.head == "max":
        return all(is_whole(piece_of(t)) for t, _ in atom.argument.terms)
    rounded = isinstance(atom, Apply) and atom.head.removeprefix("fn:") in ROUNDING
    return rounded or (isinstance(atom, IntegerAtom) and atom.integer)


def _rounded(name: str, form: Form) -> Form | None:
    """⌊p / d⌋ and ⌈p / d⌉ of an index polynomial; other roundings leave integers alone."""
    d = lcm(*(c.denominator for _, c in form.terms))
    p = as_poly(scale(form, d))
    if p is None:
        return None
    if d == 1:
        return form
    if name in ("floor", "ceil"):
        sign = 1 if name == "floor" else -1
        return of_poly(divide(p * sign, number(d))[0] * sign)
    return None


def _whole_part(form: Form) -> tuple[Form, Form]:
    """The terms that are integers, which floor and ceil leave where they stand (⌊x + n⌋ = ⌊x⌋ + n), and the others."""
    parts = [Form((part,)) for part in form.terms]
    return add(*filter(is_whole, parts)), add(*(part for part in parts if not is_whole(part)))


def piece(form: Form) -> Form:
    """A form as one piece of a maximum."""
    return of_atom(Apply("piece", form))


# ---------------------------------------------------------------------------------------------------- booleans of forms


def truth_of(head: str, form: Form) -> Literal | bool:
    """The literal `form > 0` ("positive"), `form = 0` ("zero") or `form = form` ("number"), for a form without liftable
    guards."""
    if head == "number":
        return True if value_of(form) is not None else Literal("holds", Apply(head, form))
    size = common_number(c for _, c in form.terms)
    p = as_poly(scale(form, 1 / size)) if size else number(0)
    if p is not None:
        return at_least_zero_literal(p - 1) if head == "positive" else zero_literal(p)
    some = _presence(head, form)
    if some is None:
        some = _of_count(form) if head == "positive" else _of_power(form)
    if some is not None:
        return some
    atom = boolean(head, form)
    return atom if isinstance(atom, bool) else Literal("holds", atom)


def _presence(head: str, form: Form) -> Literal | bool | None:
    """What a comparison of a count n says of whether there is any: n > c for 0 ≤ c < 1, c > n for 0 < c ≤ 1, or n = 0.
    None for any other comparison."""
    count, number = counted(form)
    if is_count(count) and (number == 0 if head == "zero" else -1 < number <= 0):
        some = boolean("exists", points(count))
        found = some if isinstance(some, bool) else Literal("holds", some)
        return negation(found) if head == "zero" else found
    if head == "positive" and is_count(scale(count, -1)) and 0 < number <= 1:
        return _presence("zero", scale(count, -1))
    return None


def _of_count(form: Form) -> Literal | bool | None:
    """That a count n is below c, n < c, as that it is not above the next whole number; n > c for a whole c. None for
    what says so already, and for any other comparison."""
    count, number = counted(form)
    if is_count(scale(count, -1)):
        return negation(truth_of("positive", add(scale(count, -1), constant(1 - ceil(number)))))
    if is_count(count) and number.denominator > 1:
        return truth_of("positive", add(count, constant(ceil(number))))
    return None


def _of_power(form: Form) -> Literal | bool | None:
    """That a multiple of f^e with e > 0 is 0, as that f is; None for any other form."""
    match content(form, positive)[2].terms:
        case ((Term(factors=((atom, e),)) as term, _),) if term.plain and e > 0 and e != 1:
            return truth_of("zero", value_form(atom))
    return None


def boolean(head: str, form: Form) -> Atom | bool:
    """A boolean atom over a form, positive factors divided out; True or False where its sign is known."""
    if head == "number":
        return value_of(form) is not None or Apply(head, form)
    if head == "exists":
        return True if any(t.plain for t, _ in form.terms) else bool(form.terms) and Apply(head, form)
    if form.has(UNDEFINED) or form.has(MINUS_INFINITY):
        raise Unsupported("a comparison with something undefined or infinite appears")
    if not form.terms:
        return head == "zero"
    _, _, rest = content(form, positive)
    exponents = _compared_exponents(rest)
    if exponents is not None:
        return boolean(head, exponents)
    if is_positive(rest):
        assume_defined(form)
        return head == "positive"
    if is_positive(scale(rest, -1)) or (head == "positive" and is_nonnegative(scale(rest, -1))):
        assume_defined(form)
        return False
    decisive = _decisive_piece(rest) if head == "positive" else None
    if decisive is not None:
        return boolean(head, decisive)
    if head == "zero" and rest.terms[0][1] < 0:
        rest = scale(rest, -1)
    return Apply(head, rest)


def _decisive_piece(form: Form) -> Form | None:
    """The form that is positive just where c·max(pieces) + rest is: max(a, 0) > 0 where a > 0, and max(a, 0) < 1 where
    a < 1. Of all pieces the signs are known but of one; None where they are not."""
    maxima = [(a, c) for t, c in form.terms if (a := lone_atom(Form(((t, Fraction(1)),)), "max")) is not None]
    if len(maxima) != 1:
        return None
    ((atom, c),) = maxima
    assert isinstance(atom, Apply)
    pieces, rest = [t for t, _ in atom.argument.terms], subtract(form, scale(of_atom(atom), c))
    if not all(t.plain for t in pieces):
        return None
    forms = [add(scale(piece_of(t), c), rest) for t in pieces]
    known = [f for f in forms if (is_nonnegative(scale(f, -1)) if c > 0 else is_positive(f))]
    if len(forms) - len(known) != 1:
        return None
    for each in known:
        assume_defined(each)                         # what is decided without its value is decided there only
    current().infinite |= current().dropped          # no maximum is left to show that there was a −∞ beside it
    return next(f for f in forms if f not in known)


def _compared_exponents(form: Form) -> Form | None:
    """log f − log g for f − g, which has the same sign, where f and g are positive, and an exponential is a factor of
    one of them: exp(x)·Σ exp(b) > exp(y)·Σ exp(a) where x − log Σ exp(a) > y − log Σ exp(b). None for anything else."""
    above = Form(tuple(part for part in form.terms if part[1] > 0))
    below = Form(tuple((t, -c) for t, c in form.terms if c < 0))
    if not above.terms or not below.terms or not (_is_power(above) or _is_power(below)):
        return None
    return subtract(log(above), log(below)) if is_positive(above) and is_positive(below) else None


def _is_power(form: Form) -> bool:
    """Whether all terms of a form have an exponential among their factors, the same."""
    return any(e > 0 for _, e in content(form, lambda a: isinstance(a, Apply) and a.head == "exp")[1])


def apply(head: str, form: Form) -> Form:
    """A factor's head over an argument that has changed."""
    heads = laws().heads
    return heads[head](form) if head in heads else _uninterpreted(head.removeprefix("fn:"), form)

