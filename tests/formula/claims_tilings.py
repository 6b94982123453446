"""Claims about loops over tiles and sums over parts: ragged ends, split-K, strides, two levels, and partitions over 2,
3, 5 and 8 parts, even and uneven. Each has a twin that is false.
"""

# ruff: noqa: E501, E741    a table: one line for each side of a claim
# fmt: off

from __future__ import annotations

from fractions import Fraction
from functools import reduce

from formula_claims import EPS, array, cat, claims_of, linear, rms, silu, stack, tri

from samesame.formula.expr import NEG_INF, Max, Sum, and_, exp, le, log, lt, maximum, minimum, not_, power, where

CLAIMS, claim = claims_of("tilings")


def ceil(n, b):
    return (n + b - 1) // b


def tiled(n, b, f, otherwise=0, fold=Sum):
    """A fold over tiles of b, the last one ragged: lanes beyond n count as `otherwise`."""
    return fold((ceil(n, b), b), lambda t, l: where(lt(t * b + l, n), f(t * b + l), otherwise))


def runs(n, parts, each, f):
    """A sum over parts, of `each` elements the one, the last ones of what is left."""
    return Sum(parts, lambda p: Sum(minimum(p * each + each, n) - p * each, lambda k: f(p * each + k)))


NB = dict(N=5, B=3)
claim("a sum over tiles with a ragged end", NB, dict(x="N"),
      lambda s, x: x.sum(0), lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: x[k])),
      lambda s, x: array((), lambda: tiled(s.N - 1, s.B, lambda k: x[k])), minima=dict(N=2))
claim("each element of ragged tiles counts once", NB, dict(x="N"),
      lambda s, x: x.sum(0) + s.N, lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: x[k] + 1)),
      lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: x[k]) + ceil(s.N, s.B) * s.B))
claim("a variance in two passes over tiles with a ragged end", NB, dict(x="N"),
      lambda s, x: array((), lambda: Sum(s.N, lambda k: power(x[k] - Sum(s.N, lambda j: x[j]) / s.N, 2))),
      lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: power(x[k] - tiled(s.N, s.B, lambda j: x[j]) / s.N, 2))),
      lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: power(x[k] - tiled(s.N, s.B, lambda j: x[j], 1) / s.N, 2))))
claim("a mean over tiles with a ragged end", NB, dict(x="N"),
      lambda s, x: x.mean(0), lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: x[k] / s.N)),
      lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: x[k]) / (ceil(s.N, s.B) * s.B)))
claim("a maximum over tiles with a ragged end", NB, dict(x="N"),
      lambda s, x: x.amax(0), lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: x[k], NEG_INF, Max)),
      lambda s, x: array((), lambda: tiled(s.N, s.B, lambda k: x[k], NEG_INF, Max) + 1))
claim("lanes first, then tiles (a grid-stride loop)", NB, dict(x="N"),
      lambda s, x: x.sum(0),
      lambda s, x: array((), lambda: Sum(s.B, lambda l: Sum(ceil(s.N, s.B), lambda t: where(lt(t * s.B + l, s.N), x[t * s.B + l], 0)))),
      lambda s, x: array((), lambda: Sum(s.B, lambda l: Sum(ceil(s.N, s.B), lambda t: where(lt(t * s.B + l + 1, s.N), x[t * s.B + l], 0)))))
claim("each part goes on in steps of all parts, to its own end", dict(N=5, S=2), dict(x="N"),
      lambda s, x: x.sum(0),
      lambda s, x: array((), lambda: Sum(s.S, lambda p: Sum((s.N - 1 - p) // s.S + 1, lambda k: x[k * s.S + p]))),
      lambda s, x: array((), lambda: Sum(s.S, lambda p: Sum((s.N - 1 - p) // s.S, lambda k: x[k * s.S + p]))))
claim("each part has a run, the length rounded up, to its own end", dict(N=5, S=3), dict(x="N"),
      lambda s, x: x.sum(0), lambda s, x: array((), lambda: runs(s.N, s.S, ceil(s.N, s.S), lambda k: x[k])),
      lambda s, x: array((), lambda: runs(s.N, s.S, ceil(s.N, s.S) - 1, lambda k: x[k])))
claim("whole tiles and a tail", dict(S=2, B=3, R=2), dict(x="S*B+R"),
      lambda s, x: x.sum(0),
      lambda s, x: array((), lambda: Sum((s.S, s.B), lambda t, l: x[t * s.B + l]) + Sum(s.R, lambda r: x[s.S * s.B + r])),
      lambda s, x: array((), lambda: Sum((s.S, s.B), lambda t, l: x[t * s.B + l]) + Sum(s.R, lambda r: x[s.S * s.B + r - 1])))
claim("two levels of tiles", dict(S=2, A=2, B=3), dict(x="S*A*B"),
      lambda s, x: x.sum(0), lambda s, x: array((), lambda: Sum((s.S, s.A, s.B), lambda t, a, b: x[(t * s.A + a) * s.B + b])),
      lambda s, x: array((), lambda: Sum((s.S, s.A, s.B), lambda t, a, b: x[(t * s.A + a) * s.B]) * 1))
claim("two levels of tiles, both ragged", dict(N=7, A=2, B=3), dict(x="N"),
      lambda s, x: x.sum(0),
      lambda s, x: array((), lambda: Sum((ceil(s.N, s.A * s.B), s.A, s.B), lambda t, a, b: (lambda k: where(lt(k, s.N), x[k], 0))((t * s.A + a) * s.B + b))),
      lambda s, x: array((), lambda: Sum((ceil(s.N, s.A * s.B), s.A, s.B), lambda t, a, b: (lambda k: where(lt(k + 1, s.N), x[k], 0))((t * s.A + a) * s.B + b))))
claim("a tile's lane finds its element", NB, dict(x="N"),
      lambda s, x: x * 2, lambda s, x: array((s.N,), lambda i: 2 * x[(i // s.B) * s.B + i % s.B]),
      lambda s, x: array((s.N,), lambda i: 2 * x[(i // s.B) * s.B]))
claim("a tiled store reaches every element once", NB, dict(x="N"),
      lambda s, x: x * 2,
      lambda s, x: array((s.N,), lambda i: tiled(s.N, s.B, lambda k: where(le(k, i), where(le(i, k), 2 * x[k], 0), 0))),
      lambda s, x: array((s.N,), lambda i: tiled(s.N, s.B, lambda k: where(le(k, i), 2 * x[k], 0))))
TKN = dict(T=2, K=5, N=2, B=3)
claim("a matmul tiled over K with a ragged end", TKN, dict(x="T K", w="K N"),
      lambda s, x, w: x @ w, lambda s, x, w: array((s.T, s.N), lambda i, j: tiled(s.K, s.B, lambda k: x[i, k] * w[k, j])),
      lambda s, x, w: array((s.T, s.N), lambda i, j: tiled(s.K, s.B, lambda k: x[i, k] * w[s.K - 1 - k, j])))
claim("a linear with a bias, tiled over K, scaled late", TKN, dict(x="T K", w="N K", b="N"),
      lambda s, x, w, b: linear(x * 3, w, b), lambda s, x, w, b: array((s.T, s.N), lambda i, j: 3 * tiled(s.K, s.B, lambda k: x[i, k] * w[j, k]) + b[j]),
      lambda s, x, w, b: array((s.T, s.N), lambda i, j: 3 * (tiled(s.K, s.B, lambda k: x[i, k] * w[j, k]) + b[j])))
claim("a matmul tiled over rows, columns and K", dict(m=2, n=2, k=2, P=2, Q=2, R=3), dict(x="m*P k*R", w="k*R n*Q"),
      lambda s, x, w: x @ w,
      lambda s, x, w: (lambda a, b: array((s.m, s.P, s.n, s.Q), lambda I, p, J, q: Sum((s.k, s.R), lambda t, l: a[I, p, t, l] * b[t, l, J, q])).reshape(s.m * s.P, s.n * s.Q))(
          x.reshape(s.m, s.P, s.k, s.R), w.reshape(s.k, s.R, s.n, s.Q)),
      lambda s, x, w: (lambda a, b: array((s.m, s.P, s.n, s.Q), lambda I, p, J, q: Sum((s.k, s.R), lambda t, l: a[I, p, t, l] * b[t, l, J, q])).reshape(s.m * s.P, s.n * s.Q))(
          x.reshape(s.P, s.m, s.k, s.R).transpose(0, 1), w.reshape(s.k, s.R, s.n, s.Q)))
claim("split-K, the chunk rounded up", dict(T=2, K=5, N=2, S=3), dict(x="T K", w="K N"),
      lambda s, x, w: x @ w,
      lambda s, x, w: array((s.T, s.N), lambda i, j: Sum((s.S, ceil(s.K, s.S)), lambda p, c: (lambda k: where(lt(k, s.K), x[i, k] * w[k, j], 0))(p * ceil(s.K, s.S) + c))),
      lambda s, x, w: array((s.T, s.N), lambda i, j: Sum((s.S, ceil(s.K, s.S)), lambda p, c: (lambda k: where(lt(k + 1, s.K), x[i, k] * w[k, j], 0))(p * ceil(s.K, s.S) + c))))
claim("split-K with strides: part p takes every S-th", dict(T=2, K=2, N=2, S=3), dict(x="T S*K", w="S*K N"),
      lambda s, x, w: x @ w,
      lambda s, x, w: array((s.T, s.N), lambda i, j: Sum((s.S, s.K), lambda p, c: x[i, c * s.S + p] * w[c * s.S + p, j])),
      lambda s, x, w: array((s.T, s.N), lambda i, j: Sum((s.S, s.K), lambda p, c: x[i, c * s.S + p] * w[p * s.K + c, j])))
claim("split-K by two, halves read with an offset", dict(T=2, K=3, N=2), dict(x="T 2*K", w="2*K N"),
      lambda s, x, w: x @ w,
      lambda s, x, w: array((s.T, s.N), lambda i, j: Sum(s.K, lambda k: x[i, k] * w[k, j] + x[i, s.K + k] * w[s.K + k, j])),
      lambda s, x, w: array((s.T, s.N), lambda i, j: Sum(s.K, lambda k: x[i, k] * w[k, j] + x[i, k] * w[s.K + k, j])))
claim("RMS norm with the sum of squares over ragged tiles", dict(T=2, D=5, B=3), dict(x="T D", w="D"),
      lambda s, x, w: rms(x, w),
      lambda s, x, w: array((s.T, s.D), lambda i, d: x[i, d] * w[d] * power(tiled(s.D, s.B, lambda k: x[i, k] * x[i, k]) / s.D + EPS, Fraction(-1, 2))),
      lambda s, x, w: array((s.T, s.D), lambda i, d: x[i, d] * w[d] * power(tiled(s.D, s.B, lambda k: x[i, k]) / s.D + EPS, Fraction(-1, 2))))
claim("softmax denominators over ragged tiles", dict(T=2, N=5, B=3), dict(x="T N"),
      lambda s, x: x.softmax(-1), lambda s, x: array((s.T, s.N), lambda i, j: exp(x[i, j]) / tiled(s.N, s.B, lambda k: exp(x[i, k]))),
      lambda s, x: array((s.T, s.N), lambda i, j: exp(x[i, j]) / tiled(s.N, s.B, lambda k: exp(x[i, k]), 1)))
claim("softmax over tiles, each with its own maximum", dict(S=2, B=3), dict(x="S*B"),
      lambda s, x: x.softmax(0),
      lambda s, x: (lambda m: array((s.S * s.B,), lambda i: exp(x[i]) / Sum(s.S, lambda t: exp(m(t)) * Sum(s.B, lambda l: exp(x[t * s.B + l] - m(t))))))(
          lambda t: Max(s.B, lambda l: x[t * s.B + l])),
      lambda s, x: (lambda m: array((s.S * s.B,), lambda i: exp(x[i]) / Sum(s.S, lambda t: Sum(s.B, lambda l: exp(x[t * s.B + l] - m(t))))))(
          lambda t: Max(s.B, lambda l: x[t * s.B + l])))
claim("logsumexp of the tiles' logsumexps", dict(S=2, B=3), dict(x="S*B"),
      lambda s, x: x.logsumexp(0), lambda s, x: x.reshape(s.S, s.B).logsumexp(1).logsumexp(0),
      lambda s, x: x.reshape(s.S, s.B).logsumexp(1).sum(0))
claim("attention over ragged key tiles", dict(T=2, N=5, D=2, B=3), dict(q="T D", k="N D", v="N D"),
      lambda s, q, k, v: (q @ k.T).softmax(-1) @ v,
      lambda s, q, k, v: (lambda p: array((s.T, s.D), lambda i, d: tiled(s.N, s.B, lambda j: exp(p[i, j]) * v[j, d]) / tiled(s.N, s.B, lambda j: exp(p[i, j]))))(q @ k.T),
      lambda s, q, k, v: (lambda p: array((s.T, s.D), lambda i, d: tiled(s.N, s.B, lambda j: exp(p[i, j]) * v[j, d]) / tiled(s.N, s.B, lambda j: exp(p[i, j]), 1)))(q @ k.T))
claim("causal attention skips the key tiles beyond the query's", dict(S=2, B=2, D=2), dict(q="S*B D", k="S*B D", v="S*B D"),
      lambda s, q, k, v: (lambda p: p.new(p.shape, lambda i, j: where(le(j, i), p[i, j], NEG_INF)))(q @ k.T).softmax(-1) @ v,
      lambda s, q, k, v: (lambda p: array((s.S * s.B, s.D), lambda i, d: _early(s, p, i, lambda j: v[j, d]) / _early(s, p, i, lambda j: 1)))(q @ k.T),
      lambda s, q, k, v: (lambda p: array((s.S * s.B, s.D), lambda i, d: _early(s, p, i, lambda j: v[j, d], 1) / _early(s, p, i, lambda j: 1)))(q @ k.T))
claim("row sums of a Gram matrix by tiles", dict(N=5, B=3, D=2), dict(x="N D"),
      lambda s, x: (x @ x.T).sum(1), lambda s, x: array((s.N,), lambda i: Sum(s.D, lambda d: x[i, d] * tiled(s.N, s.B, lambda j: x[j, d]))),
      lambda s, x: array((s.N,), lambda i: Sum(s.D, lambda d: x[i, d] * tiled(s.N, s.B, lambda j: x[i, d]))))


def _early(s, p, i, f, off=0):
    """Σ over the key tiles up to the query's own, masked within, of exp(p)·f."""
    return Sum((i // s.B + 1, s.B), lambda t, l: (lambda j: where(le(j + off, i), exp(p[i, j]) * f(j), 0))(t * s.B + l))


# ------------------------------------------------------------------------------------------------- partitions over parts


def attention_in_parts(q, k, v, n, length, bad=False):
    """Flash-decoding: each part keeps its maximum, its sum and its unnormalised output."""
    parts = []
    for i in range(n):
        p = q @ k.narrow(0, i * length, length).T
        m = p.amax(-1, True)
        e = (p - m).exp()
        parts.append((m, e.sum(-1, True), e @ v.narrow(0, i * length, length)))
    top = reduce(lambda a, b: a.map(maximum, b), (m for m, _, _ in parts))
    scaled = [((m - top).exp() if not bad else 1, l, o) for m, l, o in parts]
    return reduce(lambda a, b: a + b, (o * c for c, _, o in scaled)) / reduce(lambda a, b: a + b, (l * c for c, l, _ in scaled))


for n in (2, 3, 5, 8):
    claim(f"a sum over {n} parts", dict(T=2, K=2), dict(x=f"T {n}*K"),
          lambda s, x: x.sum(1), lambda s, x, n=n: reduce(lambda a, b: a + b, (part.sum(1) for part in x.split([s.K] * n, 1))),
          lambda s, x, n=n: reduce(lambda a, b: a + b, (part.sum(1) for part in x.split([s.K] * n, 1)[1:])))
    claim(f"a maximum over {n} parts", dict(T=2, K=2), dict(x=f"T {n}*K"),
          lambda s, x: x.amax(1), lambda s, x, n=n: stack([part.amax(1) for part in x.split([s.K] * n, 1)], 1).amax(1),
          lambda s, x, n=n: stack([part.amax(1) for part in x.split([s.K] * n, 1)], 1).sum(1))
    claim(f"logsumexp over {n} parts", dict(T=2, K=2), dict(x=f"T {n}*K"),
          lambda s, x: x.logsumexp(1), lambda s, x, n=n: stack([part.logsumexp(1) for part in x.split([s.K] * n, 1)], 1).logsumexp(1),
          lambda s, x, n=n: stack([part.logsumexp(1) for part in x.split([s.K] * n, 1)], 1).sum(1))
    claim(f"attention over {n} parts of the keys", dict(T=2, K=2, D=2), dict(q="T D", k=f"{n}*K D", v=f"{n}*K D"),
          lambda s, q, k, v: (q @ k.T).softmax(-1) @ v, lambda s, q, k, v, n=n: attention_in_parts(q, k, v, n, s.K),
          lambda s, q, k, v, n=n: attention_in_parts(q, k, v, n, s.K, True))
for n in (3, 5):
    claim(f"row-parallel on {n} ranks", dict(T=2, K=2, N=2), dict(x=f"T {n}*K", w=f"N {n}*K"),
          lambda s, x, w: linear(x, w), lambda s, x, w, n=n: reduce(lambda a, b: a + b, map(linear, x.split([s.K] * n, 1), w.split([s.K] * n, 1))),
          lambda s, x, w, n=n: reduce(lambda a, b: a + b, map(linear, x.split([s.K] * n, 1), w.split([s.K] * n, 1)[::-1])))
for n in (3, 5, 8):
    claim(f"column-parallel on {n} ranks", dict(T=2, K=2, N=2), dict(x="T K", w=f"{n}*N K", b=f"{n}*N"),
          lambda s, x, w, b: linear(x, w, b), lambda s, x, w, b, n=n: cat([linear(x, p, c) for p, c in zip(w.split([s.N] * n, 0), b.split([s.N] * n, 0), strict=True)], 1),
          lambda s, x, w, b, n=n: cat([linear(x, p, c) for p, c in zip(w.split([s.N] * n, 0), b.split([s.N] * n, 0)[::-1], strict=True)], 1))
    claim(f"MLP on {n} ranks", dict(T=2, K=2, N=2), dict(x="T K", a=f"{n}*N K", g=f"{n}*N K", b=f"K {n}*N"),
          lambda s, x, a, g, b: linear(silu(linear(x, a)) * linear(x, g), b),
          lambda s, x, a, g, b, n=n: reduce(lambda p, q: p + q, (linear(silu(linear(x, i)) * linear(x, j), k) for i, j, k in zip(a.split([s.N] * n, 0), g.split([s.N] * n, 0), b.split([s.N] * n, 1), strict=True))),
          lambda s, x, a, g, b, n=n: reduce(lambda p, q: p + q, (linear(silu(linear(x, i)) * linear(x, j), k) for i, j, k in zip(a.split([s.N] * n, 0), g.split([s.N] * n, 0)[::-1], b.split([s.N] * n, 1), strict=True))))


def parallel_rows(s, i, w, n, bad=False):
    """Vocabulary-parallel embedding: each rank looks up its own rows and zeroes the rest."""
    out = 0
    for rank in range(n):
        low = s.V * rank
        own = lambda v, low=low: and_(le(low, v), lt(v, low + s.V))    # noqa: E731
        rows = w.narrow(0, low, s.V).take(i.map(lambda v, own=own, low=low: where(not_(own(v)), 0, v - low)))
        out = rows * array((s.T, 1), lambda t, _, own=own: where(own(i[t]), 1, 0)) + out
        if bad:
            out = out + rows
    return out


for n in (3, 8):
    claim(f"vocabulary-parallel embedding on {n} ranks", dict(T=2, V=2, D=2), dict(i=("ids", "T", f"{n}*V"), w=f"{n}*V D"),
          lambda s, i, w: w.take(i), lambda s, i, w, n=n: parallel_rows(s, i, w, n), lambda s, i, w, n=n: parallel_rows(s, i, w, n, True))
PARTS = dict(A=1, B=2, C=3)
claim("three uneven parts of a matmul", dict(T=2, N=2, **PARTS), dict(x="T A+B+C", w="A+B+C N"),
      lambda s, x, w: x @ w, lambda s, x, w: reduce(lambda a, b: a + b, map(lambda a, b: a @ b, x.split([s.A, s.B, s.C], 1), w.split([s.A, s.B, s.C], 0))),
      lambda s, x, w: reduce(lambda a, b: a + b, map(lambda a, b: a @ b, x.split([s.A, s.B, s.C], 1)[1:], w.split([s.A, s.B, s.C], 0)[1:])))
claim("three uneven parts of a softmax", dict(T=2, **PARTS), dict(x="T A+B+C"),
      lambda s, x: x.softmax(1),
      lambda s, x: (lambda ps: cat([p.exp() for p in ps], 1) / reduce(lambda a, b: a + b, (p.exp().sum(1, True) for p in ps)))(x.split([s.A, s.B, s.C], 1)),
      lambda s, x: (lambda ps: cat([p.exp() / p.exp().sum(1, True) for p in ps], 1))(x.split([s.A, s.B, s.C], 1)))
claim("five uneven parts of a layer norm's statistics", dict(A=1, B=2, C=1, D=2, E=1), dict(x="A+B+C+D+E"),
      lambda s, x: x.var(0),
      lambda s, x: (lambda ps, n: reduce(lambda a, b: a + b, ((p * p).sum(0) for p in ps)) / n - (reduce(lambda a, b: a + b, (p.sum(0) for p in ps)) / n) ** 2)(
          x.split([s.A, s.B, s.C, s.D, s.E], 0), s.A + s.B + s.C + s.D + s.E),
      lambda s, x: (lambda ps, n: reduce(lambda a, b: a + b, ((p * p).sum(0) for p in ps)) / n - (reduce(lambda a, b: a + b, (p.mean(0) for p in ps)) / n) ** 2)(
          x.split([s.A, s.B, s.C, s.D, s.E], 0), s.A + s.B + s.C + s.D + s.E))
claim("rows in parts: a sequence-parallel norm", dict(A=2, B=1, D=3), dict(x="A+B D", w="D"),
      lambda s, x, w: rms(x, w), lambda s, x, w: cat([rms(p, w) for p in x.split([s.A, s.B], 0)], 0),
      lambda s, x, w: cat([rms(p, w * 2) for p in x.split([s.A, s.B], 0)], 0))
claim("cross entropy over a vocabulary in two parts", dict(T=2, A=2, B=3), dict(x="T A+B", y=("ids", "T", "A+B")),
      lambda s, x, y: array((s.T,), lambda t: -x.log_softmax(-1)[t, y[t]]),
      lambda s, x, y: array((s.T,), lambda t: log(Sum(s.A, lambda v: exp(x[t, v])) + Sum(s.B, lambda v: exp(x[t, s.A + v])))
                            - where(lt(y[t], s.A), x[t, y[t]], 0) - where(lt(y[t], s.A), 0, x[t, y[t]])),
      lambda s, x, y: array((s.T,), lambda t: log(Sum(s.A, lambda v: exp(x[t, v])) + Sum(s.B, lambda v: exp(x[t, s.A + v])))
                            - where(lt(y[t], s.A), x[t, y[t]], 0)))
claim("causal rows by halves: the lower left block is full", dict(N=2, M=2, D=2), dict(p="N+M N+M", v="N+M D"),
      lambda s, p, v: (p * tri(s.N + s.M, s.N + s.M, lambda i, j: le(j, i))) @ v,
      lambda s, p, v: cat([(p.narrow(0, 0, s.N).narrow(1, 0, s.N) * tri(s.N, s.N, lambda i, j: le(j, i))) @ v.narrow(0, 0, s.N),
                           p.narrow(0, s.N, s.M).narrow(1, 0, s.N) @ v.narrow(0, 0, s.N)
                           + (p.narrow(0, s.N, s.M).narrow(1, s.N, s.M) * tri(s.M, s.M, lambda i, j: le(j, i))) @ v.narrow(0, s.N, s.M)], 0),
      lambda s, p, v: cat([(p.narrow(0, 0, s.N).narrow(1, 0, s.N) * tri(s.N, s.N, lambda i, j: le(j, i))) @ v.narrow(0, 0, s.N),
                           p.narrow(0, s.N, s.M).narrow(1, 0, s.N) @ v.narrow(0, 0, s.N)
                           + p.narrow(0, s.N, s.M).narrow(1, s.N, s.M) @ v.narrow(0, s.N, s.M)], 0))
