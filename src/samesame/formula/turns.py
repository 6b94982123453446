"""Turns: sines and cosines of multiples of π, of which whole turns do not count.

cos(a + 2π·n) = cos a for every integer n. So a multiple c·π·n of an integer n counts by c modulo 2 alone, and the
transform's angle 2π·(N − k)·n/N is −2π·k·n/N, as 2π·(k·n mod N)/N is 2π·k·n/N. What is left of a number has an exact
value where that is a root, and is written as the cosine of less than a quarter turn otherwise: sin(π/5) as cos(3π/10),
cos(4π/5) as −cos(π/5). An angle that is given by its sine, cosine or tangent has roots for the others:
sin(acos x) = √(1 − x²).
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.effort import assume
from samesame.formula.poly import IntegerAtom, Ratio
from samesame.formula.rewrite import multiply
from samesame.formula.scalars import DOMAIN, SCALARS
from samesame.formula.terms import (
    Apply,
    Form,
    Radical,
    Symbol,
    Term,
    add,
    closed,
    constant,
    form_of,
    laws,
    of_atom,
    of_poly,
    scale,
    subtract,
)

Value = tuple[Fraction, int]                               # c·√m
COSINES: dict[Fraction, Value] = {                         # of these multiples of π
    Fraction(0): (Fraction(1), 1),
    Fraction(1, 6): (Fraction(1, 2), 3),
    Fraction(1, 4): (Fraction(1, 2), 2),
    Fraction(1, 3): (Fraction(1, 2), 1),
    Fraction(1, 2): (Fraction(0), 1),
}
PI = "π"


def without_turns(angle: Form) -> Form:
    """The angle less the whole turns in it: each c·π·n with −1 < c ≤ 1, where n is an integer, and no remainder of what
    is wound around."""
    pieces = [_unwound(term, c) for term, c in angle.terms]
    if any(piece is not None for piece in pieces):
        pairs = zip(pieces, angle.terms, strict=True)
        left = (Form((item,)) if piece is None else piece for piece, item in pairs)
        return without_turns(add(*left))
    return form_of((term, 1 - (1 - c) % 2 if is_half_turns(term) else c) for term, c in angle.terms)


def _unwound(term: Term, c: Fraction) -> Form | None:
    """A multiple of p mod q as that of p, where the same multiple of q is a number of whole turns: 2π·(p mod q)/q."""
    for atom, e in term.factors if term.plain else ():
        if isinstance(atom, Ratio) and atom.op == "mod" and e == 1:
            rest = Form(((closed((), (), tuple(f for f in term.factors if f[0] is not atom)), c),))
            around = multiply(rest, of_poly(atom.divisor))
            if all(k % 2 == 0 and is_half_turns(t) for t, k in around.terms):
                return multiply(rest, of_poly(atom.numerator))
    return None


def is_half_turns(term: Term) -> bool:
    """Whether a term is π times an integer."""
    if not term.plain or not any(isinstance(a, Symbol) and a.name == PI and e == 1 for a, e in term.factors):
        return False
    others = [(a, e) for a, e in term.factors if not isinstance(a, Symbol)]
    integers = all(isinstance(a, IntegerAtom) and a.integer and e.denominator == 1 and e > 0 for a, e in others)
    return integers and len(others) == len(term.factors) - 1


def wave_value(name: str, angle: Form) -> Form | None:
    """The sine or cosine of an angle without turns, where that is a number times π, or given by its sine, cosine or
    tangent; None for other angles."""
    if name == "sin" and angle.terms and all(c.denominator == 1 and is_half_turns(t) for t, c in angle.terms):
        return constant(0)
    turned = multiple_of_pi(angle)
    if turned is None:
        return _of_inverse(name, angle)
    return cosine(turned if name == "cos" else Fraction(1, 2) - turned)


def _of_inverse(name: str, angle: Form) -> Form | None:
    """The sine or cosine of ±asin x, ±acos x or ±atan x, wherever that angle is one."""
    if len(angle.terms) != 1:
        return None
    ((term, c),) = angle.terms
    inverse = inverse_of(term)
    if abs(c) != 1 or inverse is None:
        return None
    function, x = inverse.head.removeprefix("fn:"), inverse.argument
    if SCALARS[function].domain:
        assume(f"{DOMAIN}{function}", x)
    squared = multiply(x, x)
    if function == "atan":
        shorter = laws().power(add(constant(1), squared), Fraction(-1, 2))
        sine, cosine = multiply(x, shorter), shorter
    else:
        other = laws().power(subtract(constant(1), squared), Fraction(1, 2))
        sine, cosine = (x, other) if function == "asin" else (other, x)
    return scale(sine, c) if name == "sin" else cosine


def inverse_of(term: Term) -> Apply | None:
    """The term, where it is an asin, acos or atan."""
    atom, e = term.factors[0] if term.plain and len(term.factors) == 1 else (None, Fraction(0))
    return atom if isinstance(atom, Apply) and e == 1 and atom.head in ("fn:asin", "fn:acos", "fn:atan") else None


def quarter_turn() -> Form:
    """π/2."""
    return scale(of_atom(Symbol(PI)), Fraction(1, 2))


def multiple_of_pi(angle: Form) -> Fraction | None:
    """r, where the angle is the number r times π."""
    if not angle.terms:
        return Fraction(0)
    if len(angle.terms) > 1:
        return None
    ((term, c),) = angle.terms
    return c if is_half_turns(term) and len(term.factors) == 1 else None


def cosine(r: Fraction) -> Form:
    """cos(π·r)."""
    r = abs(1 - (1 - r) % 2)
    if r > Fraction(1, 2):
        return scale(cosine(1 - r), -1)
    if r in COSINES:
        c, m = COSINES[r]
        return scale(of_atom(Radical(m), Fraction(1, 2)) if m > 1 else constant(1), c)
    return of_atom(Apply("fn:cos", scale(of_atom(Symbol(PI)), r)))
