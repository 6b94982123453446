"""Launches as the front end recorded them, in the words of this room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Leaf, Load
from samesame.lift.launch import Argument, Launch, Memory
from samesame.lift.memory import is_contiguous

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
        arguments[parameter] = argument_of(parameter, given, names, captured, recorded)
    for parameter, given in recorded.constexprs.items():
        if isinstance(given, bool | int | float) and parameter not in arguments:
            arguments[parameter] = given
    numbers = (*recorded.constexprs.values(), *recorded.arguments.values(), *recorded.grid)
    constants = tuple(n for n in numbers if type(n) is int and n > 1)
    chosen = captured.choices or captured.unread or any(n in constants for n in captured.sizes.values())
    return Launch(
        name=recorded.kernel,
        ttir=recorded.ttir,
        arguments=arguments,
        grid=tuple(recorded.grid),
        example=dict(captured.sizes),
        guards=tuple(captured.guards),
        place=recorded.called.spoken,
        constants=constants,
        trusted="example" if chosen else "sizes",
    )


def names_of(recorded: Any, captured: Any) -> Mapping[str, str]:
    """For each tensor parameter the name of the host's variable, or its own where what is passed is not that tensor:
    another view of it, or one of two that share its memory. No two tensors have one name."""
    views = {p: v for p, v in recorded.arguments.items() if hasattr(v, "strides")}
    found: dict[str, str] = {}
    taken: dict[str, Any] = {}
    for parameter, view in views.items():
        name = captured.memories[view.memory].name
        shared = [p for p, other in views.items() if other.memory == view.memory and other != view]
        name = parameter if shared or not name or not is_itself(view, name, captured) else name
        while taken.setdefault(name, view) != view:
            name += "_"
        found[parameter] = name
    return found


def is_itself(view: Any, name: str, captured: Any) -> bool:
    """Whether what is passed is the host's tensor, or its elements in their order in memory."""
    return view == dict(captured.inputs).get(name) or (view.offset == 0 and is_contiguous(layout_of(name, view)))


def layout_of(name: str, view: Any) -> Memory:
    return Memory(name, tuple(view.shape), tuple(view.strides), element_name(view.dtype))


def argument_of(parameter: str, given: Any, names: Mapping[str, str], captured: Any, recorded: Any) -> Argument:
    if hasattr(given, "strides"):
        storage = f"memory {given.memory}"
        shape, strides, contents = (
            tuple(given.shape),
            tuple(given.strides),
            contents_of(captured, recorded, given.memory),
        )
        return Memory(names[parameter], shape, strides, element_name(given.dtype), storage, contents)
    if isinstance(given, Expr | bool | int | float):
        return given
    raise Refused(f"the argument {parameter} is {type(given).__name__}, which is not supported")


def contents_of(captured: Any, recorded: Any, memory: int) -> float | str | None:
    """What the memory holds before this launch: what it was made with, if no earlier step may have written to it."""
    for step in captured.steps:
        if recorded in getattr(step, "variants", ()):
            break
        if memory in memories_in(step):
            return "values"
    contents = captured.memories[memory].contents
    return float(contents) if isinstance(contents, bool | int | float) else contents


def memories_in(step: Any) -> set[int]:
    """The memories that a step of the host code touches."""
    views = [v for launch in getattr(step, "variants", ()) for v in launch.arguments.values()]
    views += [*getattr(step, "args", ()), *getattr(step, "kwargs", {}).values(), *getattr(step, "results", ())]
    return {v.memory for v in views if hasattr(v, "memory")}


def scalar(name: str, kind: str = "real") -> Expr:
    """A number that is given at run time."""
    return Load(Leaf(name, (), kind), ())
