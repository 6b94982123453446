"""Launches as the front end recorded them, in the words of this room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Leaf, Load
from samesame.lift.launch import Argument, Launch, Memory

DTYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64", "bool": "i1"}


def element_name(dtype: Any) -> str:
    """Triton's name for a dtype: fp32, i64, u8."""
    name = str(dtype).removeprefix("torch.")
    return DTYPES.get(name) or name.replace("uint", "u").replace("int", "i").replace("float", "fp")


def launch_of(recorded: Any, captured: Any) -> Launch:
    """One recorded launch."""
    names = names_of(recorded, captured)
    arguments: dict[str, Argument] = {}
    for parameter, given in recorded.arguments.items():
        arguments[parameter] = argument_of(parameter, given, names, captured)
    for parameter, given in recorded.constexprs.items():
        if isinstance(given, bool | int | float) and parameter not in arguments:
            arguments[parameter] = given
    return Launch(
        name=recorded.kernel,
        ttir=recorded.ttir,
        arguments=arguments,
        grid=tuple(recorded.grid),
        example=dict(captured.sizes),
        guards=tuple(captured.guards),
        place=recorded.called.spoken,
    )


def names_of(recorded: Any, captured: Any) -> Mapping[str, str]:
    """For each tensor parameter the name of the host's variable, or its own where two share one memory."""
    views = {p: v for p, v in recorded.arguments.items() if hasattr(v, "strides")}
    found: dict[str, str] = {}
    for parameter, view in views.items():
        name = captured.memories[view.memory].name
        shared = [p for p, other in views.items() if other.memory == view.memory and other != view]
        found[parameter] = parameter if shared or not name else name
    return found


def argument_of(parameter: str, given: Any, names: Mapping[str, str], captured: Any) -> Argument:
    if hasattr(given, "strides"):
        storage = f"memory {given.memory}"
        return Memory(names[parameter], tuple(given.shape), tuple(given.strides), element_name(given.dtype), storage)
    if isinstance(given, Expr | bool | int | float):
        return given
    raise Refused(f"the argument {parameter} is {type(given).__name__}, which is not supported")


def scalar(name: str, kind: str = "real") -> Expr:
    """A number that is given at run time."""
    return Load(Leaf(name, (), kind), ())
