"""Kernels written by hand in the grammar of loop nests, as the schedules make them: with ragged ends everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from samesame.formula.expr import (
    NEG_INF,
    Expr,
    Size,
    absolute,
    and_,
    eq,
    erf,
    exp,
    floordiv,
    fn,
    lt,
    maximum,
    mod,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from samesame.optimize.ir import (
    Accumulate,
    Buffer,
    Dim,
    Kernel,
    Local,
    Program,
    Rescaled,
    Statement,
    Store,
    Tile,
    When,
    loop,
)

M, N, K, D = (Size(name, 1) for name in "MNKD")
TM, TN, TK = (Size(name, 1) for name in ("TM", "TN", "TK"))


def lying(program: Program, **strides: tuple[Dim, ...]) -> Program:
    """The program over tensors that lie otherwise in memory."""
    kernels = (replace(kernel, reads=tuple(replace(b, strides=strides.get(b.name)) for b in kernel.reads))
               for kernel in program.kernels)
    return replace(program, kernels=tuple(kernels))


def tiles(length: Dim, tile: Dim) -> Expr:
    return floordiv(length + tile - 1, tile)


def packed_linear(rows: Dim = M, dtype: str = "float32", weight: str = "") -> Program:
    """y = x·Wᵀ for few rows: W once in panels, TN rows of it side by side."""
    x, w = Buffer("x", (rows, K), dtype), Buffer("w", (N, K), weight or dtype)
    panels, y = Buffer("panels", (tiles(N, TN), K, TN), weight or dtype), Buffer("y", (rows, N), dtype)
    t, over_t = loop("parallel", tiles(N, TN))
    k, over_k = loop("serial", K)
    j, over_j = loop("vector", TN)
    value = where(lt(t * TN + j, N), w[t * TN + j, k], 0)
    pack = Kernel("pack", (w,), (panels,), (over_t(over_k(over_j(Store(panels, (t, k, j), value)))),), ahead=True)
    t, over_t = loop("parallel", tiles(N, TN))
    k, over_k = loop("serial", K)
    j, over_j = loop("vector", TN)
    i, over_i = loop("unrolled", rows)
    acc = Buffer("acc", (rows, TN))
    fold = over_k(over_i(over_j(Accumulate(acc, (i, j), x[i, k] * panels[t, k, j]))))
    i, over_i = loop("unrolled", rows)
    j, over_j = loop("vector", TN)
    out = over_i(over_j(When(lt(t * TN + j, N), (Store(y, (i, t * TN + j), acc[i, j]),))))
    multiply = Kernel("multiply", (x, panels), (y,), (over_t(Local(acc, "sum"), fold, out),))
    return Program((pack, multiply), (Tile(TN, "lanes", N),))


def tiled_linear() -> Program:
    """All three dimensions in tiles, none packed, every one ragged."""
    x, w, y, acc = Buffer("x", (M, K)), Buffer("w", (K, N)), Buffer("y", (M, N)), Buffer("acc", (TM, TN))
    s, over_s = loop("parallel", tiles(M, TM))
    t, over_t = loop("parallel", tiles(N, TN))
    u, over_u = loop("serial", tiles(K, TK))
    k, over_k = loop("unrolled", TK)
    i, over_i = loop("unrolled", TM)
    j, over_j = loop("vector", TN)
    m, n, at = s * TM + i, t * TN + j, u * TK + k
    fold = Accumulate(acc, (i, j), x[m, at] * w[at, n])
    nest = over_u(over_k(When(lt(at, K), (over_i(When(lt(m, M), (over_j(When(lt(n, N), (fold,))),))),))))
    out = over_i(over_j(When(lt(m, M), (When(lt(n, N), (Store(y, (m, n), acc[i, j]),)),))))
    return Program((Kernel("tiled", (x, w), (y,), (over_s(over_t(Local(acc, "sum"), nest, out)),)),))


def folds_beside(op: str, window: int = 0, dtype: str = "float32") -> Program:
    """The folds of a matrix's rows beside one another, TN at a time; or of windows of its columns, of each row."""
    x, y = Buffer("x", (M, window * N if window else N), dtype), Buffer("y", (M, N) if window else (N,), dtype)
    acc = Buffer("acc", (TN,), "float64" if dtype == "float64" else "float32")
    m, over_m = loop("parallel" if window else "serial", M)
    t, over_t = loop("parallel", tiles(N, TN))
    u, over_u = loop("serial", window or 1)
    i, over_i = loop("vector", TN)
    j, over_j = loop("vector", TN)
    at, to = t * TN + i, t * TN + j
    inside = When(lt(at, N), (Accumulate(acc, (i,), x[m, window * at + u] if window else x[m, at]),))
    fold = over_u(over_i(inside))
    out = over_j(When(lt(to, N), (Store(y, (m, to) if window else (to,), acc[j]),)))
    body = over_m(over_t(Local(acc, op), fold, out)) if window else over_t(Local(acc, op), over_m(fold), out)
    return Program((Kernel("beside", (x,), (y,), (body,)),))


def turned() -> Program:
    """A matrix and another that lies across it, in tiles of TM × TN."""
    x, y, z = Buffer("x", (N, M)), Buffer("y", (M, N)), Buffer("z", (M, N))
    s, over_s = loop("parallel", tiles(M, TM))
    t, over_t = loop("parallel", tiles(N, TN))
    i, over_i = loop("serial", TM)
    j, over_j = loop("vector", TN)
    m, n = s * TM + i, t * TN + j
    store = When(lt(n, N), (Store(z, (m, n), x[n, m] + y[m, n]),))
    return Program((Kernel("turned", (x, y), (z,), (over_s(over_t(over_i(When(lt(m, M), (over_j(store),))))),)),))


def rms_norm() -> Program:
    """Each row by the root of its mean square, in two passes over it."""
    x, g, y, s = Buffer("x", (M, K)), Buffer("g", (K,)), Buffer("y", (M, K)), Buffer("s", (M,))
    m, over_m = loop("parallel", M)
    k, over_k = loop("vector", K)
    squares = over_m(over_k(Accumulate(s, (m,), x[m, k] ** 2)))
    m, over_m = loop("parallel", M)
    k, over_k = loop("vector", K)
    scale = 1 / sqrt(s[m] / K + Size("N", 1) ** -1)
    out = over_m(over_k(Store(y, (m, k), x[m, k] * g[k] * scale)))
    return Program((Kernel("norm", (x, g), (y,), (Local(s, "sum"), squares, out)),))


def attention(mask: Callable[[Expr, Expr], Expr]) -> Program:
    """Softmax of q·kᵀ times v with running maxima: M queries in tiles of TM, N keys in tiles of TN, D wide. Key n is
    seen by query m where the mask says so."""
    q, k, v, y = Buffer("q", (M, D)), Buffer("k", (N, D)), Buffer("v", (N, D)), Buffer("y", (M, D))
    score, shown = Buffer("score", (TM, TN)), Buffer("shown", (TM, TN))
    top, total, out = Buffer("top", (TM,)), Buffer("total", (TM,)), Buffer("out", (TM, D))
    s, over_s = loop("parallel", tiles(M, TM))
    t, over_t = loop("serial", tiles(N, TN))

    def rows_and_keys(make: Callable[[Expr, Expr, Expr, Expr], Statement]) -> Statement:
        g, over_g = loop("unrolled", TM)
        j, over_j = loop("vector", TN)
        return over_g(over_j(make(g, j, s * TM + g, t * TN + j)))

    d, over_d = loop("serial", D)
    inside = lambda m, n: and_(lt(m, M), lt(n, N))  # noqa: E731
    scores = over_d(rows_and_keys(lambda g, j, m, n: When(
        inside(m, n), (Accumulate(score, (g, j), q[m, d] * k[n, d]),))))
    masked = rows_and_keys(lambda g, j, m, n: Store(
        shown, (g, j), where(inside(m, n), where(mask(m, n), score[g, j], NEG_INF), NEG_INF)))
    change = Rescaled(top, (total, out), (rows_and_keys(lambda g, j, m, n: Accumulate(top, (g,), shown[g, j])),))
    count = rows_and_keys(lambda g, j, m, n: Accumulate(total, (g,), exp(shown[g, j] - top[g])))
    j, over_j = loop("serial", TN)
    g, over_g = loop("unrolled", TM)
    e, over_e = loop("vector", D)
    weighted = Accumulate(out, (g, e), exp(shown[g, j] - top[g]) * v[t * TN + j, e])
    gather = over_j(When(lt(t * TN + j, N), (over_g(over_e(weighted)),)))
    each = over_t(Local(score, "sum"), Local(shown), scores, masked, change, count, gather)
    g, over_g = loop("unrolled", TM)
    e, over_e = loop("vector", D)
    end = over_g(When(lt(s * TM + g, M), (over_e(Store(y, (s * TM + g, e), out[g, e] / total[g])),)))
    begin = (Local(top, "max"), Local(total, "sum", top), Local(out, "sum", top))
    return Program((Kernel("attend", (q, k, v), (y,), (over_s(*begin, each, end),)),))


def functions(dtype: str) -> Program:
    """Everything that acts element by element, over flat positions that are split by division."""
    x, z, y = Buffer("x", (M, K), dtype), Buffer("z", (M * K,), dtype), Buffer("y", (M, K), dtype)
    again = Buffer("again", (M * K,))
    i, over_i = loop("vector", M * K)
    m, k = floordiv(i, K), mod(i, K)
    a, b = x[m, k], z[i]
    gelu = a * (1 + erf(a / sqrt(2))) / 2
    parts = [gelu, sigmoid(a) * b, tanh(a - b), exp(-absolute(b)), fn("log")(1 + a ** 2), sqrt(absolute(a))]
    chosen = where(lt(a, b), a ** 3, b) + where(eq(mod(i, 3), 1), 1, i) / 7 + fn("floor")(3 * b)
    ones = where(and_(lt(-1, a), lt(a, b)), 1, 0) * b + where(lt(b, 0), 2, 7)
    value = sum(parts, start=maximum(a, b, 0)) + chosen + ones
    twice = over_i(Store(y, (m, k), value), Store(again, (i,), value))
    return Program((Kernel("pointwise", (x, z), (y, again), (twice,)),))


def scaled_products() -> Program:
    """Products of numbers and elements in turns: summed up element by element, and stored."""
    x, z, a = (Buffer(name, (N,)) for name in "xza")
    total, y, acc = Buffer("total", (N,)), Buffer("y", (N,)), Buffer("acc", (N,))
    (k, over_k), (i, over_i), (j, over_j), (m, over_m) = (
        loop("serial", N), loop("vector", N), loop("vector", N), loop("vector", N))
    fold = over_k(over_i(Accumulate(acc, (i,), a[k] * x[i] * a[0] * z[i])))
    one = Kernel("summed", (x, z, a), (total,), (Local(acc, "sum"), fold, over_j(Store(total, (j,), acc[j]))))
    return Program((one, Kernel("stored", (x, z, a), (y,), (over_m(Store(y, (m,), a[1] * x[m] * a[0] * z[m])),))))


def where_positive() -> Program:
    """Whole numbers chosen by a condition on reals, as `(x > 0).float()` has them."""
    x, y = Buffer("x", (N,)), Buffer("y", (N,))
    i, over_i = loop("vector", N)
    return Program((Kernel("positive", (x,), (y,), (over_i(Store(y, (i,), where(lt(0, x[i]), 1, 0) * x[i])),)),))


def every_function(names: Iterable[str], dtype: str = "float32") -> Program:
    """Row k of y is the k-th function of x."""
    x, y = Buffer("x", (N,), dtype), Buffer("y", (len(several := tuple(names)), N), dtype)
    i, over_i = loop("vector", N)
    body = over_i(*(Store(y, (k, i), fn(name)(x[i])) for k, name in enumerate(several)))
    return Program((Kernel("functions", (x,), (y,), (body,)),))


def folds() -> Program:
    """Maximum and sum of each column and of each row."""
    x = Buffer("x", (M, K))
    ways = [(monoid, way) for monoid in ("max", "sum") for way in ("row", "column")]
    ys = [Buffer(f"{monoid}_{way}", (M if way == "row" else K,)) for monoid, way in ways]
    body = []
    for y, (monoid, way) in zip(ys, ways, strict=True):
        if way == "row":
            m, over_m = loop("parallel", M)
            k, over_k = loop("vector", K)
            acc = Buffer("acc", ())
            body.append(over_m(Local(acc, monoid), over_k(Accumulate(acc, (), x[m, k])), Store(y, (m,), acc[()])))
        else:
            k, over_k = loop("vector", K)
            m, over_m = loop("serial", M)
            acc = Buffer("acc", ())
            body.append(over_k(Local(acc, monoid), over_m(Accumulate(acc, (), x[m, k])), Store(y, (k,), acc[()])))
    return Program((Kernel("folds", (x,), tuple(ys), tuple(body)),))


def looked_up() -> Program:
    """Rows of a table by their numbers, and a mask of truth values."""
    ids, keep = Buffer("ids", (M,), "int64"), Buffer("keep", (K,), "bool")
    table, y = Buffer("table", (N, K)), Buffer("y", (M, K))
    m, over_m = loop("parallel", M)
    k, over_k = loop("vector", K)
    value = where(keep[k], table[ids[m], k], NEG_INF)
    return Program((Kernel("look_up", (ids, keep, table), (y,), (over_m(over_k(Store(y, (m, k), value)),),)),))


def every_other() -> Program:
    """Two sums over the rows of W in bfloat16, of every other row and of every row, whose columns are lanes."""
    x, w = Buffer("x", (K,), "bfloat16"), Buffer("w", (K, N), "bfloat16")
    y, acc, some = Buffer("y", (N,)), Buffer("acc", (TN,)), Buffer("some", (TN,))
    t, over_t = loop("parallel", tiles(N, TN))
    k, over_k = loop("serial", K)
    j, over_j = loop("vector", TN)
    n = t * TN + j
    fold = over_k(over_j(When(lt(n, N), (Accumulate(acc, (j,), x[k] * w[k, n]),))))
    k, over_k = loop("serial", K)
    j, over_j = loop("vector", TN)
    n = t * TN + j
    part = Accumulate(some, (j,), x[k] * w[k, n])
    other = over_k(When(eq(mod(k, 2), 0), (over_j(When(lt(n, N), (part,))),)))
    j, over_j = loop("vector", TN)
    n = t * TN + j
    out = over_j(When(lt(n, N), (Store(y, (n,), acc[j] + 2 * some[j]),)))
    return Program((Kernel("other", (x, w), (y,), (over_t(Local(acc, "sum"), Local(some, "sum"), fold, other, out),)),))


def row_dots(dtype: str = "float32", weight: str = "") -> Program:
    """y = W·x with rows of W in tiles of TM and lanes along K: a partial sum in each lane, in tiles of TK."""
    x, w = Buffer("x", (K,), dtype), Buffer("w", (N, K), weight or dtype)
    y, acc = Buffer("y", (N,)), Buffer("acc", (TM,))
    t, over_t = loop("parallel", tiles(N, TM))
    u, over_u = loop("serial", tiles(K, TK))
    i, over_i = loop("unrolled", TM)
    k, over_k = loop("vector", TK)
    n, at = t * TM + i, u * TK + k
    fold = over_u(over_i(When(lt(n, N), (over_k(When(lt(at, K), (Accumulate(acc, (i,), w[n, at] * x[at]),))),))))
    i2, over_i2 = loop("unrolled", TM)
    out = over_i2(When(lt(t * TM + i2, N), (Store(y, (t * TM + i2,), acc[i2]),)))
    return Program((Kernel("dots", (x, w), (y,), (over_t(Local(acc, "sum"), fold, out),)),))
