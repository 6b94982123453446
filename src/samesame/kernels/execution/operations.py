"""What Triton's element-by-element operations mean, as a table: an operation's name, and its formula.

Arithmetic is over the reals and the integers: casts between floats are the identity, and integers do not wrap around
(that no offset overflows is an obligation of its own). Where integers are used as bits, by shifts and xor in a random
number generator, the operation is an unknown function of its operands.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import cast

import numpy as np

from samesame.evidence import Refused
from samesame.formula.definite import EVIDENT, NOTHING
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    TRUE,
    Expr,
    Fn,
    Lambda,
    Mul,
    Num,
    Opaque,
    Pow,
    absolute,
    add,
    and_,
    compare,
    const,
    exp,
    fn,
    log,
    mul,
    not_,
    or_,
    power,
    walk,
    where,
)
from samesame.formula.expr import NEG_INF as MINUS_INFINITY
from samesame.formula.few import by_values, values
from samesame.formula.infinite import PLUS_INFINITY
from samesame.kernels.execution.literals import as_written
from samesame.kernels.execution.ttir import Operation, Type
from samesame.kernels.execution.unsigned import unsigned, unsigned_in
from samesame.kernels.execution.values import WRAPS, bits_of, float_of, of_bits, wraps
from samesame.kernels.indices import integers
from samesame.operators.numbers import LOWEST, constant

HALF = Fraction(1, 2)


def plus(a: Expr, b: Expr) -> Expr:
    return a if b is MINUS_INFINITY is a else add(a, b)


def divided(a: Expr, b: Expr) -> Expr:
    return mul(a, power(b, -1))


def power_of_two(a: Expr) -> Expr:
    """2^a as exp(a·log 2). Kernels multiply by 1 / log 2 first, as 2^x is faster than exp: then both are left out."""
    factors = list(a.factors) if isinstance(a, Mul) else [a]
    inverse = power(log(2), -1)
    if inverse not in factors:
        return exp(mul(a, log(2)))
    factors.remove(inverse)
    return exp(mul(*factors))


def largest(*xs: Expr) -> Expr:
    kept = tuple(x for x in xs if x is not MINUS_INFINITY)
    return integers.flattened("max", kept) if kept else NEG_INF


def smallest(*xs: Expr) -> Expr:
    kept = tuple(x for x in xs if x is not PLUS_INFINITY)
    return integers.flattened("min", kept) if kept else PLUS_INFINITY


def away_from_zero(a: Expr) -> Expr:
    """The nearest whole number; of two, the one that is further from zero."""
    return mul(fn("sign")(a), fn("floor")(add(absolute(a), HALF)))


REALS: dict[str, Callable[..., Expr]] = {
    "arith.addf": plus,
    "arith.subf": lambda a, b: plus(a, mul(-1, b)),
    "arith.mulf": mul,
    "arith.divf": divided,
    "arith.negf": lambda a: mul(-1, a),
    "arith.maxnumf": largest,
    "arith.maximumf": largest,
    "arith.minnumf": smallest,
    "arith.minimumf": smallest,
    "math.exp": exp,
    "math.exp2": power_of_two,
    "math.log": log,
    "math.log2": lambda a: divided(log(a), log(2)),
    "math.log1p": lambda a: log(add(1, a)),
    "math.expm1": lambda a: add(exp(a), -1),
    "math.sqrt": lambda a: power(a, HALF),
    "math.rsqrt": lambda a: power(a, -HALF),
    "math.sin": fn("sin"),
    "math.cos": fn("cos"),
    "math.tan": fn("tan"),
    "math.tanh": fn("tanh"),
    "math.erf": fn("erf"),
    "math.absf": absolute,
    "math.floor": fn("floor"),
    "math.ceil": fn("ceil"),
    "math.roundeven": fn("round"),
    "math.round": away_from_zero,
    "math.fma": lambda a, b, c: plus(mul(a, b), c),
    "tt.precise_sqrt": lambda a: power(a, HALF),
    "tt.precise_divf": divided,
    "tt.clampf": lambda x, low, high: smallest(largest(x, low), high),
    "arith.extf": lambda a: a,
    "arith.truncf": lambda a: a,
    "tt.fp_to_fp": lambda a: a,
}

def raised(a: Expr, b: Expr) -> Expr:
    """a to the power b: of a number as exponent that power, of a positive number an exponential, else a function of
    two arguments of which nothing is known."""
    if isinstance(b, Num):
        return power(a, b.value) if b.value else const(1)
    if isinstance(a, Num) and a.value > 0:
        return exp(mul(b, log(a)))
    return of_two("pow", a, b)


def of_two(name: str, a: Expr, b: Expr) -> Expr:
    return Opaque(name, None, (Lambda((), a), Lambda((), b)), (), "real")


def without_fraction(a: Expr) -> Expr:
    """A real rounded to zero, as an integer."""
    return a if a.kind == "int" else Opaque("trunc", None, (Lambda((), a),), (), "int")


def is_nan(a: Expr) -> Expr:
    """Whether a value is no number. Elements of tensors are numbers; what a function with no value everywhere makes of
    them, a root or a logarithm, may be none, as −∞ − (−∞) is, and then the answer is an unknown function of it."""
    if EVIDENT.tags(a) is NOTHING and any(has_gaps(e) or e is MINUS_INFINITY for e in walk(a)):
        return not_(integers.equal(Opaque("isnan", None, (Lambda((), a),), (), "int"), 0))
    return FALSE


def has_gaps(e: Expr) -> bool:
    if isinstance(e, Fn):
        return not EVIDENT.in_domain(e.name, e.argument)
    return isinstance(e, Pow) and e.exponent.denominator != 1 and not EVIDENT.never_negative(e.base)


def is_infinite(a: Expr) -> Expr:
    return or_(compare("=", a, MINUS_INFINITY), compare("=", a, PLUS_INFINITY))


LIBRARY: dict[str, Callable[..., Expr]] = {  # functions of libdevice, by their names without prefix and suffix
    **{name: REALS[f"math.{name}"] for name in ("exp", "exp2", "log", "log2", "log1p", "expm1", "sqrt", "rsqrt")},
    **{name: fn(name) for name in ("sin", "cos", "tan", "tanh", "erf", "asin", "acos", "atan", "sinh", "cosh")},
    "fabs": absolute,
    "floor": fn("floor"),
    "ceil": fn("ceil"),
    "rint": fn("round"),
    "nearbyint": fn("round"),
    "trunc": fn("trunc"),
    "fast_exp": exp,
    "fast_log": log,
    "fast_tanh": fn("tanh"),
    "div_rn": divided,
    "fdiv_rn": divided,
    "fma": REALS["math.fma"],
    "fmax": largest,
    "fmin": smallest,
    "isnan": is_nan,
    "isinf": is_infinite,
    "finite": lambda a: not_(or_(is_infinite(a), is_nan(a))),
    "isfinite": lambda a: not_(or_(is_infinite(a), is_nan(a))),
    "pow": raised,
    "powi": raised,
    "atan2": lambda a, b: of_two("atan2", a, b),
}

ORDERED = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}


def compared(predicate: str) -> Callable[[Expr, Expr], Expr]:
    """A comparison of reals: ordered and unordered comparisons are the same, but for what is compared with itself."""
    if predicate == "uno":
        return lambda a, b: or_(is_nan(a), is_nan(b))
    if predicate == "ord":
        return lambda a, b: not_(or_(is_nan(a), is_nan(b)))
    op = ORDERED[predicate[1:]]

    def comparison(a: Expr, b: Expr) -> Expr:
        if a is not b:
            return compare(op, a, b)
        return not_(is_nan(a)) if op in ("=", "≤", "≥") else is_nan(a) if op == "≠" else FALSE

    return comparison


INTEGERS: dict[str, Callable[..., Expr]] = {
    "arith.addi": integers.plus_,
    "arith.subi": integers.minus,
    "arith.muli": integers.times_,
    "arith.minsi": lambda a, b: integers.flattened("min", (a, b)),
    "arith.maxsi": lambda a, b: integers.flattened("max", (a, b)),
    "math.absi": lambda a: integers.flattened("max", (a, integers.minus(0, a))),
    "arith.extsi": lambda a: a,
    "arith.extui": lambda a: a,
    "arith.trunci": lambda a: a,
    "arith.index_cast": lambda a: a,
    "arith.sitofp": lambda a: a,
    "arith.uitofp": lambda a: a,
}
MAY_OVERFLOW = ("arith.addi", "arith.subi", "arith.muli")
NEEDS_SIGN = {  # rounding down is rounding to zero, and unsigned is signed, above 0
    "arith.divsi": integers.quotient,
    "arith.remsi": integers.remainder,
    "arith.divui": integers.quotient,
    "arith.remui": integers.remainder,
    "arith.floordivsi": integers.quotient,
    "arith.ceildivsi": integers.ceiling,
}
TO_ZERO = ("arith.divsi", "arith.remsi")  # as C does: -7 / 2 is -3, and -1 is left over
MODULAR = (  # from numbers that wrapped around these make what comes right again, or a function of their bits
    *MAY_OVERFLOW,
    "arith.shli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.shrsi",
    "arith.shrui",
    "arith.trunci",
    "arith.select",
    "arith.bitcast",
    "tt.bitcast",
    "tt.mulhiui",
)
SHIFTS = ("arith.shrsi", "arith.shrui")
WHOLE = 32  # bits of integers whose masks and shifts are remainders and quotients; seeds are longer
BITWISE = ("arith.xori", "arith.andi", "arith.ori", "arith.shli", "arith.shrsi", "arith.shrui", "tt.mulhiui")
BOOLEANS: dict[str, Callable[..., Expr]] = {
    "arith.andi": and_,
    "arith.ori": or_,
    "arith.muli": and_,
    "arith.xori": lambda a, b: (
        not_(b) if a is TRUE else not_(a) if b is TRUE else or_(and_(a, not_(b)), and_(b, not_(a)))
    ),
    "arith.addi": lambda a, b: or_(and_(a, not_(b)), and_(b, not_(a))),
    "arith.extui": lambda a: where(a, 1, 0),
    "arith.extsi": lambda a: where(a, -1, 0),
    "arith.uitofp": lambda a: where(a, 1, 0),
    "arith.sitofp": lambda a: where(a, -1, 0),
    "arith.maxui": or_,
    "arith.minui": and_,
}
IGNORED = ("tt.print", "gpu.barrier", "ttg.barrier", "ttg.local_barrier", "tt.assert", "cf.assert", "llvm.intr.assume")
OLD_POINTERS = "block pointers (tl.make_block_ptr) have no meaning here; use offsets and masks, or tensor descriptors"
WITHOUT_MEANING = {  # what to say, and do, about an operation that a user knows by another name
    "tt.elementwise_inline_asm": "inline assembly has no meaning here; write it in Triton's own operations",
    "tt.make_tensor_ptr": OLD_POINTERS,
    "tt.advance": OLD_POINTERS,
    "tt.dot_scaled": "tl.dot_scaled has no meaning here; scale the operands and use tl.dot",
}


def bitwise(name: str, bits: int) -> Callable[..., Expr]:
    """Shifts by, and masks of, known numbers of bits are products and quotients; anything else is unknown."""

    def apply(*operands: Expr) -> Expr:
        a, b = (*operands, const(0))[:2]
        if all(isinstance(x, Num) for x in operands):
            x, y = (int(x.value) for x in operands)  # type: ignore[attr-defined]
            folded = of_numbers(name, x, y, bits)
            if folded is not None:
                return const(folded)
        number_ = float_of(a)
        if number_ is not None and isinstance(b, Num):
            known = of_sign_bit(name, number_, int(b.value), bits)
            if known is not None:
                return known
        if isinstance(b, Num) and not wraps(a):
            n = int(b.value)
            if name == "arith.shli" and 0 <= n < bits - 1:
                return integers.times_(a, 1 << n)
            if bits <= WHOLE and (found := of_some_bits(name, a, n, bits)) is not None:
                return found
        if name in SHIFTS and not wraps(a) and (shifted := of_few_shifts(name, a, b, bits)) is not None:
            return shifted
        return of_bits(name.partition(".")[2], bits, *operands)

    return apply


def of_numbers(name: str, x: int, y: int, bits: int) -> int | None:
    """What an operation on bits makes of two signed numbers; None for another operation, and of too long a shift."""
    whole = 1 << bits
    shifts = {"arith.shli": x << y, "arith.shrsi": x >> y, "arith.shrui": x % whole >> y} if 0 <= y < bits else {}
    found = {"arith.xori": x ^ y, "arith.andi": x & y, "arith.ori": x | y, **shifts}.get(name)
    return None if found is None else (found + whole // 2) % whole - whole // 2


def of_some_bits(name: str, a: Expr, n: int, bits: int) -> Expr | None:
    """The last bits of a number, and what is left without them: a mod 2^k for `a & (2^k − 1)`, ⌊a / 2^n⌋ for `a >> n`,
    which takes the number as unsigned or not; None for another mask. The number must not have wrapped around."""
    plain = unsigned_in(a, bits)
    if name == "arith.andi" and 0 < n < (1 << (bits - 1)) and n & (n + 1) == 0:
        return integers.remainder(a if plain is None else plain, const(n + 1))
    if name == "arith.shrsi" and 0 < n < bits:
        return integers.quotient(a, const(1 << n))
    if name == "arith.shrui" and 0 < n < bits:
        return integers.quotient(unsigned(a, bits) if plain is None else plain, const(1 << n))
    return None


def of_few_shifts(name: str, a: Expr, by: Expr, bits: int) -> Expr | None:
    """A shift by one of a few numbers, as a division by what that number makes of 2; None where there are many, or one
    of them is no shift."""
    found = values(by)
    if found is None or found[0] < 0 or found[-1] >= min(bits, WHOLE):
        return None
    if name == "arith.shrui":
        a = unsigned(a, bits)
    return integers.quotient(a, cast("Expr", by_values(by, lambda n: const(1 << n))))


def of_sign_bit(name: str, x: Expr, other: int, bits: int) -> Expr | None:
    """What kernels make of a float's bits to get at its sign."""
    first = 1 << (bits - 1)
    negative = compare("<", x, const(0))
    match name, other & ((1 << bits) - 1):
        case "arith.andi", mask if mask == first:
            return where(negative, -first, 0)
        case "arith.andi", mask if mask == first - 1:
            return bits_of(absolute(x), bits)
        case "arith.xori", mask if mask == first:
            return bits_of(mul(-1, x), bits)
        case "arith.shrui", shift if shift == bits - 1:
            return where(negative, 1, 0)
        case "arith.shrsi", shift if shift == bits - 1:
            return where(negative, -1, 0)
    return None


def cast_of_bits(source: Type, result: Type) -> Callable[[Expr], Expr]:
    """The same bits as another type."""

    def apply(a: Expr) -> Expr:
        if source.kind == result.kind:
            return a
        if result.kind == "int":
            return bits_of(a, result.bits)
        x = float_of(a)
        return x if x is not None else Opaque(WRAPS + "float", result.element, (Lambda((), a),), (), "real")

    return apply


def modular(name: str, bits: int) -> Callable[..., Expr]:
    """Sums and products of integers; of those that wrap around by design, an unknown function."""
    plain = INTEGERS[name]

    def apply(*operands: Expr) -> Expr:
        return of_bits(name.partition(".")[2], bits, *operands) if any(map(wraps, operands)) else plain(*operands)

    return apply


# ------------------------------------------------------------------------------------------------------------ constants


FLOATS = {"f16": ("e", "H"), "f32": ("f", "I"), "f64": ("d", "Q")}


def number(text: str, kind: Type, operation: Operation) -> Expr:
    """A constant as the text writes it: a decimal, the bits of a float, or a truth value."""
    text = text.strip()
    if text in ("true", "false"):
        return const(text == "true")
    if kind.kind == "bool":
        return const(int(text) != 0)
    if kind.kind == "int":
        return const(int(text, 0))
    value = _of_bits(int(text, 16), kind.element) if text.lower().startswith("0x") else float(text)
    if math.isnan(value):
        raise Refused(f"{operation.place}: the kernel uses the constant NaN, which has no meaning over the reals")
    if math.isinf(value):
        return MINUS_INFINITY if value < 0 else PLUS_INFINITY
    if kind.element == "f32":
        written = as_written(value, operation.place.file)
        if written != value:
            return real(written, kind.element)
        if len(re.sub(r"e.*|[.+-]", "", text.lower()).strip("0")) > 7:
            value = float(np.float32(value))
    return real(value, kind.element)


LONG = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}


def real(value: float, element: str) -> Expr:
    """A float of the program. The least one of its own dtype stands for −∞; that of a shorter one is a number."""
    return const(Fraction(value)) if LOWEST.get(value) not in (None, LONG.get(element)) else constant(value)


def _of_bits(bits: int, element: str) -> float:
    if element == "bf16":
        return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
    float_, whole = FLOATS[element]
    return float(struct.unpack(f"<{float_}", struct.pack(f"<{whole}", bits))[0])


def library(operation: Operation) -> Callable[..., Expr]:
    """A function of a device library, named in the operation's text."""
    symbol = re.search(r'symbol = "(\w+)"', operation.text)
    name = symbol[1] if symbol else ""
    short = re.sub(r"^__nv_", "", name)
    for known in (short, short.removesuffix("f")):
        if known in LIBRARY:
            return LIBRARY[known]
    raise Refused(f"{operation.place}: the device function {name} has no formula here")
