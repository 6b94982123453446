"""Claims about tensor programs, each with a twin that is false: written in a tiny tensor language on top of formulas.

Sizes are symbols or numbers; the same claim is proved for all sizes and evaluated at small ones.
"""

# ruff: noqa: E501, E741, RUF005    a table: one line for each side of a claim
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

from samesame.formula.equal import prove_tensors_equal
from samesame.formula.expr import (
    NEG_INF,
    PI,
    Leaf,
    Load,
    Max,
    Size,
    Sum,
    and_,
    const,
    eq,
    exp,
    fn,
    le,
    log,
    lt,
    maximum,
    minimum,
    not_,
    or_,
    power,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from samesame.formula.tensor import Tensor


class Array(Tensor):
    """A tensor with the handful of operations that the claims need."""

    def new(self, shape, at, kind=None):
        return Array(shape, at, kind or self.kind)

    def map(self, f, *others, kind=None):
        arrays = [self, *(x if isinstance(x, Tensor) else Array((), lambda x=x: x) for x in others)]
        rank = max(x.rank for x in arrays)
        shape = []
        for k in range(rank):
            sizes = [x.shape[k - rank + x.rank] for x in arrays if k >= rank - x.rank]
            shape.append(next((s for s in sizes if s != 1), 1))

        def at(*i):
            def pick(x):
                own = i[rank - x.rank :]
                return x[tuple(const(0) if x.shape[d] == 1 else j for d, j in enumerate(own))]

            return f(*map(pick, arrays))

        return self.new(tuple(shape), at, kind)

    def __add__(self, other):
        return self.map(lambda x, y: x + y, other)

    def __sub__(self, other):
        return self.map(lambda x, y: x - y, other)

    def __mul__(self, other):
        return self.map(lambda x, y: x * y, other)

    def __truediv__(self, other):
        return self.map(lambda x, y: x / y, other)

    def __rsub__(self, other):
        return self.map(lambda x, y: y - x, other)

    def __rtruediv__(self, other):
        return self.map(lambda x, y: y / x, other)

    def __neg__(self):
        return self * -1

    def __pow__(self, p):
        return self.map(lambda x: power(x, p))

    __radd__, __rmul__ = __add__, __mul__

    def exp(self):
        return self.map(exp)

    def log(self):
        return self.map(log)

    def sqrt(self):
        return self.map(sqrt)

    def rsqrt(self):
        return self**Fraction(-1, 2)

    def dim(self, d):
        return d % self.rank

    def fold(self, d, f, keep):
        d = self.dim(d)
        n = self.shape[d]
        shape = self.shape[:d] + ((1,) if keep else ()) + self.shape[d + 1 :]
        return self.new(shape, lambda *i: f(n, lambda k: self[(*i[:d], k, *i[d + (1 if keep else 0) :])]))

    def sum(self, d, keep=False):
        return self.fold(d, Sum, keep)

    def amax(self, d, keep=False):
        return self.fold(d, Max, keep)

    def mean(self, d, keep=False):
        return self.sum(d, keep) / self.shape[self.dim(d)]

    def var(self, d, keep=False, correction=0):
        centred = self - self.mean(d, True)
        return (centred * centred).sum(d, keep) / (self.shape[self.dim(d)] - correction)

    def softmax(self, d):
        e = (self - self.amax(d, True)).exp()
        return e / e.sum(d, True)

    def log_softmax(self, d):
        m = self.amax(d, True)
        return self - m - (self - m).exp().sum(d, True).log()

    def logsumexp(self, d, keep=False):
        m = self.amax(d, True)
        out = (self - m).exp().sum(d, True).log() + m
        return out if keep else out.select(self.dim(d), 0)

    def __matmul__(self, other):
        k = self.shape[-1]
        batch = max(self.shape[:-2], other.shape[:-2], key=len)

        def at(*i):
            *b, m, n = i
            own = b[len(b) - self.rank + 2 :]
            theirs = b[len(b) - other.rank + 2 :]
            return Sum(k, lambda l: self[(*own, m, l)] * other[(*theirs, l, n)])

        return self.new((*batch, self.shape[-2], other.shape[-1]), at)

    def permute(self, *p):
        return self.new(tuple(self.shape[d] for d in p), lambda *i: self[tuple(i[p.index(d)] for d in range(len(p)))])

    def transpose(self, a, b):
        p = list(range(self.rank))
        p[a % self.rank], p[b % self.rank] = p[b % self.rank], p[a % self.rank]
        return self.permute(*p)

    @property
    def T(self):
        return self.transpose(0, 1)

    def select(self, d, k):
        d = self.dim(d)
        return self.new(self.shape[:d] + self.shape[d + 1 :], lambda *i: self[(*i[:d], k, *i[d:])])

    def unsqueeze(self, d):
        d %= self.rank + 1
        return self.new(self.shape[:d] + (1,) + self.shape[d:], lambda *i: self[i[:d] + i[d + 1 :]])

    def expand(self, *shape):
        off = len(shape) - self.rank
        return self.new(shape, lambda *i: self[tuple(0 if n == 1 else j for n, j in zip(self.shape, i[off:], strict=True))])

    def narrow(self, d, start, length, step=1):
        d = self.dim(d)
        shape = self.shape[:d] + (length,) + self.shape[d + 1 :]
        return self.new(shape, lambda *i: self[(*i[:d], start + step * i[d], *i[d + 1 :])])

    def split(self, sizes, d):
        out, at = [], 0
        for n in sizes:
            out.append(self.narrow(d, at, n))
            at = at + n
        return out

    def flip(self, d):
        n = self.shape[self.dim(d)]
        d = self.dim(d)
        return self.new(self.shape, lambda *i: self[(*i[:d], n - 1 - i[d], *i[d + 1 :])])

    def reshape(self, *shape):
        """Row-major: flatten, then take digits, with no cleverness at all."""

        def at(*i):
            flat = const(0)
            for j, n in zip(i, shape, strict=True):
                flat = flat * n + j
            digits = []
            for n in reversed(self.shape[1:]):
                digits.append(flat % n)
                flat = flat // n
            return self[(flat, *reversed(digits))] if self.rank else self[()]

        return self.new(shape, at)

    def pad(self, d, before, after, value=0):
        d = self.dim(d)
        n = self.shape[d]
        shape = self.shape[:d] + (before + n + after,) + self.shape[d + 1 :]

        def at(*i):
            j = i[d] - before
            inside = and_(le(0, j), lt(j, n))
            return where(inside, self[(*i[:d], j, *i[d + 1 :])], value)

        return self.new(shape, at)

    def cumsum(self, d):
        d, n = self.dim(d), self.shape[d]
        return self.new(
            self.shape,
            lambda *i: Sum(n, lambda k: where(le(k, i[d]), self[(*i[:d], k, *i[d + 1 :])], 0)),
        )

    def repeat_interleave(self, r, d):
        d = self.dim(d)
        shape = self.shape[:d] + (self.shape[d] * r,) + self.shape[d + 1 :]
        return self.new(shape, lambda *i: self[(*i[:d], i[d] // r, *i[d + 1 :])])

    def repeat(self, r, d):
        d = self.dim(d)
        n = self.shape[d]
        shape = self.shape[:d] + (n * r,) + self.shape[d + 1 :]
        return self.new(shape, lambda *i: self[(*i[:d], i[d] % n, *i[d + 1 :])])

    def take(self, ids, d=0):
        """Rows by index: out[…ids…] = self[ids[…], …]."""
        r = ids.rank
        return self.new(ids.shape + self.shape[1:], lambda *i: self[(ids[i[:r]], *i[r:])])


def array(shape, at, kind="real"):
    return Array(tuple(shape), at, kind)


def cat(arrays, d):
    d = arrays[0].dim(d)
    total = reduce(lambda a, b: a + b, (x.shape[d] for x in arrays))
    shape = arrays[0].shape[:d] + (total,) + arrays[0].shape[d + 1 :]

    def at(*i):
        out, start = None, total
        for x in reversed(arrays):
            start = start - x.shape[d]
            here = x[(*i[:d], i[d] - start, *i[d + 1 :])]
            out = here if out is None else where(lt(i[d], start + x.shape[d]), here, out)
        return out

    return arrays[0].new(shape, at)


def stack(arrays, d):
    return cat([x.unsqueeze(d) for x in arrays], d)


def linear(x, w, b=None):
    y = x @ w.transpose(-1, -2)
    return y if b is None else y + b


def tri(n, m, holds, then=1, otherwise=0):
    return array((n, m), lambda i, j: where(holds(i, j), then, otherwise))


def one_hot(ids, n):
    return array((*ids.shape, n), lambda *i: where(eq(i[-1], ids[i[:-1]]), 1, 0))


def gather_rows(x, ids):
    return array((x.shape[0],), lambda i: x[i, ids[i]])


EPS = Fraction(1, 10**6)


def rms(x, w, eps=EPS):
    return x * ((x * x).mean(-1, True) + eps).rsqrt() * w


def layer_norm(x, w, b, eps=EPS):
    c = x - x.mean(-1, True)
    return c / ((c * c).mean(-1, True) + eps).sqrt() * w + b


def rotate_half(x):
    h = x.shape[-1] // 2 if isinstance(x.shape[-1], int) else HALF[0]
    return cat([-x.narrow(-1, h, h), x.narrow(-1, 0, h)], -1)


HALF = [None]    # half of the head size, as the claim's own symbol


def silu(x):
    return x * x.map(sigmoid)


def gelu_tanh(x):
    c = sqrt(2 / PI)
    return x.map(lambda v: Fraction(1, 2) * v * (1 + tanh(c * (v + Fraction(44715, 10**6) * v * v * v))))


def attention(q, k, v, mask=None):
    s = (q @ k.transpose(-1, -2)) * power(const(q.shape[-1]), Fraction(-1, 2))
    return (s if mask is None else s + mask).softmax(-1) @ v


@dataclass
class Claim:
    name: str
    sizes: dict[str, int]
    inputs: dict[str, str | tuple[str, str, str]]    # shapes; ("ids", shape, count) for integers below count
    left: Callable
    right: Callable
    twin: Callable
    minima: dict[str, int] = field(default_factory=dict)
    theme: str = "first"

    def symbols(self):
        return {name: Size(name, self.minima.get(name, 1)) for name in self.sizes}

    def arrays(self, symbolic):
        env = self.symbols() if symbolic else dict(self.sizes)
        HALF[0] = env.get("h")
        found = []
        for name, spec in self.inputs.items():
            bound = None
            if isinstance(spec, tuple):
                _, spec, bound = spec
                bound = eval(bound, {}, env)
            shape = tuple(eval(s, {}, env) for s in spec.split())
            kind = "real" if bound is None else "int"
            source = Leaf(name, shape, kind, None if bound is None else (0, bound - 1))
            found.append(Array(shape, lambda *i, source=source: Load(source, i), kind))
        return [SizesOf(env), *found]

    def sides(self, symbolic):
        env, *arrays = self.arrays(symbolic)
        return tuple(f(env, *arrays) for f in (self.left, self.right, self.twin))

    def proofs(self, symbolic):
        """What the prover says of the claim and of its twin."""
        left, right, twin = self.sides(symbolic)
        return prove_tensors_equal(left, right), prove_tensors_equal(left, twin)


class SizesOf:
    def __init__(self, env):
        self.__dict__.update(env)


def claims_of(theme):
    """A list of claims, and the function that adds one to it."""
    claims = []

    def claim(name, sizes, inputs, left, right, twin, **options):
        claims.append(Claim(name, sizes, inputs, left, right, twin, theme=theme, **options))

    return claims, claim


def pointwise_of(claim):
    """A claim about functions of x (and what else there is) at one place."""

    def pointwise(name, left, right, twin, inputs=None):
        sides = (lambda s, x, *more, f=f: x.map(f, *more) for f in (left, right, twin))
        claim(name, dict(T=64), inputs or dict(x="T"), *sides)

    return pointwise


def relu(v):
    return maximum(v, 0)


def clamp(v, low, high):
    return minimum(maximum(v, low), high)


CLAIMS, claim = claims_of("model blocks")


# ------------------------------------------------------------------------------------------------------------ projections

claim("fused QKV linear, then split", dict(T=2, K=3, N=2, M=4), dict(x="T K", w1="N K", w2="M K", b1="N", b2="M"),
      lambda s, x, w1, w2, b1, b2: cat([linear(x, w1, b1), linear(x, w2, b2)], 1),
      lambda s, x, w1, w2, b1, b2: cat(linear(x, cat([w1, w2], 0), cat([b1, b2], 0)).split([s.N, s.M], 1), 1),
      lambda s, x, w1, w2, b1, b2: cat(linear(x, cat([w1, w2], 0), cat([b1, b2.flip(0)], 0)).split([s.N, s.M], 1), 1))
claim("one part of a fused linear", dict(T=2, K=3, N=2, M=4), dict(x="T K", w="N+M K"),
      lambda s, x, w: linear(x, w.narrow(0, s.N, s.M)),
      lambda s, x, w: linear(x, w).split([s.N, s.M], 1)[1],
      lambda s, x, w: linear(x, w).split([s.M, s.N], 1)[0])
claim("matmul reassociated", dict(T=2, K=3, N=4, R=2), dict(x="T K", a="K N", b="N R"),
      lambda s, x, a, b: (x @ a) @ b, lambda s, x, a, b: x @ (a @ b), lambda s, x, a, b: (x @ a) @ b.flip(0))
claim("LoRA merged", dict(T=2, K=3, N=4, R=2), dict(x="T K", w="N K", a="R K", b="N R"),
      lambda s, x, w, a, b: linear(x, w) + 2 * linear(linear(x, a), b),
      lambda s, x, w, a, b: linear(x, w + 2 * (b @ a)), lambda s, x, w, a, b: linear(x, w + b @ a))
claim("linear attention reassociated", dict(T=3, D=2, E=2), dict(q="T D", k="T D", v="T E"),
      lambda s, q, k, v: (q @ k.T) @ v, lambda s, q, k, v: q @ (k.T @ v), lambda s, q, k, v: (k @ q.T) @ v)
claim("mean-pool of a linear", dict(T=3, K=2, N=2), dict(x="T K", w="N K", b="N"),
      lambda s, x, w, b: linear(x, w, b).mean(0), lambda s, x, w, b: linear(x.mean(0, True), w, b).select(0, 0),
      lambda s, x, w, b: linear(x.sum(0, True), w, b).select(0, 0))
claim("heads concatenated and projected", dict(T=2, H=2, D=3, N=2), dict(y="H T D", w="N H*D"),
      lambda s, y, w: linear(y.transpose(0, 1).reshape(s.T, s.H * s.D), w),
      lambda s, y, w: array((s.T, s.N), lambda t, n: Sum((s.H, s.D), lambda h, d: y[h, t, d] * w[n, h * s.D + d])),
      lambda s, y, w: array((s.T, s.N), lambda t, n: Sum((s.H, s.D), lambda h, d: y[h, t, d] * w[n, d * s.H + h])))
claim("projection in heads, each head its rows", dict(T=2, H=2, D=3, K=2), dict(x="T K", w="H*D K"),
      lambda s, x, w: linear(x, w).reshape(s.T, s.H, s.D).transpose(0, 1),
      lambda s, x, w: x @ w.reshape(s.H, s.D, s.K).transpose(1, 2),
      lambda s, x, w: (x @ w.reshape(s.D, s.H, s.K).permute(1, 2, 0)) if s.H == s.D else x @ w.reshape(s.H, s.D, s.K).flip(1).transpose(1, 2))
claim("trace is cyclic", dict(T=2, D=3, N=2), dict(a="T D", b="D N", c="N T"),
      lambda s, a, b, c: ((a @ b) * c.T).sum(1).sum(0), lambda s, a, b, c: ((b @ c) * a.T).sum(1).sum(0),
      lambda s, a, b, c: ((b @ c) * a.T).sum(1).sum(0) * 2)
claim("six symmetric loads", dict(T=2), dict(a="T T", b="T T"),
      lambda s, a, b: ((a @ a @ a) * (b @ b @ b).T).sum(1).sum(0), lambda s, a, b: ((b @ a @ a) * (a @ b @ b).T).sum(1).sum(0),
      lambda s, a, b: ((a @ a @ b @ a) * (b @ b).T).sum(1).sum(0))
claim("Gram matrices", dict(T=2, D=3), dict(x="T D", y="T D"),
      lambda s, x, y: ((x @ y.T) * (x @ y.T)).sum(1).sum(0), lambda s, x, y: ((x.T @ x) * (y.T @ y)).sum(1).sum(0),
      lambda s, x, y: ((x.T @ y) * (x.T @ y)).sum(1).sum(0))
claim("a sum inside a sum keeps its own index", dict(T=2, D=3), dict(x="T D"),
      lambda s, x: (x * x.sum(1, True)).sum(1), lambda s, x: x.sum(1) ** 2, lambda s, x: (x * x).sum(1))

# ------------------------------------------------------------------------------------------------------------------ norms

claim("RMS norm, two spellings", dict(T=2, D=3), dict(x="T D", w="D"),
      lambda s, x, w: rms(x, w), lambda s, x, w: w * (x / ((x * x).sum(-1, True) / s.D + EPS).sqrt()),
      lambda s, x, w: rms(x, w, EPS * 10))
claim("RMS norm as √D·x/√(|x|² + D·ε)", dict(T=2, D=3), dict(x="T D", w="D"),
      lambda s, x, w: rms(x, w),
      lambda s, x, w: w * x * sqrt(const(s.D)) / ((x * x).sum(-1, True) + s.D * EPS).sqrt(),
      lambda s, x, w: w * x * sqrt(const(s.D)) / ((x * x).sum(-1, True) + EPS).sqrt())
claim("norm weight folded into the next linear", dict(T=2, D=3, N=2), dict(x="T D", w="D", v="N D"),
      lambda s, x, w, v: linear(rms(x, w), v),
      lambda s, x, w, v: linear(x, v * w) * ((x * x).mean(-1, True) + EPS).rsqrt(),
      lambda s, x, w, v: linear(x, v * w) * (((x * w) * (x * w)).mean(-1, True) + EPS).rsqrt())
claim("layer norm with E[x²] − E[x]²", dict(T=2, D=3), dict(x="T D", w="D", b="D"),
      lambda s, x, w, b: layer_norm(x, w, b),
      lambda s, x, w, b: (x - x.mean(-1, True)) * ((x * x).mean(-1, True) - x.mean(-1, True) ** 2 + EPS).rsqrt() * w + b,
      lambda s, x, w, b: (x - x.mean(-1, True)) * ((x * x).mean(-1, True) + EPS).rsqrt() * w + b)
claim("a variance is never cut off at zero", dict(T=2, D=3), dict(x="T D", w="D", b="D"),
      lambda s, x, w, b: layer_norm(x, w, b),
      lambda s, x, w, b: (x - x.mean(-1, True)) * (((x * x).mean(-1, True) - x.mean(-1, True) ** 2).map(relu) + EPS).rsqrt() * w + b,
      lambda s, x, w, b: (x - x.mean(-1, True)) * (((x * x).mean(-1, True) - 2 * x.mean(-1, True) ** 2).map(relu) + EPS).rsqrt() * w + b)
claim("layer norm with the biased variance", dict(T=2, D=3), dict(x="T D", w="D", b="D"),
      lambda s, x, w, b: layer_norm(x, w, b),
      lambda s, x, w, b: (x - x.mean(-1, True)) / (x.var(-1, True) + EPS).sqrt() * w + b,
      lambda s, x, w, b: (x - x.mean(-1, True)) / (x.var(-1, True, 1) + EPS).sqrt() * w + b, minima=dict(D=2))
claim("layer norm forgets a shift", dict(T=2, D=3), dict(x="T D", w="D", b="D", c="T"),
      lambda s, x, w, b, c: layer_norm(x + c.unsqueeze(1), w, b), lambda s, x, w, b, c: layer_norm(x, w, b),
      lambda s, x, w, b, c: layer_norm(x * c.unsqueeze(1), w, b))
claim("variance merged from two halves (Welford)", dict(N=2, M=3), dict(x="N+M"),
      lambda s, x: x.var(0),
      lambda s, x: (lambda a, b: ((a - a.mean(0)) ** 2).sum(0) + ((b - b.mean(0)) ** 2).sum(0)
                    + (a.mean(0) - b.mean(0)) ** 2 * s.N * s.M / (s.N + s.M))(*x.split([s.N, s.M], 0)) / (s.N + s.M),
      lambda s, x: (lambda a, b: ((a - a.mean(0)) ** 2).sum(0) + ((b - b.mean(0)) ** 2).sum(0))(*x.split([s.N, s.M], 0)) / (s.N + s.M))
claim("batch norm folded into a linear", dict(T=2, K=3, O=2), dict(x="T K", w="O K", g="O", b="O", m="O", v="O"),
      lambda s, x, w, g, b, m, v: (linear(x, w) - m) * (v * v + EPS).rsqrt() * g + b,
      lambda s, x, w, g, b, m, v: (lambda k: linear(x, w * k.unsqueeze(1), b - m * k))(g / (v * v + EPS).sqrt()),
      lambda s, x, w, g, b, m, v: (lambda k: linear(x, w * k.unsqueeze(1), b - m))(g / (v * v + EPS).sqrt()))
claim("normalised by the norm", dict(T=2, D=3), dict(x="T D"),
      lambda s, x: x / (x * x).sum(-1, True).sqrt(), lambda s, x: x * ((x * x).mean(-1, True) * s.D).rsqrt(),
      lambda s, x: x * (x * x).mean(-1, True).rsqrt())

# ------------------------------------------------------------------------------------------------------------------- RoPE

claim("RoPE: rotate_half against halves", dict(H=2, T=2, h=2), dict(x="H T 2*h", c="T h", n="T h"),
      lambda s, x, c, n: x * cat([c, c], -1) + rotate_half(x) * cat([n, n], -1),
      lambda s, x, c, n: (lambda a, b: cat([a * c - b * n, b * c + a * n], -1))(*x.split([s.h, s.h], -1)),
      lambda s, x, c, n: (lambda a, b: cat([a * c + b * n, b * c - a * n], -1))(*x.split([s.h, s.h], -1)))


def halves(x, c, n):
    return x * cat([c, c], -1) + rotate_half(x) * cat([n, n], -1)


def interleaved(s, x, c, n):
    a, b = x.narrow(-1, 0, s.h, 2), x.narrow(-1, 1, s.h, 2)
    both = stack([a * c - b * n, a * n + b * c], -1)
    return both.reshape(*both.shape[:-2], 2 * s.h)


def unweave(s, w):
    return w.reshape(s.H, 2, s.h, s.K).transpose(1, 2).reshape(2 * s.H * s.h, s.K)


def heads(s, x, w):
    return linear(x, w).reshape(s.T, s.H, 2 * s.h).transpose(0, 1)


ROPE = dict(x="T K", wq="2*H*h K", wk="2*H*h K", c="T h", n="T h")
claim("RoPE: halves against interleaved with permuted weights (scores)", dict(H=2, T=2, h=2, K=2), ROPE,
      lambda s, x, wq, wk, c, n: halves(heads(s, x, wq), c, n) @ halves(heads(s, x, wk), c, n).transpose(1, 2),
      lambda s, x, wq, wk, c, n: interleaved(s, heads(s, x, unweave(s, wq)), c, n)
      @ interleaved(s, heads(s, x, unweave(s, wk)), c, n).transpose(1, 2),
      lambda s, x, wq, wk, c, n: interleaved(s, heads(s, x, wq), c, n) @ interleaved(s, heads(s, x, wk), c, n).transpose(1, 2))
claim("RoPE on [T, H·D]", dict(H=2, T=2, h=2), dict(x="T 2*H*h", c="T h", n="T h"),
      lambda s, x, c, n: (lambda y: y * cat([c, c], -1).unsqueeze(1) + rotate_half(y) * cat([n, n], -1).unsqueeze(1))(
          x.reshape(s.T, s.H, 2 * s.h)).reshape(s.T, 2 * s.H * s.h),
      lambda s, x, c, n: x * cat([c, c], -1).repeat(s.H, 1)
      + (lambda y: cat([-y.select(2, 1), y.select(2, 0)], -1).reshape(s.T, 2 * s.H * s.h))(x.reshape(s.T, s.H, 2, s.h))
      * cat([n, n], -1).repeat(s.H, 1),
      lambda s, x, c, n: x * cat([c, c], -1).repeat(s.H, 1)
      + (lambda y: cat([y.select(2, 1), -y.select(2, 0)], -1).reshape(s.T, 2 * s.H * s.h))(x.reshape(s.T, s.H, 2, s.h))
      * cat([n, n], -1).repeat(s.H, 1))

# -------------------------------------------------------------------------------------------------------------- attention

claim("repeat_kv against grouped heads", dict(G=2, R=2, T=2, D=2), dict(q="G*R T D", k="G T D"),
      lambda s, q, k: q @ k.unsqueeze(1).expand(s.G, s.R, s.T, s.D).reshape(s.G * s.R, s.T, s.D).transpose(1, 2),
      lambda s, q, k: (q.reshape(s.G, s.R, s.T, s.D) @ k.unsqueeze(1).expand(s.G, s.R, s.T, s.D).transpose(2, 3)).reshape(s.G * s.R, s.T, s.T),
      lambda s, q, k: q @ k.repeat(s.R, 0).transpose(1, 2))
claim("repeat_interleave is expand and reshape", dict(G=2, R=2, T=2, D=2), dict(k="G T D"),
      lambda s, k: k.unsqueeze(1).expand(s.G, s.R, s.T, s.D).reshape(s.G * s.R, s.T, s.D),
      lambda s, k: k.repeat_interleave(s.R, 0), lambda s, k: k.repeat(s.R, 0))
QKV = dict(q="H T D", k="H T D", v="H T D")
HTD = dict(H=2, T=3, D=2)


def causal(s):
    return tri(s.T, s.T, lambda i, j: le(j, i), 0, NEG_INF)


claim("attention scaled before or after", HTD, QKV,
      lambda s, q, k, v: attention(q, k, v), lambda s, q, k, v: (q @ k.transpose(1, 2) / sqrt(const(s.D))).softmax(-1) @ v,
      lambda s, q, k, v: (q @ k.transpose(1, 2) / s.D).softmax(-1) @ v)
claim("causal: additive mask against where", HTD, QKV,
      lambda s, q, k, v: attention(q, k, v, causal(s)),
      lambda s, q, k, v: (lambda x: x.new(x.shape, lambda h, i, j: where(lt(i, j), NEG_INF, x[h, i, j])))(
          q @ k.transpose(1, 2) / sqrt(const(s.D))).softmax(-1) @ v,
      lambda s, q, k, v: (lambda x: x.new(x.shape, lambda h, i, j: where(lt(i + 1, j), NEG_INF, x[h, i, j])))(
          q @ k.transpose(1, 2) / sqrt(const(s.D))).softmax(-1) @ v)
claim("causal: masked exponentials, late division", HTD, QKV,
      lambda s, q, k, v: attention(q, k, v, causal(s)),
      lambda s, q, k, v: (lambda e: (e @ v) / e.sum(-1, True))(
          (q @ k.transpose(1, 2) / sqrt(const(s.D))).exp() * tri(s.T, s.T, lambda i, j: le(j, i))),
      lambda s, q, k, v: (lambda e: ((e * tri(s.T, s.T, lambda i, j: le(j, i))) @ v) / e.sum(-1, True))(
          (q @ k.transpose(1, 2) / sqrt(const(s.D))).exp()))
claim("causal sum over the first i + 1 keys only", HTD, QKV,
      lambda s, q, k, v: attention(q, k, v, causal(s)),
      lambda s, q, k, v: (lambda e: array((s.H, s.T, s.D), lambda h, i, d: Sum(i + 1, lambda j: e[h, i, j] * v[h, j, d])
                                          / Sum(i + 1, lambda j: e[h, i, j])))((q @ k.transpose(1, 2) / sqrt(const(s.D))).exp()),
      lambda s, q, k, v: (lambda e: array((s.H, s.T, s.D), lambda h, i, d: Sum(i + 1, lambda j: e[h, i, j] * v[h, j, d])
                                          / Sum(s.T, lambda j: e[h, i, j])))((q @ k.transpose(1, 2) / sqrt(const(s.D))).exp()))
claim("sliding window, two masks", dict(T=4, D=2, W=2), dict(q="T D", k="T D", v="T D"),
      lambda s, q, k, v: (lambda x: x.new(x.shape, lambda i, j: where(and_(le(j, i), lt(i - j, s.W)), x[i, j], NEG_INF)))(
          q @ k.T).softmax(-1) @ v,
      lambda s, q, k, v: (lambda x: x.new(x.shape, lambda i, j: where(or_(lt(i, j), le(j + s.W, i)), NEG_INF, x[i, j])))(
          q @ k.T).softmax(-1) @ v,
      lambda s, q, k, v: (lambda x: x.new(x.shape, lambda i, j: where(or_(lt(i, j), lt(j + s.W, i)), NEG_INF, x[i, j])))(
          q @ k.T).softmax(-1) @ v)
claim("softmax needs no shift", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.softmax(-1), lambda s, x: x.exp() / x.exp().sum(-1, True), lambda s, x: x.exp() / (x.exp().sum(-1, True) + 1))
claim("softmax of a shifted row", dict(T=2, N=3), dict(x="T N", c="T"),
      lambda s, x, c: (x + c.unsqueeze(1)).softmax(-1), lambda s, x, c: x.softmax(-1), lambda s, x, c: (x * c.unsqueeze(1)).softmax(-1))
claim("log-softmax is x − logsumexp", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.log_softmax(-1), lambda s, x: x - x.exp().sum(-1, True).log(), lambda s, x: x - x.exp().mean(-1, True).log())
claim("exp of log-softmax", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.log_softmax(-1).exp(), lambda s, x: x.softmax(-1), lambda s, x: x.softmax(0))
claim("logsumexp with and without a shift", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x.logsumexp(-1), lambda s, x: x.exp().sum(-1).log(), lambda s, x: x.exp().sum(-1).log() + 1)


def merged(q, k, v, n, m, bad=False):
    def part(k, v):
        x = q @ k.T
        top = x.amax(-1, True)
        e = (x - top).exp()
        return top, e.sum(-1, True), e @ v

    (m1, l1, o1), (m2, l2, o2) = (part(*kv) for kv in zip(k.split([n, m], 0), v.split([n, m], 0), strict=True))
    top = m1.map(maximum, m2)
    a, b = (m1 - top).exp(), (m2 - top).exp()
    return (a * o1 + b * o2) / ((l1 + l2) if bad else (a * l1 + b * l2))


claim("two key blocks merged online", dict(T=2, N=2, M=3, D=2), dict(q="T D", k="N+M D", v="N+M D"),
      lambda s, q, k, v: (q @ k.T).softmax(-1) @ v, lambda s, q, k, v: merged(q, k, v, s.N, s.M),
      lambda s, q, k, v: merged(q, k, v, s.N, s.M, True))
claim("two key blocks from separate caches", dict(T=2, N=2, M=3, D=2), dict(q="T D", k="N D", v="N D", k2="M D", v2="M D"),
      lambda s, q, k, v, k2, v2: (q @ cat([k, k2], 0).T).softmax(-1) @ cat([v, v2], 0),
      lambda s, q, k, v, k2, v2: merged(q, cat([k, k2], 0), cat([v, v2], 0), s.N, s.M),
      lambda s, q, k, v, k2, v2: ((q @ k.T).softmax(-1) @ v + (q @ k2.T).softmax(-1) @ v2) / 2)
claim("one more key appended to a cache", dict(T=3, D=2), dict(q="D", k="T D", n="D", v="T D", m="D"),
      lambda s, q, k, n, v, m: (cat([k, n.unsqueeze(0)], 0) @ q.unsqueeze(1)).softmax(0).T @ cat([v, m.unsqueeze(0)], 0),
      lambda s, q, k, n, v, m: (lambda e, f: (e.T @ v + f * m) / (e.sum(0, True) + f))(
          (k @ q.unsqueeze(1)).exp(), (n.unsqueeze(0) @ q.unsqueeze(1)).exp()),
      lambda s, q, k, n, v, m: (lambda e, f: (e.T @ v + f * m) / (e.sum(0, True) + f))(
          (k @ q.unsqueeze(1)).exp(), (q.unsqueeze(0) @ q.unsqueeze(1)).exp()))

# -------------------------------------------------------------------------------------------------------------------- MLP

claim("SwiGLU with fused gate and up", dict(T=2, K=2, N=3), dict(x="T K", g="N K", u="N K"),
      lambda s, x, g, u: silu(linear(x, g)) * linear(x, u),
      lambda s, x, g, u: (lambda a, b: silu(a) * b)(*linear(x, cat([g, u], 0)).split([s.N, s.N], 1)),
      lambda s, x, g, u: (lambda a, b: silu(b) * a)(*linear(x, cat([g, u], 0)).split([s.N, s.N], 1)))
claim("SiLU as x/(1 + exp(−x))", dict(T=3), dict(x="T"),
      lambda s, x: silu(x), lambda s, x: x / (1 + (-x).exp()), lambda s, x: x / (1 + x.exp()))
claim("σ(−x) = 1 − σ(x)", dict(T=3), dict(x="T"),
      lambda s, x: (-x).map(sigmoid), lambda s, x: 1 - x.map(sigmoid), lambda s, x: 1 + x.map(sigmoid))
claim("tanh as 2σ(2x) − 1", dict(T=3), dict(x="T"),
      lambda s, x: x.map(tanh), lambda s, x: 2 * (2 * x).map(sigmoid) - 1, lambda s, x: 2 * x.map(sigmoid) - 1)
claim("GELU tanh as x·σ(2u)", dict(T=3), dict(x="T"),
      lambda s, x: gelu_tanh(x),
      lambda s, x: x * x.map(lambda v: sigmoid(2 * sqrt(2 / PI) * (v + Fraction(44715, 10**6) * power(v, 3)))),
      lambda s, x: x * x.map(lambda v: sigmoid(Fraction(1702, 1000) * v)))
claim("GELU with erf of −x", dict(T=3), dict(x="T"),
      lambda s, x: x.map(lambda v: v / 2 * (1 + fn("erf")(v / sqrt(const(2))))),
      lambda s, x: x.map(lambda v: v * (Fraction(1, 2) - fn("erf")(-v * power(const(2), Fraction(-1, 2))) / 2)),
      lambda s, x: gelu_tanh(x))
claim("ReLU as where", dict(T=3), dict(x="T"),
      lambda s, x: x.map(lambda v: maximum(v, 0)) * x, lambda s, x: x.map(lambda v: where(lt(0, v), v, 0)) * x,
      lambda s, x: x.map(lambda v: where(lt(v, 0), v, 0)) * x)
claim("relu(x) − relu(−x) = x", dict(T=3), dict(x="T"),
      lambda s, x: x.map(lambda v: maximum(v, 0) - maximum(-v, 0)), lambda s, x: x + 0, lambda s, x: -x)
claim("max(x + 1, 1) = max(x, 0) + 1", dict(T=3), dict(x="T"),
      lambda s, x: x.map(lambda v: maximum(v + 1, 1)), lambda s, x: x.map(lambda v: maximum(v, 0) + 1),
      lambda s, x: x.map(lambda v: maximum(v, 0)))
claim("max and min add up", dict(T=3), dict(x="T", y="T"),
      lambda s, x, y: x.map(maximum, y) + x.map(minimum, y), lambda s, x, y: x + y, lambda s, x, y: x - y)
claim("a comparison and its complement", dict(T=3), dict(x="T", y="T"),
      lambda s, x, y: x.map(lambda a, b: where(lt(a, b), a, b), y), lambda s, x, y: x.map(lambda a, b: where(le(b, a), b, a), y),
      lambda s, x, y: x.map(lambda a, b: where(le(b, a), a, b), y))

# ------------------------------------------------------------------------------------------------------- losses, embedding

IDS = dict(x="T V", y=("ids", "T", "V"))
claim("cross entropy: log-softmax gathered", dict(T=2, V=3), IDS,
      lambda s, x, y: -gather_rows(x.log_softmax(-1), y).mean(0), lambda s, x, y: (x.logsumexp(-1) - gather_rows(x, y)).mean(0),
      lambda s, x, y: (x.logsumexp(-1) - gather_rows(x, y)).sum(0))
claim("cross entropy: one-hot", dict(T=2, V=3), IDS,
      lambda s, x, y: -gather_rows(x.log_softmax(-1), y).mean(0),
      lambda s, x, y: -(one_hot(y, s.V) * x.log_softmax(-1)).sum(1).sum(0) / s.T,
      lambda s, x, y: -(one_hot(y, s.V) * x.softmax(-1)).sum(1).sum(0) / s.T)
claim("embedding is a one-hot matmul", dict(T=2, V=3, D=2), dict(i=("ids", "T", "V"), w="V D"),
      lambda s, i, w: w.take(i), lambda s, i, w: one_hot(i, s.V) @ w,
      lambda s, i, w: array((s.T, s.V), lambda t, v: where(le(v, i[t]), 1, 0)) @ w)


def vocabulary_parallel(s, i, w, bad=False):
    out = 0
    for low, high in ((0, s.V), (s.V, s.V + s.U)):
        own = lambda v, low=low, high=high: and_(le(low, v), lt(v, high))    # noqa: E731
        rows = w.narrow(0, low, high - low).take(i.map(lambda v, own=own, low=low: where(not_(own(v)), 0, v - low)))
        out = rows * (1 if bad else array((s.T, 1), lambda t, _, own=own: where(own(i[t]), 1, 0))) + out
    return out


claim("vocabulary-parallel embedding on two ranks", dict(T=2, V=3, U=2, D=2), dict(i=("ids", "T", "V+U"), w="V+U D"),
      lambda s, i, w: w.take(i), lambda s, i, w: vocabulary_parallel(s, i, w), lambda s, i, w: vocabulary_parallel(s, i, w, True))
claim("mixture of experts: one-hot sum is a gather", dict(T=2, E=2, D=2, N=2), dict(x="T D", w="E N D", i=("ids", "T", "E")),
      lambda s, x, w, i: array((s.T, s.N), lambda t, n: Sum((s.E, s.D), lambda e, d: where(eq(e, i[t]), 1, 0) * w[e, n, d] * x[t, d])),
      lambda s, x, w, i: array((s.T, s.N), lambda t, n: Sum(s.D, lambda d: w[i[t], n, d] * x[t, d])),
      lambda s, x, w, i: array((s.T, s.N), lambda t, n: Sum(s.D, lambda d: w[0, n, d] * x[t, d])))

# --------------------------------------------------------------------------------------------------------------- parallel


def row_parallel(s, n, x, w, flip=False):
    xs, ws = x.split([s.K] * n, 1), w.split([s.K] * n, 0)
    return reduce(lambda a, b: a + b, (a @ b for a, b in zip(xs, ws[::-1] if flip else ws, strict=True)))


for ranks in (2, 4, 8):
    claim(f"row-parallel matmul on {ranks} ranks", dict(T=2, K=2, N=2), dict(x=f"T {ranks}*K", w=f"{ranks}*K N"),
          lambda s, x, w: x @ w, lambda s, x, w, n=ranks: row_parallel(s, n, x, w),
          lambda s, x, w, n=ranks: row_parallel(s, n, x, w, True))
for ranks in (2, 4):
    claim(f"column-parallel matmul on {ranks} ranks", dict(T=2, K=2, N=2), dict(x="T K", w=f"K {ranks}*N"),
          lambda s, x, w: x @ w, lambda s, x, w, n=ranks: cat([x @ b for b in w.split([s.N] * n, 1)], 1),
          lambda s, x, w, n=ranks: cat([x @ b for b in w.split([s.N] * n, 1)[::-1]], 1))
claim("parallel MLP on two ranks, summed", dict(T=2, K=2, N=2), dict(x="T K", a="2*N K", b="K 2*N"),
      lambda s, x, a, b: linear(silu(linear(x, a)), b),
      lambda s, x, a, b: reduce(lambda p, q: p + q, (linear(silu(linear(x, p)), q) for p, q in zip(
          a.split([s.N, s.N], 0), b.split([s.N, s.N], 1), strict=True))),
      lambda s, x, a, b: reduce(lambda p, q: p + q, (linear(silu(linear(x, p)), q) for p, q in zip(
          a.split([s.N, s.N], 0), b.split([s.N, s.N], 1)[::-1], strict=True))))
claim("row-parallel with the bias added once", dict(T=2, K=2, N=2), dict(x="T 2*K", w="2*K N", b="N"),
      lambda s, x, w, b: x @ w + b, lambda s, x, w, b: row_parallel(s, 2, x, w) + b, lambda s, x, w, b: row_parallel(s, 2, x, w) + 2 * b)
claim("split-K into four", dict(T=2, K=2, N=2), dict(x="T 4*K", w="4*K N"),
      lambda s, x, w: x @ w,
      lambda s, x, w: (x.reshape(s.T, 4, s.K).transpose(0, 1) @ w.reshape(4, s.K, s.N)).sum(0),
      lambda s, x, w: (x.reshape(s.T, s.K, 4).permute(2, 0, 1) @ w.reshape(4, s.K, s.N)).sum(0))
claim("split-K into any number", dict(T=2, S=3, K=2, N=2), dict(x="T S*K", w="S*K N"),
      lambda s, x, w: x @ w,
      lambda s, x, w: (x.reshape(s.T, s.S, s.K).transpose(0, 1) @ w.reshape(s.S, s.K, s.N)).sum(0),
      lambda s, x, w: (x.reshape(s.T, s.K, s.S).permute(2, 0, 1) @ w.reshape(s.S, s.K, s.N)).sum(0))

# --------------------------------------------------------------------------------------------------------------- movement

claim("cumsum is a triangular matmul", dict(T=3, N=2), dict(x="T N"),
      lambda s, x: x.cumsum(0), lambda s, x: tri(s.T, s.T, lambda i, j: le(j, i)) @ x, lambda s, x: tri(s.T, s.T, lambda i, j: lt(j, i)) @ x)
claim("reverse cumsum", dict(T=3, N=2), dict(x="T N"),
      lambda s, x: x.flip(0).cumsum(0).flip(0), lambda s, x: x.sum(0, True) - x.cumsum(0) + x, lambda s, x: x.sum(0, True) - x.cumsum(0))
claim("cumsum in chunks with a carry", dict(S=2, K=2, N=2), dict(x="S*K N"),
      lambda s, x: x.cumsum(0),
      lambda s, x: (lambda y: (y.cumsum(1) + (y.sum(1).cumsum(0) - y.sum(1)).unsqueeze(1)).reshape(s.S * s.K, s.N))(x.reshape(s.S, s.K, s.N)),
      lambda s, x: (lambda y: (y.cumsum(1) + y.sum(1).cumsum(0).unsqueeze(1)).reshape(s.S * s.K, s.N))(x.reshape(s.S, s.K, s.N)))
claim("linear recurrence as decay products", dict(N=2), dict(x="N 4", a="N"),
      lambda s, x, a: a * (a * (a * x.select(1, 0) + x.select(1, 1)) + x.select(1, 2)) + x.select(1, 3),
      lambda s, x, a: (x * stack([a**3, a**2, a, a * 0 + 1], 1)).sum(1), lambda s, x, a: (x * stack([a * 0 + 1, a, a**2, a**3], 1)).sum(1))
claim("decay matrix: exp of a cumsum's differences", dict(T=3, N=2), dict(x="T N", g="T"),
      lambda s, x, g: ((g.cumsum(0).unsqueeze(1) - g.cumsum(0).unsqueeze(0)).exp() * tri(s.T, s.T, lambda i, j: le(j, i))) @ x,
      lambda s, x, g: g.cumsum(0).exp().unsqueeze(1) * ((-g.cumsum(0)).exp().unsqueeze(1) * x).cumsum(0),
      lambda s, x, g: g.cumsum(0).exp().unsqueeze(1) * (g.cumsum(0).exp().unsqueeze(1) * x).cumsum(0))
claim("average pooling is a mean over blocks", dict(B=2, h=2, w=2), dict(x="B 2*h 2*w"),
      lambda s, x: array((s.B, s.h, s.w), lambda b, i, j: Sum((2, 2), lambda p, q: x[b, 2 * i + p, 2 * j + q]) / 4),
      lambda s, x: x.reshape(s.B, s.h, 2, s.w, 2).mean(4).mean(2), lambda s, x: x.reshape(s.B, 2, s.h, 2, s.w).mean(3).mean(1))
claim("max over blocks", dict(T=2, N=2, M=3), dict(x="T N+M"),
      lambda s, x: x.amax(1), lambda s, x: x.narrow(1, 0, s.N).amax(1).map(maximum, x.narrow(1, s.N, s.M).amax(1)),
      lambda s, x: x.narrow(1, 0, s.N).amax(1).map(maximum, x.narrow(1, s.N, s.M).sum(1)))
claim("max over overlapping blocks", dict(T=2, N=2, M=3), dict(x="T N+M"),
      lambda s, x: x.amax(1), lambda s, x: x.narrow(1, 0, s.N + 1).amax(1).map(maximum, x.narrow(1, s.N, s.M).amax(1)),
      lambda s, x: x.narrow(1, 0, s.N).amax(1) + x.narrow(1, s.N, s.M).amax(1))
claim("a constant leaves a maximum", dict(T=2, N=3), dict(x="T N", c="T"),
      lambda s, x, c: (x + c.unsqueeze(1)).amax(1), lambda s, x, c: x.amax(1) + c, lambda s, x, c: (x * c.unsqueeze(1)).amax(1))
claim("pad, then slice", dict(T=2, N=3, p=2), dict(x="T N"),
      lambda s, x: x + 0, lambda s, x: x.pad(1, s.p, s.p).narrow(1, s.p, s.N), lambda s, x: x.pad(1, s.p, s.p).narrow(1, s.p - 1, s.N))
claim("concat of slices", dict(T=2, N=2, M=3), dict(x="T N+M"),
      lambda s, x: x * 2, lambda s, x: cat([x.narrow(1, 0, s.N), x.narrow(1, s.N, s.M)], 1) + x,
      lambda s, x: cat([x.narrow(1, s.M, s.N), x.narrow(1, 0, s.M)], 1) + x)
claim("padded parts add up to a concat", dict(T=2, N=2, M=3), dict(x="T N", y="T M"),
      lambda s, x, y: cat([x, y], 1), lambda s, x, y: x.pad(1, 0, s.M) + y.pad(1, s.N, 0), lambda s, x, y: x.pad(1, s.M, 0) + y.pad(1, s.N, 0))
claim("flips cancel", dict(T=2, N=3), dict(x="T N"),
      lambda s, x: x + 0, lambda s, x: x.flip(1).flip(0).flip(1).flip(0), lambda s, x: x.flip(1).flip(0))
claim("both operands flipped", dict(T=2, K=3, N=2), dict(x="T K", w="K N"),
      lambda s, x, w: x @ w, lambda s, x, w: x.flip(1) @ w.flip(0), lambda s, x, w: x.flip(1) @ w)


def roll(x, d, n, shift):
    return x.new(x.shape, lambda *i: x[(*i[:d], (i[d] - shift) % n, *i[d + 1 :])])


claim("roll is a concat of slices", dict(T=2, N=5), dict(x="T N"),
      lambda s, x: roll(x, 1, s.N, 2), lambda s, x: cat([x.narrow(1, s.N - 2, 2), x.narrow(1, 0, s.N - 2)], 1),
      lambda s, x: roll(x, 1, s.N, -2), minima=dict(N=3))
claim("both operands rolled", dict(T=2, K=5, N=2), dict(x="T K", w="K N"),
      lambda s, x, w: x @ w, lambda s, x, w: roll(x, 1, s.K, 3) @ roll(w, 0, s.K, 3), lambda s, x, w: roll(x, 1, s.K, 3) @ roll(w, 0, s.K, 2),
      minima=dict(K=4))
claim("convolution is a matmul on patches", dict(C=2, O=2, N=3), dict(x="C N", w="O C 3"),
      lambda s, x, w: array((s.O, s.N), lambda o, n: Sum((s.C, 3), lambda c, k: w[o, c, k] * x.pad(1, 1, 1)[c, n + k])),
      lambda s, x, w: w.reshape(s.O, s.C * 3) @ array((s.C, 3, s.N), lambda c, k, n: x.pad(1, 1, 1)[c, n + k]).reshape(s.C * 3, s.N),
      lambda s, x, w: w.transpose(1, 2).reshape(s.O, s.C * 3) @ array((s.C, 3, s.N), lambda c, k, n: x.pad(1, 1, 1)[c, n + k]).reshape(s.C * 3, s.N))
claim("patch embedding is a linear", dict(C=2, O=2, h=2, w=2), dict(x="C 3*h 3*w", k="O C 3 3"),
      lambda s, x, k: array((s.O, s.h, s.w), lambda o, i, j: Sum((s.C, 3, 3), lambda c, p, q: k[o, c, p, q] * x[c, 3 * i + p, 3 * j + q])),
      lambda s, x, k: linear(x.reshape(s.C, s.h, 3, s.w, 3).permute(1, 3, 0, 2, 4).reshape(s.h, s.w, 9 * s.C), k.reshape(s.O, 9 * s.C)).permute(2, 0, 1),
      lambda s, x, k: linear(x.reshape(s.C, s.h, 3, s.w, 3).permute(1, 3, 0, 4, 2).reshape(s.h, s.w, 9 * s.C), k.reshape(s.O, 9 * s.C)).permute(2, 0, 1))
claim("causal linear attention in chunks", dict(S=2, K=2, D=2), dict(q="S*K D", k="S*K D", v="S*K D"),
      lambda s, q, k, v: ((q @ k.T) * tri(s.S * s.K, s.S * s.K, lambda i, j: le(j, i))) @ v,
      lambda s, q, k, v: (lambda q, k, v: (((q @ k.transpose(1, 2)) * tri(s.K, s.K, lambda i, j: le(j, i))) @ v
                          + q @ ((k.transpose(1, 2) @ v).cumsum(0) - k.transpose(1, 2) @ v)).reshape(s.S * s.K, s.D))(
          *(x.reshape(s.S, s.K, s.D) for x in (q, k, v))),
      lambda s, q, k, v: (lambda q, k, v: (((q @ k.transpose(1, 2)) * tri(s.K, s.K, lambda i, j: le(j, i))) @ v
                          + q @ (k.transpose(1, 2) @ v).cumsum(0)).reshape(s.S * s.K, s.D))(
          *(x.reshape(s.S, s.K, s.D) for x in (q, k, v))))
claim("attention block: norm, QKV, heads, causal attention, projection", dict(T=2, D=2, H=2, d=2),
      dict(x="T D", g="D", w="3*H*d D", o="D H*d"),
      lambda s, x, g, w, o: (lambda q, k, v: linear(attention(q, k, v, causal(s)).transpose(0, 1).reshape(s.T, s.H * s.d), o))(
          *(t.reshape(s.T, s.H, s.d).transpose(0, 1) for t in linear(rms(x, g), w).split([s.H * s.d] * 3, 1))),
      lambda s, x, g, w, o: (lambda y, p: array((s.T, s.D), lambda t, n: Sum((s.H, s.d), lambda h, e: y[h, t, e] * p[n, h, e])))(
          attention(*(linear(rms(x, array((s.D,), lambda i: 1)), w * g).reshape(s.T, 3, s.H, s.d).permute(1, 2, 0, 3).select(0, k)
                      for k in range(3)), causal(s)), o.reshape(s.D, s.H, s.d)),
      lambda s, x, g, w, o: (lambda y, p: array((s.T, s.D), lambda t, n: Sum((s.H, s.d), lambda h, e: y[h, t, e] * p[n, h, e])))(
          attention(*(linear(rms(x, array((s.D,), lambda i: 1)), w * g).reshape(s.T, s.H, 3, s.d).permute(2, 1, 0, 3).select(0, k)
                      for k in range(3)), causal(s)), o.reshape(s.D, s.H, s.d)))
