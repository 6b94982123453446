"""What operators that act element by element mean as forms: part of the table in `operators.py`.

Each is written as torch computes it where that decides how it rounds: a `lerp` begins at the nearer end, an elu has
`expm1`, the logarithm of a sum of exponentials takes the exponential of no large number. What would round otherwise
stays a call: `hypot` without its scaling, quotients that are rounded (`remainder`, `fmod`,
`floor_divide`), whose jumps lie where a quotient's last bit says. So do factors that no rational is (`exp2`,
`deg2rad`), and what asks whether a number is one (`isnan`, `fmax`, `nan_to_num`) or whether a zero has a sign
(`copysign`, `atan2`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import isfinite
from typing import Any

from samesame.formula.expr import Unsupported
from samesame.formula.scalars import SCALARS
from samesame.graph import Dtype
from samesame.optimize import forms as f
from samesame.optimize.forms import Form, number
from samesame.optimize.reading import Reader, Value, channel, row

HALF = Fraction(1, 2)

FUNCTIONS = ("silu", "relu", *SCALARS)              # torch calls all of them so


def scaled(x: Form, factor: Any) -> Form:
    return f.times(number(factor), x)


def between(x: Form, low: float, high: float) -> Form:
    """The nearest number in these limits."""
    return f.extremum("min", f.extremum("max", x, number(low)), number(high))


UNARY: dict[str, Callable[[Form], Form]] = {
    **{f"aten.{name}": partial(f.fn, name) for name in FUNCTIONS},
    "aten.neg": lambda x: f.times(number(-1), x),
    "aten.sqrt": lambda x: f.power(x, HALF), "aten.rsqrt": lambda x: f.power(x, -HALF),
    "aten.reciprocal": lambda x: f.power(x, -1), "aten.square": lambda x: f.power(x, 2),
    "aten.frac": lambda x: f.minus(x, f.fn("trunc", x)),
    "aten.relu6": lambda x: between(x, 0, 6),
    "aten.hardsigmoid": lambda x: scaled(between(f.plus(x, number(3)), 0, 6), Fraction(1, 6)),
    "aten.hardswish": lambda x: f.times(number(Fraction(1, 6)), x, between(f.plus(x, number(3)), 0, 6)),
    "aten.mish": lambda x: f.times(x, f.fn("tanh", f.fn("softplus", x))),
}
SYNONYMS = {"aten.negative": "aten.neg", "aten.absolute": "aten.abs", "aten.sgn": "aten.sign", "aten.fix": "aten.trunc"}
BINARY: dict[str, Callable[[Form, Form], Form]] = {
    "aten.maximum": partial(f.extremum, "max"), "aten.minimum": partial(f.extremum, "min"),
    "aten.lt": partial(f.compare, "<"), "aten.le": partial(f.compare, "≤"), "aten.eq": partial(f.compare, "="),
    "aten.gt": partial(f.compare, ">"), "aten.ge": partial(f.compare, "≥"), "aten.ne": partial(f.compare, "≠"),
    "aten.max.other": partial(f.extremum, "max"), "aten.min.other": partial(f.extremum, "min"),
}
LOGIC: dict[str, Callable[..., Form]] = {
    "and": partial(f.logic, "and"), "or": partial(f.logic, "or"), "not": partial(f.logic, "not"),
    "xor": lambda a, b: f.logic("and", f.logic("or", a, b), f.logic("not", f.logic("and", a, b))),
}


def logarithm_of_sigmoid(x: Form) -> Form:
    """min(x, 0) − log(1 + exp(−|x|)), by cases: so is what it means proved."""
    below = f.compare("<", x, number(0))
    return f.minus(f.where(below, x, number(0)), _logarithm_beside_one(f.where(below, x, scaled(x, -1))))


def _logarithm_beside_one(x: Form) -> Form:
    """log(1 + exp x), where x is at most zero."""
    return f.fn("log1p", f.fn("exp", x))


def logaddexp(a: Form, b: Form) -> Form:
    """max(a, b) + log(1 + exp(−|a − b|)), where infinities that are the same one are at no distance."""
    other = f.where(f.compare("<", b, a), f.minus(b, a), number(0))
    distance = f.where(f.compare("<", a, b), f.minus(a, b), other)
    return f.plus(f.extremum("max", a, b), _logarithm_beside_one(distance))


def xlogy(a: Form, b: Form) -> Form:
    """a·log b; zero where a is, but NaN where b is."""
    return f.where(f.compare("=", a, number(0)), scaled(between(b, -1, 1), 0), f.times(a, f.fn("log", b)))


def heaviside(a: Form, b: Form) -> Form:
    return f.where(f.compare("=", a, number(0)), b, f.where(f.compare("<", number(0), a), number(1), number(0)))


REALS: dict[str, Callable[[Form, Form], Form]] = {
    "aten.logaddexp": logaddexp, "aten.heaviside": heaviside, "aten.xlogy": xlogy, "aten.special_xlogy": xlogy,
}
for _name, _function in (UNARY | {name: UNARY[known] for name, known in SYNONYMS.items()}).items():
    row(_name)(lambda r, x, *settings, of=_function: r.pointwise(of, real(r, x, settings)))
for _name, _both in BINARY.items():
    row(_name)(lambda r, x, y, of=_both: r.pointwise(of, x, y))
for _name, _both in REALS.items():
    row(_name)(lambda r, x, y, of=_both: r.pointwise(of, *_reals(r, x, y)))
row("aten.log_sigmoid_forward")(lambda r, x: (r.pointwise(logarithm_of_sigmoid, real(r, x)), None))


for _name, _logic in LOGIC.items():
    row(f"aten.bitwise_{_name}")(lambda r, *xs, of=_logic: r.pointwise(of, *_truths(r, xs)))
    row(f"aten.logical_{_name}")(lambda r, *xs, of=_logic: r.pointwise(of, *_made_truths(r, xs)))


def _truths(r: Reader, xs: Sequence[Any]) -> Sequence[Any]:
    if any(r.kind(x) != "bool" for x in xs):
        raise Unsupported("arithmetic of bits")
    return xs


def _made_truths(r: Reader, xs: Sequence[Value]) -> Sequence[Value]:
    return [to(r, x, Dtype("bool")) for x in xs]


def _reals(r: Reader, *xs: Any) -> Sequence[Any]:
    if any(isinstance(x, Value) and r.kind(x) != "real" for x in xs):
        raise Unsupported("integers or booleans where a real is meant")
    return xs


def real(r: Reader, x: Any, settings: tuple[Any, ...] = ()) -> Any:
    """The operand, where nothing but its real value matters."""
    if r.kind(x) != "real" and isinstance(x, Value) and r.kind(x) != "bool":
        raise Unsupported("arithmetic of integers")
    if settings not in ((), (1, 20)):
        raise Unsupported("a function with settings")
    return x


@row("aten.gelu")
def gelu(r: Reader, x: Value, *, approximate: str = "none") -> Value:
    return r.pointwise(partial(f.fn, "gelu_tanh" if approximate == "tanh" else "gelu"), x)


@row("aten.softplus_backward")
def softplus_backward(r: Reader, grad: Value, x: Value, beta: float, threshold: float) -> Value:
    def slope(g: Form, a: Form) -> Form:
        steep = scaled(a, exact(beta))
        z = f.fn("exp", steep)
        below = f.times(g, z, f.power(f.plus(z, number(1)), -1))
        return f.where(f.compare("<", number(exact(threshold)), steep), g, below)

    return r.pointwise(slope, real(r, grad), real(r, x))


@row("aten.elu")
def elu(r: Reader, x: Value, alpha: float = 1, scale: float = 1, input_scale: float | Fraction = 1) -> Value:
    if (alpha, scale, input_scale) == (1, 1, 1):
        return r.pointwise(partial(f.fn, "elu"), x)
    below = number(exact(alpha) * exact(scale))
    return r.pointwise(lambda a: f.where(f.compare("<", number(0), a), scaled(a, scale), f.times(
        below, f.fn("expm1", scaled(a, input_scale)))), real(r, x))


row("aten.selu")(lambda r, x: elu(r, x, 1.6732632423543772, 1.0507009873554805))


@row("aten.celu")
def celu(r: Reader, x: Value, alpha: float = 1.0) -> Value:
    return elu(r, x, alpha, 1, 1 / exact(alpha))


LARGEST_POWER = 16                                   # of greater ones little is left but overflow


def exact(x: float | Fraction) -> Fraction:
    """The decimal that a float is written as."""
    if not isfinite(x):
        raise Unsupported(f"the number {x}")
    return x if isinstance(x, Fraction) else Fraction(repr(x))


@row("aten.leaky_relu")
def leaky_relu(r: Reader, x: Value, slope: float = 0.01) -> Value:
    return _sloped(r, x, slope)


@row("aten.prelu", "aten._prelu_kernel")
def prelu(r: Reader, x: Value, weight: Value) -> Value:
    """The slope below zero is one number, or one for each channel."""
    return _sloped(r, x, channel(weight, x.rank) if weight.rank == 1 and x.rank > 1 else weight)


def _sloped(r: Reader, x: Value, slope: Any) -> Value:
    return r.pointwise(lambda a, s: f.where(f.compare("<", number(0), a), a, f.times(s, a)), real(r, x), slope)


@row("aten.threshold")
def threshold(r: Reader, x: Value, limit: float, low: float) -> Value:
    return r.pointwise(lambda a, t, v: f.where(f.compare("≤", a, t), v, a), real(r, x), limit, low)


@row("aten.hardshrink")
def hardshrink(r: Reader, x: Value, limit: float = 0.5) -> Value:
    return r.pointwise(lambda a, t: f.where(f.compare("≤", f.fn("abs", a), t), number(0), a), real(r, x), limit)


@row("aten.softshrink")
def softshrink(r: Reader, x: Value, limit: float = 0.5) -> Value:
    """Less what lies within the limits."""
    return r.pointwise(lambda a: f.minus(a, between(a, -limit, limit)), real(r, x))


@row("aten.lerp")
def lerp(r: Reader, x: Value, y: Value, weight: Any) -> Value:
    """From the end that is nearer, as torch does."""
    def mixed(a: Form, b: Form, w: Form) -> Form:
        way = f.minus(b, a)
        if not isinstance(weight, Value):
            return f.plus(a, f.times(w, way)) if abs(weight) < HALF else f.minus(b, scaled(way, 1 - exact(weight)))
        near = f.compare("<", f.fn("abs", w), number(HALF))
        return f.where(near, f.plus(a, f.times(w, way)), f.minus(b, f.times(way, f.minus(number(1), w))))

    return r.pointwise(mixed, real(r, x), real(r, y), weight)


@row("aten.addcmul")
def addcmul(r: Reader, x: Value, a: Value, b: Value, *, value: float = 1) -> Value:
    return add(r, x, mul(r, a, b), alpha=value)


@row("aten.addcdiv")
def addcdiv(r: Reader, x: Value, a: Value, b: Value, *, value: float = 1) -> Value:
    return add(r, x, div(r, a, b), alpha=value)


def _numbers(r: Reader, *operands: Any) -> None:
    if all(r.kind(x) == "bool" for x in operands):
        raise Unsupported("arithmetic of booleans")


@row("aten.add")
def add(r: Reader, x: Any, y: Any, alpha: float = 1) -> Value:
    _numbers(r, x, y)
    if isinstance(y, Value) and _negative(y.form):
        return sub(r, x, r.pointwise(lambda b: scaled(b, -1), y), alpha=alpha)
    return r.pointwise(lambda a, b: f.plus(a, scaled(b, alpha)), x, y)


def _negative(x: Form) -> bool:
    return x.operator == "times" and f.finite(x.arguments[0]) and x.arguments[0].attributes[0] < 0


@row("aten.sub")
def sub(r: Reader, x: Any, y: Any, alpha: float = 1) -> Value:
    return r.pointwise(lambda a, b: f.minus(a, scaled(b, alpha)), x, y)


@row("aten.rsub")
def rsub(r: Reader, x: Any, y: Any, alpha: float = 1) -> Value:
    return r.pointwise(lambda a, b: f.minus(b, scaled(a, alpha)), x, y)


@row("aten.mul")
def mul(r: Reader, x: Any, y: Any) -> Value:
    _numbers(r, x, y)
    if x is y and r.kind(x) == "int":
        raise Unsupported("squares of integers")
    return r.pointwise(_product, x, y)


def _product(a: Form, b: Form) -> Form:
    return f.power(a, 2) if a is b else f.times(a, b)


@row("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor")
def div(r: Reader, x: Any, y: Any) -> Value:
    return r.pointwise(lambda a, b: f.times(a, f.power(b, -1)), x, y)


@row("aten.pow.Tensor_Scalar")
def power(r: Reader, x: Value, exponent: float) -> Value:
    q = exact(exponent)
    if abs(q) > LARGEST_POWER:
        raise Unsupported("a power")
    if q == 0:                                             # of NaN, too
        return Value(number(1), real(r, x).dims, x.dtype)
    return r.pointwise(lambda a: f.power(a, q), real(r, x))


@row("aten.clamp", "aten.clip", "aten.clamp_min")
def clamp(r: Reader, x: Value, low: Any = None, high: Any = None) -> Value:
    at_least = x if low is None else r.pointwise(partial(f.extremum, "max"), x, low)
    return at_least if high is None else r.pointwise(partial(f.extremum, "min"), at_least, high)


row("aten.clamp_max")(lambda r, x, high: clamp(r, x, None, high))
row("aten.hardtanh")(lambda r, x, low=-1, high=1: clamp(r, x, low, high))


@row("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(r: Reader, condition: Value, x: Any, y: Any) -> Value:
    return r.pointwise(f.where, condition, x, y)


def but_not(a: Form, b: Form) -> Form:
    return f.logic("and", a, f.logic("not", b))


@row("aten.masked_fill")
def masked_fill(r: Reader, x: Value, mask: Value, value: Any) -> Value:
    if r.kind(x) == "bool":
        if isinstance(value, Value):
            return r.pointwise(lambda a, m, v: f.logic("or", f.logic("and", m, v), but_not(a, m)), x, mask, value)
        return r.pointwise(LOGIC["or"] if value else but_not, x, mask)
    return r.pointwise(lambda a, m, v: f.where(m, v, a), x, mask, value)


@row("aten._to_copy", "aten.to.dtype")
def to(r: Reader, x: Value, dtype: Any = None, *_: Any, **settings: Any) -> Value:
    dtype = dtype or settings.get("dtype")
    if dtype is None or dtype.name == x.dtype:
        return x
    if dtype.name == "bool":
        return r.pointwise(lambda a: f.compare("≠", a, number(0)), x)
    if r.kind(x) == "bool":
        return r.pointwise(lambda a: f.where(a, number(1), number(0)), x)
    if "float" in dtype.name:
        return r.pointwise(partial(f.cast, dtype.name), x)
    raise Unsupported("a cast to integers, where others wrap around")
