"""Claims about scatter, gather and index_add, convolutions and pools, scans in matrix form, and norms and attention seen
from other sides. Each has a twin that is false.
"""

# ruff: noqa: E501    a table: one line for each side of a claim
# fmt: off

from __future__ import annotations

from fractions import Fraction

from formula_claims import EPS, array, attention, cat, claims_of, layer_norm, linear, one_hot, rms

from samesame.formula.expr import NEG_INF, Max, Sum, and_, const, eq, exp, fold, le, lt, maximum, not_, sigmoid, where

CLAIMS, claim = claims_of("scatter and gather")


def index_add(base, ids, rows):
    """base[ids[t]] += rows[t] for every t."""
    return base.new(base.shape, lambda v, d: base[v, d] + Sum(rows.shape[0], lambda t: where(eq(ids[t], v), rows[t, d], 0)))


ADD, TVD = dict(w="V D", i=("ids", "T", "V"), r="T D"), dict(T=3, V=3, D=2)
claim("index_add is a one-hot matmul added", TVD, ADD, lambda s, w, i, r: index_add(w, i, r), lambda s, w, i, r: w + one_hot(i, s.V).T @ r, lambda s, w, i, r: w + one_hot(i, s.V).T @ r.flip(0) * 2)
claim("index_add twice is index_add of a sum", TVD, ADD, lambda s, w, i, r: index_add(index_add(w, i, r), i, r), lambda s, w, i, r: index_add(w, i, r * 2), lambda s, w, i, r: index_add(w, i, r))
claim("index_add of two batches is index_add of their concat", dict(T=2, U=3, V=3, D=2), dict(w="V D", i=("ids", "T", "V"), r="T D", j=("ids", "U", "V"), q="U D"),
      lambda s, w, i, r, j, q: index_add(index_add(w, i, r), j, q), lambda s, w, i, r, j, q: index_add(w, cat([i, j], 0), cat([r, q], 0)),
      lambda s, w, i, r, j, q: index_add(w, cat([i, j], 0), cat([r, q * 2], 0)))
claim("all rows of a scatter add up to all rows", TVD, ADD, lambda s, w, i, r: index_add(w * 0, i, r).sum(0), lambda s, w, i, r: r.sum(0), lambda s, w, i, r: r.sum(0) * 2)
claim("gather after scatter counts collisions", TVD, ADD, lambda s, w, i, r: index_add(w * 0, i, r).take(i),
      lambda s, w, i, r: array((s.T, s.T), lambda t, u: where(eq(i[t], i[u]), 1, 0)) @ r, lambda s, w, i, r: r + 0)
claim("a histogram is a one-hot sum", dict(T=4, V=3), dict(i=("ids", "T", "V")), lambda s, i: array((s.V,), lambda v: Sum(s.T, lambda t: where(eq(v, i[t]), 1, 0))),
      lambda s, i: one_hot(i, s.V).sum(0), lambda s, i: array((s.V,), lambda v: Sum(s.T, lambda t: where(le(v, i[t]), 1, 0))))
claim("a histogram counts everything", dict(T=4, V=3), dict(i=("ids", "T", "V")), lambda s, i: one_hot(i, s.V).sum(1).sum(0), lambda s, i: array((), lambda: const(s.T)), lambda s, i: array((), lambda: const(s.V) * 2))
claim("the largest of zeros and ones is whether there is a one", dict(T=4, V=3), dict(i=("ids", "T", "V")), lambda s, i: array((s.V,), lambda v: Max(s.T, lambda t: where(eq(v, i[t]), 1, 0))),
      lambda s, i: one_hot(i, s.V).sum(0).map(lambda n: where(lt(0, n), 1, 0)), lambda s, i: one_hot(i, s.V).sum(0).map(lambda n: where(lt(1, n), 1, 0)))
claim("the largest of two numbers, by what there is", dict(T=4, V=3), dict(i=("ids", "T", "V")), lambda s, i: array((s.V,), lambda v: Max(s.T, lambda t: where(lt(v, i[t]), 5, 2))),
      lambda s, i: array((s.V,), lambda v: where(lt(0, Sum(s.T, lambda t: where(lt(v, i[t]), 1, 0))), 5, 2)), lambda s, i: array((s.V,), lambda v: where(lt(0, Sum(s.T, lambda t: where(lt(i[t], v), 1, 0))), 5, 2)))
claim("a segment mean", TVD, ADD, lambda s, w, i, r: index_add(w * 0, i, r) / (one_hot(i, s.V).sum(0).unsqueeze(1) + EPS),
      lambda s, w, i, r: (one_hot(i, s.V).T @ r) / (one_hot(i, s.V).T.sum(1, True) + EPS), lambda s, w, i, r: (one_hot(i, s.V).T @ r) / s.T)
claim("scatter along the last dimension", dict(T=2, K=2, V=3), dict(i=("ids", "T K", "V"), p="T K"), lambda s, i, p: array((s.T, s.V), lambda t, v: Sum(s.K, lambda k: where(eq(i[t, k], v), p[t, k], 0))),
      lambda s, i, p: (one_hot(i, s.V) * p.unsqueeze(2)).sum(1), lambda s, i, p: one_hot(i, s.V).sum(1) * p.sum(1, True))
claim("experts' outputs combined: scatter of weights, or gather of outputs", dict(T=2, K=2, E=3, D=2), dict(i=("ids", "T K", "E"), p="T K", y="E T D"),
      lambda s, i, p, y: array((s.T, s.D), lambda t, d: Sum((s.E, s.K), lambda e, k: where(eq(i[t, k], e), p[t, k], 0) * y[e, t, d])),
      lambda s, i, p, y: array((s.T, s.D), lambda t, d: Sum(s.K, lambda k: p[t, k] * y[i[t, k], t, d])),
      lambda s, i, p, y: array((s.T, s.D), lambda t, d: Sum(s.K, lambda k: p[t, k] * y[i[t, 0], t, d])))
claim("embedding of an embedding", dict(T=2, V=3, U=2, D=2), dict(i=("ids", "T", "V"), j=("ids", "V", "U"), w="U D"),
      lambda s, i, j, w: w.take(j).take(i), lambda s, i, j, w: one_hot(i, s.V) @ (one_hot(j, s.U) @ w), lambda s, i, j, w: one_hot(i, s.V) @ (one_hot(j, s.U) @ w) * 2)
claim("a linear of an embedding is an embedding of a linear", dict(T=2, V=3, D=2, N=2), dict(i=("ids", "T", "V"), w="V D", a="N D"),
      lambda s, i, w, a: linear(w.take(i), a), lambda s, i, w, a: linear(w, a).take(i), lambda s, i, w, a: linear(w, a).take(i) * 2)
claim("an embedding with a padding row", dict(T=6, V=3, D=2), dict(i=("ids", "T", "V"), w="V D"),
      lambda s, i, w: w.take(i).map(lambda x, k: where(eq(k, 0), 0, x), i.unsqueeze(1)), lambda s, i, w: (one_hot(i, s.V) @ (w * array((s.V, 1), lambda v, _: where(lt(0, v), 1, 0)))),
      lambda s, i, w: one_hot(i, s.V) @ (w * array((s.V, 1), lambda v, _: where(le(0, v), 1, 0))))
claim("a mean over the tokens that a mask keeps", dict(T=3, D=2, L=2), dict(x="T D"),
      lambda s, x: (x * array((s.T, 1), lambda t, _: where(lt(t, s.L), 1, 0))).sum(0) / s.L, lambda s, x: array((s.D,), lambda d: Sum(s.T, lambda t: where(le(s.L, t), 0, x[t, d])) / s.L),
      lambda s, x: x.mean(0))
claim("a mean over rows that are there, if any", TVD, ADD, lambda s, w, i, r: index_add(w * 0, i, r) / one_hot(i, s.V).sum(0).unsqueeze(1).map(lambda n: maximum(n, 1)),
      lambda s, w, i, r: index_add(w * 0, i, r) / one_hot(i, s.V).sum(0).unsqueeze(1).map(lambda n: maximum(n, EPS)), lambda s, w, i, r: index_add(w * 0, i, r) / one_hot(i, s.V).sum(0).unsqueeze(1).map(lambda n: maximum(n, 2)))
claim("a mean of nothing is nothing", TVD, ADD, lambda s, w, i, r: index_add(w * 0, i, r) / one_hot(i, s.V).sum(0).unsqueeze(1).map(lambda n: maximum(n, 1)),
      lambda s, w, i, r: array((s.V, s.D), lambda v, d: where(fold("any", s.T, lambda t: eq(i[t], v)), Sum(s.T, lambda t: where(eq(i[t], v), r[t, d], 0)) / Sum(s.T, lambda t: where(eq(i[t], v), 1, 0)), 0)),
      lambda s, w, i, r: array((s.V, s.D), lambda v, d: where(fold("any", s.T, lambda t: eq(i[t], v)), Sum(s.T, lambda t: where(eq(i[t], v), r[t, d], 0)) / Sum(s.T, lambda t: where(eq(i[t], v), 1, 0)), 1)))
claim("what is counted more than not at all is there", TVD, ADD, lambda s, w, i, r: array((s.V, s.D), lambda v, d: where(lt(0, Sum(s.T, lambda t: where(eq(i[t], v), 1, 0))), w[v, d], 0)),
      lambda s, w, i, r: array((s.V, s.D), lambda v, d: where(fold("any", s.T, lambda t: eq(i[t], v)), w[v, d], 0)), lambda s, w, i, r: array((s.V, s.D), lambda v, d: where(lt(1, Sum(s.T, lambda t: where(eq(i[t], v), 1, 0))), w[v, d], 0)))
claim("a row that is looked up where it leads", TVD, ADD, lambda s, w, i, r: index_add(w * 0, i, r * w.take(i)), lambda s, w, i, r: w * index_add(w * 0, i, r), lambda s, w, i, r: w.flip(0) * index_add(w * 0, i, r))
claim("the lookup inside a function and below a sum", TVD, ADD, lambda s, w, i, r: index_add(w * 0, i, (r + w.take(i)).map(exp) / (w.take(i).map(exp) + 1)),
      lambda s, w, i, r: w.map(sigmoid) * index_add(w * 0, i, r.map(exp)), lambda s, w, i, r: w.map(sigmoid) * index_add(w * 0, i, (r * 2).map(exp)))
claim("a lookup of a lookup where it leads", dict(T=2, V=3, D=2), dict(i=("ids", "T", "V"), j=("ids", "V", "V"), w="V D"),
      lambda s, i, j, w: index_add(w * 0, i, w.take(j).take(i)), lambda s, i, j, w: w.take(j) * one_hot(i, s.V).sum(0).unsqueeze(1), lambda s, i, j, w: w * one_hot(i, s.V).sum(0).unsqueeze(1))
claim("a permutation there and back", dict(T=3, D=2), dict(x="T D"), lambda s, x: x * 1, lambda s, x: x.take(array((s.T,), lambda t: s.T - 1 - t, "int")).flip(0), lambda s, x: x.take(array((s.T,), lambda t: s.T - 1 - t, "int")))

CONVOLUTIONS, claim = claims_of("convolutions and pools")
CN = dict(x="C N+2", w="O C 3")
SIZES = dict(C=2, O=2, N=3)


def conv(s, x, w, n=None, stride=1, dilation=1, taps=3):
    return array((w.shape[0], n or s.N), lambda o, i: Sum((x.shape[0], taps), lambda c, k: w[o, c, k] * x[c, i * stride + k * dilation]))


claim("a convolution as a sum of shifted matmuls", SIZES, CN, lambda s, x, w: conv(s, x, w), lambda s, x, w: w.select(2, 0) @ x.narrow(1, 0, s.N) + w.select(2, 1) @ x.narrow(1, 1, s.N) + w.select(2, 2) @ x.narrow(1, 2, s.N),
      lambda s, x, w: w.select(2, 0) @ x.narrow(1, 0, s.N) + w.select(2, 1) @ x.narrow(1, 1, s.N) + w.select(2, 2) @ x.narrow(1, 1, s.N))
claim("a 1×1 convolution is a linear", dict(C=2, O=2, N=3), dict(x="C N", w="O C 1"), lambda s, x, w: conv(s, x, w, taps=1), lambda s, x, w: linear(x.T, w.select(2, 0)).T, lambda s, x, w: linear(x.T, w.select(2, 0)).T * 2)
claim("two convolutions of a split input add up", dict(A=1, B=2, O=2, N=3), dict(x="A+B N+2", w="O A+B 3"), lambda s, x, w: conv(s, x, w),
      lambda s, x, w: conv(s, x.narrow(0, 0, s.A), w.narrow(1, 0, s.A)) + conv(s, x.narrow(0, s.A, s.B), w.narrow(1, s.A, s.B)),
      lambda s, x, w: conv(s, x.narrow(0, 0, s.A), w.narrow(1, 0, s.A)) + conv(s, x.narrow(0, 0, s.A), w.narrow(1, 0, s.A)))
claim("output channels in two halves", dict(C=2, O=2, N=3), dict(x="C N+2", w="2*O C 3"), lambda s, x, w: conv(s, x, w), lambda s, x, w: cat([conv(s, x, p) for p in w.split([s.O, s.O], 0)], 0), lambda s, x, w: cat([conv(s, x, p) for p in w.split([s.O, s.O], 0)[::-1]], 0))
claim("two convolutions merged into one kernel", dict(C=1, O=1, N=3), dict(x="C N+4", w="O C 3", v="O O 3"),
      lambda s, x, w, v: conv(s, conv(s, x, w, s.N + 2), v), lambda s, x, w, v: array((s.O, s.N), lambda o, n: Sum((s.C, s.O, 3, 3), lambda c, m, j, k: v[o, m, j] * w[m, c, k] * x[c, n + j + k])),
      lambda s, x, w, v: array((s.O, s.N), lambda o, n: Sum((s.C, s.O, 3, 3), lambda c, m, j, k: v[o, m, j] * w[m, c, j] * x[c, n + j + k])))
claim("a depthwise convolution is a grouped one", dict(C=2, N=3), dict(x="C N+2", w="C 3"), lambda s, x, w: array((s.C, s.N), lambda c, n: Sum(3, lambda k: w[c, k] * x[c, n + k])),
      lambda s, x, w: conv(s, x, array((s.C, s.C, 3), lambda o, c, k: where(eq(o, c), w[o, k], 0))), lambda s, x, w: conv(s, x, array((s.C, s.C, 3), lambda o, c, k: where(le(o, c), w[o, k], 0))))
claim("batch norm folded into a convolution", SIZES, dict(x="C N+2", w="O C 3", g="O", m="O"), lambda s, x, w, g, m: (conv(s, x, w) - m.unsqueeze(1)) * g.unsqueeze(1),
      lambda s, x, w, g, m: conv(s, x, w * g.unsqueeze(1).unsqueeze(1)) - (m * g).unsqueeze(1), lambda s, x, w, g, m: conv(s, x, w * g.unsqueeze(1).unsqueeze(1)) - m.unsqueeze(1))
claim("padding by zeros is a narrower sum", SIZES, dict(x="C N", w="O C 3"), lambda s, x, w: conv(s, x.pad(1, 1, 1), w),
      lambda s, x, w: array((s.O, s.N), lambda o, n: Sum((s.C, s.N), lambda c, m: where(and_(le(n - 1, m), le(m, n + 1)), w[o, c, where(and_(le(n - 1, m), le(m, n + 1)), m - n + 1, 0)] * x[c, m], 0))),
      lambda s, x, w: array((s.O, s.N), lambda o, n: Sum((s.C, s.N), lambda c, m: where(and_(le(n - 1, m), le(m, n + 1)), w[o, c, where(and_(le(n - 1, m), le(m, n + 1)), n - m + 1, 0)] * x[c, m], 0))))
claim("a causal convolution sees the past", SIZES, dict(x="C N", w="O C 3"), lambda s, x, w: conv(s, x.pad(1, 2, 0), w),
      lambda s, x, w: array((s.O, s.N), lambda o, n: Sum((s.C, 3), lambda c, k: where(le(k, n), w[o, c, 2 - k] * x[c, where(le(k, n), n - k, 0)], 0))),
      lambda s, x, w: array((s.O, s.N), lambda o, n: Sum((s.C, 3), lambda c, k: where(le(k, n), w[o, c, k] * x[c, where(le(k, n), n - k, 0)], 0))))
claim("a strided convolution is a linear on blocks", dict(C=2, O=2, N=3), dict(x="C 2*N", w="O C 2"), lambda s, x, w: conv(s, x, w, stride=2, taps=2),
      lambda s, x, w: linear(x.reshape(s.C, s.N, 2).transpose(0, 1).reshape(s.N, s.C * 2), w.reshape(s.O, s.C * 2)).T, lambda s, x, w: linear(x.reshape(s.C, s.N, 2).transpose(0, 1).reshape(s.N, s.C * 2), w.flip(2).reshape(s.O, s.C * 2)).T)
claim("a dilated kernel is one with zeros between", dict(C=1, O=1, N=3), dict(x="C N+4", w="O C 3"), lambda s, x, w: conv(s, x, w, dilation=2),
      lambda s, x, w: conv(s, x, array((s.O, s.C, 5), lambda o, c, k: where(eq(k % 2, 0), w[o, c, k // 2], 0)), taps=5), lambda s, x, w: conv(s, x, array((s.O, s.C, 5), lambda o, c, k: w[o, c, k // 2]), taps=5))
claim("a transposed convolution scatters", dict(C=1, N=3), dict(x="C N", w="C 3"), lambda s, x, w: array((s.N + 2,), lambda m: Sum((s.C, s.N, 3), lambda c, n, k: where(eq(n + k, m), w[c, k] * x[c, n], 0))),
      lambda s, x, w: array((s.N + 2,), lambda m: Sum((s.C, 3), lambda c, k: w[c, k] * x.pad(1, 2, 2)[c, m + 2 - k])), lambda s, x, w: array((s.N + 2,), lambda m: Sum((s.C, 3), lambda c, k: w[c, k] * x.pad(1, 2, 2)[c, m + k])))
claim("average pooling is a convolution", dict(N=3), dict(x="1 3*N"), lambda s, x: array((1, s.N), lambda c, n: Sum(3, lambda k: x[c, 3 * n + k]) / 3), lambda s, x: conv(s, x, array((1, 1, 3), lambda *_: Fraction(1, 3)), stride=3), lambda s, x: conv(s, x, array((1, 1, 3), lambda *_: Fraction(1, 2)), stride=3))
claim("max pooling in two steps", dict(N=3), dict(x="4*N"), lambda s, x: array((s.N,), lambda n: Max(4, lambda k: x[4 * n + k])), lambda s, x: x.reshape(s.N, 2, 2).amax(2).amax(1), lambda s, x: x.reshape(2, 2, s.N).amax(1).amax(0))
claim("max pooling of a row is the row's maximum", dict(N=3, K=2), dict(x="N*K"), lambda s, x: x.amax(0), lambda s, x: x.reshape(s.N, s.K).amax(1).amax(0), lambda s, x: x.reshape(s.N, s.K).amax(1).sum(0))
claim("a product up to where data says, one step before", dict(T=6, V=3), dict(i=("ids", "T", "V"), x="V"), lambda s, i, x: array((s.T,), lambda t: 1 - fold("prod", i[t] + 1, lambda k: x[k])),
      lambda s, i, x: array((s.T,), lambda t: (1 - x[i[t]]) + x[i[t]] * (1 - where(lt(i[t], 1), 1, fold("prod", i[t], lambda k: x[k])))),
      lambda s, i, x: array((s.T,), lambda t: (1 - x[i[t]]) + x[i[t]] * (1 - where(lt(i[t], 1), 0, fold("prod", i[t], lambda k: x[k])))))
claim("a product up to an index, one step before", dict(V=4), dict(x="V"), lambda s, x: array((s.V,), lambda i: 1 - fold("prod", i + 1, lambda k: x[k])),
      lambda s, x: array((s.V,), lambda i: (1 - x[i]) + x[i] * (1 - where(lt(i, 1), 1, fold("prod", i, lambda k: x[k])))), lambda s, x: array((s.V,), lambda i: (1 - x[i]) + x[i] * (1 - where(lt(i, 1), 0, fold("prod", i, lambda k: x[k])))))
claim("a mask of −∞ is added or filled in", dict(T=3), dict(x="T T"), lambda s, x: array((s.T, s.T), lambda i, j: 2 * x[i, j] + where(lt(i, j), NEG_INF, 0)),
      lambda s, x: array((s.T, s.T), lambda i, j: where(lt(i, j), NEG_INF, 2 * x[i, j])), lambda s, x: array((s.T, s.T), lambda i, j: where(lt(i, j), NEG_INF, where(lt(j, i), 2 * x[i, j], 0))))
claim("two masks of −∞, and what they hide", dict(T=3), dict(x="T T", y="T T"), lambda s, x, y: array((s.T, s.T), lambda i, j: x[i, j] + where(lt(i, j), NEG_INF, 0) + where(lt(0, y[i, j]), NEG_INF, 0)),
      lambda s, x, y: array((s.T, s.T), lambda i, j: where(and_(le(j, i), le(y[i, j], 0)), x[i, j], NEG_INF)), lambda s, x, y: array((s.T, s.T), lambda i, j: where(le(y[i, j], 0), x[i, j], NEG_INF)))
claim("max pooling with padding of −∞", dict(N=3), dict(x="N"), lambda s, x: array((s.N,), lambda n: Max(3, lambda k: x.pad(0, 1, 1, NEG_INF)[n + k])),
      lambda s, x: array((s.N,), lambda n: Max(s.N, lambda m: where(and_(le(n - 1, m), le(m, n + 1)), x[m], NEG_INF))), lambda s, x: array((s.N,), lambda n: Max(s.N, lambda m: where(le(n - 1, m), x[m], NEG_INF))))
claim("a global mean over height and width", dict(C=2, h=2, w=3), dict(x="C h w"), lambda s, x: x.mean(2).mean(1), lambda s, x: x.reshape(s.C, s.h * s.w).mean(1), lambda s, x: x.reshape(s.C, s.h * s.w).sum(1))
claim("nearest upsampling, then average pooling", dict(N=3), dict(x="N"), lambda s, x: x * 1, lambda s, x: x.repeat_interleave(2, 0).reshape(s.N, 2).mean(1), lambda s, x: x.repeat(2, 0).reshape(s.N, 2).mean(1))
claim("pixel shuffle and back", dict(C=2, h=2, w=2), dict(x="C*4 h w"), lambda s, x: x * 1,
      lambda s, x: x.reshape(s.C, 2, 2, s.h, s.w).permute(0, 3, 1, 4, 2).reshape(s.C, 2 * s.h, 2 * s.w).reshape(s.C, s.h, 2, s.w, 2).permute(0, 2, 4, 1, 3).reshape(s.C * 4, s.h, s.w),
      lambda s, x: x.reshape(s.C, 2, 2, s.h, s.w).permute(0, 3, 1, 4, 2).reshape(s.C, 2 * s.h, 2 * s.w).reshape(s.C, s.h, 2, s.w, 2).permute(0, 4, 2, 1, 3).reshape(s.C * 4, s.h, s.w))

BLOCKS, claim = claims_of("norms, attention and scans")
claim("group norm is layer norm of groups", dict(T=2, G=2, K=3), dict(x="T G*K"),
      lambda s, x: (lambda y: ((y - y.mean(2, True)) * (y.var(2, True) + EPS).rsqrt()).reshape(s.T, s.G * s.K))(x.reshape(s.T, s.G, s.K)),
      lambda s, x: (lambda y: layer_norm(y, 1, 0).reshape(s.T, s.G * s.K))(x.reshape(s.T, s.G, s.K)), lambda s, x: layer_norm(x, 1, 0))
claim("RMS norm forgets a positive scale, without ε", dict(T=2, D=3), dict(x="T D", c="T"), lambda s, x, c: rms(x * c.exp().unsqueeze(1), 1, 0), lambda s, x, c: rms(x, 1, 0), lambda s, x, c: rms(x + c.unsqueeze(1), 1, 0))
claim("layer norm centres before it scales", dict(T=2, D=3), dict(x="T D"), lambda s, x: layer_norm(x, 1, 0).sum(1), lambda s, x: array((s.T,), lambda t: 0), lambda s, x: x.sum(1))
claim("centring as a projection matrix", dict(T=2, D=3), dict(x="T D"), lambda s, x: x - x.mean(1, True), lambda s, x: x @ array((s.D, s.D), lambda i, j: where(eq(i, j), 1, 0) - Fraction(1) / s.D), lambda s, x: x @ array((s.D, s.D), lambda i, j: where(le(i, j), 1, 0) - Fraction(1) / s.D))
claim("cosine similarity, two spellings", dict(T=2, D=3), dict(x="T D", y="T D"), lambda s, x, y: (x * y).sum(1) / ((x * x).sum(1) * (y * y).sum(1)).sqrt(),
      lambda s, x, y: ((x / (x * x).sum(1, True).sqrt()) * (y / (y * y).sum(1, True).sqrt())).sum(1), lambda s, x, y: ((x / (x * x).sum(1, True)) * (y / (y * y).sum(1, True))).sum(1))
claim("squared distances from a Gram matrix", dict(T=2, S=3, D=2), dict(x="T D", y="S D"), lambda s, x, y: array((s.T, s.S), lambda i, j: Sum(s.D, lambda d: (x[i, d] - y[j, d]) ** 2)),
      lambda s, x, y: (x * x).sum(1, True) + (y * y).sum(1).unsqueeze(0) - 2 * (x @ y.T), lambda s, x, y: (x * x).sum(1, True) + (y * y).sum(1).unsqueeze(0) - x @ y.T)
QKV, HTD = dict(q="T D", k="S D", v="S D"), dict(T=2, S=3, D=2)
claim("attention with a sink", HTD, QKV, lambda s, q, k, v: (lambda p: (p.exp() / (p.exp().sum(1, True) + 1)) @ v)(q @ k.T),
      lambda s, q, k, v: cat([q @ k.T, array((s.T, 1), lambda i, j: 0)], 1).softmax(1).narrow(1, 0, s.S) @ v, lambda s, q, k, v: (q @ k.T).softmax(1) @ v)
claim("attention of shifted values", HTD, dict(c="D", **QKV), lambda s, c, q, k, v: attention(q, k, v + c), lambda s, c, q, k, v: attention(q, k, v) + c, lambda s, c, q, k, v: attention(q, k, v) + c * 2)
claim("attention forgets a shift of all keys", HTD, dict(c="D", **QKV), lambda s, c, q, k, v: attention(q, k + c, v), lambda s, c, q, k, v: attention(q, k, v), lambda s, c, q, k, v: attention(q + c, k, v))
claim("ALiBi: a bias per distance, up to a shift", dict(T=3, D=2), dict(q="T D", k="T D", v="T D", m=""),
      lambda s, q, k, v, m: (q @ k.T + array((s.T, s.T), lambda i, j: -m[()] * (i - j))).softmax(1) @ v, lambda s, q, k, v, m: (q @ k.T + array((1, s.T), lambda _, j: m[()] * j)).softmax(1) @ v,
      lambda s, q, k, v, m: (q @ k.T + array((1, s.T), lambda _, j: -m[()] * j)).softmax(1) @ v)
claim("heads absorbed: values projected after the weights (MLA)", dict(T=2, S=3, D=2, R=2), dict(p="T S", c="S R", u="D R"), lambda s, p, c, u: p.softmax(1) @ linear(c, u), lambda s, p, c, u: linear(p.softmax(1) @ c, u), lambda s, p, c, u: linear(p @ c, u))
claim("a key that is masked for everyone can go", HTD, QKV, lambda s, q, k, v: (lambda p: p.new(p.shape, lambda i, j: where(lt(j, s.S - 1), p[i, j], NEG_INF)))(q @ k.T).softmax(1) @ v,
      lambda s, q, k, v: (q @ k.narrow(0, 0, s.S - 1).T).softmax(1) @ v.narrow(0, 0, s.S - 1), lambda s, q, k, v: (q @ k.narrow(0, 1, s.S - 1).T).softmax(1) @ v.narrow(0, 1, s.S - 1), minima=dict(S=2))
claim("segment sums: decays between two places", dict(T=3, N=2), dict(x="T N", g="T"), lambda s, x, g: array((s.T, s.T), lambda i, j: where(le(j, i), exp(Sum(s.T, lambda u: where(and_(lt(j, u), le(u, i)), g[u], 0))), 0)) @ x,
      lambda s, x, g: (lambda c: array((s.T, s.T), lambda i, j: where(le(j, i), exp(c[i] - c[j]), 0)) @ x)(g.cumsum(0)), lambda s, x, g: (lambda c: array((s.T, s.T), lambda i, j: where(le(j, i), exp(c[i] + c[j]), 0)) @ x)(g.cumsum(0)))
claim("exp of two sums is exp of one", dict(N=2, M=3), dict(x="N+M"), lambda s, x: x.sum(0).exp(), lambda s, x: x.narrow(0, 0, s.N).sum(0).exp() * x.narrow(0, s.N, s.M).sum(0).exp(), lambda s, x: x.narrow(0, 0, s.N).sum(0).exp() + x.narrow(0, s.N, s.M).sum(0).exp())
claim("cumprod of sigmoids is exp of a cumsum", dict(T=3), dict(g="T"), lambda s, g: array((s.T,), lambda i: fold("prod", i + 1, lambda u: sigmoid(g[u]))), lambda s, g: g.map(sigmoid).log().cumsum(0).exp(), lambda s, g: g.map(sigmoid).cumsum(0).log().exp())
claim("a product in two parts", dict(N=2, M=3), dict(x="N+M"), lambda s, x: array((), lambda: fold("prod", s.N + s.M, lambda k: x[k])), lambda s, x: array((), lambda: fold("prod", s.N, lambda k: x[k]) * fold("prod", s.M, lambda k: x[s.N + k])),
      lambda s, x: array((), lambda: fold("prod", s.N, lambda k: x[k]) + fold("prod", s.M, lambda k: x[s.N + k])))
claim("a product of products", dict(N=3), dict(x="N", y="N"), lambda s, x, y: array((), lambda: fold("prod", s.N, lambda k: x[k] * y[k])), lambda s, x, y: array((), lambda: fold("prod", s.N, lambda k: x[k]) * fold("prod", s.N, lambda k: y[k])),
      lambda s, x, y: array((), lambda: fold("prod", s.N, lambda k: x[k]) * fold("prod", s.N, lambda k: x[k])))
claim("a product read backwards", dict(N=3), dict(x="N"), lambda s, x: array((), lambda: fold("prod", s.N, lambda k: x[k])), lambda s, x: array((), lambda: fold("prod", s.N, lambda k: x[s.N - 1 - k])), lambda s, x: array((), lambda: fold("prod", s.N, lambda k: x[0 * k])))
claim("transmittance: what is left after each step", dict(T=3), dict(a="T"), lambda s, a: array((s.T,), lambda i: fold("prod", s.T, lambda u: where(lt(u, i), 1 - a[u], 1)) * a[i]),
      lambda s, a: array((s.T,), lambda i: fold("prod", s.T, lambda u: where(lt(u, i), 1 - a[u], 1)) - fold("prod", s.T, lambda u: where(le(u, i), 1 - a[u], 1))),
      lambda s, a: array((s.T,), lambda i: fold("prod", s.T, lambda u: where(lt(u, i), 1 - a[u], 1)) - fold("prod", s.T, lambda u: where(lt(u, i), 1 + a[u], 1))))
claim("a cumsum's last entry is the sum", dict(T=3), dict(x="T"), lambda s, x: x.cumsum(0).select(0, s.T - 1), lambda s, x: x.sum(0), lambda s, x: x.cumsum(0).select(0, 0))
claim("a cumsum in two passes: within tiles, then the carries", dict(S=2, B=3), dict(x="S*B"), lambda s, x: x.cumsum(0),
      lambda s, x: (lambda y: (y.cumsum(1) + array((s.S, 1), lambda t, _: Sum(s.S, lambda u: where(lt(u, t), Sum(s.B, lambda b: y[u, b]), 0)))).reshape(s.S * s.B))(x.reshape(s.S, s.B)),
      lambda s, x: (lambda y: (y.cumsum(1) + array((s.S, 1), lambda t, _: Sum(s.S, lambda u: where(le(u, t), Sum(s.B, lambda b: y[u, b]), 0)))).reshape(s.S * s.B))(x.reshape(s.S, s.B)))
claim("a scan by doubling: sums of 2 are sums of neighbours", dict(T=4), dict(x="T"), lambda s, x: array((s.T,), lambda i: Sum(s.T, lambda k: where(and_(le(k, i), lt(i - 4, k)), x[k], 0))),
      lambda s, x: (lambda y: array((s.T,), lambda i: y[i] + where(le(2, i), y[i - 2], 0)))(array((s.T,), lambda i: x[i] + where(le(1, i), x[i - 1], 0))),
      lambda s, x: (lambda y: array((s.T,), lambda i: y[i] + where(le(1, i), y[i - 1], 0)))(array((s.T,), lambda i: x[i] + where(le(1, i), x[i - 1], 0))))
claim("causal decay by a running maximum of none", dict(T=3), dict(x="T"), lambda s, x: array((s.T,), lambda i: Max(i + 1, lambda k: x[k])), lambda s, x: array((s.T,), lambda i: maximum(x[i], Max(s.T, lambda k: where(not_(lt(i, k)), x[k], NEG_INF)))),
      lambda s, x: array((s.T,), lambda i: Max(s.T, lambda k: x[k])))
