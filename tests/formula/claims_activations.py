"""Claims about max, relu, clamp and piecewise activations. Each has a twin that is false."""

# ruff: noqa: E501    a table: one line for each side of a claim
# fmt: off

from __future__ import annotations

from fractions import Fraction

from formula_claims import array, cat, claims_of, clamp, linear, pointwise_of, relu

from samesame.formula.expr import (
    PI,
    Max,
    absolute,
    and_,
    const,
    erf,
    exp,
    fn,
    le,
    log,
    lt,
    maximum,
    minimum,
    power,
    sigmoid,
    sqrt,
    tanh,
    where,
)

CLAIMS, claim = claims_of("maxima and activations")
pointwise = pointwise_of(claim)
XY = dict(x="T", y="T")

pointwise("clamp: max first or min first", lambda v: minimum(maximum(v, -1), 1), lambda v: maximum(minimum(v, 1), -1), lambda v: maximum(minimum(v, 1), 0))
pointwise("clamp of a power: max first or min first", lambda v: minimum(maximum(exp(v), 2), 3), lambda v: maximum(minimum(exp(v), 3), 2), lambda v: maximum(minimum(exp(v), 2), 3))
pointwise("clamp as where", lambda v: clamp(v, -1, 1), lambda v: where(lt(v, -1), -1, where(lt(1, v), 1, v)), lambda v: where(lt(v, -1), 1, where(lt(1, v), 1, v)))
pointwise("clamp as relu(v + 1) − relu(v − 1) − 1", lambda v: clamp(v, -1, 1), lambda v: relu(v + 1) - relu(v - 1) - 1, lambda v: relu(v + 1) - relu(v - 1))
pointwise("what was rounded and cut off is whole", lambda v: fn("trunc")(clamp(fn("round")(v * 3), -2, 2)), lambda v: clamp(fn("round")(v * 3), -2, 2), lambda v: fn("trunc")(clamp(v * 3, -2, 2)))
pointwise("relu is idempotent", lambda v: relu(relu(v)), relu, lambda v: relu(-v))
pointwise("relu as (v + |v|)/2", relu, lambda v: (v + absolute(v)) / 2, lambda v: (v - absolute(v)) / 2)
pointwise("relu of a multiple", lambda v: relu(3 * v), lambda v: 3 * relu(v), lambda v: 2 * relu(v))
pointwise("relu of a positive factor", lambda v, w: relu(exp(w) * v), lambda v, w: exp(w) * relu(v), lambda v, w: w * relu(v), XY)
pointwise("relu(v)² = v·relu(v)", lambda v: power(relu(v), 2), lambda v: v * relu(v), lambda v: v * v)
pointwise("max of three, any order", lambda v, w: maximum(maximum(v, w), 0), lambda v, w: maximum(v, maximum(0, w)), lambda v, w: maximum(v, minimum(0, w)), XY)
pointwise("max distributes over a sum", lambda v, w: maximum(v, w) + 2, lambda v, w: maximum(v + 2, w + 2), lambda v, w: maximum(v + 2, w), XY)
pointwise("min as −max of negatives", minimum, lambda v, w: -maximum(-v, -w), lambda v, w: maximum(-v, -w), XY)
pointwise("max·min = product", lambda v, w: maximum(v, w) * minimum(v, w), lambda v, w: v * w, lambda v, w: v * v, XY)
pointwise("max − min = distance", lambda v, w: maximum(v, w) - minimum(v, w), lambda v, w: absolute(v - w), lambda v, w: v - w, XY)
pointwise("min distributes over max", lambda v, w: minimum(v, maximum(w, 1)), lambda v, w: maximum(minimum(v, w), minimum(v, 1)), lambda v, w: maximum(minimum(v, w), 1), XY)
pointwise("absorption: max(v, min(v, w)) = v", lambda v, w: maximum(v, minimum(v, w)), lambda v, w: v, lambda v, w: w, XY)
pointwise("a clamp within a clamp", lambda v: clamp(clamp(v, -2, 2), -1, 1), lambda v: clamp(v, -1, 1), lambda v: clamp(v, -2, 2))
pointwise("|v·w| = |v|·|w|", lambda v, w: absolute(v * w), lambda v, w: absolute(v) * absolute(w), lambda v, w: absolute(v) * w, XY)
pointwise("|v|² = v²", lambda v: power(absolute(v), 2), lambda v: v * v, absolute)
pointwise("√(v²) = |v|", lambda v: sqrt(v * v), absolute, lambda v: v)
pointwise("sign(v)·|v| = v", lambda v: fn("sign")(v) * absolute(v), lambda v: v, absolute)
pointwise("relu6 as clamp", lambda v: minimum(relu(v), 6), lambda v: clamp(v, 0, 6), lambda v: clamp(v, -1, 6))
pointwise("relu6 as relu(v) − relu(v − 6)", lambda v: minimum(relu(v), 6), lambda v: relu(v) - relu(v - 6), lambda v: relu(v) - relu(v - 5))
pointwise("hardswish, piecewise", lambda v: v * clamp(v + 3, 0, 6) / 6, lambda v: where(le(v, -3), 0, where(le(3, v), v, v * (v + 3) / 6)), lambda v: where(le(v, -3), 0, where(le(3, v), v, v * (v + 2) / 6)))
pointwise("hardsigmoid, two spellings", lambda v: clamp(v + 3, 0, 6) / 6, lambda v: clamp(v / 6 + Fraction(1, 2), 0, 1), lambda v: clamp(v / 6, 0, 1))
pointwise("leaky relu as max", lambda v: where(lt(0, v), v, v / 100), lambda v: maximum(v, v / 100), lambda v: minimum(v, v / 100))
pointwise("leaky relu as relu(v) − a·relu(−v)", lambda v: where(lt(0, v), v, v / 100), lambda v: relu(v) - relu(-v) / 100, lambda v: relu(v) + relu(-v) / 100)
pointwise("prelu with its own slope", lambda v, a: where(lt(0, v), v, a * v), lambda v, a: relu(v) + a * minimum(v, 0), lambda v, a: relu(v) - a * minimum(v, 0), XY)
pointwise("elu as max and min", lambda v: where(lt(0, v), v, exp(v) - 1), lambda v: relu(v) + exp(minimum(v, 0)) - 1, lambda v: relu(v) + exp(minimum(v, 0)))
pointwise("elu with min outside", lambda v: where(lt(0, v), v, exp(v) - 1), lambda v: relu(v) + minimum(exp(minimum(v, 0)) - 1, 0), lambda v: relu(v) + minimum(exp(minimum(v, 0)), 0))
pointwise("hardtanh as clamp", lambda v: where(lt(1, v), 1, where(lt(v, -1), -1, v)), lambda v: clamp(v, -1, 1), lambda v: clamp(v, 0, 1))
pointwise("hardshrink as where", lambda v: where(le(absolute(v), 1), 0, v), lambda v: where(and_(le(v, 1), le(-1, v)), 0, v), lambda v: where(le(v, 1), 0, v))
pointwise("softshrink, two spellings", lambda v: where(lt(1, v), v - 1, where(lt(v, -1), v + 1, 0)), lambda v: relu(v - 1) - relu(-v - 1), lambda v: relu(v - 1) + relu(-v - 1))
pointwise("softplus, stable", lambda v: log(1 + exp(v)), lambda v: relu(v) + log(1 + exp(-absolute(v))), lambda v: relu(v) + log(1 + exp(absolute(v))))
pointwise("softplus as −logsigmoid(−v)", lambda v: log(1 + exp(v)), lambda v: -log(sigmoid(-v)), lambda v: -log(sigmoid(v)))
pointwise("logsigmoid, stable", lambda v: log(sigmoid(v)), lambda v: minimum(v, 0) - log(1 + exp(-absolute(v))), lambda v: minimum(v, 0) - log(1 + exp(-v)))
pointwise("softplus(v) − softplus(−v) = v", lambda v: fn("softplus")(v) - fn("softplus")(-v), lambda v: v, lambda v: -v)
pointwise("mish through exp", lambda v: v * tanh(log(1 + exp(v))), lambda v: v * (power(1 + exp(v), 2) - 1) / (power(1 + exp(v), 2) + 1), lambda v: v * (power(1 + exp(v), 2) + 1) / (power(1 + exp(v), 2) - 1))
pointwise("logaddexp, stable", lambda v, w: log(exp(v) + exp(w)), lambda v, w: maximum(v, w) + log(1 + exp(-absolute(v - w))), lambda v, w: minimum(v, w) + log(1 + exp(-absolute(v - w))), XY)
pointwise("binary cross entropy with logits, stable", lambda v, w: -w * log(sigmoid(v)) - (1 - w) * log(sigmoid(-v)), lambda v, w: relu(v) - v * w + log(1 + exp(-absolute(v))), lambda v, w: relu(v) + v * w + log(1 + exp(-absolute(v))), XY)
pointwise("GELU tanh by its cube", lambda v: v / 2 * (1 + tanh(sqrt(2 / PI) * (v + Fraction(44715, 10**6) * power(v, 3)))), lambda v: v - v / (1 + exp(2 * sqrt(2 / PI) * (v + Fraction(44715, 10**6) * power(v, 3)))), lambda v: v / (1 + exp(2 * sqrt(2 / PI) * (v + Fraction(44715, 10**6) * power(v, 3)))))
pointwise("GELU: erf(−u) = −erf(u)", lambda v: v / 2 * (1 + erf(v / sqrt(const(2)))), lambda v: v - v / 2 * (1 + erf(-v / sqrt(const(2)))), lambda v: v / 2 * (1 + erf(-v / sqrt(const(2)))))
pointwise("quick GELU as SiLU scaled", lambda v: v * sigmoid(Fraction(1702, 1000) * v), lambda v: (lambda u: u * sigmoid(u))(Fraction(1702, 1000) * v) / Fraction(1702, 1000), lambda v: (lambda u: u * sigmoid(u))(Fraction(1702, 1000) * v))
pointwise("tanhshrink through exp", lambda v: v - tanh(v), lambda v: v - (1 - exp(-2 * v)) / (1 + exp(-2 * v)), lambda v: v - (1 + exp(-2 * v)) / (1 - exp(-2 * v)))
pointwise("Huber loss, two spellings", lambda v: where(le(absolute(v), 1), v * v / 2, absolute(v) - Fraction(1, 2)), lambda v: (lambda c: c * absolute(v) - c * c / 2)(minimum(absolute(v), 1)), lambda v: (lambda c: c * absolute(v) - c * c)(minimum(absolute(v), 1)))
claim("leaky relu of a matrix product, either piece at 0", dict(T=3, N=4, D=5), dict(x="T D", w="N D"),
      *(lambda s, x, w, f=f: linear(x, w).map(f) for f in (lambda v: where(le(0, v), v, v / 100), lambda v: where(lt(0, v), v, v / 100), lambda v: where(le(0, v), v, v / 10))))
claim("the maximum of a row through relu", dict(T=2, N=3), dict(x="T N", c="T"),
      lambda s, x, c: x.amax(1).map(maximum, c), lambda s, x, c: c + (x - c.unsqueeze(1)).map(relu).amax(1),
      lambda s, x, c: c + x.map(relu).amax(1))
claim("max-pool and relu commute", dict(T=9, N=2), dict(x="T N"),
      lambda s, x: x.map(relu).amax(1), lambda s, x: x.amax(1).map(relu), lambda s, x: x.amax(1))
claim("max-pool and exp commute", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.exp().amax(1), lambda s, x: x.amax(1).exp(), lambda s, x: x.amax(1))
claim("the maximum over a positive factor", dict(T=2, N=3), dict(x="T N", c="T"),
      lambda s, x, c: (x * c.exp().unsqueeze(1)).amax(1), lambda s, x, c: c.exp() * x.amax(1), lambda s, x, c: c * x.amax(1))
claim("a clamped softmax input, shifted", dict(T=6, N=3), dict(x="T N"),
      lambda s, x: x.map(lambda v: clamp(v, -1, 1)).softmax(1), lambda s, x: x.map(lambda v: relu(v + 1) - relu(v - 1)).softmax(1),
      lambda s, x: x.map(lambda v: relu(v + 1)).softmax(1))
claim("hinge loss: the margin to the best other class", dict(T=2, N=3), dict(x="T N", y="T"),
      lambda s, x, y: array((s.T,), lambda t: maximum(0, 1 + Max(s.N, lambda n: x[t, n]) - y[t])),
      lambda s, x, y: array((s.T,), lambda t: Max(s.N, lambda n: maximum(0, 1 + x[t, n] - y[t]))), lambda s, x, y: array((s.T,), lambda t: Max(s.N, lambda n: maximum(0, x[t, n] - y[t]))))
claim("a linear, then relu, in two halves", dict(T=2, K=2, N=2), dict(x="T K", w="2*N K"),
      lambda s, x, w: linear(x, w).map(relu), lambda s, x, w: cat([linear(x, p).map(relu) for p in w.split([s.N, s.N], 0)], 1), lambda s, x, w: cat([linear(x, p).map(relu) for p in w.split([s.N, s.N], 0)[::-1]], 1))


# ------------------------------------------------------------------------------------------------- signs of products


def clipped(a, r):
    """A policy's loss as it is published: the worse of two products."""
    return maximum(-a * r, -a * clamp(r, Fraction(4, 5), Fraction(6, 5)))


def by_advantage(a, r, low=Fraction(4, 5)):
    """The same, by the sign of the advantage."""
    return -a * where(le(0, a), minimum(r, Fraction(6, 5)), maximum(r, low))


def summed(f):
    return lambda s, a, r: a.map(f, r).sum(0)


SUMS = {
    "a clipped ratio, by the sign of its factor": (clipped, by_advantage, lambda a, r: by_advantage(a, r, Fraction(3, 5))),
    "a clipped ratio of powers, by the sign of its factor": (lambda a, r: clipped(a, exp(r)), lambda a, r: by_advantage(a, exp(r)), lambda a, r: by_advantage(-a, exp(r))),
    "magnitudes of products": (lambda a, r: absolute(a * r), lambda a, r: absolute(a) * absolute(r), lambda a, r: absolute(a) * r),
    "relu of a product": (lambda a, r: relu(a * r), lambda a, r: relu(a) * relu(r) + relu(-a) * relu(-r), lambda a, r: relu(a) * relu(r)),
    "relu of a product with a square": (lambda a, r: relu(a * a * a * r), lambda a, r: a * a * (relu(a) * relu(r) + relu(-a) * relu(-r)), lambda a, r: a * a * relu(r) * absolute(a)),
    "relu of a quotient": (lambda a, r: relu(r / a), lambda a, r: where(lt(0, a), relu(r), -relu(-r)) / a, lambda a, r: relu(r) / a),
}
for name, (left, right, twin) in SUMS.items():
    claim(name, dict(T=3), dict(a="T", r="T"), summed(left), summed(right), summed(twin))
