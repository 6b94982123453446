"""Claims about loops that carry a state, over any number of iterations: online softmax, Welford's moments, recurrences.
Each is proved by induction for all sizes, and written out at these sizes; each has a twin that is false.
"""

# ruff: noqa: E501, E741    a table: one line for each side of a claim
# fmt: off

from __future__ import annotations

from fractions import Fraction

from formula_claims import EPS, Array, Claim, array
from loop_induction import Loop, prove_loop

from samesame.formula.expr import (
    NEG_INF,
    Max,
    Sum,
    absolute,
    and_,
    eq,
    exp,
    fold,
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


class LoopClaim(Claim):
    """`left` gives a loop's count, initial state and step; `right` its closed form; `twin` another, which is false."""

    first = 0

    def _loop(self, symbolic):
        env, *arrays = self.arrays(symbolic)
        count, initial, step = self.left(env, *arrays)
        scalars = lambda state: tuple(x if isinstance(x, Array) else array((), lambda x=x: x) for x in state)    # noqa: E731
        loop = Loop(count, scalars(initial), lambda t, state: scalars(step(t, *(x[()] if not x.rank else x for x in state))))
        closed, twin = (lambda t, f=f: scalars(f(env, *arrays)(t)) for f in (self.right, self.twin))
        return loop, closed, twin

    def proofs(self, symbolic):
        """What the prover says of the claim and of its twin."""
        if not symbolic:
            return super().proofs(symbolic)
        loop, closed, twin = self._loop(True)
        return tuple(prove_loop(loop, form, first=self.first) for form in (closed, twin))

    def sides(self, symbolic):
        """The last state's last part after all iterations, written out; its closed form; the false one."""
        loop, closed, twin = self._loop(symbolic)
        count = loop.count
        return tuple(state[-1] for state in (loop.after(count), closed(count), twin(count)))


CLAIMS: list[LoopClaim] = []


def loop(name, sizes, inputs, left, right, twin, first=0, **options):
    claim = LoopClaim(name, sizes, inputs, left, right, twin, theme="loops and scans", **options)
    claim.first = first
    CLAIMS.append(claim)


T = dict(T=4)
loop("a running sum", T, dict(x="T"), lambda s, x: (s.T, (0,), lambda t, a: (a + x[t],)),
     lambda s, x: lambda t: (Sum(t, lambda k: x[k]),), lambda s, x: lambda t: (Sum(t, lambda k: x[k]) + 1,))
loop("a counter", T, dict(x="T"), lambda s, x: (s.T, (0,), lambda t, n: (n + 1,)), lambda s, x: lambda t: (t,), lambda s, x: lambda t: (t + 1,))
loop("a running sum of squares and its mean", T, dict(x="T"), lambda s, x: (s.T, (0, 0), lambda t, a, q: (a + x[t], q + x[t] * x[t])),
     lambda s, x: lambda t: (Sum(t, lambda k: x[k]), Sum(t, lambda k: x[k] * x[k])), lambda s, x: lambda t: (Sum(t, lambda k: x[k]), Sum(t, lambda k: x[k])))
loop("a running maximum", T, dict(x="T"), lambda s, x: (s.T, (NEG_INF,), lambda t, m: (maximum(m, x[t]),)),
     lambda s, x: lambda t: (Max(t, lambda k: x[k]),), lambda s, x: lambda t: (Sum(t, lambda k: x[k]),), first=1)
loop("a matmul's accumulator over tiles of K", dict(S=3, B=2, M=2, N=2), dict(x="M S*B", w="S*B N"),
     lambda s, x, w: (s.S, (array((s.M, s.N), lambda i, j: 0),), lambda t, a: (a + array((s.M, s.N), lambda i, j: Sum(s.B, lambda l: x[i, t * s.B + l] * w[t * s.B + l, j])),)),
     lambda s, x, w: lambda t: (array((s.M, s.N), lambda i, j: Sum(t * s.B, lambda k: x[i, k] * w[k, j])),),
     lambda s, x, w: lambda t: (array((s.M, s.N), lambda i, j: Sum(t * s.B, lambda k: x[i, k] * w[s.S * s.B - 1 - k, j])),))


def online(s, x):
    def step(t, m, l):
        new = maximum(m, x[t])
        return new, l * exp(m - new) + exp(x[t] - new)
    return s.T, (NEG_INF, 0), step


def online_closed(t, x):
    m = Max(t, lambda k: x[k])
    return m, Sum(t, lambda k: exp(x[k] - m))


loop("online softmax: running maximum and rescaled sum", T, dict(x="T"), online,
     lambda s, x: lambda t: online_closed(t, x), lambda s, x: lambda t: (online_closed(t, x)[0], Sum(t, lambda k: exp(x[k]))), first=1)
loop("online softmax started at a finite value", T, dict(x="T"),
     lambda s, x: (s.T, (0, 0), online(s, x)[2]),
     lambda s, x: lambda t: (lambda m: (m, Sum(t, lambda k: exp(x[k] - m))))(maximum(0, Max(t, lambda k: x[k]))),
     lambda s, x: lambda t: (lambda m: (m, 1 + Sum(t, lambda k: exp(x[k] - m))))(maximum(0, Max(t, lambda k: x[k]))), first=1)


def flash(s, q, k, v, rescale=True):
    """Attention over S blocks of B keys: maximum, sum, unnormalised output."""
    def score(i, j):
        return Sum(s.D, lambda d: q[i, d] * k[j, d])

    def step(t, m, l, o):
        block = array((s.M,), lambda i: Max(s.B, lambda b: score(i, t * s.B + b)))
        new = m.map(maximum, block)
        c = (m - new).exp()
        p = lambda i, b: exp(score(i, t * s.B + b) - new[i])    # noqa: E731
        return (new, l * c + array((s.M,), lambda i: Sum(s.B, lambda b: p(i, b))),
                o * c.unsqueeze(1) + array((s.M, s.E), lambda i, e: Sum(s.B, lambda b: p(i, b) * v[t * s.B + b, e])))
    start = (array((s.M,), lambda i: NEG_INF), array((s.M,), lambda i: 0), array((s.M, s.E), lambda i, e: 0))
    return s.S, start, step


def flash_closed(s, q, k, v, t, last=0):
    def score(i, j):
        return Sum(s.D, lambda d: q[i, d] * k[j, d])

    m = array((s.M,), lambda i: Max(t * s.B, lambda j: score(i, j)))
    return (m, array((s.M,), lambda i: Sum(t * s.B, lambda j: exp(score(i, j) - m[i]))),
            array((s.M, s.E), lambda i, e: Sum(t * s.B, lambda j: exp(score(i, j) - m[i] + last) * v[j, e])))


loop("flash attention over any number of key blocks", dict(S=2, B=2, M=2, D=1, E=1), dict(q="M D", k="S*B D", v="S*B E"), flash,
     lambda s, q, k, v: lambda t: flash_closed(s, q, k, v, t), lambda s, q, k, v: lambda t: flash_closed(s, q, k, v, t, 1), first=1)
loop("running logsumexp", T, dict(x="T"), lambda s, x: (s.T - 1, (x[0],), lambda t, r: (log(exp(r) + exp(x[t + 1])),)),
     lambda s, x: lambda t: (log(Sum(t + 1, lambda k: exp(x[k]))),), lambda s, x: lambda t: (log(Sum(t, lambda k: exp(x[k])) + 1),), minima=dict(T=2))


def welford(s, x):
    def step(t, mean, m2):
        delta = x[t] - mean
        new = mean + delta / (t + 1)
        return new, m2 + delta * (x[t] - new)
    return s.T, (0, 0), step


def moments(x, t):
    mean = Sum(t, lambda k: x[k]) / t
    return mean, Sum(t, lambda k: power(x[k] - mean, 2))


loop("Welford: mean and sum of squared deviations", T, dict(x="T"), welford,
     lambda s, x: lambda t: moments(x, t), lambda s, x: lambda t: (moments(x, t)[0], Sum(t, lambda k: power(x[k], 2))), first=1)


def chan(s, x):
    """Blocks of B merged: counts, means and sums of squared deviations (Chan)."""
    def step(t, mean, m2):
        own = Sum(s.B, lambda b: x[t * s.B + b]) / s.B
        m2_own = Sum(s.B, lambda b: power(x[t * s.B + b] - own, 2))
        n, d = t * s.B, own - mean
        return mean + d * s.B / (n + s.B), m2 + m2_own + d * d * n * s.B / (n + s.B)
    return s.S, (0, 0), step


loop("Chan: blocks' moments merged", dict(S=3, B=2), dict(x="S*B"), chan,
     lambda s, x: lambda t: moments(x, t * s.B), lambda s, x: lambda t: (moments(x, t * s.B)[0], Sum(t * s.B, lambda k: power(x[k], 2))), first=1)
DECAY = dict(b="T", g="T")
loop("a recurrence with a constant decay", T, dict(b="T", g=""), lambda s, b, g: (s.T, (0,), lambda t, h: (exp(g[()]) * h + b[t],)),
     lambda s, b, g: lambda t: (Sum(t, lambda k: exp(g[()] * (t - 1 - k)) * b[k]),), lambda s, b, g: lambda t: (Sum(t, lambda k: exp(g[()] * k) * b[k]),))
loop("a gated recurrence: decays exp(g)", T, DECAY, lambda s, b, g: (s.T, (0,), lambda t, h: (exp(g[t]) * h + b[t],)),
     lambda s, b, g: lambda t: (Sum(t, lambda k: exp(Sum(t, lambda u: where(lt(k, u), g[u], 0))) * b[k]),),
     lambda s, b, g: lambda t: (Sum(t, lambda k: exp(Sum(t, lambda u: where(le(k, u), g[u], 0))) * b[k]),))
loop("a gated recurrence in cumsum form", T, DECAY, lambda s, b, g: (s.T, (0,), lambda t, h: (exp(g[t]) * h + b[t],)),
     lambda s, b, g: lambda t: (exp(Sum(t, lambda u: g[u])) * Sum(t, lambda k: exp(-Sum(k + 1, lambda u: g[u])) * b[k]),),
     lambda s, b, g: lambda t: (exp(Sum(t, lambda u: g[u])) * Sum(t, lambda k: exp(-Sum(k, lambda u: g[u])) * b[k]),))
loop("a gated recurrence: decays of any sign", T, dict(b="T", a="T"), lambda s, b, a: (s.T, (0,), lambda t, h: (a[t] * h + b[t],)),
     lambda s, b, a: lambda t: (Sum(t, lambda k: fold("prod", t, lambda u: where(lt(k, u), a[u], 1)) * b[k]),),
     lambda s, b, a: lambda t: (Sum(t, lambda k: fold("prod", t, lambda u: where(le(k, u), a[u], 1)) * b[k]),))
loop("a running product", T, dict(x="T"), lambda s, x: (s.T, (1,), lambda t, p: (p * x[t],)),
     lambda s, x: lambda t: (fold("prod", t, lambda k: x[k]),), lambda s, x: lambda t: (fold("prod", t, lambda k: x[k] * x[k]),))
loop("a running product with its inverse", T, dict(x="T"), lambda s, x: (s.T, (1,), lambda t, p: (p / (x[t] * x[t] + 1),)),
     lambda s, x: lambda t: (1 / fold("prod", t, lambda k: x[k] * x[k] + 1),), lambda s, x: lambda t: (1 / fold("prod", t, lambda k: x[k] * x[k]),))
loop("an exponential moving average", T, dict(x="T", g=""), lambda s, x, g: (s.T, (0,), lambda t, h: (sigmoid(g[()]) * h + (1 - sigmoid(g[()])) * x[t],)),
     lambda s, x, g: lambda t: (Sum(t, lambda k: (1 - sigmoid(g[()])) * exp((t - 1 - k) * log(sigmoid(g[()]))) * x[k]),),
     lambda s, x, g: lambda t: (Sum(t, lambda k: exp((t - 1 - k) * log(sigmoid(g[()]))) * x[k]),))
loop("a state-space layer's state", dict(T=4, N=2), dict(x="T", g="T N", b="T N"),
     lambda s, x, g, b: (s.T, (array((s.N,), lambda n: 0),), lambda t, h: (array((s.N,), lambda n: exp(g[t, n]) * h[n] + b[t, n] * x[t]),)),
     lambda s, x, g, b: lambda t: (array((s.N,), lambda n: Sum(t, lambda k: exp(Sum(t, lambda u: where(lt(k, u), g[u, n], 0))) * b[k, n] * x[k])),),
     lambda s, x, g, b: lambda t: (array((s.N,), lambda n: Sum(t, lambda k: exp(Sum(t, lambda u: where(le(k, u), g[u, n], 0))) * b[k, n] * x[k])),))
loop("linear attention's state", dict(T=3, D=2, E=2), dict(k="T D", v="T E"),
     lambda s, k, v: (s.T, (array((s.D, s.E), lambda d, e: 0),), lambda t, h: (array((s.D, s.E), lambda d, e: h[d, e] + k[t, d] * v[t, e]),)),
     lambda s, k, v: lambda t: (array((s.D, s.E), lambda d, e: Sum(t, lambda j: k[j, d] * v[j, e])),),
     lambda s, k, v: lambda t: (array((s.D, s.E), lambda d, e: Sum(t, lambda j: k[j, d]) * Sum(t, lambda j: v[j, e])),))
loop("cumsum written by a loop", T, dict(x="T"),
     lambda s, x: (s.T, (array((s.T,), lambda i: 0),), lambda t, out: (array((s.T,), lambda i: out[i] + where(le(t, i), x[t], 0)),)),
     lambda s, x: lambda t: (array((s.T,), lambda i: Sum(t, lambda k: where(le(k, i), x[k], 0))),),
     lambda s, x: lambda t: (array((s.T,), lambda i: Sum(t, lambda k: where(le(i, k), x[k], 0))),))
loop("running largest absolute value", T, dict(x="T"), lambda s, x: (s.T, (0,), lambda t, m: (maximum(m, absolute(x[t])),)),
     lambda s, x: lambda t: (Max(t, lambda k: absolute(x[k])),), lambda s, x: lambda t: (Sum(t, lambda k: absolute(x[k])),), first=1)
loop("running minimum, clamped", T, dict(x="T"), lambda s, x: (s.T, (1,), lambda t, m: (minimum(m, x[t]),)),
     lambda s, x: lambda t: (minimum(1, -Max(t, lambda k: -x[k])),), lambda s, x: lambda t: (minimum(2, -Max(t, lambda k: 1 - x[k])),), first=1)
loop("an RMS over blocks, rooted late", dict(S=3, B=2), dict(x="S*B"), lambda s, x: (s.S, (0,), lambda t, q: (q + Sum(s.B, lambda b: power(x[t * s.B + b], 2)),)),
     lambda s, x: lambda t: (Sum(t * s.B, lambda k: x[k] * x[k]),), lambda s, x: lambda t: (sqrt(Sum(t * s.B, lambda k: x[k] * x[k]) + EPS),))
loop("gradient descent with momentum on a constant slope", T, dict(g=""), lambda s, g: (s.T, (0, 0), lambda t, v, w: (v + g[()], w - v)),
     lambda s, g: lambda t: (g[()] * t, -g[()] * t * (t - 1) / 2), lambda s, g: lambda t: (g[()] * t, -g[()] * t * t / 2))


loop("a merge of (max, argmax): the first of the largest", dict(T=3), dict(x="T", y="T"),
     lambda s, x, y: (s.T, (NEG_INF, 0), lambda t, m, v: (maximum(m, x[t]), where(lt(m, x[t]), y[t], v))),
     lambda s, x, y: lambda t: (lambda m: (m, Sum(t, lambda k: where(and_(eq(x[k], m), fold("all", k, lambda u: lt(x[u], m))), y[k], 0))))(Max(t, lambda k: x[k])),
     lambda s, x, y: lambda t: (lambda m: (m, Sum(t, lambda k: where(fold("all", k, lambda u: lt(x[u], m)), y[k], 0))))(Max(t, lambda k: x[k])), first=1)
HALF = Fraction(1, 2)
loop("averaging with the last: weights of a half", T, dict(x="T"), lambda s, x: (s.T, (0,), lambda t, h: (h * HALF + x[t] * HALF,)),
     lambda s, x: lambda t: (Sum(t, lambda k: exp(-(t - k) * log(2)) * x[k]),), lambda s, x: lambda t: (Sum(t, lambda k: exp(-(t - 1 - k) * log(2)) * x[k]),))
