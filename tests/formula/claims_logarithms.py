"""Claims about logarithms of positive things, and about functions whose arguments are equal without being spelled
alike. Each has a twin that is false.
"""

# ruff: noqa: E501    a table: one line for each side of a claim
# fmt: off

from __future__ import annotations

from fractions import Fraction

from formula_claims import EPS, array, cat, claims_of, clamp, gather_rows, one_hot, pointwise_of, relu

from samesame.formula.expr import (
    Sum,
    absolute,
    cos,
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
    where,
)

CLAIMS, claim = claims_of("logarithms and shared arguments")
pointwise = pointwise_of(claim)
XY = dict(x="T", y="T")


def positive(v):
    return v * v + 1


pointwise("log of a product", lambda v, w: log(positive(v) * exp(w)), lambda v, w: log(positive(v)) + w, lambda v, w: log(positive(v)) * w, XY)
pointwise("log of a quotient", lambda v, w: log(positive(v) / positive(w)), lambda v, w: log(positive(v)) - log(positive(w)), lambda v, w: log(positive(v)) / log(positive(w) + 1), XY)
pointwise("log of a power", lambda v: log(power(positive(v), 3)), lambda v: 3 * log(positive(v)), lambda v: power(log(positive(v)), 3))
pointwise("log of a square", lambda v: log(power(v, 2)), lambda v: 2 * log(absolute(v)), lambda v: log(absolute(v)))
pointwise("log of squares", lambda v, w: log(power(v, 2) * power(w, 4) / 9), lambda v, w: 2 * log(absolute(v)) + 4 * log(absolute(w)) - 2 * log(3), lambda v, w: 2 * log(absolute(v)) + 2 * log(absolute(w)) - 2 * log(3), XY)
pointwise("log of a root", lambda v: log(sqrt(positive(v))), lambda v: log(positive(v)) / 2, lambda v: log(positive(v)))
pointwise("log(exp v) = v", lambda v: log(exp(v)), lambda v: v, lambda v: -v)
pointwise("exp(log p) = p", lambda v: exp(log(positive(v))), positive, lambda v: v * v)
pointwise("a power as exp of a logarithm", lambda v: power(positive(v), Fraction(3, 2)), lambda v: exp(Fraction(3, 2) * log(positive(v))), lambda v: exp(log(positive(v))))
pointwise("log1p and expm1", lambda v: fn("log1p")(fn("expm1")(v)), lambda v: v, lambda v: v + 1)
pointwise("logit of a sigmoid", lambda v: log(sigmoid(v) / (1 - sigmoid(v))), lambda v: v, lambda v: -v)
pointwise("base two and base e", lambda v: fn("log2")(exp(v)) * log(2), lambda v: v, lambda v: v * log(2))
pointwise("log of a product of sums", lambda v, w: log((exp(v) + 1) * (exp(w) + 1)), lambda v, w: log(exp(v) + 1) + log(exp(w) + 1), lambda v, w: log(exp(v) + exp(w) + 1), XY)
pointwise("log of an expanded square", lambda v: log(exp(2 * v) + 2 * exp(v) + 1), lambda v: 2 * log(exp(v) + 1), lambda v: log(exp(v) + 1))
pointwise("exp(σ(−x)) = exp(1 − σ(x))", lambda v: exp(sigmoid(-v)), lambda v: exp(1 - sigmoid(v)), lambda v: exp(1 + sigmoid(v)))
pointwise("cos of equal quotients", lambda v, w: cos(v / (exp(v) + exp(w))), lambda v, w: cos(v * exp(-w) / (exp(v - w) + 1)), lambda v, w: cos(v / (exp(v - w) + 1)), XY)
pointwise("erf of equal sums", lambda v, w: erf(power(v + w, 2)), lambda v, w: erf(v * v + 2 * v * w + w * w), lambda v, w: erf(v * v + w * w), XY)
pointwise("erf of equal quotients of sums", lambda v, w: erf(1 / positive(v) + 1 / positive(w)), lambda v, w: erf((positive(v) + positive(w)) / (positive(v) * positive(w))), lambda v, w: erf(2 / (positive(v) + positive(w))), XY)
pointwise("sin of a maximum, two spellings", lambda v, w: fn("sin")(maximum(v, w)), lambda v, w: fn("sin")(v + relu(w - v)), lambda v, w: fn("sin")(v - relu(w - v)), XY)
pointwise("exp of half a sum", lambda v: exp((v + absolute(v)) / 2), lambda v: exp(relu(v)), lambda v: exp(-relu(-v)))
pointwise("a function of a clamp", lambda v: erf(clamp(v, -1, 1)), lambda v: erf(where(lt(v, -1), -1, where(lt(v, 1), v, 1))), lambda v: erf(where(lt(v, -1), -1, where(lt(v, 1), v, 0))))
claim("erf of two spellings of a matmul", dict(T=2, K=3, N=2, R=2), dict(x="T K", a="K R", b="R N"),
      lambda s, x, a, b: ((x @ a) @ b).map(erf), lambda s, x, a, b: (x @ (a @ b)).map(erf), lambda s, x, a, b: ((x @ a) @ (b * 2)).map(erf))
claim("erf of a tiled sum", dict(S=2, K=3), dict(x="S*K"),
      lambda s, x: x.sum(0).map(erf), lambda s, x: x.reshape(s.S, s.K).sum(0).sum(0).map(erf), lambda s, x: x.reshape(s.S, s.K).sum(1).map(erf).sum(0))
claim("erf of a variance, two spellings", dict(N=3), dict(x="N"),
      lambda s, x: x.var(0).map(erf), lambda s, x: ((x * x).mean(0) - x.mean(0) ** 2).map(erf), lambda s, x: (x * x).mean(0).map(erf))
claim("exp of a normalised row, two spellings", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.softmax(1).map(erf), lambda s, x: (x.exp() / x.exp().sum(1, True)).map(erf), lambda s, x: (x.exp() / x.exp().mean(1, True)).map(erf))
claim("erf over a common denominator", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: array((s.T, s.N), lambda t, n: erf(1 - x.softmax(1)[t, n])),
      lambda s, x: (lambda e: ((e.sum(1, True) - e) / e.sum(1, True)).map(erf))(x.exp()), lambda s, x: (lambda e: (e.sum(1, True) / e - 1).map(erf))(x.exp()))
claim("shares add up to one under a mean over rows", dict(T=2, N=3), dict(x="T N", y="T"),
      lambda s, x, y: (x.softmax(1) * y.unsqueeze(1)).sum(1).sum(0), lambda s, x, y: y.sum(0), lambda s, x, y: (x.softmax(1) * x.softmax(1) * y.unsqueeze(1)).sum(1).sum(0))
claim("logsumexp of a shifted row", dict(T=2, N=3), dict(x="T N", c="T"),
      lambda s, x, c: (x + c.unsqueeze(1)).logsumexp(1), lambda s, x, c: x.logsumexp(1) + c, lambda s, x, c: x.logsumexp(1) + 2 * c)
claim("logsumexp of a row with a constant appended", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: cat([x, array((s.T, 1), lambda i, j: 0)], 1).logsumexp(1), lambda s, x: x.logsumexp(1).map(fn("softplus")), lambda s, x: x.logsumexp(1))
claim("log of a softmax", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.softmax(1).log(), lambda s, x: x.log_softmax(1), lambda s, x: x.log_softmax(0))
claim("log-softmax is idempotent", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.log_softmax(1).log_softmax(1), lambda s, x: x.log_softmax(1), lambda s, x: x.log_softmax(1) * 2)
claim("log-softmax with a temperature", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: (x / 7).log_softmax(1), lambda s, x: x / 7 - (x / 7).exp().sum(1, True).log(), lambda s, x: x.log_softmax(1) / 7)
claim("the log-softmax of two classes is a logsigmoid", dict(T=2), dict(x="T 2"),
      lambda s, x: x.log_softmax(1).select(1, 0), lambda s, x: (x.select(1, 0) - x.select(1, 1)).map(lambda v: log(sigmoid(v))),
      lambda s, x: (x.select(1, 1) - x.select(1, 0)).map(lambda v: log(sigmoid(v))))
claim("the softmax of two classes is a sigmoid", dict(T=2), dict(x="T 2"),
      lambda s, x: x.softmax(1).select(1, 1), lambda s, x: (x.select(1, 1) - x.select(1, 0)).map(sigmoid), lambda s, x: (x.select(1, 0) - x.select(1, 1)).map(sigmoid))
claim("entropy of a softmax", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: -(x.softmax(1) * x.softmax(1).log()).sum(1), lambda s, x: x.logsumexp(1) - (x.softmax(1) * x).sum(1), lambda s, x: x.logsumexp(1) + (x.softmax(1) * x).sum(1))
claim("KL divergence of two softmaxes", dict(T=2, N=3), dict(x="T N", y="T N"),
      lambda s, x, y: (x.softmax(1) * (x.log_softmax(1) - y.log_softmax(1))).sum(1), lambda s, x, y: (x.softmax(1) * (x - y)).sum(1) - x.logsumexp(1) + y.logsumexp(1),
      lambda s, x, y: (x.softmax(1) * (x - y)).sum(1))
claim("label smoothing, two spellings", dict(T=2, V=3), dict(x="T V", y=("ids", "T", "V")),
      lambda s, x, y: -((one_hot(y, s.V) * Fraction(9, 10) + Fraction(1, 10) / s.V) * x.log_softmax(1)).sum(1),
      lambda s, x, y: x.logsumexp(1) - Fraction(9, 10) * gather_rows(x, y) - x.mean(1) / 10,
      lambda s, x, y: x.logsumexp(1) - Fraction(9, 10) * gather_rows(x, y) - x.sum(1) / 10)
claim("z-loss: the square of a shifted logsumexp", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.logsumexp(1) ** 2, lambda s, x: ((x - 2).exp().sum(1).log() + 2) ** 2, lambda s, x: (x - 2).exp().sum(1).log() ** 2)
claim("log of a geometric mean", dict(N=3), dict(x="N"),
      lambda s, x: (x * x + 1).log().mean(0).exp().log(), lambda s, x: (x * x + 1).log().sum(0) / s.N, lambda s, x: (x * x + 1).log().sum(0))
claim("log-probabilities of a gated mixture", dict(T=2, N=2), dict(x="T N", p="T"),
      lambda s, x, p: (x.softmax(1) * p.map(sigmoid).unsqueeze(1)).log(), lambda s, x, p: x.log_softmax(1) - (1 + (-p).exp()).log().unsqueeze(1), lambda s, x, p: x.log_softmax(1) - (1 + p.exp()).log().unsqueeze(1))
claim("log of a normalised row of squares", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: ((x * x + EPS) / (x * x + EPS).sum(1, True)).log(), lambda s, x: (x * x + EPS).log() - (x * x + EPS).sum(1, True).log(), lambda s, x: (x * x + EPS).log() - (x * x + EPS).log().sum(1, True))
claim("erf of a reversed cumsum", dict(N=3), dict(x="N"),
      lambda s, x: x.flip(0).cumsum(0).flip(0).map(erf), lambda s, x: (x.sum(0, True) - x.cumsum(0) + x).map(erf), lambda s, x: (x.sum(0, True) - x.cumsum(0)).map(erf))
claim("erf of a suffix sum under another sum", dict(N=3), dict(x="N"),
      lambda s, x: array((), lambda: Sum(s.N, lambda k: x[k] * erf(Sum(s.N, lambda u: where(le(k, u), x[u], 0))))),
      lambda s, x: array((), lambda: Sum(s.N, lambda k: x[k] * erf(x.sum(0)[()] - Sum(k, lambda u: x[u])))),
      lambda s, x: array((), lambda: Sum(s.N, lambda k: x[k] * erf(x.sum(0)[()] - Sum(k + 1, lambda u: x[u])))))
claim("a quotient of shares cut off at one, as exp of a difference of logarithms", dict(T=2, N=3), dict(x="T N", y="T N"),
      lambda s, x, y: (x.softmax(1) / y.softmax(1)).map(lambda r: minimum(r, 1)),
      lambda s, x, y: (x.log_softmax(1) - y.log_softmax(1)).map(lambda d: exp(minimum(d, 0))),
      lambda s, x, y: (y.log_softmax(1) - x.log_softmax(1)).map(lambda d: exp(minimum(d, 0))))
claim("the larger of two shares, by their logarithms", dict(T=2, N=3), dict(x="T N", y="T N"),
      lambda s, x, y: x.softmax(1).map(maximum, y.softmax(1)), lambda s, x, y: x.log_softmax(1).map(maximum, y.log_softmax(1)).exp(),
      lambda s, x, y: x.map(maximum, y).softmax(1))
