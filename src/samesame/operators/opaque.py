"""Operators without a meaning: what can still be said of them.

An opaque operator is a function all the same, if it is deterministic: equal arguments give equal results. Its
result is then written as that function of its whole arguments. What draws random numbers, reads uninitialised
memory or writes to its arguments is no function, and is refused.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from samesame.formula.expr import Lambda, Opaque, Unsupported
from samesame.formula.tensor import Tensor, tensor
from samesame.graph import Dtype, Node, TensorType
from samesame.operators.shapes import kind_of
from samesame.operators.table import UNINITIALISED, packet, tensors_in


@cache
def schema_of(operator: str) -> torch.FunctionSchema | None:
    """torch's declaration of an operator such as `aten.add.Tensor`, if torch knows it in this process."""
    namespace, _, rest = operator.partition(".")
    name, _, overload = rest.partition(".")
    schemas = torch._C._jit_get_schemas_for_operator(f"{namespace}::{name}")
    wanted = "" if overload in ("", "default") else overload
    return next((schema for schema in schemas if schema.overload_name == wanted), None)


@cache
def is_deterministic(operator: str) -> bool:
    """Whether equal arguments always give equal results, as far as torch declares it."""
    if packet(operator) in UNINITIALISED or packet(operator) == "aten.resize":
        return False
    found = _overload(operator)
    return found is None or torch.Tag.nondeterministic_seeded not in found.tags


def _overload(operator: str) -> Any:
    """torch's own operator object, or None where torch does not have it."""
    namespace, _, rest = operator.partition(".")
    name, _, overload = rest.partition(".")
    if schema_of(operator) is None:
        return None
    return getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")


def opaque(node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | tuple[Tensor, ...]:
    """The result of a node as a function of its whole arguments, given as formulas and values.

    dtypes of the arguments are part of the function: what the operator does with them is not known.
    """
    schema = schema_of(node.operator)
    if schema is not None and schema.is_mutable:
        raise Unsupported(f"{node.operator} writes to its arguments")
    whole = tuple(Lambda(indices, element) for indices, element in (x.element() for x in tensors_in((args, kwargs))))
    types = tuple(part.type for part in node.inputs)
    told = (_told(args), tuple(sorted((name, _told(value)) for name, value in kwargs.items())), types)

    def result(kind: TensorType, number: int) -> Tensor:
        element_kind = kind_of_type(kind)
        shape = (*kind.shape, 2) if element_kind == "complex" else kind.shape
        expr_kind = "real" if element_kind == "complex" else element_kind
        return tensor(
            shape, lambda *i: Opaque(node.operator, (number, *told), whole, i, expr_kind), element_kind
        )

    if isinstance(node.type, tuple):
        return tuple(result(kind, number) for number, kind in enumerate(node.type))
    return result(node.type, 0)


def kind_of_type(kind: TensorType) -> str:
    """The kind of a tensor's elements: "real", "int", "bool" or "complex"."""
    return kind_of(Dtype(kind.dtype))


def _told(argument: Any) -> Any:
    """An argument with a mark in place of each tensor, and types beside the numbers, so that 1, 1.0 and True differ."""
    if isinstance(argument, Tensor):
        return "·"
    if isinstance(argument, tuple | list):
        return tuple(map(_told, argument))
    return (type(argument).__name__, argument)
