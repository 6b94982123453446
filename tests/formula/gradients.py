"""The derivative of a formula, by the rules of calculus: what a backward formula is held against.

`gradient(y, x, g)` is the tensor Σ_out g[out]·∂y[out]/∂x[·]: the derivative of an element `x[p]` with respect to `x[q]`
is 1 where p = q, and the rest is the sum, product and chain rules. A comparison is taken as constant, so relu has the
derivative 0 at 0, as torch has it.
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.expr import (
    PI,
    Add,
    Expr,
    Extremum,
    Fn,
    Fold,
    Load,
    Mul,
    Pow,
    Sum,
    Where,
    add,
    and_,
    const,
    eq,
    exp,
    fn,
    lt,
    mul,
    power,
    sigmoid,
    walk,
    where,
)

SLOPES = {
    "exp": exp,
    "log": lambda x: 1 / x,
    "sin": fn("cos"),
    "cos": lambda x: -fn("sin")(x),
    "tanh": lambda x: 1 - power(fn("tanh")(x), 2),
    "sigmoid": lambda x: sigmoid(x) * (1 - sigmoid(x)),
    "erf": lambda x: 2 * power(PI, Fraction(-1, 2)) * exp(-x * x),
    "abs": fn("sign"),
    "softplus": sigmoid,
}


def derivative(expr: Expr, name: str, at: tuple[Expr, ...]) -> Expr:
    """∂expr / ∂name[at]."""
    if not any(isinstance(e, Load) and e.leaf.name == name for e in walk(expr)):
        return const(0)
    match expr:
        case Load(_, indices):
            return where(and_(*map(eq, indices, at)), 1, 0)
        case Add(terms):
            return add(*(derivative(t, name, at) for t in terms))
        case Mul(factors):
            others = ((factors[:k], f, factors[k + 1 :]) for k, f in enumerate(factors))
            return add(*(mul(*before, derivative(f, name, at), *after) for before, f, after in others))
        case Pow(base, exponent):
            return exponent * power(base, exponent - 1) * derivative(base, name, at)
        case Fn(function, argument):
            return SLOPES[function](argument) * derivative(argument, name, at)
        case Where(condition, then, otherwise):
            return where(condition, derivative(then, name, at), derivative(otherwise, name, at))
        case Extremum(op, (a, b)):
            first = lt(b, a) if op == "max" else lt(a, b)
            return where(first, derivative(a, name, at), derivative(b, name, at))
        case Fold("sum", bound, body):
            return Fold("sum", bound, derivative(body, name, at))
    raise NotImplementedError(type(expr).__name__)


def gradient(y, x, g):
    """The gradient with respect to the input x of Σ g·y."""
    return x.new(x.shape, lambda *q: Sum(y.shape, lambda *out: g[out] * derivative(y[out], _name(x), q)), "real")


def _name(x) -> str:
    return next(e.leaf.name for e in walk(x.element()[1]) if isinstance(e, Load))
