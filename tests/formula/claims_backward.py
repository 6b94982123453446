"""Claims about backward graphs: the derivative of a layer is the formula that torch's backward computes. Each has a twin
that is false.
"""

# ruff: noqa: E501    a table: one line for each side of a claim
# fmt: off

from __future__ import annotations

from fractions import Fraction

from formula_claims import EPS, array, attention, claims_of, gather_rows, layer_norm, linear, one_hot, relu, rms, silu
from gradients import gradient

from samesame.formula.expr import (
    PI,
    Sum,
    absolute,
    and_,
    const,
    eq,
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

CLAIMS, claim = claims_of("backward graphs")


def activation(name, forward, backward, twin):
    """y = f(x): the gradient g·f'(x) as torch's backward computes it from g and x."""
    claim(f"backward of {name}", dict(T=64), dict(x="T", g="T"),
          lambda s, x, g: gradient(x.map(forward), x, g), lambda s, x, g: x.map(backward, g), lambda s, x, g: x.map(twin, g))


activation("relu", relu, lambda x, g: where(le(x, 0), 0, g), lambda x, g: where(le(x, 0), g, 0))
activation("relu6", lambda x: minimum(relu(x), 6), lambda x, g: where(and_(lt(0, x), lt(x, 6)), g, 0), lambda x, g: where(lt(0, x), g, 0))
activation("leaky relu", lambda x: where(lt(0, x), x, x / 100), lambda x, g: where(lt(0, x), g, g / 100), lambda x, g: where(lt(0, x), g / 100, g))
activation("elu", lambda x: where(lt(0, x), x, exp(x) - 1), lambda x, g: where(le(x, 0), g * exp(x), g), lambda x, g: where(le(x, 0), g * (exp(x) - 1), g))
activation("hardswish", lambda x: x * minimum(relu(x + 3), 6) / 6,
           lambda x, g: where(le(x, -3), 0, where(lt(x, 3), g * (x / 3 + Fraction(1, 2)), g)), lambda x, g: where(le(x, -3), 0, where(lt(x, 3), g * x / 3, g)))
activation("sigmoid", sigmoid, lambda x, g: g * (1 - sigmoid(x)) * sigmoid(x), lambda x, g: g * (1 - sigmoid(x)))
activation("tanh", tanh, lambda x, g: g * (1 - tanh(x) * tanh(x)), lambda x, g: g * (1 - tanh(x)))
activation("silu", lambda x: x * sigmoid(x), lambda x, g: g * sigmoid(x) * (1 + x * (1 - sigmoid(x))), lambda x, g: g * sigmoid(x) * (1 + x * sigmoid(x)))
activation("softplus", fn("softplus"), lambda x, g: g * exp(x) / (exp(x) + 1), lambda x, g: g / (exp(x) + 1))
activation("logsigmoid", lambda x: log(sigmoid(x)), lambda x, g: g * sigmoid(-x), lambda x, g: g * sigmoid(x))
activation("logsigmoid from its saved exponential", lambda x: log(sigmoid(x)),
           lambda x, g: (lambda z: g * (where(lt(x, 0), 1, 0) - where(lt(x, 0), 1, -1) * z / (1 + z)))(exp(-absolute(x))),
           lambda x, g: (lambda z: g * (where(lt(x, 0), 1, 0) + where(lt(x, 0), 1, -1) * z / (1 + z)))(exp(-absolute(x))))
activation("GELU", lambda x: x / 2 * (1 + erf(x / sqrt(const(2)))),
           lambda x, g: g * ((1 + erf(x / sqrt(const(2)))) / 2 + x * exp(-x * x / 2) / sqrt(2 * PI)),
           lambda x, g: g * ((1 + erf(x / sqrt(const(2)))) / 2 + x * exp(-x * x / 2) / sqrt(PI)))
CUBE = Fraction(44715, 10**6)
activation("GELU tanh", lambda x: Fraction(1, 2) * x * (1 + tanh(sqrt(2 / PI) * (x + CUBE * x * x * x))),
           lambda x, g: (lambda t: g * ((1 + t) / 2 + x / 2 * (1 - t * t) * sqrt(2 / PI) * (1 + 3 * CUBE * x * x)))(tanh(sqrt(2 / PI) * (x + CUBE * power(x, 3)))),
           lambda x, g: (lambda t: g * ((1 + t) / 2 + x / 2 * (1 - t * t) * sqrt(2 / PI) * (1 + CUBE * x * x)))(tanh(sqrt(2 / PI) * (x + CUBE * power(x, 3)))))
activation("mish", lambda x: x * tanh(log(1 + exp(x))),
           lambda x, g: (lambda t: g * (t + x * sigmoid(x) * (1 - t * t)))(tanh(log(1 + exp(x)))), lambda x, g: (lambda t: g * (t + x * (1 - t * t)))(tanh(log(1 + exp(x)))))
activation("1/√x", lambda x: power(x * x + 1, Fraction(-1, 2)), lambda x, g: -g * x * power(power(x * x + 1, Fraction(-1, 2)), 3), lambda x, g: -g * power(power(x * x + 1, Fraction(-1, 2)), 3))

LINEAR = dict(x="T K", w="N K", b="N", g="T N")
TKN = dict(T=2, K=3, N=2)
claim("backward of linear: its input", TKN, LINEAR,
      lambda s, x, w, b, g: gradient(linear(x, w, b), x, g), lambda s, x, w, b, g: g @ w, lambda s, x, w, b, g: (g * 2) @ w)
claim("backward of linear: its weight", TKN, LINEAR,
      lambda s, x, w, b, g: gradient(linear(x, w, b), w, g), lambda s, x, w, b, g: g.T @ x, lambda s, x, w, b, g: g.flip(0).T @ x)
claim("backward of linear: its bias", TKN, LINEAR,
      lambda s, x, w, b, g: gradient(linear(x, w, b), b, g), lambda s, x, w, b, g: g.sum(0), lambda s, x, w, b, g: g.mean(0))


def free_softmax(x):
    return x.exp() / x.exp().sum(-1, True)


ROW, TN = dict(x="T N", g="T N"), dict(T=2, N=3)
claim("backward of softmax", TN, ROW,
      lambda s, x, g: gradient(free_softmax(x), x, g), lambda s, x, g: (lambda y: y * g - y * (g * y).sum(1, True))(x.softmax(1)),
      lambda s, x, g: (lambda y: y * g - y * g.sum(1, True))(x.softmax(1)))
claim("backward of log-softmax", TN, ROW,
      lambda s, x, g: gradient(x - x.exp().sum(1, True).log(), x, g), lambda s, x, g: g - x.log_softmax(1).exp() * g.sum(1, True),
      lambda s, x, g: g - x.log_softmax(1) * g.sum(1, True))
claim("backward of logsumexp", TN, dict(x="T N", g="T"),
      lambda s, x, g: gradient(x.exp().sum(1).log(), x, g), lambda s, x, g: g.unsqueeze(1) * (x - x.logsumexp(1, True)).exp(),
      lambda s, x, g: g.unsqueeze(1) * (x - x.logsumexp(1, True)))
claim("backward of a mean", TN, dict(x="T N", g="T"),
      lambda s, x, g: gradient(x.mean(1), x, g), lambda s, x, g: g.unsqueeze(1).expand(s.T, s.N) / s.N, lambda s, x, g: g.unsqueeze(1).expand(s.T, s.N))
claim("backward of a variance", dict(T=2, N=3), dict(x="T N", g="T"),
      lambda s, x, g: gradient(x.var(1), x, g), lambda s, x, g: g.unsqueeze(1) * (x - x.mean(1, True)) * 2 / s.N, lambda s, x, g: g.unsqueeze(1) * x * 2 / s.N)
claim("backward of cumsum is a reversed cumsum", TN, ROW,
      lambda s, x, g: gradient(x.cumsum(1), x, g), lambda s, x, g: g.flip(1).cumsum(1).flip(1), lambda s, x, g: g.cumsum(1))
claim("backward of a transpose and a reshape", dict(T=2, N=3, M=2), dict(x="T N M", g="T N*M"),
      lambda s, x, g: gradient(x.transpose(1, 2).reshape(s.T, s.N * s.M), x, g), lambda s, x, g: g.reshape(s.T, s.M, s.N).transpose(1, 2),
      lambda s, x, g: g.reshape(s.T, s.N, s.M))
claim("backward of a batched matmul: its second operand", dict(B=2, T=2, K=3, N=2), dict(x="B T K", y="B K N", g="B T N"),
      lambda s, x, y, g: gradient(x @ y, y, g), lambda s, x, y, g: x.transpose(1, 2) @ g, lambda s, x, y, g: x.transpose(1, 2) @ g * 2)
NORM = dict(x="T D", w="D", b="D", g="T D")
TD = dict(T=2, D=3)


def inverse(x):
    c = x - x.mean(-1, True)
    return ((c * c).mean(-1, True) + EPS).rsqrt()


def hat(x):
    return (x - x.mean(-1, True)) * inverse(x)


claim("backward of layer norm: its input", TD, NORM,
      lambda s, x, w, b, g: gradient(layer_norm(x, w, b), x, g),
      lambda s, x, w, b, g: (lambda h, a: inverse(x) / s.D * (a * s.D - a.sum(1, True) - h * (a * h).sum(1, True)))(hat(x), g * w),
      lambda s, x, w, b, g: (lambda h, a: inverse(x) / s.D * (a * s.D - a.sum(1, True)))(hat(x), g * w))
claim("backward of layer norm: its weight", TD, NORM,
      lambda s, x, w, b, g: gradient(layer_norm(x, w, b), w, g), lambda s, x, w, b, g: (g * hat(x)).sum(0), lambda s, x, w, b, g: (g * x).sum(0))
claim("backward of layer norm: its bias", TD, NORM,
      lambda s, x, w, b, g: gradient(layer_norm(x, w, b), b, g), lambda s, x, w, b, g: g.sum(0), lambda s, x, w, b, g: (g * w).sum(0))
claim("backward of RMS norm: its input", TD, dict(x="T D", w="D", g="T D"),
      lambda s, x, w, g: gradient(rms(x, w), x, g),
      lambda s, x, w, g: (lambda r: r * (g * w - x * r * r * (g * w * x).mean(1, True)))(((x * x).mean(1, True) + EPS).rsqrt()),
      lambda s, x, w, g: (lambda r: r * (g * w - x * r * (g * w * x).mean(1, True)))(((x * x).mean(1, True) + EPS).rsqrt()))
claim("backward of RMS norm: its weight", TD, dict(x="T D", w="D", g="T D"),
      lambda s, x, w, g: gradient(rms(x, w), w, g), lambda s, x, w, g: (g * x * ((x * x).mean(1, True) + EPS).rsqrt()).sum(0),
      lambda s, x, w, g: (g * x * ((x * x).sum(1, True) + EPS).rsqrt()).sum(0))
ATTENTION = dict(q="T D", k="S D", v="S D", g="T D")
TSD = dict(T=2, S=3, D=2)


def free_attention(q, k, v):
    return free_softmax(q @ k.T / sqrt(const(q.shape[-1]))) @ v


def score_gradient(s, q, k, v, g):
    p = (q @ k.T / sqrt(const(s.D))).softmax(-1)
    dp = g @ v.T
    return p * (dp - (p * dp).sum(1, True)) / sqrt(const(s.D))


claim("attention: shifted or not, the same forward", TSD, ATTENTION, lambda s, q, k, v, g: attention(q, k, v), lambda s, q, k, v, g: free_attention(q, k, v),
      lambda s, q, k, v, g: free_attention(q * 2, k, v))
claim("backward of attention: values", TSD, ATTENTION,
      lambda s, q, k, v, g: gradient(free_attention(q, k, v), v, g), lambda s, q, k, v, g: (q @ k.T / sqrt(const(s.D))).softmax(-1).T @ g,
      lambda s, q, k, v, g: (q @ k.T / s.D).softmax(-1).T @ g)
claim("backward of attention: queries", TSD, ATTENTION,
      lambda s, q, k, v, g: gradient(free_attention(q, k, v), q, g), lambda s, q, k, v, g: score_gradient(s, q, k, v, g) @ k,
      lambda s, q, k, v, g: score_gradient(s, q, k, v, g) @ k * 2)
claim("backward of attention: keys", TSD, ATTENTION,
      lambda s, q, k, v, g: gradient(free_attention(q, k, v), k, g), lambda s, q, k, v, g: score_gradient(s, q, k, v, g).T @ q,
      lambda s, q, k, v, g: score_gradient(s, q, k, v, g).T @ q * 2)
claim("backward of attention: Σ p·dp is Σ o·g", TSD, ATTENTION,
      lambda s, q, k, v, g: (lambda p: (p * (g @ v.T)).sum(1))((q @ k.T).softmax(-1)), lambda s, q, k, v, g: ((q @ k.T).softmax(-1) @ v * g).sum(1),
      lambda s, q, k, v, g: ((q @ k.T).softmax(-1) @ v).sum(1))
ENTROPY = dict(x="T V", y=("ids", "T", "V"))
claim("backward of cross entropy", dict(T=2, V=3), ENTROPY,
      lambda s, x, y: gradient((x.exp().sum(1).log() - gather_rows(x, y)).mean(0), x, array((), lambda: 1)), lambda s, x, y: (x.softmax(1) - one_hot(y, s.V)) / s.T,
      lambda s, x, y: x.softmax(1) - one_hot(y, s.V))
claim("backward of cross entropy through log-softmax", dict(T=2, V=3), ENTROPY,
      lambda s, x, y: gradient((x.exp().sum(1).log() - gather_rows(x, y)).mean(0), x, array((), lambda: 1)),
      lambda s, x, y: (lambda g: g - x.softmax(1) * g.sum(1, True))(one_hot(y, s.V) * Fraction(-1) / s.T),
      lambda s, x, y: (lambda g: g - x.softmax(1) * g.sum(1, True))(one_hot(y, s.V) * Fraction(-1)))
EMBED = dict(i=("ids", "T", "V"), w="V D", g="T D")
claim("backward of embedding is an index_add", dict(T=3, V=3, D=2), EMBED,
      lambda s, i, w, g: gradient(w.take(i), w, g), lambda s, i, w, g: one_hot(i, s.V).T @ g, lambda s, i, w, g: one_hot(i, s.V).T @ g.flip(0))
claim("backward of embedding, written as a loop", dict(T=3, V=3, D=2), EMBED,
      lambda s, i, w, g: gradient(w.take(i), w, g), lambda s, i, w, g: array((s.V, s.D), lambda v, d: Sum(s.T, lambda t: where(eq(i[t], v), g[t, d], 0))),
      lambda s, i, w, g: array((s.V, s.D), lambda v, d: Sum(s.T, lambda t: where(le(i[t], v), g[t, d], 0))))
claim("backward of SwiGLU: its input", dict(T=2, K=2, N=2), dict(x="T K", a="N K", b="N K", g="T N"),
      lambda s, x, a, b, g: gradient(silu(linear(x, a)) * linear(x, b), x, g),
      lambda s, x, a, b, g: (lambda u, h: (g * h * u.map(lambda v: sigmoid(v) * (1 + v * (1 - sigmoid(v))))) @ a + (g * silu(u)) @ b)(linear(x, a), linear(x, b)),
      lambda s, x, a, b, g: (lambda u, h: (g * h * u.map(lambda v: sigmoid(v) * (1 + v * sigmoid(v)))) @ a + (g * silu(u)) @ b)(linear(x, a), linear(x, b)))
claim("backward of an MLP with relu: its first weight", dict(T=2, K=2, N=2), dict(x="T K", a="N K", b="K N", g="T K"),
      lambda s, x, a, b, g: gradient(linear(linear(x, a).map(relu), b), a, g), lambda s, x, a, b, g: ((g @ b) * linear(x, a).map(lambda v: where(lt(0, v), 1, 0))).T @ x,
      lambda s, x, a, b, g: (g @ b).T @ x)
claim("backward of a residual norm block", dict(T=2, D=2), dict(x="T D", w="D", v="D D", g="T D"),
      lambda s, x, w, v, g: gradient(x + linear(rms(x, w), v), x, g),
      lambda s, x, w, v, g: (lambda r, h: g + r * (h * w - x * r * r * (h * w * x).mean(1, True)))(((x * x).mean(1, True) + EPS).rsqrt(), g @ v),
      lambda s, x, w, v, g: (lambda r, h: r * (h * w - x * r * r * (h * w * x).mean(1, True)))(((x * x).mean(1, True) + EPS).rsqrt(), g @ v))
claim("backward of squared error", TN, dict(x="T N", y="T N"),
      lambda s, x, y: gradient(((x - y) ** 2).mean(1).mean(0), x, array((), lambda: 1)), lambda s, x, y: (x - y) * 2 / (s.T * s.N), lambda s, x, y: (x - y) / (s.T * s.N))
claim("backward of a smooth L1 loss", dict(T=32), dict(x="T", y="T"),
      lambda s, x, y: gradient((x - y).map(lambda d: where(lt(absolute(d), 1), d * d / 2, absolute(d) - Fraction(1, 2))), x, array((s.T,), lambda i: 1)),
      lambda s, x, y: (x - y).map(lambda d: minimum(maximum(d, -1), 1)), lambda s, x, y: (x - y).map(lambda d: maximum(d, -1)))
claim("backward of convolution: its weight", dict(C=2, O=2, N=3), dict(x="C N+2", w="O C 3", g="O N"),
      lambda s, x, w, g: gradient(array((s.O, s.N), lambda o, n: Sum((s.C, 3), lambda c, k: w[o, c, k] * x[c, n + k])), w, g),
      lambda s, x, w, g: array((s.O, s.C, 3), lambda o, c, k: Sum(s.N, lambda n: g[o, n] * x[c, n + k])),
      lambda s, x, w, g: array((s.O, s.C, 3), lambda o, c, k: Sum(s.N, lambda n: g[o, n] * x[c, n + 2 - k])))
claim("backward of convolution: its input is a full correlation", dict(C=2, O=2, N=3), dict(x="C N+2", w="O C 3", g="O N"),
      lambda s, x, w, g: gradient(array((s.O, s.N), lambda o, n: Sum((s.C, 3), lambda c, k: w[o, c, k] * x[c, n + k])), x, g),
      lambda s, x, w, g: array((s.C, s.N + 2), lambda c, m: Sum((s.O, 3), lambda o, k: w.flip(2)[o, c, k] * g.pad(1, 2, 2)[o, m + k])),
      lambda s, x, w, g: array((s.C, s.N + 2), lambda c, m: Sum((s.O, 3), lambda o, k: w[o, c, k] * g.pad(1, 2, 2)[o, m + k])))
