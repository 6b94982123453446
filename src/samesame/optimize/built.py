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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import _lru_cache_wrapper, partial
from hashlib import sha256
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase

from samesame.programs.spoken import names_in, variables_of_file

PLAIN = (type(None), bool, int, float, complex, str, torch.dtype, torch.device, Enum)
MARKS = {"_is_torch_compile", "_compiled_call_impl"}        # which torch.compile leaves on what it has compiled
OWN = {*vars(nn.Module()), *MARKS}                          # attributes of no program
SMALL = 1024                                               # elements of a tensor whose numbers may be written out
DEEP = 8                                                   # lists in one another that are looked into
CODE = "code"


def hooks_of(part: nn.Module) -> list[int]:
    """The hooks around a part's forward, by their numbers."""
    return [*part._forward_hooks, *part._forward_pre_hooks]


def parts_of(original: Any, read: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """How a program is built, part by part: of a module each class and the code that its forward reaches, weights and
    buffers, plain attributes, by its path; of a function its code, and what it is a partial call with; and the plain
    variables that code refers to. Of tensors that the found program does not `read`, other than parameters, the numbers
    are told where they are few: they may have been read as numbers of Python."""
    held = ids_of(original, read)
    if isinstance(original, nn.Module):
        return {path: of_part(part, held) for path, part in original.named_modules(remove_duplicate=False)}
    return {"": of_callable(original, held)}


def ids_of(original: Any, names: Collection[str]) -> frozenset[int]:
    """The weights of these names, as far as there are such, by identity."""
    found = set[int]()
    for name in names:
        with suppress(KeyError, AttributeError):
            holder, key = place_of(original, name, None)
            found.add(id(holder[key]))
    return frozenset(found)


def of_part(part: nn.Module, held: Collection[int]) -> dict[str, str]:
    told = {"class": type(part).__qualname__, "number of hooks": str(len(hooks_of(part)))}
    for name, value in attributes_of(part):
        unread = isinstance(value, torch.Tensor) and is_loose(part, name, value, held)
        told[name] = numbers_of(value) if unread else shown(value)
    functions, values = reached(part)
    told |= {f"{name} of its class": shown(value, 1) for name, value in values.items()}
    return told | of_code(functions, held)


def of_callable(original: Any, held: Collection[int]) -> dict[str, str]:
    """Of a function, a partial call, an object that is called, or a method of one."""
    functions, given = taken_apart(original)
    return ({"what it is given": shown(given)} if given else {}) | of_code(functions, held)


def taken_apart(original: Any) -> tuple[list[FunctionType], list[Any]]:
    """The functions that run where something that is no module is called, and what is given to them beside arguments:
    those of a partial call, an object's attributes."""
    if isinstance(original, partial):
        functions, given = taken_apart(original.func)
        return functions, [*original.args, original.keywords, *given]
    if isinstance(original, MethodType):
        return list(functions_in(original)), list(getattr(original.__self__, "__dict__", {}).items())
    if inspect.isroutine(original) or not hasattr(original, "__dict__"):
        return list(functions_in(original)), []
    return list(functions_in(type(original).__call__)), list(vars(original).items())


def attributes_of(part: nn.Module) -> list[tuple[str, Any]]:
    """What a module has by name, parts apart."""
    own = (*part._parameters.items(), *part._buffers.items(), *vars(part).items())
    return [(name, value) for name, value in own if name not in OWN]


def is_loose(part: nn.Module, name: str, tensor: torch.Tensor, held: Collection[int]) -> bool:
    """Whether a tensor of a part may have been read as numbers. Torch's own parts read none so in what they compute (a
    norm counts its batches in training), and parameters are let out of no program."""
    torchs = is_torchs(type(part)) or (isinstance(part, _NormBase) and name == "num_batches_tracked")
    return not torchs and not isinstance(tensor, nn.Parameter) and id(tensor) not in held


def is_torchs(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "torch"


# ----------------------------------------------------------------------------------------------------------------- code


def reached(part: nn.Module) -> tuple[list[FunctionType], dict[str, Any]]:
    """The methods of a module's class that its forward may call, and the class's plain attributes: those whose names
    stand in code that is reached. None of torch's own classes."""
    own = dict[str, list[Any]]()                           # of each class that has it, as `super()` may be called
    for cls in type(part).__mro__:
        for name, thing in vars(cls).items() if cls is not object and not is_torchs(cls) else ():
            own.setdefault(name, []).append(thing)
    found, values, ahead, seen = list[FunctionType](), dict[str, Any](), ["forward"], set[str]()
    while ahead:
        name = ahead.pop()
        if name not in seen and name in own:
            methods = [method for thing in own[name] for method in functions_in(thing)]
            found += methods
            ahead += sorted({inner for method in methods for inner in names_in(method.__code__)}, reverse=True)
            if not methods and is_plain(own[name][0]):
                values[name] = own[name][0]
        seen.add(name)
    return found, values


def functions_in(thing: Any) -> Iterator[FunctionType]:
    """The functions in an attribute of a class: a method, what a decorator has made of one, and that one."""
    if isinstance(thing, property):
        thing = thing.fget
    elif isinstance(thing, (staticmethod, classmethod, MethodType)):
        thing = thing.__func__
    while inspect.isfunction(thing) or isinstance(thing, _lru_cache_wrapper):
        if inspect.isfunction(thing):
            yield thing
        thing = vars(thing).get("__wrapped__")


def code_of(code: CodeType) -> str:
    """What a function does, wherever it stands in its file; in no order that changes from process to process."""
    def told(constant: Any) -> str:
        inner = sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant
        return code_of(constant) if isinstance(constant, CodeType) else repr(inner)

    constants = list(map(told, code.co_consts))
    return repr((sys.version_info[:2], code.co_code, code.co_names, code.co_varnames, constants))


def variables_of(function: FunctionType) -> dict[str, Any]:
    """What a function refers to in its file and in the functions around it, by name."""
    space = function.__globals__
    found = {name: space[name] for name in sorted(names_in(function.__code__))
             if name in space and not name.startswith("__")}
    return found | closed_over(function)


def closed_over(function: FunctionType) -> dict[str, Any]:
    """What a function has of the functions around it."""
    found = dict[str, Any]()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):                         # nothing is in it yet
            found[name] = cell.cell_contents
    return found


def with_helpers(functions: Sequence[FunctionType]) -> list[FunctionType]:
    """The functions, and those of their files that they speak of, and these, and so on."""
    found = {id(function): function for function in functions}
    for function in functions:
        spoken_of = (inner for thing in variables_of_file(function).values() for inner in functions_in(thing))
        found |= {id(inner): inner for inner in spoken_of if inner.__globals__ is function.__globals__}
    return list(found.values())


def of_code(functions: Sequence[FunctionType], held: Collection[int]) -> dict[str, str]:
    """Functions as texts: their code, defaults, and the plain variables that they and their helpers refer to."""
    told = {CODE: digest_of("".join(code_of(function.__code__) for function in functions))} if functions else {}
    for function in with_helpers(functions):
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]
        values = {"defaults": defaults} if defaults else {}
        for name, value in (*values.items(), *variables_of(function).items()):
            key = f"{name}, which {function.__qualname__} refers to,"
            if is_plain(value) and id(value) not in held:
                told[key] = " and ".join(filter(None, (told.get(key), shown(value, 1))))
    return told


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether all that there is to a variable is told: no module, class, or table that grows as a program runs."""
    if isinstance(value, tuple | list | dict) and len(value) <= SMALL and depth < DEEP:
        each = (*value, *value.values()) if isinstance(value, dict) else value
        return all(is_plain(inner, depth + 1) for inner in each)
    return isinstance(value, (*PLAIN, torch.Tensor, partial, FunctionType)) or is_numpys(value)


# --------------------------------------------------------------------------------------------------------------- values


def shown(value: Any, depth: int = 0) -> str:
    """A value of a program as a text that is another for another value; of what is not plain, or lies deep in lists and
    dicts, of another kind only. A tensor in one of these has no name, and its numbers may stand in what was found."""
    each = partial(shown, depth=depth + 1)
    if isinstance(value, torch.Tensor):
        return numbers_of(value) if depth else f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name} ({each(value.value)})"
    if isinstance(value, PLAIN):
        return repr(value)
    if is_numpys(value):
        return f"{type(value).__qualname__} {digest_of(repr(value.tolist()))[:8]}"
    kind = type(value).__qualname__
    if depth > DEEP:
        return kind
    if isinstance(value, tuple | list):
        return f"{kind}({', '.join(map(each, value))})"
    if isinstance(value, dict):
        return f"{kind}({', '.join(f'{each(key)}: {each(inner)}' for key, inner in value.items())})"
    if isinstance(value, partial):
        return f"partial({each([value.func, *value.args, value.keywords])})"
    if inspect.isfunction(value) or isinstance(value, MethodType):
        inner = [(code_of(function.__code__), function.__defaults__, function.__kwdefaults__, closed_over(function))
                 for function in functions_in(value)]
        return f"{value.__qualname__} {digest_of(each(inner))[:8]}"
    return value.__qualname__ if isinstance(value, type | BuiltinFunctionType) else kind


def is_numpys(value: Any) -> bool:
    """Whether it is a small array or a number of numpy's."""
    return type(value).__module__ == "numpy" and hasattr(type(value), "tolist") and bool(value.size <= SMALL)


def has_numbers(tensor: torch.Tensor) -> bool:
    """Whether a tensor has few numbers, and they can be read."""
    plain = type(tensor) in (torch.Tensor, nn.Parameter) and tensor.layout is torch.strided
    return plain and tensor.numel() <= SMALL and not tensor.is_meta and not tensor.is_quantized


def numbers_of(tensor: torch.Tensor) -> str:
    """A tensor as a text that is another for other numbers, where these are few."""
    text = f"a tensor of shape {tuple(tensor.shape)}"
    return f"{text} with numbers {digest_of(repr(tensor.tolist()))[:8]}" if has_numbers(tensor) else text


Loose = tuple[dict[str, Any] | None, str, torch.Tensor]


def loose(original: Any, read: Collection[str]) -> list[Loose]:
    """The small tensors of a program that may be numbers in what was found, and where those stand that a module has by
    name: the dict, and the key."""
    held, found, functions = ids_of(original, read), list[Loose](), list[FunctionType]()

    def look(value: Any, holder: dict[str, Any] | None = None, name: str = "a tensor", depth: int = 0) -> None:
        if isinstance(value, torch.Tensor):
            if id(value) not in held and has_numbers(value) and not value.is_inference():
                found.append((holder, name, value))
        elif isinstance(value, tuple | list | dict) and len(value) <= SMALL and depth < DEEP:
            for each in value.values() if isinstance(value, dict) else value:
                look(each, None, name, depth + 1)
        elif isinstance(value, partial) and depth < DEEP:
            look([*value.args, value.keywords], None, name, depth + 1)

    if isinstance(original, nn.Module):
        for part in original.modules():
            for holder in (part._buffers, vars(part)):
                for name, value in holder.items():
                    if name not in OWN and not (isinstance(value, torch.Tensor)
                                                and not is_loose(part, name, value, held)):
                        look(value, holder, name)
            methods, values = reached(part)
            functions += methods
            look(values)
    else:
        functions, given = taken_apart(original)
        look(given)
    for function in with_helpers(functions):
        for name, value in variables_of(function).items():
            look(value if is_plain(value) else (), None, name)
    return found


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
    """The tensors that a function refers to as variables of its file, itself or in functions of that file."""
    if not inspect.isfunction(original):
        return {}
    return {name: thing for name, thing in variables_of_file(original).items()
            if isinstance(thing, torch.Tensor) and name not in original.__code__.co_freevars}


def home_of(original: Any) -> str:
    """The module that a program is written in."""
    return str((type(original) if isinstance(original, nn.Module) else original).__module__)


def digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()
