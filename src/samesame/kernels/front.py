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
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import with_fact
from samesame.kernels.launch import Argument, Launch, Memory
from samesame.kernels.stated import Stated
from samesame.kernels.tiles.memory import is_contiguous

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


def launch_of(recorded: Any, captured: Any, covered: Covered = frozenset()) -> Launch:
    """One recorded launch. `covered` names earlier launches, by their number, that write every element of a memory."""
    passed = passed_of(recorded, captured)
    arguments: dict[str, Argument] = {}
    for parameter, given in recorded.arguments.items():
        arguments[parameter] = argument_of(parameter, given, passed, captured, recorded, covered)
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
        guards=(*captured.guards, *(part for c in captured.chosen for part in with_fact((), c))),
        place=recorded.called.spoken,
        constants=constants,
        order=tuple(recorded.arguments),
        starts={parameter: one.start for parameter, one in passed.items() if one.start != 0},
        put_back=put_back(recorded, captured),
        stated=stated_of(captured, passed),
        leaves_out=recorded.leaves_out,
        blocks=recorded.options.get("num_ctas") or 1,
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


def stated_of(captured: Any, passed: Mapping[str, Passed]) -> dict[str, tuple[Stated, ...]]:
    """A user's contracts on what the tensors of a launch hold, by the names that these have there. A contract is about
    all elements of a memory, or about the tensor that is passed; and one with gaps between its elements is not looked
    at."""
    found: dict[str, tuple[Stated, ...]] = {}
    for one in dict.fromkeys(passed.values()):
        for claim in (c for c in captured.contracts if isinstance(c, Stated) and speaks_of(c, one.view, captured)):
            found[one.name] = (*found.get(one.name, ()), claim)
    return found


def speaks_of(claim: Stated, view: Any, captured: Any) -> bool:
    """Whether a contract is about the elements of a view."""
    said = claim.tensor
    same = said.memory == view.memory and said.dtype == view.dtype and is_contiguous(layout_of("", view))
    return same and (said == view or is_whole(said, captured.memories[said.memory]))


def rearranges(view: Any, host: Any) -> bool:
    """Whether a view repeats elements of a tensor, runs backwards, or has its dimensions in another order."""
    if any(isinstance(stride, int) and stride <= 0 for stride in view.strides):
        return True
    dims, others = ([*zip(v.shape, v.strides, strict=True)] for v in (view, host))
    return view.offset == host.offset and sorted(map(repr, dims)) == sorted(map(repr, others))


def layout_of(name: str, view: Any) -> Memory:
    return Memory(name, tuple(view.shape), tuple(view.strides), element_name(view.dtype))


def put_back(recorded: Any, captured: Any) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The parameters that a tuner resets to zero, and those that it or the configuration's own hook restores."""
    if recorded.put_back is None:
        return None
    results = [view for step in recorded.before if step.operator in FILLS for view in step.results]
    filled = {view.memory for view in results if is_whole(view, captured.memories[view.memory])}
    by_hook = (p for p, v in recorded.arguments.items() if hasattr(v, "strides") and v.memory in filled)
    reset, restored = recorded.put_back
    return reset, (*restored, *by_hook)


def argument_of(
    parameter: str, given: Any, passed: Mapping[str, Passed], captured: Any, recorded: Any, covered: Covered
) -> Argument:
    if parameter in passed:
        one = passed[parameter]
        contents = contents_of(captured, recorded, given.memory, covered)
        if isinstance(contents, float) and one.view.dtype != captured.memories[given.memory].dtype:
            contents = VALUES                              # the bits of that number, seen as another dtype
        others = (other.view for other in passed.values() if other.view.memory == given.memory)
        base = one.view.offset if any(other != one.view for other in others) else None
        return replace(layout_of(one.name, one.view), storage=f"memory {given.memory}", contents=contents, base=base)
    if isinstance(given, Expr | bool | int | float):
        return given
    raise Refused(f"the argument {parameter} is {type(given).__name__}, which is not supported")


def contents_of(captured: Any, recorded: Any, memory: int, covered: Covered = frozenset()) -> float | str | None:
    """What the memory holds before this launch: a number that fills it, "values" in every element, "parts" where some
    elements may be nobody's, or None where nobody has written to it. `covered` names earlier launches, by their number,
    that write every element of a memory."""
    held = captured.memories[memory].contents
    earlier = takewhile(lambda step: recorded not in getattr(step, "variants", ()), captured.steps)
    for step in (*earlier, *recorded.before):
        if memory not in memories_in(step):
            continue
        variants = getattr(step, "variants", ())
        if variants:
            whole = (variants[0].call, memory) in covered
            held = VALUES if whole or held not in (None, PARTS) else PARTS
        elif memory in written_by(step):
            held = after_host_step(step, captured, memory, held)
    return float(held) if isinstance(held, bool | int | float) else held


def after_host_step(step: Any, captured: Any, memory: int, held: Any) -> Any:
    """What a memory holds when the host has written to it."""
    view = next(v for v in step.results if v.memory == memory)
    if not is_whole(view, captured.memories[memory]):
        return PARTS if held in (None, PARTS) else VALUES
    if step.operator in FILLS:
        value = step.args[1] if len(step.args) > 1 else 0
        return value if isinstance(value, bool | int | float) else VALUES
    return VALUES if step.operator in COPIES or held not in (None, PARTS) else PARTS


def written_by(step: Any) -> set[int]:
    """The memories that a host's operator writes to: those that it makes, or that its results lie in again."""
    return {view.memory for view in step.results}


FILLS = ("aten.fill_.Scalar", "aten.zero_.default")
COPIES = ("aten.copy_.default",)
VALUES, PARTS = "values", "parts"
Covered = frozenset[tuple[int, int]]  # (number of a launch, memory)


def is_whole(view: Any, memory: Any) -> bool:
    """Whether a view has all the elements of its memory, each once."""
    count: Expr = const(1)
    for n in view.shape:
        count = integers.times_(count, integers.tidied(const(n)))
    return view.offset == 0 and count is integers.tidied(const(memory.elements)) and is_packed(view)


def is_packed(view: Any) -> bool:
    """Whether the strides, sorted, are those of dimensions that lie in one line."""
    pairs = zip(view.strides, view.shape, strict=True)
    left = [(integers.tidied(const(s)), integers.tidied(const(n))) for s, n in pairs if n != 1]
    expected: Expr = const(1)
    while left:
        here = next(((s, n) for s, n in left if s is expected), None)
        if here is None:
            return False
        left.remove(here)
        expected = integers.times_(expected, here[1])
    return True


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
