"""What a node of a graph means: its operator's meaning, applied to the formulas of its arguments.

Arguments are put in the order of torch's schema and defaults filled in, so that a meaning sees them as torch does,
however the program wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from samesame.formula.expr import Unsupported
from samesame.formula.tensor import Dim, Tensor
from samesame.graph import Dtype, Node, TensorType, map_nodes
from samesame.operators.opaque import is_deterministic, opaque, schema_of
from samesame.operators.pointwise import COMPARISONS
from samesame.operators.shapes import NARROW, Untold, agreeing, plain
from samesame.operators.table import STORAGE, meaning_of, movements, packet

Result = Tensor | tuple[Tensor, ...]

# The epsilon that a norm takes when told none: that of its input's dtype, where all of torch's kernels agree on it.
EPSILON = {name: torch.finfo(getattr(torch, name)).eps for name in ("float32", "float64")}
EPSILON_ARGUMENT = {"aten.rms_norm.default": 3, "aten._fused_rms_norm.default": 3}


def explain(node: Node, lookup: Callable[[Node], Result]) -> Result:
    """The formula of a node's result, or of each of its results, given those of the nodes that it reads.

    A deterministic operator without a meaning, or whose meaning does not cover these arguments, is an unknown
    function of its whole arguments. Raises `Unsupported` for what is no function: random numbers, uninitialised
    memory, writes.
    """
    args, kwargs = (map_nodes(lookup, part) for part in (node.args, tuple(node.kwargs.values())))
    named = dict(zip(node.kwargs, kwargs, strict=True))
    if node.operator == "getitem":
        return args[0][args[1]]                            # type: ignore[no-any-return]
    if node.is_source:
        raise Unsupported(f"{node.name} is given, not computed")
    bound, keywords = bind(node.operator, args, named)
    meaning = meaning_of(node.operator)
    if meaning is not None and not _may_wrap(node):
        try:
            return _checked(node, meaning(*_with_epsilon(node, bound), **keywords))
        except Unsupported:
            if not is_deterministic(node.operator):
                raise
    if not is_deterministic(node.operator):
        raise Unsupported(f"{node.operator} is not a function of its arguments")
    return opaque(node, bound, keywords)


CASTS = ("aten._to_copy", "aten.to")  # their meaning sees to what wraps around
CHOOSE = tuple(f"aten.{name}" for name in ("index", "_unsafe_index", "gather", "index_select", "take", "embedding"))
PUT = tuple(f"aten.{name}" for name in ("index_put", "_unsafe_index_put", "index_copy"))  # what has the dtype already
# What makes integers of a number, or no larger with one, of at least so much and of no more than the narrowest dtype
# holds.
LESSEN = dict.fromkeys(("aten.bitwise_and", "aten.__and__", "aten.bitwise_right_shift", "aten.__rshift__"), 0) | (
    dict.fromkeys(("aten.div", "aten.floor_divide", "aten.remainder", "aten.fmod"), 1)) | (
    dict.fromkeys(("aten.full", "aten.full_like"), 0))
COMPARE = frozenset(f"aten.{name}" for names in COMPARISONS.values() for name in names)


def _may_wrap(node: Node) -> bool:
    kinds = node.type if isinstance(node.type, tuple) else (node.type,)
    return may_wrap(node.operator, (*node.args, *node.kwargs.values()), [kind.dtype for kind in kinds]) or (
        compared_as(node) in NARROW or compares_beyond(node))


def compared_as(node: Node) -> str:
    """The dtype in which a comparison takes integers that one of its operands has a wider one for; "" where there is
    none. So torch does with tensors without dimensions beside one that has some."""
    kinds = _compared(node)
    if not kinds:
        return ""
    held, common = _held(kinds)
    ends = [end for kind in kinds for end in (torch.iinfo(kind.dtype).min, torch.iinfo(kind.dtype).max)]
    return "" if all(held.min <= n <= held.max for n in ends) else common


def compares_beyond(node: Node) -> bool:
    """Whether a comparison of integers is with a number that their dtype has not, and that torch makes one that it has:
    255 as a `uint8` is equal to −1."""
    kinds = _compared(node)
    held = _held(kinds)[0] if kinds else None
    numbers = [part for part in (*node.args, *node.kwargs.values()) if isinstance(part, int)]
    return held is not None and not all(held.min <= n <= held.max for n in numbers)


def _compared(node: Node) -> list[torch.Tensor]:
    """The operands of a comparison of integers, without numbers in them; none of anything else."""
    tensors = [part.type for part in node.inputs if isinstance(part.type, TensorType)]
    if packet(node.operator) not in COMPARE or not all("int" in kind.dtype for kind in tensors):
        return []
    return [torch.empty((1,) * len(kind.shape), dtype=getattr(torch, kind.dtype), device="meta") for kind in tensors]


def _held(kinds: Sequence[torch.Tensor]) -> tuple[torch.iinfo, str]:
    """What the dtype holds in which these are compared, and its name."""
    common = torch.result_type(*kinds) if len(kinds) > 1 else kinds[0].dtype
    return torch.iinfo(common), str(common).removeprefix("torch.")


def may_wrap(operator: str, args: Sequence[Any], dtypes: Iterable[str]) -> bool:
    """Whether an operator computes integers so narrow that they may wrap around, as no formula's integers do; `dtypes`
    are those of its results."""
    computes = packet(operator) not in {*movements(), *CASTS, *CHOOSE}
    if packet(operator) in LESSEN:
        computes = not isinstance(args[1], int) or not LESSEN[packet(operator)] <= args[1] <= 127
    if packet(operator) in PUT:
        computes = any(argument is True for argument in args)  # it adds
    return computes and any(dtype in NARROW for dtype in dtypes)


def bind(operator: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional arguments in the schema's order, and keyword-only ones; defaults filled in, storage left out."""
    schema = schema_of(operator)
    if schema is None:
        return args, {name: value for name, value in kwargs.items() if name not in STORAGE}
    rest = dict(kwargs)
    positional, keywords = list(args), dict[str, Any]()
    for k, argument in enumerate(schema.arguments):
        if not argument.kwarg_only and k < len(args):
            continue
        value = rest.pop(argument.name) if argument.name in rest else _default(argument)
        if not argument.kwarg_only:
            positional.append(value)
        elif argument.name not in STORAGE:
            keywords[argument.name] = value
    if rest:
        raise Unsupported(f"{operator} has no argument {', '.join(rest)}")
    return tuple(positional), keywords


def _default(argument: Any) -> Any:
    """A schema's default, as graphs write arguments."""
    value = argument.default_value
    if isinstance(value, list):
        return tuple(value)
    return Dtype(str(value).removeprefix("torch.")) if isinstance(value, torch.dtype) else value


def _with_epsilon(node: Node, args: tuple[Any, ...]) -> tuple[Any, ...]:
    k = EPSILON_ARGUMENT.get(node.operator, len(args))
    if k >= len(args) or args[k] is not None:
        return args
    kind = node.inputs[0].type
    return (*args[:k], EPSILON.get(kind.dtype) if isinstance(kind, TensorType) else None, *args[k + 1 :])


def _checked(node: Node, result: Result) -> Result:
    """A meaning must give the shapes that the program has, of what it tells: anything else is our mistake, no answer.

    Symbolic shapes are compared as polynomials. A graph of numbers may be read over leaves of symbolic sizes; there is
    nothing to compare then.
    """
    kinds = node.type if isinstance(node.type, tuple) else (node.type,)
    found = result if isinstance(result, tuple) else (result,)
    if len(found) != len(kinds):
        raise Unsupported(f"{node.operator} gives {len(kinds)} results, its meaning {len(found)}")
    for x, kind in zip(found, kinds, strict=True):
        shape = x.shape[:-1] if x.kind == "complex" else x.shape
        if isinstance(x, Untold):
            continue
        if isinstance(kind, TensorType) and (_is_symbolic(kind.shape) or not _is_symbolic(shape)):
            agreeing(kind.shape, shape, f"{node.operator} and its meaning")
    return result


def _is_symbolic(shape: tuple[Dim, ...]) -> bool:
    return any(not isinstance(plain(n), int) for n in shape)
