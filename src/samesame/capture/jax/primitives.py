"""Primitives: what each of JAX's is in torch. A row is a function of the equation's inputs and its parameters.

Inputs are tensors, or plain numbers where JAX has a literal or what was made of literals. A float literal is read as
the shortest decimal that float32 rounds to it, as a program of torch gives it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from string import ascii_lowercase
from typing import Any

import numpy
import torch
from torch.nn import functional

from samesame.capture.jax import indexing
from samesame.capture.jax.indexing import Unknown, dtype_of

Primitive = Callable[[Any, list[Any], dict[Any, Any], Callable[[Any], Any]], Any]
HELD = ("broadcast_in_dim", "iota", "convert_element_type", "stop_gradient", "copy", "copy_p")
# Numbers that are no decimals, as JAX rounds them to float32.
IRRATIONAL = [math.sqrt(2 / math.pi), math.sqrt(0.5), math.sqrt(2), math.pi, 2 * math.pi, math.log(2), 1 / math.log(2),
              math.e, 1 / math.pi, 2 / math.sqrt(math.pi), math.sqrt(2 * math.pi), 1 / math.sqrt(2 * math.pi)]


def shortest(value: Any) -> Any:
    """A literal as a plain number."""
    array = numpy.asarray(value)
    if array.ndim:
        return torch.tensor(array.tolist(), dtype=getattr(torch, str(array.dtype)))
    if array.dtype != numpy.float32:
        return array.item()
    for known in IRRATIONAL:
        if abs(array) in (numpy.float32(known), numpy.float32(1 / known)):
            number = known if abs(array) == numpy.float32(known) else 1 / known
            return math.copysign(number, float(array))
    number = float(str(numpy.float32(array)))
    return number if abs(number) <= torch.finfo(torch.float32).max else float(array)


def number(equation: Any, read: list[Any]) -> list[Any] | None:
    """What an equation gives whose inputs are plain numbers, if JAX can tell at once; None where it gives a tensor."""
    if any(v.aval.shape for v in equation.outvars):
        return None
    found = equation.primitive.bind(*(numpy.asarray(x, v.aval.dtype) for x, v in
                                      zip(read, equation.invars, strict=True)), **equation.params)
    return [shortest(numpy.asarray(x)) for x in (found if equation.primitive.multiple_results else [found])]


def plain(function: Callable[..., Any]) -> Primitive:
    """A primitive that is this function of its inputs alone."""
    return lambda equation, read, made, value: function(*read)


def with_params(function: Callable[..., Any]) -> Primitive:
    """A primitive that is this function of its parameters and inputs."""
    return lambda equation, read, made, value: function(equation.params, *read)


def tensor(x: Any, like: torch.Tensor) -> torch.Tensor:
    return x if isinstance(x, torch.Tensor) else torch.full((), x, dtype=like.dtype)


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes no plain numbers."""

    def applied(a: Any, b: Any) -> Any:
        like = a if isinstance(a, torch.Tensor) else b
        return function(tensor(a, like), tensor(b, like))

    return applied


def bounded(x: Any, y: Any, *, least: bool) -> Any:
    """max or min: with −∞ or +∞ it is the other."""
    if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
        return torch.maximum(x, y) if least else torch.minimum(x, y)
    held, limit = (x, y) if isinstance(x, torch.Tensor) else (y, x)
    if limit == (-math.inf if least else math.inf):
        return held
    return torch.clamp(held, min=limit) if least else torch.clamp(held, max=limit)


def divided(a: Any, b: Any) -> Any:
    like = a if isinstance(a, torch.Tensor) else b
    if not like.is_floating_point():
        return torch.div(tensor(a, like), tensor(b, like), rounding_mode="trunc")
    return a / b


def select(equation: Any, read: list[Any], made: dict[Any, Any], value: Any) -> Any:
    which, *cases = read
    if equation.invars[0].aval.dtype != bool or len(cases) != 2:
        raise Unknown("a choice among more than two by number")
    if not isinstance(which, torch.Tensor):
        return cases[1] if which else cases[0]
    like = next((case for case in cases if isinstance(case, torch.Tensor)), None)
    if like is None:
        kind = dtype_of(equation.outvars[0])
        return torch.where(which, *(torch.full((), case, dtype=kind) for case in reversed(cases)))
    return torch.where(which, tensor(cases[1], like), tensor(cases[0], like))


def clamped(low: Any, x: Any, high: Any) -> Any:
    return bounded(bounded(x, low, least=True), high, least=False)


def cast(params: Any, x: Any) -> Any:
    kind = getattr(torch, str(params["new_dtype"]))
    if isinstance(x, torch.Tensor):
        return x.to(kind)
    return float(x) if kind.is_floating_point else (bool(x) if kind is torch.bool else int(x))


def of_shape(equation: Any, read: list[Any], made: dict[Any, Any], value: Any) -> Any:
    x, params, shape = read[0], equation.params, tuple(map(int, equation.params["shape"]))
    if not isinstance(x, torch.Tensor):
        return torch.full(shape, x, dtype=dtype_of(equation.outvars[0]))
    kept = params["broadcast_dimensions"]
    sizes = [1] * len(shape)
    for here, there in enumerate(kept):
        sizes[there] = int(x.shape[here])
    return x.reshape(sizes).expand(shape)


def iota(equation: Any, read: list[Any], made: dict[Any, Any], value: Any) -> Any:
    shape, dim = tuple(map(int, equation.params["shape"])), equation.params["dimension"]
    sizes = [shape[dim] if d == dim else 1 for d in range(len(shape))]
    return torch.arange(shape[dim], dtype=dtype_of(equation.outvars[0])).reshape(sizes).expand(shape)


def reduced(function: Callable[..., Any]) -> Primitive:
    def applied(params: Any, x: torch.Tensor) -> Any:
        return function(x, tuple(params["axes"])) if params["axes"] else x

    return with_params(applied)


def one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction that torch does over one dimension at a time."""

    def applied(x: torch.Tensor, dims: Sequence[int]) -> Any:
        for dim in sorted(dims, reverse=True):
            x = function(x, dim)
        return x

    return applied


def sliced(params: Any, x: torch.Tensor) -> Any:
    steps = params["strides"] or (1,) * x.dim()
    for dim, (start, end, step) in enumerate(zip(params["start_indices"], params["limit_indices"], steps, strict=True)):
        if (start, end, step) != (0, int(x.shape[dim]), 1):
            x = x[(slice(None),) * dim + (slice(int(start), int(end), int(step)),)]
    return x


def padded(params: Any, x: torch.Tensor, value: Any) -> Any:
    if any(inner for _, _, inner in params["padding_config"]) or isinstance(value, torch.Tensor):
        raise Unknown("padding inside, or with a tensor")
    amounts = [int(n) for low, high, _ in reversed(params["padding_config"]) for n in (low, high)]
    return functional.pad(x, amounts, value=value)


def scanned(function: Callable[..., Any]) -> Primitive:
    """A running sum and its like."""

    def applied(params: Any, x: torch.Tensor) -> Any:
        dim = params["axis"]
        return function(x.flip(dim), dim).flip(dim) if params["reverse"] else function(x, dim)

    return with_params(applied)


def product(params: Any, a: torch.Tensor, b: torch.Tensor) -> Any:
    """dot_general: a matrix product where it is one, else the sum that it is."""
    (left, right), (of_left, of_right) = params["dimension_numbers"]
    if (tuple(left), tuple(right)) == ((a.dim() - 1,), (0,)) and not of_left and b.dim() == 2:
        return a @ b
    letters = iter(ascii_lowercase)
    mine = [next(letters) for _ in range(a.dim())]
    yours = [""] * b.dim()
    for here, there in zip((*left, *of_left), (*right, *of_right), strict=True):
        yours[there] = mine[here]
    yours = [letter or next(letters) for letter in yours]
    batch = [mine[d] for d in of_left]
    free = [x for d, x in enumerate(mine) if d not in (*left, *of_left)]
    others = [x for d, x in enumerate(yours) if d not in (*right, *of_right)]
    return torch.einsum(f"{''.join(mine)},{''.join(yours)}->{''.join([*batch, *free, *others])}", a, b)


def convolved(params: Any, x: torch.Tensor, weight: torch.Tensor) -> Any:
    numbers, rank = params["dimension_numbers"], x.dim() - 2
    if params["batch_group_count"] != 1 or any(n != 1 for n in params["lhs_dilation"]):
        raise Unknown("a dilated input, or groups of the batch")
    x, weight = x.permute(numbers.lhs_spec), weight.permute(numbers.rhs_spec)
    low, high = zip(*params["padding"], strict=True)
    if low != high:
        x = functional.pad(x, [int(n) for pair in reversed(params["padding"]) for n in pair])
        low = (0,) * rank
    function = (functional.conv1d, functional.conv2d, functional.conv3d)[rank - 1]
    found = function(x, weight, None, tuple(params["window_strides"]), tuple(map(int, low)),
                     tuple(params["rhs_dilation"]), params["feature_group_count"])
    return found.permute([numbers.out_spec.index(d) for d in range(rank + 2)])


def pooled(params: Any, x: torch.Tensor) -> Any:
    """The largest of each window over the last dimensions but those of size one."""
    window, steps, padding = params["window_dimensions"], params["window_strides"], params["padding"]
    dims = [d for d, (n, s) in enumerate(zip(window, steps, strict=True)) if (n, s) != (1, 1)]
    if len(dims) != 2 or any(n != 1 for n in (*params["base_dilation"], *params["window_dilation"])) \
            or any(n for pair in padding for n in pair):
        raise Unknown("windows other than over two dimensions, padded or dilated")
    order = [d for d in range(x.dim()) if d not in dims] + dims
    moved = x.permute(order)
    flat = moved.reshape(1, -1, *moved.shape[-2:])
    found = functional.max_pool2d(flat, [window[d] for d in dims], [steps[d] for d in dims])
    found = found.reshape(*moved.shape[:-2], *found.shape[-2:])
    return found.permute([order.index(d) for d in range(x.dim())])


def ordered(params: Any, *xs: torch.Tensor) -> Any:
    if params["num_keys"] != 1:
        raise Unknown("several keys")
    values, places = torch.sort(xs[0], dim=params["dimension"], stable=True)
    return [values, *(torch.gather(x, params["dimension"], places) for x in xs[1:])]


def highest(params: Any, x: torch.Tensor) -> Any:
    values, places = torch.topk(x, params["k"], dim=params.get("axis", params.get("dimension", -1)))
    return [values, places.to(torch.int32)]


def place_of(function: Callable[..., Any]) -> Primitive:
    def applied(params: Any, x: torch.Tensor) -> Any:
        return function(x, params["axes"][0]).to(getattr(torch, str(numpy.dtype(params["index_dtype"]))))

    return with_params(applied)


def split(params: Any, x: torch.Tensor) -> Any:
    return list(torch.split(x, [int(n) for n in params["sizes"]], params["axis"]))


def joined(params: Any, *parts: torch.Tensor) -> Any:
    return torch.cat(parts, params["dimension"])


def logical(of_truths: Callable[..., Any], of_bits: Callable[..., Any]) -> Primitive:
    """`and`, `or`, `not` are of truth values, or of bits."""

    def applied(*xs: Any) -> Any:
        like = next(x for x in xs if isinstance(x, torch.Tensor))
        return (of_truths if like.dtype is torch.bool else of_bits)(*(tensor(x, like) for x in xs))

    return plain(applied)


def raised(params: Any, x: torch.Tensor) -> Any:
    return x * x if params["y"] == 2 else torch.pow(x, int(params["y"]))


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b, "add_any": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": divided, "neg": torch.neg, "exp": torch.exp, "exp2": torch.exp2, "log": torch.log, "log1p": torch.log1p,
    "expm1": torch.expm1, "tanh": torch.tanh, "logistic": torch.sigmoid, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan,
    "sinh": torch.sinh, "cosh": torch.cosh, "abs": torch.abs, "sign": torch.sign, "floor": torch.floor,
    "ceil": torch.ceil, "erf": torch.erf, "erfc": torch.erfc, "square": lambda x: x * x, "is_finite": torch.isfinite,
    "max": lambda a, b: bounded(a, b, least=True), "min": lambda a, b: bounded(a, b, least=False),
    "pow": torch.pow, "rem": on_tensors(torch.fmod), "atan2": on_tensors(torch.atan2), "clamp": clamped,
    "eq": on_tensors(torch.eq), "ne": on_tensors(torch.ne), "lt": on_tensors(torch.lt), "le": on_tensors(torch.le),
    "gt": on_tensors(torch.gt), "ge": on_tensors(torch.ge),
    "stop_gradient": lambda x: x, "copy": lambda x: x, "copy_p": lambda x: x, "optimization_barrier": lambda *xs: xs,
}

PRIMITIVES: dict[str, Primitive] = {
    **{name: plain(function) for name, function in ELEMENTWISE.items()},
    "and": logical(torch.logical_and, torch.bitwise_and),
    "or": logical(torch.logical_or, torch.bitwise_or),
    "xor": logical(torch.logical_xor, torch.bitwise_xor),
    "not": logical(torch.logical_not, torch.bitwise_not),
    "integer_pow": with_params(raised),
    "convert_element_type": with_params(cast),
    "select_n": select,
    "broadcast_in_dim": of_shape,
    "iota": iota,
    "reshape": with_params(lambda params, x: x.reshape(tuple(map(int, params["new_sizes"])))),
    "transpose": with_params(lambda params, x: x.permute(tuple(params["permutation"]))),
    "squeeze": with_params(lambda params, x: x.squeeze(tuple(params["dimensions"]))),
    "rev": with_params(lambda params, x: x.flip(tuple(params["dimensions"]))),
    "slice": with_params(sliced),
    "pad": with_params(padded),
    "concatenate": with_params(joined),
    "split": with_params(split),
    "reduce_sum": reduced(lambda x, dims: x.sum(dims, dtype=x.dtype)),
    "reduce_max": reduced(lambda x, dims: torch.amax(x, dims)),
    "reduce_min": reduced(lambda x, dims: torch.amin(x, dims)),
    "reduce_prod": reduced(one_by_one(lambda x, dim: torch.prod(x, dim))),
    "reduce_and": reduced(one_by_one(lambda x, dim: torch.all(x, dim))),
    "reduce_or": reduced(one_by_one(lambda x, dim: torch.any(x, dim))),
    "argmax": place_of(torch.argmax),
    "argmin": place_of(torch.argmin),
    "cumsum": scanned(lambda x, dim: torch.cumsum(x, dim, dtype=x.dtype)),
    "cumprod": scanned(lambda x, dim: torch.cumprod(x, dim, dtype=x.dtype)),
    "cummax": scanned(lambda x, dim: torch.cummax(x, dim)[0]),
    "cumlogsumexp": scanned(torch.logcumsumexp),
    "sort": with_params(ordered),
    "top_k": with_params(highest),
    "dot_general": with_params(product),
    "conv_general_dilated": with_params(convolved),
    "reduce_window_max": with_params(pooled),
    **indexing.PRIMITIVES,
}
