"""Laws that do not hold, or hold only under a condition that is not there.

Each stands in several places: by itself, under a sum, in an exponential, behind a mask, in a softmax. Some are false
for nearly every input; some only where a number is negative, a size odd, or an index at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random

from false_claims import FalseClaim, measured
from true_claims import Sides

from samesame.formula.expr import (
    NEG_INF,
    Expr,
    Max,
    Min,
    Size,
    Sum,
    absolute,
    compare,
    const,
    eq,
    exp,
    fn,
    index,
    le,
    log,
    lt,
    maximum,
    minimum,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from samesame.formula.tensor import leaf

N, M = Size("N", 1), Size("M", 1)
i, j = index(N), index(M)
X, Y, W = leaf("x", (N,)), leaf("y", (N,)), leaf("w", (N,))
Z, U, S, V = leaf("z", (N, M)), leaf("u", (N, M)), leaf("s", (M, M)), leaf("v", (M, N))
FLAG, ROW = leaf("flag", (N,), "bool"), leaf("row", (N, M), "bool")
IDS = leaf("ids", (N,), "int", (0, N - 1))
x, y, w, z, flag, ids = X[i], Y[i], W[i], Z[i, j], FLAG[i], IDS[i]
floor, round_, sign = fn("floor"), fn("round"), fn("sign")


def relu(e: Expr) -> Expr:
    return maximum(e, 0)


def dot(f: Callable[[Expr], Expr]) -> Expr:
    return Sum(M, f)


def softmax(f: Callable[[Expr], Expr], size: Expr = M) -> Callable[[Expr], Expr]:
    return lambda k: exp(f(k)) / Sum(size, lambda m: exp(f(m)))


def rms(k: Expr, below: Expr) -> Expr:
    return sqrt(Sum(M, lambda m: Z[k, m] * Z[k, m]) / below)


# fmt: off
LAWS: dict[str, tuple[Expr, Expr]] = {
    # norms and quotients of tensors
    "(X/Y)W = (XW)/Y": (dot(lambda k: Z[i, k] / U[i, k] * S[k, j]), dot(lambda k: Z[i, k] * S[k, j]) / U[i, j]),
    "(X/Y)W = (XW)/Y, Y by columns": (dot(lambda k: Z[i, k] / S[0, k] * S[k, j]),
                                      dot(lambda k: Z[i, k] * S[k, j]) / S[0, j]),
    "(X·Y)W = (XW)·Y": (dot(lambda k: Z[i, k] * U[i, k] * S[k, j]), dot(lambda k: Z[i, k] * S[k, j]) * U[i, j]),
    "x/rms(x) = x/‖x‖": (z / rms(i, M), z / rms(i, const(1))),
    "x/rms(x) = x/mean|x|": (z / rms(i, M), z * M / Sum(M, lambda k: absolute(Z[i, k]))),
    "a norm by rows is one by columns": (z / rms(i, M), z / sqrt(Sum(N, lambda k: Z[k, j] * Z[k, j]) / M)),
    "the mean is over N − 1": (Sum(M, lambda k: Z[i, k]) / M, Sum(M, lambda k: Z[i, k]) / (M + 1)),
    "Σ xy = Σ x · Σ y": (dot(lambda k: Z[i, k] * V[k, i]), dot(lambda k: Z[i, k]) * dot(lambda k: V[k, i])),
    "Σ x/y = Σ x / Σ y": (dot(lambda k: Z[i, k] / exp(V[k, i])), dot(lambda k: Z[i, k]) / dot(lambda k: exp(V[k, i]))),
    "Σ x² = (Σ x)²": (dot(lambda k: Z[i, k] ** 2), dot(lambda k: Z[i, k]) ** 2),
    "AB = BA": (dot(lambda k: S[j, k] * V[k, i]), dot(lambda k: S[k, j] * V[k, i])),
    "a gram matrix from the other side": (dot(lambda k: S[j, k] * S[j, k]), dot(lambda k: S[k, j] * S[k, j])),
    # roots, powers, absolute values
    "√x² = x": (sqrt(x * x), x),
    "|x| = x": (absolute(x), x),
    "|x + y| = |x| + |y|": (absolute(x + y), absolute(x) + absolute(y)),
    "|x|y = |xy|": (absolute(x) * y, absolute(x * y)),
    "√(x² + y²) = |x| + |y|": (sqrt(x * x + y * y), absolute(x) + absolute(y)),
    "(x + y)² = x² + y²": ((x + y) ** 2, x**2 + y**2),
    "(x²)^3/2 = x³": ((x**2) ** Fraction(3, 2), x**3),
    "1/(x + y) = 1/x + 1/y": (1 / (x + y), 1 / x + 1 / y),
    "√|xy| = √(xy) and beyond": (sqrt(absolute(x * y)), absolute(x) ** Fraction(1, 2) * absolute(y)),
    "sign(x)·x = x": (sign(x) * x, x),
    "sign(x + y) = sign(x)": (sign(x + y), sign(x)),
    # exponentials and logarithms
    "exp(x + y) = exp x + exp y": (exp(x + y), exp(x) + exp(y)),
    "exp(xy) = exp x · exp y": (exp(x * y), exp(x) * exp(y)),
    "log Σ exp = Σ": (log(dot(lambda k: exp(Z[i, k]))), dot(lambda k: Z[i, k])),
    "log Σ exp = max": (log(dot(lambda k: exp(Z[i, k]))), Max(M, lambda k: Z[i, k])),
    "log(1 + exp x) = max(x, 0)": (log(1 + exp(x)), relu(x)),
    "log x² = 2 log x without |·|": (log(x * x), 2 * log(absolute(x) + 1)),
    "σ(−x) = −σ(x)": (sigmoid(-x), -sigmoid(x)),
    "σ(x) = tanh(x)/2 + 1/2": (sigmoid(x), tanh(x) / 2 + Fraction(1, 2)),
    "σ(x)² + σ(−x)² = 1": (sigmoid(x) ** 2 + sigmoid(-x) ** 2, const(1)),
    "tanh(x + y) = tanh x + tanh y": (tanh(x + y), tanh(x) + tanh(y)),
    "softmax(2x) = 2 softmax(x)": (softmax(lambda k: 2 * Z[i, k])(j), 2 * softmax(lambda k: Z[i, k])(j)),
    "softmax over the other axis": (softmax(lambda k: Z[i, k])(j), softmax(lambda k: Z[k, j], N)(i)),
    "softmax with a shift by columns": (softmax(lambda k: Z[i, k] - V[k, i])(j), softmax(lambda k: Z[i, k])(j)),
    "softmax of zeros where masked": (softmax(lambda k: where(ROW[i, k], Z[i, k], NEG_INF))(j),
                                      softmax(lambda k: where(ROW[i, k], Z[i, k], 0))(j)),
    "mask after softmax": (softmax(lambda k: where(ROW[i, k], Z[i, k], NEG_INF))(j),
                           where(ROW[i, j], softmax(lambda k: Z[i, k])(j), 0)),
    # maxima
    "max(xy, xz) = x·max(y, z)": (maximum(x * y, x * w), x * maximum(y, w)),
    "max(x + y, x + z) = x + max(y, x)": (maximum(x + y, x + w), x + maximum(y, x)),
    "max = min": (maximum(x, y), minimum(x, y)),
    "relu(x + y) = relu x + relu y": (relu(x + y), relu(x) + relu(y)),
    "relu(−x) = −relu(x)": (relu(-x), -relu(x)),
    "relu(xy) = relu x · relu y": (relu(x * y), relu(x) * relu(y)),
    "relu(xy) is 0 for negative x": (relu(x * y), where(lt(0, x), x * relu(y), 0)),
    "relu(xy) = −x·relu(y) for negative x": (relu(x * y), where(lt(0, x), x * relu(y), -x * relu(y))),
    "relu(x²y) = x²y": (relu(x * x * y), x * x * y),
    "relu(x³y) = |x|³·relu y": (relu(x**3 * y), absolute(x) ** 3 * relu(y)),
    "|xyw| = |x|·y·|w|": (absolute(x * y * w), absolute(x) * y * absolute(w)),
    "a power's clamp: ends swapped": (minimum(maximum(exp(x), 2), 3), maximum(minimum(exp(x), 2), 3)),
    "min(p/q, 1) by logarithms, turned": (
        minimum(softmax(lambda k: Z[i, k])(j) / softmax(lambda k: U[i, k])(j), 1),
        exp(minimum(log(softmax(lambda k: U[i, k])(j)) - log(softmax(lambda k: Z[i, k])(j)), 0))),
    "max(p, q) by unnormalised powers": (maximum(softmax(lambda k: Z[i, k])(j), softmax(lambda k: U[i, k])(j)),
                                         where(lt(Z[i, j], U[i, j]), softmax(lambda k: U[i, k])(j),
                                               softmax(lambda k: Z[i, k])(j))),
    "clamp: ends swapped": (maximum(minimum(x, 1), -1), maximum(minimum(x, -1), 1)),
    "clamp once is enough": (maximum(minimum(x, 1), -1), minimum(x, 1)),
    "Σ max = max Σ": (dot(lambda k: maximum(Z[i, k], V[k, i])),
                      maximum(dot(lambda k: Z[i, k]), dot(lambda k: V[k, i]))),
    "max Σ over swapped axes": (Max(N, lambda k: Sum(M, lambda m: Z[k, m])),
                                Sum(M, lambda m: Max(N, lambda k: Z[k, m]))),
    "max of a product": (Max(M, lambda k: x * Z[i, k]), x * Max(M, lambda k: Z[i, k])),
    "max x = −max(−x)": (Max(M, lambda k: Z[i, k]), -Max(M, lambda k: -Z[i, k])),
    "min and max meet": (Max(N, lambda k: Min(M, lambda m: Z[k, m])), Min(M, lambda m: Max(N, lambda k: Z[k, m]))),
    "the maximum is the first": (Max(M, lambda k: Z[i, k]), Z[i, 0]),
    "a max over all but the last": (Max(M, lambda k: Z[i, k]), Max(M, lambda k: Z[i, maximum(k - 1, 0)])),
    # rounding
    "⌊x + y⌋ = ⌊x⌋ + ⌊y⌋": (floor(x + y), floor(x) + floor(y)),
    "⌊−x⌋ = −⌊x⌋": (floor(-x), -floor(x)),
    "⌊2x⌋ = 2⌊x⌋": (floor(2 * x), 2 * floor(x)),
    "round = ⌊x + ½⌋ of twice": (round_(2 * x), 2 * round_(x)),
    # indices
    "an index beside": (x, X[minimum(i + 1, N - 1)]),
    "an index from the end": (x, X[N - 1 - i]),
    "a rolled index": (x, X[(i + 1) % N]),
    "looked up twice": (X[ids], X[IDS[ids]]),
    "looked up and not": (X[ids] * x, x * x),
    "pairs swapped, odd left over": (X[minimum((i // 2) * 2 + 1, N - 1)], X[(i // 2) * 2]),
    "i // 2 · 2 = i": (X[(i // 2) * 2], x),
    "(i + j) // 2 = i // 2 + j // 2": (where(lt((i + j) // 2, N), x * ((i + j) // 2), 0),
                                       where(lt((i + j) // 2, N), x * (i // 2 + j // 2), 0)),
    "(i + j) mod 3 = i mod 3 + j mod 3": (x * ((i + j) % 3), x * (i % 3 + j % 3)),
    "3i // 2 = 3(i // 2)": (x * ((3 * i) // 2), x * 3 * (i // 2)),
    "digits of another base": (x * ((i // 2) % 2), x * ((i // 3) % 2)),
    # conditions
    "≤ is <": (where(le(i, j), z, 0), where(lt(i, j), z, 0)),
    "a causal mask the other way": (where(le(j, i), z, 0), where(le(i, j), z, 0)),
    "a window one wider": (Sum(N, lambda k: where(lt(i, k + 2), where(le(k, i), X[k], 0), 0)),
                           Sum(N, lambda k: where(lt(i, k + 3), where(le(k, i), X[k], 0), 0))),
    "a running sum without its last": (Sum(i + 1, lambda k: X[k]), Sum(i, lambda k: X[k])),
    "a running sum is a whole one": (Sum(i + 1, lambda k: X[k]), Sum(N, lambda k: X[k])),
    "branches swapped": (where(flag, x, y), where(flag, y, x)),
    "a mask forgotten": (where(flag, x, 0), x),
    "x < y means x": (where(lt(x, y), x, y), x),
    "x < y, y < x": (where(lt(x, y), x, y), where(lt(y, x), x, y)),
    "equal ids": (where(eq(ids, i), x, 0), x),
    "ids below i": (where(compare("<", ids, i), x, 0), where(compare("≤", ids, i), x, 0)),
    "one-hot of another": (Sum(N, lambda k: where(eq(k, ids), X[k], 0)), Sum(N, lambda k: where(eq(k, i), X[k], 0))),
    # sizes
    "N is even": (x * ((N // 2) * 2), x * N),
    "N is divisible by M": (x * ((N // M) * M), x * N),
    "N ≥ 2": (x * minimum(N, 2), x * 2),
    "N ≥ M": (x * maximum(N, M), x * N),
    "⌈N/2⌉ = ⌊N/2⌋": (x * ((N + 1) // 2), x * (N // 2)),
    "tiles of 2 without a mask": (Sum(N, lambda k: X[k]), Sum((N // 2, 2), lambda t, k: X[2 * t + k])),
    "tiles of M without a mask": (Sum(N, lambda k: X[k]), Sum((N // M, M), lambda t, k: X[M * t + k])),
    "two halves, the second shorter": (Sum(N, lambda k: X[k]),
                                       Sum(N // 2, lambda k: X[k]) + Sum(N // 2, lambda k: X[N // 2 + k])),
    "a slice that is all": (Sum(N - 1, lambda k: X[k]), Sum(N, lambda k: X[k])),
    "N = M": (Sum(N, lambda k: X[k]) * M, Sum(N, lambda k: X[k]) * N),
    "1/√N is 1/√M": (x * N ** Fraction(-1, 2), x * M ** Fraction(-1, 2)),
    "a sum counts one more": (Sum(N, lambda k: x), (N + 1) * x),
}

# fmt: on
PLACES: dict[str, Callable[[Expr], Expr]] = {
    "by itself": lambda e: e,
    "twice, less itself": lambda e: e + e - x,
    "times another": lambda e: e * y,
    "under a sigmoid": lambda e: sigmoid(e),
    "in an exponential": lambda e: exp(e / 4),
    "behind a mask": lambda e: where(flag, e, y),
    "squared": lambda e: e * e + w,
    "below one": lambda e: 1 / (1 + e * e),
    "in a maximum": lambda e: maximum(e, y),
    "compared": lambda e: where(lt(e, y), x, w),
    "with what is true": lambda e: e + Sum(M, lambda k: Z[i, k]) * x,
}
INSTANCES = [{"N": n, "M": m} for n, m in [(3, 4), (5, 2), (1, 3), (6, 4), (4, 1)]]


def wrong_law(name: str, place: str, random: Random) -> FalseClaim | None:
    """The law in this place, if it is false there."""
    left, right = map(PLACES[place], LAWS[name])
    sides = Sides((N, M), (i, j), left, right)
    return measured(f"{name}, {place}", "laws", "a law that does not hold", sides, random, INSTANCES)
