"""A program as data: inputs, steps, outputs; printed as torch code that anybody can run.

What is generated, rewritten, compiled, reduced and reported is one and the same thing: a straight line of calls, with a
loop or a branch here and there. Each input is an expression of torch that makes it, so a program says everything about
itself, and a finding is its text.

    Program     (Input, …), (Step | Block, …), (name, …)
    Input       name = expression, such as `torch.arange(6.).reshape(2, 3).t()`
    Step        names = call(arguments): `torch.add`, or `.add_` for a method of the first argument
    Block       a `for` or `if` line, and the steps under it
"""

from __future__ import annotations

import linecache
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from types import ModuleType
from typing import Any

import torch

INDENT = "    "
Runs = tuple[Callable[..., Any], Callable[[], list[torch.Tensor]]]       # a function, and what makes its inputs


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of the program, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the program is given: `text` is the expression that makes it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """`results = call(*args, **kwargs)`; without results a statement that is run for what it writes."""

    results: tuple[str, ...]
    call: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    unpacked: bool = False  # whether the call gives a tuple of `results`, and not the one result

    def __str__(self) -> str:
        """`a, b = torch.sort(x, dim=1)`."""
        args = self.args
        call = self.call
        if call.startswith("."):
            call, args = f"{text_of(args[0])}{call}", args[1:]
        given = [*map(text_of, args), *(f"{name}={text_of(value)}" for name, value in self.kwargs.items())]
        target = ", ".join(self.results) + ("," if self.unpacked and len(self.results) == 1 else "")
        applied = f"{call}({', '.join(given)})" if call != "[]" else f"{text_of(args[0])}[{index_text(args[1])}]"
        return f"{target} = {applied}" if self.results else applied


@dataclass(frozen=True, slots=True)
class Block:
    """A line that ends in a colon, and what stands under it."""

    head: str
    body: tuple[Step | Block, ...]


Line = Step | Block


@dataclass(frozen=True, slots=True)
class Program:
    """`outputs` are names of values that the program returns, inputs among them."""

    inputs: tuple[Input, ...]
    steps: tuple[Line, ...]
    outputs: tuple[str, ...]

    def function(self) -> Callable[..., Any]:
        """The program as a Python function of its inputs, with source that a tracer can read."""
        function: Callable[..., Any] = defined(source(self))["program"]
        return function

    def make_inputs(self) -> list[torch.Tensor]:
        """The inputs, new ones each time, with the same values."""
        return [evaluated(given.text) for given in self.inputs]

    def wide(self) -> Runs | None:
        """The program on the same numbers in float64; None where it names a narrower dtype itself."""
        function = self.function()

        def call(*given: torch.Tensor) -> Any:
            torch.set_default_dtype(torch.float64)  # what integers divide into
            try:
                return function(*given)
            finally:
                torch.set_default_dtype(torch.float32)

        return None if NARROW.search(repr(self.steps)) else (call, lambda: list(map(widened, self.make_inputs())))

    @property
    def every_step(self) -> list[Step]:
        """Those under a line among them."""
        return list(steps_in(self.steps))

    @property
    def calls(self) -> list[str]:
        return [step.call for step in self.every_step]

    @property
    def writes(self) -> bool:
        """Whether a step writes in place."""
        return any(call.endswith("_") and not call.endswith("__") for call in self.calls)

    def lean(self) -> Program:
        """Without inputs that nothing takes."""
        taken = {*used(self.steps), *self.outputs}
        return replace(self, inputs=tuple(given for given in self.inputs if given.name in taken))

    def sites(self) -> Iterator[tuple[int, dict[str, torch.Tensor]]]:
        """Each step outside blocks with the values before it, as eager torch computes them; then those at the end."""
        values = {given.name: tensor for given, tensor in zip(self.inputs, self.make_inputs(), strict=True)}
        for position, line in enumerate(self.steps):
            if isinstance(line, Step):
                yield position, {name: value.detach() for name, value in values.items()}     # .t_ changes a shape
            for step in steps_in([line]):
                result = run_step(step, values)
                if step.results:
                    values.update(zip(step.results, result if step.unpacked else (result,), strict=True))
        yield len(self.steps), values

    def values(self) -> dict[str, torch.Tensor]:
        """Every value by its name, at the end."""
        *_, (_, values) = self.sites()
        return values

    def __len__(self) -> int:
        return len(self.every_step)


NARROW = re.compile(r"b?float16|float32|complex64|\.(c?half|c?float|bfloat16)'")


def widened(tensor: torch.Tensor) -> torch.Tensor:
    wide = torch.complex128 if tensor.is_complex() else torch.float64 if tensor.is_floating_point() else tensor.dtype
    return tensor.to(wide)


def encoded(program: Program) -> str:
    """The program as text that gives it back, for workers and for findings."""
    return repr(program)


def decoded(text: str) -> Program:
    """The program of such a text, which is Python and is run as such."""
    found = eval(text, {**NAMESPACE, **{kind.__name__: kind for kind in (Program, Input, Step, Block, Ref)}})
    assert isinstance(found, Program)
    return found


def steps_in(lines: Iterable[Line]) -> Iterator[Step]:
    """All steps, those under a line among them."""
    for line in lines:
        yield from [line] if isinstance(line, Step) else steps_in(line.body)


def mapped(argument: Any, leaf: Callable[[Any], Any]) -> Any:
    """An argument with `leaf` applied to all that is no list, tuple or mapping."""
    if isinstance(argument, Mapping):
        return {name: mapped(part, leaf) for name, part in argument.items()}
    if isinstance(argument, list | tuple):
        return type(argument)(mapped(part, leaf) for part in argument)
    return leaf(argument)


def changed(line: Line, leaf: Callable[[Any], Any], result: Callable[[str], str] = str) -> Line:
    """A line with `leaf` applied to its arguments, and `result` to the names of its results."""
    if isinstance(line, Block):
        return replace(line, body=tuple(changed(part, leaf, result) for part in line.body))
    results = tuple(map(result, line.results))
    return replace(line, results=results, args=mapped(line.args, leaf), kwargs=mapped(line.kwargs, leaf))


def refs_in(argument: Any) -> Iterator[str]:
    """The names of the values that an argument holds."""
    found: list[str] = []
    mapped(argument, lambda leaf: found.append(leaf.name) if isinstance(leaf, Ref) else None)
    return iter(found)


def used(lines: Iterable[Line]) -> Iterator[str]:
    """The names of the values that steps take."""
    for step in steps_in(lines):
        yield from refs_in(step.args)
        yield from refs_in(step.kwargs)


def source(program: Program, name: str = "program") -> str:
    """The program as the text of a Python function."""
    head = f"def {name}({', '.join(given.name for given in program.inputs)}):"
    results = f"{', '.join(program.outputs)}{',' if len(program.outputs) == 1 else ''}" or "()"
    tail = f"{INDENT}return {results}"
    return "\n".join([head, *lines_of(program.steps, 1), tail, ""])


def lines_of(lines: Iterable[Line], depth: int) -> Iterator[str]:
    for line in lines:
        yield f"{INDENT * depth}{line.head if isinstance(line, Block) else line}"
        yield from lines_of(line.body, depth + 1) if isinstance(line, Block) else ()


def text_of(value: Any) -> str:
    """An argument as Python text."""
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, tuple):
        return f"({', '.join(map(text_of, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    return repr(value)


def index_text(index: Any) -> str:
    """What stands between the brackets of `x[…]`."""
    return ", ".join(map(one_index, index)) if isinstance(index, tuple) else one_index(index)


def one_index(part: Any) -> str:
    if isinstance(part, slice):
        bounds = ["" if n is None else str(n) for n in (part.start, part.stop)]
        return ":".join([*bounds, *([] if part.step is None else [str(part.step)])])
    return "..." if part is Ellipsis else text_of(part)

_NUMBER = count()
NAMESPACE = {"torch": torch, "inf": math.inf, "nan": math.nan}


def defined(text: str) -> dict[str, Any]:
    """What a text defines, by name; tracebacks and tracers find its lines. Executes it."""
    name = f"fuzzed_{next(_NUMBER)}"
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules[name] = ModuleType(name)  # tracers look modules up by their names
    space = module.__dict__
    space.update(NAMESPACE)
    exec(compile(text, file, "exec"), space)
    return space


def evaluated(text: str) -> Any:
    """The value of an expression of torch."""
    return eval(text, dict(NAMESPACE))


def run_step(step: Step, values: Mapping[str, torch.Tensor]) -> Any:
    """What a step gives in eager torch."""
    args, kwargs = (
        mapped(given, lambda leaf: values[leaf.name] if isinstance(leaf, Ref) else leaf)
        for given in (step.args, step.kwargs)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if step.call == "[]":
            return args[0][args[1]]
        if step.call.startswith("."):
            return getattr(args[0], step.call[1:])(*args[1:], **kwargs)
        return evaluated(step.call)(*args, **kwargs)


def literal(tensor: torch.Tensor) -> str:
    """A small tensor as text that makes it, strides apart."""
    numbers = text_of(tensor.detach().resolve_conj().resolve_neg().to("cpu").tolist())
    return f"torch.tensor({numbers}, dtype={tensor.dtype})"
