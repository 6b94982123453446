"""Launches as the front end recorded them, in the words of this room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Leaf, Load, const
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim
from samesame.lift.launch import Argument, Launch, Memory
from samesame.lift.tiles.memory import is_contiguous

DTYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64", "bool": "i1"}


def element_name(dtype: Any) -> str:
    """Triton's name for a dtype: fp32, i64, u8."""
    name = str(dtype).removeprefix("torch.")
    return DTYPES.get(name) or name.replace("uint", "u").replace("int", "i").replace("float", "fp")


@dataclass(frozen=True)
class Passed:
    """A tensor argument: the view of its memory over which it is spoken of, by this name, and how many elements behind
    that view's first one the pointer stands."""

    name: str
    view: Any
    start: Dim = 0


def launch_of(recorded: Any, captured: Any) -> Launch:
    """One recorded launch."""
    passed = passed_of(recorded, captured)
    arguments: dict[str, Argument] = {}
    for parameter, given in recorded.arguments.items():
        arguments[parameter] = argument_of(parameter, given, passed, captured, recorded)
    for parameter, given in recorded.constexprs.items():
        if isinstance(given, bool | int | float) and parameter not in arguments:
            arguments[parameter] = given
    numbers = (*recorded.constexprs.values(), *recorded.arguments.values(), *recorded.grid)
    constants = tuple(n for n in numbers if type(n) is int and n > 1)
    launch = Launch(
        name=recorded.kernel,
        ttir=recorded.ttir,
        arguments=arguments,
        grid=tuple(recorded.grid),
        example=dict(captured.sizes),
        guards=tuple(captured.guards),
        place=recorded.called.spoken,
        constants=constants,
        order=tuple(recorded.arguments),
        starts={parameter: one.start for parameter, one in passed.items() if one.start != 0},
    )
    chosen = captured.choices or captured.unread or launch.written_down
    return replace(launch, trusted="example" if chosen else "sizes")


def passed_of(recorded: Any, captured: Any) -> Mapping[str, Passed]:
    """How each tensor parameter is spoken of.

    By the host's variable where that is what is passed, or its elements in another order of dimensions, or some of
    them again and again, or backwards: these are indices of the host's tensor. Else it is the view that is passed, by
    the parameter's name. No two different tensors have one name.
    """
    views = {p: v for p, v in recorded.arguments.items() if hasattr(v, "strides")}
    for parameter, view in views.items():
        if not all(isinstance(n, int | Expr) for n in (*view.shape, *view.strides, view.offset)):
            raise Refused(f"{recorded.called.spoken}: {parameter} has a size that depends on data")
    hosts = dict(captured.inputs)
    found: dict[str, Passed] = {}
    taken: dict[str, Any] = {}
    for parameter, view in views.items():
        name = captured.memories[view.memory].name
        host = hosts.get(name)
        if host is not None and host.memory == view.memory and host != view and rearranges(view, host):
            one = Passed(name, host, canonical(const(view.offset) - const(host.offset)))
        else:
            shared = any(other.memory == view.memory and other != view for other in views.values())
            itself = view == host or (view.offset == 0 and is_contiguous(layout_of(name, view)))
            one = Passed(name if name and itself and not shared else parameter, view)
        while taken.setdefault(one.name, one.view) != one.view:
            one = replace(one, name=one.name + "_")
        found[parameter] = one
    return found


def rearranges(view: Any, host: Any) -> bool:
    """Whether a view repeats elements of a tensor, runs backwards, or has its dimensions in another order."""
    if any(isinstance(stride, int) and stride <= 0 for stride in view.strides):
        return True
    dims, others = ([*zip(v.shape, v.strides, strict=True)] for v in (view, host))
    return view.offset == host.offset and sorted(map(repr, dims)) == sorted(map(repr, others))


def layout_of(name: str, view: Any) -> Memory:
    return Memory(name, tuple(view.shape), tuple(view.strides), element_name(view.dtype))


def argument_of(parameter: str, given: Any, passed: Mapping[str, Passed], captured: Any, recorded: Any) -> Argument:
    if parameter in passed:
        one = passed[parameter]
        contents = contents_of(captured, recorded, given.memory)
        others = (other.view for other in passed.values() if other.view.memory == given.memory)
        base = one.view.offset if any(other != one.view for other in others) else None
        return replace(layout_of(one.name, one.view), storage=f"memory {given.memory}", contents=contents, base=base)
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


def times_written(captured: Any, recorded: Any) -> tuple[int, ...]:
    """How many steps before a launch may have written to each of its integer tensors, whose elements may be indices."""
    views = [v for v in recorded.arguments.values() if hasattr(v, "strides") and "int" in str(v.dtype)]
    before = [memories_in(s) for s in takewhile(lambda s: recorded not in getattr(s, "variants", ()), captured.steps)]
    return tuple(sum(view.memory in memories for memories in before) for view in views)


def memories_in(step: Any) -> set[int]:
    """The memories that a step of the host code touches."""
    views = [v for launch in getattr(step, "variants", ()) for v in launch.arguments.values()]
    views += [*getattr(step, "args", ()), *getattr(step, "kwargs", {}).values(), *getattr(step, "results", ())]
    return {v.memory for v in views if hasattr(v, "memory")}


def scalar(name: str, kind: str = "real") -> Expr:
    """A number that is given at run time."""
    return Load(Leaf(name, (), kind), ())
