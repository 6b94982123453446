"""How a program is built: what a drop-in asks of it beside what it computes on.

A found program has numbers in it that stood elsewhere: an epsilon that a module has as an attribute, a factor that is a
variable of the file, a tensor in a list, what a forward does. So the program that it is to stand in the place of has to
be built as the one that was searched: of the same classes and code, with the same parts, weights, hooks and plain
values. All this is written down as texts (`parts_of`), and compared when a drop-in is made. Like the drop-in itself
this needs torch alone, and its text is a part of every file that `samesame optimize` writes.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from functools import partial
from hashlib import sha256
from types import CodeType, FunctionType
from typing import Any

import torch
from torch import nn

PLAIN = (type(None), bool, int, float, str, torch.dtype, Enum)
MARKS = {"_is_torch_compile", "_compiled_call_impl"}        # which torch.compile leaves on what it has compiled
OWN = {*vars(nn.Module()), *MARKS}                          # attributes of no program
SMALL = 1024                                               # elements of a tensor whose numbers may be written out
CODE = "code"


def hooks_of(part: nn.Module) -> list[int]:
    return [*part._forward_hooks, *part._forward_pre_hooks]


def parts_of(original: Any, read: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """How a program is built, part by part: of a module each class and its code, weights and buffers, plain attributes,
    by its path; of a function its code, what it has of its file and of the functions around it, and what it is a
    partial call with. Of weights that the found program does not `read` the numbers are told where they are few: they
    may have been read as numbers of Python."""
    if not isinstance(original, nn.Module):
        return {"": of_function(original)}
    seen = tensors_of(original, read)
    return {path: of_part(part, seen) for path, part in original.named_modules(remove_duplicate=False)}


def tensors_of(original: nn.Module, names: Collection[str]) -> frozenset[int]:
    """The weights of these names, as far as there are such, by identity."""
    found = set[int]()
    for name in names:
        with suppress(KeyError, AttributeError):
            holder, key = place_of(original, name, None)
            found.add(id(holder[key]))
    return frozenset(found)


def of_part(part: nn.Module, seen: Collection[int]) -> dict[str, str]:
    cls, own = type(part), vars(part)
    told = {"class": cls.__qualname__, "number of hooks": str(len(part._forward_hooks) + len(part._forward_pre_hooks))}
    for name, value in (*part._parameters.items(), *part._buffers.items(), *own.items()):
        if name not in OWN:
            told[name] = numbers_of(value) if is_unread(cls, value, seen) else shown(value)
    if not is_torchs(cls):
        told |= of_class(cls)
    return told


def is_unread(cls: type, value: Any, seen: Collection[int]) -> bool:
    """Whether it is a tensor of a part that may have been read as numbers of Python: torch's own parts read none so."""
    return isinstance(value, torch.Tensor) and not is_torchs(cls) and id(value) not in seen


def of_class(cls: type) -> dict[str, str]:
    """The code of a class and its plain attributes, and the variables that its methods refer to."""
    own = [vars(kind) for kind in reversed(cls.__mro__) if kind is not object and not is_torchs(kind)]
    methods = [method for things in own for thing in things.values() for method in functions_in(thing)]
    told = {f"{name} of its class": shown(value) for things in own for name, value in things.items()
            if not name.startswith("__") and is_told(value)}
    for method in methods:
        told |= variables_of(method)
    return {CODE: digest_of("".join(code_of(method.__code__) for method in methods)), **told}


def of_function(original: Any) -> dict[str, str]:
    if isinstance(original, partial):
        return {**of_function(original.func), "arguments": shown([*original.args, original.keywords])}
    if not inspect.isfunction(original):
        return {}
    code = "".join(code_of(function.__code__) for function in functions_in(original))
    return {CODE: digest_of(code), "defaults": shown([*(original.__defaults__ or ()), original.__kwdefaults__ or {}]),
            **variables_of(original)}


def functions_in(thing: Any) -> Iterator[FunctionType]:
    """The functions in an attribute of a class: a method, what a decorator has made of one, and that one."""
    thing = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
    while inspect.isfunction(thing):
        yield thing
        thing = getattr(thing, "__wrapped__", None)


def is_torchs(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "torch"


def variables_of(function: FunctionType) -> dict[str, str]:
    """The plain variables that a function has of its file and of the functions around it."""
    outer = inspect.getclosurevars(function)
    return {f"{name}, a variable that {function.__qualname__} refers to,": shown(value)
            for name, value in (*outer.globals.items(), *outer.nonlocals.items())
            if is_told(value) and not name.startswith("__")}


def is_told(value: Any) -> bool:
    """Whether something of a value is told but its kind."""
    return isinstance(value, PLAIN) or (type(value) in (tuple, list, dict) and len(value) <= SMALL)


def code_of(code: CodeType) -> str:
    """What a function does, wherever it stands in its file; in no order that changes from process to process."""
    def told(constant: Any) -> str:
        inner = sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
        return code_of(constant) if isinstance(constant, CodeType) else repr(inner)

    constants = list(map(told, code.co_consts))
    return repr((sys.version_info[:2], code.co_code, code.co_names, code.co_varnames, constants))


def shown(value: Any, inner: bool = False) -> str:
    """A value of a program as a text that is another for another value; of what is not plain, of another kind only. A
    tensor that lies `inner`, in a list or a dict, has no name, and its numbers may stand in what was found."""
    if isinstance(value, torch.Tensor):
        return numbers_of(value) if inner else f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, PLAIN):
        return repr(value)
    if type(value) in (tuple, list):
        return f"{type(value).__name__}({', '.join(shown(each, True) for each in value)})"
    if type(value) is dict:
        return f"dict({', '.join(f'{shown(key, True)}: {shown(each, True)}' for key, each in value.items())})"
    if isinstance(value, partial):
        return f"partial({shown([value.func, *value.args, value.keywords], True)})"
    kind = str(getattr(value, "__qualname__", type(value).__qualname__))
    code = "".join(code_of(function.__code__) for function in functions_in(value))
    return f"{kind} with code {digest_of(code)[:8]}" if code else kind


def numbers_of(tensor: torch.Tensor) -> str:
    """A tensor as a text that is another for other numbers, where these are few."""
    text = f"a tensor of shape {tuple(tensor.shape)}"
    plain = tensor.numel() <= SMALL and tensor.layout is torch.strided and not tensor.is_meta
    return f"{text} with numbers {digest_of(repr(tensor.tolist()))[:8]}" if plain else text


def loose(original: Any, read: Collection[str]) -> Iterator[torch.Tensor]:
    """The small tensors of a program that may be numbers in what was found: those in lists and dicts, and those of a
    module that it does not `read`."""

    def within(value: Any) -> Iterator[torch.Tensor]:
        if isinstance(value, torch.Tensor):
            if value.numel() <= SMALL and not value.is_inference():
                yield value
        elif type(value) in (tuple, list, dict) and len(value) <= SMALL:
            for each in value.values() if isinstance(value, dict) else value:
                yield from within(each)

    if inspect.isfunction(original):
        outer = inspect.getclosurevars(original)
        yield from within([value for value in (*outer.globals.values(), *outer.nonlocals.values())
                           if not isinstance(value, torch.Tensor)])
    if isinstance(original, nn.Module):
        seen = tensors_of(original, read)
        for part in original.modules():
            for name, value in (*part._parameters.items(), *part._buffers.items(), *vars(part).items()):
                if name not in OWN and (type(value) in (tuple, list, dict) or is_unread(type(part), value, seen)):
                    yield from within(value)


def tied_in(original: Any) -> list[list[str]]:
    """The paths of weights and buffers of a module that are one tensor, in groups; of a function's own, its names."""
    paths = dict[int, list[str]]()
    for name, tensor in variables(original).items():
        paths.setdefault(id(tensor), []).append(name)
    if isinstance(original, nn.Module):
        for named in (original.named_parameters, original.named_buffers):
            for name, tensor in named(remove_duplicate=False):
                paths.setdefault(id(tensor), []).append(name)
    return [names for names in paths.values() if len(names) > 1]


def apart(tied: list[list[tuple[str, dict[str, Any], str]]]) -> str:
    """What was one tensor and is several; nothing where all is as it was."""
    for (first, holder, key), *others in tied:
        for name, other, its in others:
            if other[its] is not holder[key]:
                return f"{first} and {name} are no longer one tensor"
    return ""


def unlike(original: Any, facts: Mapping[str, Any]) -> str:
    """How a program is built otherwise than the one that was searched; nothing where it is not."""
    now, before = parts_of(original, facts["weights"]), facts["parts"]
    for path in (*before, *now):
        here, there = now.get(path, {}), before.get(path, {})
        for name in (*there, *here):
            if here.get(name) != there.get(name):
                if name == CODE and name in here and name in there:
                    return f"the code of {path or 'the program'} is another one, or of another Python, than it was"
                words = here.get(name, "not there"), there.get(name, "not there")
                return f"{'.'.join(filter(None, (path, name)))} is {words[0]}, and was {words[1]}"
    held = [[(name, *place_of(original, name, None)) for name in names] for names in facts["tied"]]
    return apart(held)


def place_of(original: Any, name: str, weights: Mapping[str, torch.Tensor] | None) -> tuple[dict[str, Any], str]:
    """Where a weight is kept: a dict, and its key there. A function's are variables of its file."""
    if weights is not None:
        return dict(weights), name
    if not isinstance(original, nn.Module):
        if name in variables(original):
            return original.__globals__, name
        raise KeyError(f"{home_of(original)} has no tensor {name}, which the program that was found needs")
    path, _, last = name.rpartition(".")
    module = original.get_submodule(path)
    for holder in (module._parameters, module._buffers, module.__dict__):
        if last in holder:
            return holder, last
    raise KeyError(f"{type(original).__name__} has no {name}, which the program that was found needs")


def variables(original: Any) -> dict[str, torch.Tensor]:
    """The tensors that a function refers to as variables of its file."""
    if not inspect.isfunction(original):
        return {}
    outer = inspect.getclosurevars(original)
    return {name: thing for name, thing in outer.globals.items()
            if isinstance(thing, torch.Tensor) and name not in outer.nonlocals}


def home_of(original: Any) -> str:
    """The module that a program is written in."""
    return str((type(original) if isinstance(original, nn.Module) else original).__module__)


def digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()
