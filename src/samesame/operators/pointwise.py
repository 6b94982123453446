"""Pointwise operators: each element of the result depends on one element of each operand.

A line of a table is an operator and what it does to one element. Operands broadcast and are promoted as in torch; a
boolean used as a number is 1 or 0. Over the reals a cast changes nothing, except to a boolean (nonzero is true) and
from a fraction to an integer (which cuts it off).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from samesame.formula.expr import (
    NEG_INF,
    ONE,
    PI,
    ZERO,
    Expr,
    Fn,
    Num,
    Unsupported,
    absolute,
    add,
    and_,
    compare,
    const,
    cos,
    eq,
    erf,
    exp,
    floordiv,
    fn,
    le,
    log,
    lt,
    maximum,
    minimum,
    mod,
    mul,
    not_,
    numeric,
    or_,
    sign,
    sin,
    sqrt,
    tan,
    truth,
    where,
)
from samesame.formula.few import by_values, values
from samesame.formula.infinite import negated
from samesame.formula.tensor import Tensor, tensor
from samesame.graph import Dtype
from samesame.operators import hiding, ratios
from samesame.operators.clamped import holds
from samesame.operators.ideal import line_left_out
from samesame.operators.movement import chunk, identity
from samesame.operators.numbers import LOWEST, constant, hidden_product, is_no_limit
from samesame.operators.shapes import NARROW, as_tensor, joined, kind_of, lower_bound, pointwise, untold
from samesame.operators.table import join, meaning

LONGEST_SHIFT = 32                          # of integers: the widest that programs pack into

Unary = Callable[[Expr], Any]
HALF = Fraction(1, 2)


# --------------------------------------------------------------------------------------------- functions of one real


def sigmoid(x: Expr) -> Expr:
    return 1 / (1 + exp(-x))


def tanh(x: Expr) -> Expr:
    """The hyperbolic tangent, by way of exp, so that it meets the sigmoid: tanh(x) = 2σ(2x) − 1."""
    return 1 - 2 / (1 + exp(2 * x))


def softplus_of(x: Expr) -> Expr:
    return log(1 + exp(x))


FUNCTIONS: dict[str, Unary] = {                            # of a real, int or bool; the result is real
    "aten.exp": exp,
    "aten.exp2": lambda x: exp(x * log(2)),
    "aten.expm1": lambda x: exp(x) - 1,
    "aten.log": log,
    "aten.log2": lambda x: log(x) / log(2),
    "aten.log10": lambda x: log(x) / log(10),
    "aten.log1p": lambda x: log(1 + x),
    "aten.sqrt": sqrt,
    "aten.rsqrt": lambda x: x**-HALF,
    "aten.reciprocal": lambda x: 1 / x,
    "aten.sin": sin,
    "aten.cos": cos,
    "aten.tan": tan,
    "aten.asin": fn("asin"),
    "aten.acos": fn("acos"),
    "aten.atan": fn("atan"),
    "aten.sinh": lambda x: (exp(x) - exp(-x)) / 2,
    "aten.cosh": lambda x: (exp(x) + exp(-x)) / 2,
    "aten.tanh": tanh,
    "aten.erf": erf,
    "aten.erfc": lambda x: 1 - erf(x),
    "aten.sigmoid": sigmoid,
    "aten.silu": lambda x: x / (1 + exp(-x)),
    "aten.mish": lambda x: x * tanh(softplus_of(x)),
    "aten.log_sigmoid": lambda x: -log(1 + exp(-x)),
    "aten.deg2rad": lambda x: x * PI / 180,
    "aten.rad2deg": lambda x: x * 180 / PI,
    "aten.selu": lambda x: constant(1.0507009873554805) * where(
        lt(0, x), x, constant(1.6732632423543772) * (exp(x) - 1)
    ),
    "aten.hardsigmoid": lambda x: minimum(maximum(x + 3, 0), 6) / 6,
    "aten.hardswish": lambda x: x * minimum(maximum(x + 3, 0), 6) / 6,
}

SAME_KIND: dict[str, Unary] = {                            # the result is of the operand's kind
    "aten.neg": lambda x: -x,
    "aten.relu": lambda x: maximum(x, 0),
    "aten.relu6": lambda x: minimum(maximum(x, 0), 6),
    "aten.abs": lambda x: maximum(x, -x) if x.kind == "int" else absolute(x),
    "aten.sign": lambda x: where(lt(0, x), 1, where(lt(x, 0), -1, 0)) if x.kind == "int" else sign(x),
    "aten.floor": lambda x: whole("floor", x),
    "aten.ceil": lambda x: whole("ceil", x),
    "aten.round.default": lambda x: whole("round", x),
    "aten.trunc": lambda x: whole("trunc", x),
    "aten.frac": lambda x: x - whole("trunc", x),
}
SYNONYMS = {
    "aten.negative": "aten.neg",
    "aten.absolute": "aten.abs",
    "aten.sgn": "aten.sign",
    "aten.fix": "aten.trunc",
    "aten.special_expm1": "aten.expm1",
    "aten.special_expit": "aten.sigmoid",
    "aten.special_erf": "aten.erf",
    "aten.special_log1p": "aten.log1p",
    "aten.special_exp2": "aten.exp2",
    "aten.arcsin": "aten.asin",
    "aten.arccos": "aten.acos",
    "aten.arctan": "aten.atan",
}


def whole(rounding: str, x: Expr) -> Expr:
    """x rounded; integers are whole already."""
    return x if x.kind == "int" else ratios.whole(rounding, x) or Fn(rounding, x)


def _unary(function: Unary, kind: str | None, x: Tensor) -> Tensor:
    if kind is None and x.kind == "bool":
        raise Unsupported("arithmetic on a boolean that gives a boolean")
    return pointwise(lambda e: function(numeric(e)), x, kind=kind)


for _name, _function in FUNCTIONS.items():
    meaning(_name)(partial(_unary, _function, "real"))
for _name, _function in SAME_KIND.items():
    meaning(_name)(partial(_unary, _function, None))
for _name, _known in SYNONYMS.items():
    meaning(_name)(partial(_unary, (FUNCTIONS | SAME_KIND)[_known], "real" if _known in FUNCTIONS else None))


@meaning("aten.log_sigmoid_forward")
def log_sigmoid_forward(x: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of the sigmoid, and what its gradient will need, which differs between devices."""
    kept = untold(x.shape, "what a log-sigmoid keeps for its gradient")
    return _unary(FUNCTIONS["aten.log_sigmoid"], "real", x), kept


@meaning("aten.gelu")
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        return pointwise(lambda e: e / 2 * (1 + tanh(sqrt(2 / PI) * (e + Fraction("0.044715") * e**3))), x, kind="real")
    return pointwise(lambda e: e / 2 * (1 + erf(e / sqrt(2))), x, kind="real")


@meaning("aten.softplus")
def softplus(x: Tensor, beta: float | Expr = 1, threshold: float | Expr = 20) -> Tensor:
    """log(1 + exp(βx)) / β; x itself where βx is above the threshold, as torch defines it."""
    b = constant(beta)
    if line_left_out("softplus", beta, threshold):
        return pointwise(lambda e: softplus_of(b * e) / b, x, kind="real")
    return pointwise(lambda e: where(lt(constant(threshold), b * e), e, softplus_of(b * e) / b), x, kind="real")


@meaning("aten.elu")
def elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    a, s, inner = constant(alpha), constant(scale), constant(input_scale)
    return pointwise(lambda e: s * where(lt(0, e), e, a * (exp(inner * e) - 1)), x, kind="real")


@meaning("aten.celu")
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    a = constant(alpha)
    return pointwise(lambda e: where(lt(0, e), e, a * (exp(e / a) - 1)), x, kind="real")


@meaning("aten.leaky_relu")
def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    slope = constant(negative_slope)
    return pointwise(lambda e: where(lt(0, e), e, slope * e), x)


@meaning("aten.prelu", "aten._prelu_kernel")
def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """The slope below zero is one number, or one for each channel (dimension 1)."""
    slope = weight
    if weight.rank == 1 and x.rank > 1:
        slope = tensor((weight.shape[0], *(1,) * (x.rank - 2)), lambda c, *_: weight[c])
    elif weight.rank == 1:
        slope = tensor((), lambda: weight[0])
    return pointwise(lambda e, s: where(lt(0, e), e, s * e), x, slope)


@meaning("aten.threshold")
def threshold(x: Tensor, threshold: float, value: float) -> Tensor:
    limit, low = constant(threshold), constant(value)
    return pointwise(lambda e: where(le(e, limit), low, e), x)


@meaning("aten.hardtanh")
def hardtanh(x: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    if x.kind != "real" and not isinstance(min_val, int) | isinstance(max_val, int):
        raise Unsupported("limits that are rounded to integers")
    return clamp(x, min_val, max_val)


@meaning("aten.hardshrink")
def hardshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    limit = constant(lambd)
    return pointwise(lambda e: where(and_(le(-limit, e), le(e, limit)), 0, e), x)


@meaning("aten.softshrink")
def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    limit = constant(lambd)
    return pointwise(lambda e: maximum(e - limit, 0) + minimum(e + limit, 0), x)


@meaning("aten.glu")
def glu(x: Tensor, dim: int = -1) -> Tensor:
    a, b = chunk(x, 2, dim)
    return pointwise(lambda u, v: u * sigmoid(v), a, b)


# ----------------------------------------------------------------------------------------------------- two operands


def _is_bool(*operands: Any) -> bool:
    return all(as_tensor(x).kind == "bool" for x in operands)


@meaning("aten.add.Tensor", "aten.add.Scalar")
def plus(x: Any, y: Any, alpha: float | Expr = 1) -> Tensor:
    if _is_bool(x, y):
        return pointwise(or_, x, y) if alpha else identity(x)
    factor = constant(alpha)
    return pointwise(lambda a, b: add(a, mul(factor, b)), x, y)


@meaning("aten.sub.Tensor", "aten.sub.Scalar", "aten.subtract.Tensor")
def minus(x: Any, y: Any, alpha: float | Expr = 1) -> Tensor:
    if hiding.is_hiding() and alpha == 1:
        return pointwise(lambda a, b: add(a, negated(numeric(b))), x, y)
    factor = mul(-1, constant(alpha))
    return pointwise(lambda a, b: add(a, mul(factor, b)), x, y)


@meaning("aten.rsub.Tensor", "aten.rsub.Scalar")
def minus_reversed(x: Any, y: Any, alpha: float | Expr = 1) -> Tensor:
    return minus(y, x, alpha)


@meaning("aten.mul.Tensor", "aten.mul.Scalar", "aten.multiply.Tensor")
def times(x: Any, y: Any) -> Tensor:
    if _is_bool(x, y):
        return pointwise(and_, x, y)
    for value, other in ((x, y), (y, x)):
        if hiding.is_hiding() and isinstance(value, float) and hiding.hides(value, factor=True):
            return pointwise(partial(hidden_product, value), as_tensor(other), kind="real")
    # As a factor the least float is the number that it is: 0·(−3.4e38) is 0, and 0·(−∞) is nothing.
    factors = (const(Fraction(repr(v))) if isinstance(v, float) and v in LOWEST else v for v in (x, y))
    return pointwise(_product, *factors)


def _product(a: Expr, b: Expr) -> Expr:
    if NEG_INF in (a, b):
        raise Unsupported("a product with −∞, or with a tensor of the least float, which is read as −∞")
    return mul(a, b)


@meaning("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor", "aten.divide.Tensor")
def over(x: Any, y: Any) -> Tensor:
    return pointwise(lambda a, b: numeric(a) / b, x, y, kind="real")


@meaning("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def divide_rounded(x: Any, y: Any, *, rounding_mode: str | None) -> Tensor:
    if rounding_mode is None:
        return over(x, y)
    return pointwise({"floor": quotient_down, "trunc": quotient_to_zero}[rounding_mode], x, y)


@meaning("aten.floor_divide.default", "aten.floor_divide.Scalar")
def floor_divide(x: Any, y: Any) -> Tensor:
    return pointwise(quotient_down, x, y)


@meaning("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
def remainder(x: Any, y: Any) -> Tensor:
    """What rounding down leaves over; it has the divisor's sign."""
    return pointwise(lambda a, b: _left_over(quotient_down, a, b), x, y)


@meaning("aten.fmod.Tensor", "aten.fmod.Scalar")
def fmod(x: Any, y: Any) -> Tensor:
    """What rounding to zero leaves over; it has the dividend's sign."""
    return pointwise(lambda a, b: _left_over(quotient_to_zero, a, b), x, y)


def quotient_down(a: Expr, b: Expr) -> Expr:
    """⌊a / b⌋."""
    a, b = numeric(a), numeric(b)
    if a.kind != "int" or b.kind != "int":
        return Fn("floor", a / b)
    if isinstance(b, Num) and b.value < 0:
        return floordiv(-a, -b)
    if (lower_bound(b) or 0) < 1:
        raise Unsupported("integer division by a divisor of unknown sign")
    return floordiv(a, b)


def quotient_to_zero(a: Expr, b: Expr) -> Expr:
    a, b = numeric(a), numeric(b)
    if a.kind != "int" or b.kind != "int":
        return Fn("trunc", a / b)
    if isinstance(b, Num) and b.value < 0:
        return quotient_to_zero(-a, -b)
    low = lower_bound(a)
    down = quotient_down(a, b)
    return down if low is not None and low >= 0 else where(lt(a, 0), -quotient_down(-a, b), down)


def _left_over(quotient: Callable[[Expr, Expr], Expr], a: Expr, b: Expr) -> Expr:
    a, b = numeric(a), numeric(b)
    low = lower_bound(a)
    whole_numbers = a.kind == b.kind == "int" and (lower_bound(b) or 0) >= 1
    if whole_numbers and (quotient is quotient_down or (low is not None and low >= 0)):
        return mod(a, b)
    if whole_numbers:
        return where(lt(a, 0), -mod(-a, b), mod(a, b))
    return a - b * quotient(a, b)


@meaning("aten.maximum", "aten.max.other")
def larger(x: Any, y: Any) -> Tensor:
    return pointwise(or_ if _is_bool(x, y) else maximum, x, y)


@meaning("aten.minimum", "aten.min.other")
def smaller(x: Any, y: Any) -> Tensor:
    return pointwise(and_ if _is_bool(x, y) else minimum, x, y)


def _of_numbers(extremum: Callable[..., Expr], a: Expr, b: Expr) -> Expr:
    """The extremum of those that are numbers; no number if neither is."""
    if "real" not in (a.kind, b.kind):
        return extremum(a, b)
    return where(eq(a, a), where(eq(b, b), extremum(a, b), a), where(eq(b, b), b, add(a, b)))


@meaning("aten.fmax")
def fmax(x: Any, y: Any) -> Tensor:
    return larger(x, y) if _is_bool(x, y) else pointwise(partial(_of_numbers, maximum), x, y)


@meaning("aten.fmin")
def fmin(x: Any, y: Any) -> Tensor:
    return smaller(x, y) if _is_bool(x, y) else pointwise(partial(_of_numbers, minimum), x, y)


@meaning("aten.clamp.default", "aten.clamp.Tensor", "aten.clip.default", "aten.clip.Tensor")
def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """min(max(x, min), max): where the limits cross, the upper one wins."""
    raised = x if min is None or is_no_limit(min, x.element()[1]) else larger(x, min)
    return raised if max is None else smaller(raised, max)


@meaning("aten.clamp_min.default", "aten.clamp_min.Tensor")
def clamp_min(x: Tensor, min: Any) -> Tensor:
    return clamp(x, min=min)


@meaning("aten.clamp_max.default", "aten.clamp_max.Tensor")
def clamp_max(x: Tensor, max: Any) -> Tensor:
    return clamp(x, max=max)


@meaning("aten.lerp.Scalar", "aten.lerp.Tensor")
def lerp(x: Tensor, end: Tensor, weight: Any) -> Tensor:
    return pointwise(lambda a, b, w: a + w * (b - a), x, end, weight)


@meaning("aten.addcmul.default")
def addcmul(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float | Expr = 1) -> Tensor:
    return plus(x, times(tensor1, tensor2), value)


@meaning("aten.addcdiv.default")
def addcdiv(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float | Expr = 1) -> Tensor:
    return plus(x, over(tensor1, tensor2), value)


@meaning("aten.logaddexp.default")
def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    return pointwise(lambda a, b: log(exp(a) + exp(b)), x, y)


@meaning("aten.hypot.default")
def hypot(x: Tensor, y: Tensor) -> Tensor:
    return pointwise(lambda a, b: sqrt(a**2 + b**2), x, y)


# ------------------------------------------------------------------------------------------------------ true and false

COMPARISONS = {
    "<": ("lt", "less"),
    "≤": ("le", "less_equal"),
    "=": ("eq",),
    "≠": ("ne", "not_equal"),
    ">": ("gt", "greater"),
    "≥": ("ge", "greater_equal"),
}


def _compare(op: str, x: Any, y: Any) -> Tensor:
    return pointwise(partial(compare, op), x, y, kind="bool")


for _op, _names in COMPARISONS.items():
    meaning(*(f"aten.{name}.{overload}" for name in _names for overload in ("Tensor", "Scalar")))(
        partial(_compare, _op)
    )


def _xor(a: Expr, b: Expr) -> Expr:
    return or_(and_(a, not_(b)), and_(not_(a), b))


CONNECTIVES: dict[str, Callable[..., Expr]] = {"and": and_, "or": or_, "xor": _xor}


def _logical(connective: Callable[..., Expr], *operands: Any) -> Tensor:
    """Numbers are read as booleans: nonzero is true."""
    return pointwise(lambda *es: connective(*map(truth, es)), *operands, kind="bool")


def _bitwise(connective: Callable[..., Expr], x: Any, y: Any) -> Tensor:
    if not _is_bool(x, y):
        return _masked_bits(connective, x, y)
    return _logical(connective, x, y)


def _masked_bits(connective: Callable[..., Expr], x: Any, y: Any) -> Tensor:
    """x & (2^k − 1) is x mod 2^k, also of negative numbers."""
    masks = isinstance(y, int) and not isinstance(y, bool) and y > 0 and y & (y + 1) == 0
    if connective is not and_ or not masks or as_tensor(x).kind != "int":
        raise Unsupported("bits of integers")
    return pointwise(lambda e: mod(e, y + 1), as_tensor(x))


@meaning(
    "aten.bitwise_right_shift.Tensor_Scalar", "aten.__rshift__.Scalar",
    "aten.bitwise_right_shift.Tensor", "aten.__rshift__.Tensor",
)
def right_shift(x: Tensor, by: int | Tensor) -> Tensor:
    """⌊x / 2^n⌋, also of negative numbers; shifts that vary are told apart where they are few."""
    if as_tensor(x).kind != "int" or as_tensor(by).kind != "int":
        raise Unsupported("a shift of what is no integer")
    return pointwise(_shifted_right, x, by, kind="int")


@meaning(
    "aten.bitwise_left_shift.Tensor_Scalar", "aten.__lshift__.Scalar",
    "aten.bitwise_left_shift.Tensor", "aten.__lshift__.Tensor",
)
def left_shift(x: Tensor, by: int | Tensor) -> Tensor:
    """x · 2^n, of as few n."""
    if as_tensor(x).kind != "int" or as_tensor(by).kind != "int":
        raise Unsupported("a shift of what is no integer")
    return pointwise(lambda e, n: mul(e, _power_of_two(n)), x, by, kind="int")


def _shifted_right(e: Expr, by: Expr) -> Expr:
    return floordiv(e, _power_of_two(by))


def _power_of_two(by: Expr) -> Expr:
    found = values(by)
    if found is None or found[0] < 0 or found[-1] >= LONGEST_SHIFT:
        raise Unsupported("a shift by what is no small number")
    return by_values(by, lambda n: const(1 << n)) or ONE


for _word, _connective in CONNECTIVES.items():
    meaning(f"aten.logical_{_word}.default")(
        lambda self, other, connective=_connective: _logical(connective, self, other)
    )
    meaning(
        f"aten.bitwise_{_word}.Tensor", f"aten.bitwise_{_word}.Scalar", f"aten.__{_word}__.Tensor",
        f"aten.__{_word}__.Scalar",
    )(partial(_bitwise, _connective))


@meaning("aten.isnan.default")
def isnan(x: Tensor) -> Tensor:
    """x ≠ x: over the reals a question without an answer, which equal numbers answer alike."""
    return _compare("≠", x, x)


@meaning("aten.logical_not.default")
def logical_not(x: Tensor) -> Tensor:
    return _logical(not_, x)


@meaning("aten.bitwise_not.default")
def bitwise_not(x: Tensor) -> Tensor:
    return _logical(not_, x) if x.kind == "bool" else pointwise(lambda e: -e - 1, x)


@meaning("aten.where.self", "aten.where.Scalar", "aten.where.ScalarSelf", "aten.where.ScalarOther")
def choose(condition: Tensor, x: Any, y: Any) -> Tensor:
    a, b = as_tensor(x), as_tensor(y)
    return pointwise(lambda c, u, v: where(truth(c), u, v), condition, a, b, kind=joined(a.kind, b.kind))


@meaning("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    return choose(mask, cast_like(as_tensor(value), x), x)


# ----------------------------------------------------------------------------------------------------------- casts

@meaning("aten._to_copy.default")
def to_copy(x: Tensor, *, dtype: Dtype | None = None) -> Tensor:
    return convert(x, dtype)


@meaning("aten.to.dtype")
def to_dtype(
    x: Tensor, dtype: Dtype, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    return convert(x, dtype)


@meaning("aten.to.dtype_layout")
def to_dtype_layout(x: Tensor, *, dtype: Dtype | None = None, copy: bool = False) -> Tensor:
    return convert(x, dtype)


@meaning("aten.to.device")
def to_device(
    x: Tensor,
    device: Any,
    dtype: Dtype,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    return convert(x, dtype)


@meaning("aten.to.prim_Device")
def to_prim_device(
    x: Tensor, device: Any, dtype: Dtype | None = None, non_blocking: bool = False, copy: bool = False
) -> Tensor:
    return convert(x, dtype)


@meaning("aten.to.other")
def to_other(
    x: Tensor, other: Tensor, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    return cast_like(x, other)


@meaning("aten.type_as.default")
def cast_like(x: Tensor, other: Tensor) -> Tensor:
    return cast(x, None if other.kind == x.kind else Dtype({"real": "float", "int": "int64"}.get(other.kind, "bool")))


@meaning("prims.convert_element_type.default")
def convert(x: Tensor, dtype: Dtype | None) -> Tensor:
    """x in another dtype; a complex one adds an imaginary part of zeros."""
    if kind_of(dtype, x.kind) == "complex":
        return join(cast(x, Dtype("float64")), pointwise(lambda _: ZERO, x, kind="real"))
    return cast(x, dtype)


def cast(x: Tensor, dtype: Dtype | None) -> Tensor:
    """x in another dtype. Refused for integers too narrow to hold every value of x."""
    kind = kind_of(dtype, x.kind)
    if kind == "complex":
        raise Unsupported("a cast from real to complex")
    if str(dtype) in NARROW and x.kind != "bool" and not holds(str(dtype), x):
        raise Unsupported(f"a cast to {dtype}, which may wrap around")
    change = {"bool": truth, "real": numeric, "int": lambda e: whole("trunc", numeric(e))}[kind]
    return pointwise(change, x, kind=kind)
