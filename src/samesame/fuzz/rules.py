"""Rewrites that survive a compiler's front end, as tables that read as mathematics; each with the arithmetic it needs.

exact       bit for bit, but for the sign of a zero or of NaN
integers    bit for bit on integers, wrapping included; on floats over the reals, and only of moderate numbers
real        over the reals, and only of moderate numbers
finite      bit for bit where no number is NaN or infinite

The label chooses the oracle. tests/fuzz/test_rules.py applies every rule to values of every dtype and holds it to its
label.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from samesame.egraph import Operand, rules


class Type(NamedTuple):
    """Of a tensor; dtype as torch's name without the prefix."""

    shape: tuple[int, ...]
    dtype: str


def dtype(x: Operand) -> str:
    return str(x.type.dtype)


def shape(x: Operand) -> tuple[int, ...]:
    return tuple(x.type.shape)


def rank(x: Operand) -> int:
    return len(shape(x))


def size(x: Operand) -> int:
    return prod(shape(x))


def floating(*xs: Operand) -> bool:
    return all("float" in dtype(x) for x in xs)


def single(x: Operand) -> bool:
    """Wide enough for rewrites over the reals."""
    return dtype(x) in ("float32", "float64")


def wraps(*xs: Operand) -> bool:
    """Of one dtype, in which numbers can be added and negated: not bool."""
    return len({dtype(x) for x in xs}) == 1 and dtype(xs[0]) != "bool"


def signed(x: Operand) -> bool:
    return wraps(x) and dtype(x) != "uint8"


def fits(number: object, x: Operand) -> bool:
    """Whether a tensor of x's dtype can hold the number, and x stays what it is beside it."""
    if type(number) is float:
        return single(x) and rank(x) > 0
    return type(number) is int and (-100 if signed(x) else 0) <= number <= 100 and wraps(x) and rank(x) > 0


def cut(x: Operand, dim: int) -> Iterator[tuple[int, int]]:
    """Where a tensor is cut in two: after the first, and in the middle."""
    length = shape(x)[dim] if dim < rank(x) else 0
    yield from sorted({(at, length - at) for at in (1, length // 2) if 0 < at < length})


HELPERS = (dtype, shape, rank, size, floating, single, wraps, signed, fits, cut)
SWAPS = ("add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or")
FAMILIES = {
    "each": ("neg", "abs", "square", "relu", "sign", "floor", "ceil", "trunc", "logical_not", "bitwise_not"),
    "swaps": SWAPS, "both": (*SWAPS, "sub", "lt", "le", "gt", "ge", "logical_xor"),
    "fold": ("amax", "amin", "any", "all"), "total": ("sum", "mean"),
}  # fmt: skip

EXACT = rules("""
    commuted            swaps(x, y)         = swaps(y, x)
    lt-as-gt            lt(x, y)            = gt(y, x)
    ge-as-le            ge(x, y)            = le(y, x)
    ne-as-not-eq        ne(x, y)            = logical_not(eq(x, y))
    eq-as-not-ne        eq(x, y)            = logical_not(ne(x, y))
    and-by-or           logical_and(x, y)   = logical_not(logical_or(logical_not(x), logical_not(y)))
    xor-as-ne           logical_xor(x, y)   = ne(x, y)                          if dtype(x) == dtype(y) == "bool"
    sub-as-add          sub(x, y)           = add(x, neg(y))                    if wraps(x, y)
    add-as-sub          add(x, y)           = sub(x, neg(y))                    if wraps(x, y)
    twice               add(x, x)           = mul_number(x; 2)                  if wraps(x)
    once-more           mul_number(x; n)    = add(x, x)                         if wraps(x) and n == 2 and fits(n, x)
    square-as-product   square(x)           = mul(x, x)                         if wraps(x)
    abs-of-neg          abs(neg(x))         = abs(x)                            if signed(x)
    abs-by-max          abs(x)              = maximum(x, neg(x))                if signed(x)
    relu-as-clamp       relu(x)             = clamp_min(x; 0)                   if wraps(x)
    max-by-min          maximum(x, y)       = neg(minimum(neg(x), neg(y)))      if floating(x, y) and wraps(x, y)
    where-not           where(c, x, y)      = where(logical_not(c), y, x)
    number-as-tensor    add_number(x; n)    = add(x, number(; n, dtype(x)))     if fits(n, x)
    factor-as-tensor    mul_number(x; n)    = mul(x, number(; n, dtype(x)))     if fits(n, x)

    each-of-transpose   each(transpose(x; a, b))    = transpose(each(x); a, b)
    transpose-of-each   transpose(each(x); a, b)    = each(transpose(x; a, b))
    transposed-twice    transpose(transpose(x; a, b); a, b) = x
    through-transpose   each(x)             = transpose(each(transpose(x; 0, 1)); 0, 1)     if rank(x) > 1
    both-transposed     both(x, y)          = transpose(both(transpose(x; 0, 1), transpose(y; 0, 1)); 0, 1)
                                              if rank(x) > 1 and shape(x) == shape(y)
    flattened           each(x)             = reshape(each(reshape(x; (size(x),))); shape(x))       if rank(x) > 1
    both-flattened      both(x, y)          = reshape(both(reshape(x; (size(x),)), reshape(y; (size(y),))); shape(x))
                                              if rank(x) > 1 and shape(x) == shape(y)
    flipped             each(x)             = flip(each(flip(x; (0,))); (0,))               if rank(x)
    copied              each(x)             = each(clone(x))
    in-halves           each(x)             = cat(each(narrow(x; 0, 0, m)), each(narrow(x; 0, m, n)); 0)
                                              for m, n in cut(x, 0)
    both-in-halves      both(x, y)
        = cat(both(narrow(x; 0, 0, m), narrow(y; 0, 0, m)), both(narrow(x; 0, m, n), narrow(y; 0, m, n)); 0)
          for m, n in cut(x, 0) if shape(x) == shape(y)
    each-of-cat         each(cat(*xs; d))   = cat(*[each(x) for x in xs]; d)    if len({dtype(x) for x in xs}) == 1

    fold-of-flipped     fold(x; d, k)       = fold(flip(x; (d,)); d, k)
    max-in-halves       amax(x; d, k)
        = maximum(amax(narrow(x; d, 0, m); d, k), amax(narrow(x; d, m, n); d, k))
          for m, n in cut(x, d)
    max-by-lowest       amax(x; d, k)       = neg(amin(neg(x); d, k))           if floating(x)
    any-by-all          any(x; d, k)        = logical_not(all(logical_not(x); d, k))        if dtype(x) == "bool"
    """, *HELPERS, **FAMILIES)  # fmt: skip

INTEGERS = rules("""
    add-associates      add(add(x, y), z)   = add(x, add(y, z))                 if wraps(x, y, z)
    mul-associates      mul(mul(x, y), z)   = mul(x, mul(y, z))                 if wraps(x, y, z)
    distributed         mul(add(x, y), z)   = add(mul(x, z), mul(y, z))         if wraps(x, y, z)
    sum-flipped         total(x; d, k)      = total(flip(x; (d,)); d, k)
    sum-in-halves       sum(x; d, k)        = add(sum(narrow(x; d, 0, m); d, k), sum(narrow(x; d, m, n); d, k))
                                              for m, n in cut(x, d)
    sum-by-rows         sum_all(x)          = sum_all(sum(x; 0, False))         if rank(x)
    sum-of-sum          sum(add(x, y); d, k) = add(sum(x; d, k), sum(y; d, k))
                                              if x.type == y.type and dtype(x) in ("float32", "float64", "int64")
    product-transposed  matmul(x, y)        = transpose(matmul(transpose(y; 0, 1), transpose(x; 0, 1)); 0, 1)
                                              if rank(x) == rank(y) == 2
    product-of-sum      matmul(add(x, y), z) = add(matmul(x, z), matmul(y, z))  if x.type == y.type
    product-in-halves   matmul(x, y)
        = add(matmul(narrow(x; 1, 0, m), narrow(y; 0, 0, m)), matmul(narrow(x; 1, m, n), narrow(y; 0, m, n)))
          for m, n in cut(y, 0) if rank(x) == rank(y) == 2
    product-by-rows     matmul(x, y)        = cat(matmul(narrow(x; 0, 0, m), y), matmul(narrow(x; 0, m, n), y); 0)
                                              for m, n in cut(x, 0) if rank(x) == rank(y) == 2
    """, *HELPERS, **FAMILIES)  # fmt: skip

REAL = rules("""
    softmax-by-exp      softmax(x; d)
        = div(exp(sub(x, amax(x; d, True))), sum(exp(sub(x, amax(x; d, True))); d, True))
          if single(x) and size(x)
    mean-by-sum         mean(x; d, k)       = mul_number(sum(x; d, k); 1 / shape(x)[d])     if single(x) and size(x)
    linear-as-product   linear(x, w)        = matmul(x, transpose(w; 0, 1))     if single(x) and rank(w) == 2
    rsqrt-by-sqrt       rsqrt(x)            = reciprocal(sqrt(x))               if single(x)
    power-as-product    pow(x; n)           = mul(x, x)                         if single(x) and n == 2
    silu-by-sigmoid     silu(x)             = mul(x, sigmoid(x))                            if single(x)
    sigmoid-by-exp      sigmoid(x)          = reciprocal(add_number(exp(neg(x)); 1))        if single(x)
    """, *HELPERS, **FAMILIES)  # fmt: skip

FINITE = rules("""
    ge-as-not-lt        ge(x, y)            = logical_not(lt(x, y))
    min-by-where        minimum(x, y)       = where(lt(x, y), x, y)             if dtype(x) == dtype(y)
    itself-away         sub(x, x)           = mul_number(x; 0)                  if wraps(x)
    """, *HELPERS, **FAMILIES)  # fmt: skip

LABELS = {
    rule.name: label
    for label, table in (("exact", EXACT), ("integers", INTEGERS), ("real", REAL), ("finite", FINITE))
    for rule in table
}
