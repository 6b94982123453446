"""A program to capture: what to call, its example inputs by name, the names of its tensors, its outputs as roots.

A program is a module or a function over tensors. Inputs are the tensors among its example arguments; everything else
there (numbers, strings, None) is part of the program. A function's weights are found where it keeps them: in modules,
parameters and tensors that it, its `partial` or the object it is bound to refers to.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_flatten_with_path, tree_map, tree_unflatten

from samesame.capture.memory import has_memory, kind_in_words, place_of
from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.operators.execute import out_of_memory
from samesame.programs.origins import line_of_error, users_line
from samesame.programs.outputs import PLAIN, kind_of_value, place_name, taken_apart
from samesame.programs.spoken import variables_of_file


def signature(target: Any) -> inspect.Signature:
    """The parameters of a callable; one written in C may not tell, and then takes whatever it is given."""
    try:
        return inspect.signature(target)
    except ValueError:
        return inspect.signature(lambda *inputs, **options: None)


def taking(like: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """What runs `run`, and tells the parameters of another callable, so that inputs have that one's names."""

    def forward(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs)

    forward.__signature__ = signature(like)                # type: ignore[attr-defined]
    return forward


class Foreign(nn.Module):
    """A program that another tool runs: `itself` runs it there, and what torch sees of it must compute the same.
    `where` is the place in its file that runs now, and `runs` says what stands there (`is If`). It returns tensors in
    order and leaves nothing behind."""

    itself: Callable[..., Any]
    where: Origin
    runs: str = ""


class StandIn(nn.Module):
    """What runs in the place of another `program`, on its weights and with its state."""

    program: Callable[..., Any]


class Program:
    """`call()` runs the program on copies of its example inputs; `inputs` holds these copies by name. With `gradients`
    it runs as one that may compute some."""

    gradients = False

    def __init__(self, program: Any, inputs: Any, gradients: bool | None = None) -> None:
        if not callable(program):
            raise Refused(f"{kind_of_value(program)} is no program; give a module or a function over tensors")
        self.program = program
        self.gradients = self.gradients if gradients is None else gradients
        self.args, self.kwargs = arguments_of(inputs)
        self.modules, named = holdings(program)
        self.parts = [thing for _, thing in referred(program) if isinstance(thing, nn.Module)]
        self.tensors = {name: tensor for _, name, tensor in named}
        self.held = [tensor for _, _, tensor in named if has_memory(tensor)]
        self.parameters = [x for kind, _, x in named if kind == "parameter" and has_memory(x)]
        self.names = {place_of(tensor): (kind, name) for kind, name, tensor in reversed(named) if has_memory(tensor)}
        self.inputs: dict[str, torch.Tensor] = {}
        self.given: list[tuple[str, torch.Tensor]] = []    # the caller's own tensors, by the same names
        self.args, self.kwargs = self.copied(self.bound())

    def again(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Program:
        """The same program on other inputs: `change` makes each tensor of this one's, and may go by which one it is,
        unless gradients are recorded for that."""
        other = copy(self)
        other.inputs = {name: change(tensor.detach()).requires_grad_() if tensor.requires_grad else change(tensor)
                        for name, tensor in self.inputs.items()}
        fresh = {id(tensor): other.inputs[name] for name, tensor in self.inputs.items()}
        arguments = tree_map(lambda leaf: fresh.get(id(leaf), leaf), dict(self.arguments.arguments))
        other.arguments = inspect.BoundArguments(self.arguments.signature, arguments)
        other.args, other.kwargs = other.arguments.args, other.arguments.kwargs
        return other

    def plain(self) -> Program:
        """The program as it runs without us."""
        if not isinstance(self.program, Foreign):
            return self
        other = copy(self)
        other.program = self.program.itself
        return other

    @property
    def stand_ins(self) -> Mapping[str, Callable[..., Any]]:
        """What the recorder is to do where the program applies an operator with hidden arguments, by its name."""
        found: Mapping[str, Callable[..., Any]] = getattr(self.program, "stand_ins", {})
        return found

    @property
    def remembers(self) -> bool:
        """Whether a call may leave something behind for the next; a program can say that each begins anew."""
        return bool(getattr(self.program, "remembers", True))

    @property
    def title(self) -> str:
        """What to call the program in a message."""
        return str(getattr(self.program, "__qualname__", type(self.program).__qualname__))

    def spoken(self, origin: Origin) -> str:
        """A place at the head of a sentence; where no line or module is known, the program's name."""
        return origin.spoken if origin.file or origin.module else self.title

    def here(self, module: str) -> Origin:
        """The line that is running, in the module of this path; a program that is walked knows its own."""
        told = getattr(self.program, "where", None)
        return told if isinstance(told, Origin) else users_line(Program.call.__code__, module)

    def call(self) -> Any:
        return self.program(*self.args, **self.kwargs)

    def named(self, tensor: torch.Tensor) -> tuple[str, str] | None:
        """Whether a tensor is a parameter or a constant of the program, and its name; None if it is neither by
        name."""
        return self.names.get(place_of(tensor))

    def bound(self) -> inspect.BoundArguments:
        target = self.program.forward if isinstance(self.program, nn.Module) else self.program
        try:
            return signature(target).bind(*self.args, **self.kwargs)
        except TypeError as error:
            raise Refused(f"the inputs do not fit {self.title}{signature(target)}: {error}") from None

    def copied(self, bound: inspect.BoundArguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with a copy of each tensor, noted as an input under its name."""
        opened: dict[str, tuple[list[str], list[Any], Any]] = {}
        for name, value in bound.arguments.items():
            by_keyword = bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
            leaves, structure = tree_flatten_with_path(value)
            places = [place_name(() if by_keyword else (name,), path) for path, _ in leaves]
            opened[name] = places, [leaf for _, leaf in leaves], structure
        names = distinct([place for places, _, _ in opened.values() for place in places])
        for name, (places, found, structure) in opened.items():
            parts = [self.copy(leaf, names[place]) for place, leaf in zip(places, found, strict=True)]
            bound.arguments[name] = tree_unflatten(parts, structure)
        self.arguments = bound
        return bound.args, bound.kwargs

    def copy(self, leaf: Any, name: str) -> Any:
        if isinstance(leaf, torch.Tensor):
            if not has_memory(leaf):
                raise Refused(f"the input {name} is {kind_in_words(leaf)}; give an ordinary dense tensor")
            self.inputs[name] = leaf.detach().clone().requires_grad_(self.gradients and leaf.requires_grad)
            self.given.append((name, leaf))
            return self.inputs[name]
        if not isinstance(leaf, PLAIN):
            raise Refused(
                f"the input {name} is {kind_of_value(leaf)}, which cannot be looked into; give tensors, numbers, and "
                "lists, tuples or dicts of these"
            )
        return leaf

    def roots(self, outputs: Any) -> list[tuple[str, torch.Tensor]]:
        """The tensors that the program returned, with a name each. Key-value caches, None and plain values are left
        out."""
        _, found = taken_apart(outputs, self.title)
        if not found:
            raise Refused(f"{self.title} returns no tensor, so there is nothing to compare")
        return found


def arguments_of(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Example inputs as positional and keyword arguments: a tuple or list, a dict, or one tensor."""
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, list | tuple):
        return tuple(inputs), {}
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    raise Refused(f"the inputs are {kind_of_value(inputs)}; give a tuple of arguments, or a dict of them by name")


Holdings = tuple[dict[int, str], list[tuple[str, str, torch.Tensor]]]


def holdings(program: Any) -> Holdings:
    """The modules that a program uses, as paths by id, and its tensors: kind of source, name, tensor."""
    kept = dict(referred(program))
    modules = {name: thing for name, thing in kept.items() if isinstance(thing, nn.Module)}
    paths: dict[int, str] = {}
    tensors: list[tuple[str, str, torch.Tensor]] = []
    for name, module in modules.items():
        prefix = (name,) if len(modules) > 1 else ()
        for path, part in module.named_modules(remove_duplicate=True):
            paths.setdefault(id(part), ".".join((*prefix, path) if path else prefix))
        tensors += [(kind, ".".join((*prefix, path)), tensor) for kind, path, tensor in held(module)]
    tensors += [(kind_of(thing), name, thing) for name, thing in kept.items() if isinstance(thing, torch.Tensor)]
    return paths, tensors


def referred(program: Any) -> Iterator[tuple[str, Any]]:
    """The modules and tensors that a callable refers to, with the name it has for each."""
    if isinstance(program, nn.Module):
        yield "", program
    elif isinstance(program, partial):
        yield from referred(program.func)
        yield from ((str(k), part) for k, part in enumerate(program.args))
        yield from program.keywords.items()
    elif inspect.ismethod(program):
        yield from referred(program.__self__)
        yield from referred(program.__func__)
    elif inspect.isfunction(program):
        yield from {**variables_of_file(program), **inspect.getclosurevars(program).nonlocals}.items()
    else:
        yield from getattr(program, "__dict__", {}).items()


def held(module: nn.Module) -> Iterator[tuple[str, str, torch.Tensor]]:
    """A module's tensors: parameters, buffers (constants), and those that are plain attributes of it or of a part."""
    yield from (("parameter", name, tensor) for name, tensor in module.named_parameters(remove_duplicate=False))
    yield from (("constant", name, tensor) for name, tensor in module.named_buffers(remove_duplicate=False))
    for path, part in module.named_modules():
        for name, thing in vars(part).items():
            if isinstance(thing, torch.Tensor):
                yield kind_of(thing), f"{path}.{name}" if path else name, thing


def kind_of(tensor: torch.Tensor) -> str:
    """What wants a gradient is a weight, whatever type it has."""
    trained = tensor.requires_grad and tensor.is_leaf
    return "parameter" if isinstance(tensor, nn.Parameter) or trained else "constant"


def distinct(names: Collection[str]) -> dict[str, str]:
    """For each name one of letters, digits, `_` and `.` only: no two alike, whatever order they are given in."""
    found: dict[str, str] = {}
    taken = {name for name in names if not re.search(r"[^\w.]", name)}
    for name in sorted(names):
        plain = stem = re.sub(r"[^\w.]+", "_", name).strip("_") or "x"
        count = 0
        while name != plain and plain in taken:
            count += 1
            plain = f"{stem}_{count}"
        taken.add(plain)
        found[name] = plain
    return found


def failed(error: BaseException, here: str) -> Refused:
    """What to say when the user's program raises; `here` is where, if the error does not know."""
    text = (str(error).strip().splitlines() or ["no message"])[0]
    if out_of_memory(error):
        return Refused("not enough memory to run the program; give smaller inputs or fewer layers")
    if "There was no rule registered for HOP" in text or "HigherOrderOperator" in text:
        text = "it uses a higher-order operator, which cannot be recorded; choose another implementation. " + text
    where = line_of_error(error)
    place = where.spoken if where.file else here
    if isinstance(error, SystemExit):
        return Refused(f"{place} calls sys.exit({error.code!r}); return the outputs instead")
    return Refused(f"{place} raises {type(error).__name__}: {text}")
