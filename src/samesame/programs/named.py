"""Named: what `file.py:name` and `package.module:name` stand for, imported and called under a fixed seed."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from samesame.evidence import Refused, SamesameError
from samesame.operators.execute import out_of_memory
from samesame.programs import FORMS
from samesame.programs.origins import line_of_error


def named(text: str) -> Any:
    """The object that `file.py:name` or `package.module:name` names; a name may have dots."""
    source, separator, name = text.rpartition(":")
    if text.endswith(".py"):
        raise Refused(f"{text} is a file of programs; add the name of one, such as {text}:left")
    if not separator or not source or not name or ".py:" in source:
        raise Refused(f"{text!r} names no program; write {FORMS}")
    module = module_of_file(Path(source)) if source.endswith(".py") else module_of_name(source)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise Refused(f"{source} has no {name}{suggestion(part, found)}")
        found = getattr(found, part)
    return found


def suggestion(name: str, holder: Any) -> str:
    """The names that were probably meant."""
    public = [other for other in vars(holder) if not other.startswith("_")] if hasattr(holder, "__dict__") else []
    own = [other for other in public if not isinstance(getattr(holder, other, None), ModuleType)]
    near = get_close_matches(name, own, n=3, cutoff=0.65) or (own if len(own) <= 8 else [])
    return f"; it has {', '.join(near)}" if near else ""


def module_of_file(path: Path) -> ModuleType:
    """The module in a file, imported once; the file's folder can be imported from, as when Python runs the file."""
    path = path.expanduser().resolve()
    if not path.is_file():
        raise Refused(f"{shown(path)} does not exist" if not path.exists() else f"{shown(path)} is no file")
    name = _name_of_file(path)
    if name in sys.modules:
        return sys.modules[name]
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with seeded():
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise Refused(f"{shown(path)} cannot be imported: {described(error)}") from error
    return module


def imported_files() -> list[Path]:
    """The files that `module_of_file` has loaded."""
    files = [Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))]
    return [file for file in files if _name_of_file(file) in sys.modules]


def _name_of_file(path: Path) -> str:
    """The module name of a file, which no other file has."""
    return f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"


def module_of_name(name: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with seeded():
            return importlib.import_module(name)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name and name.startswith(error.name)
        hint = f"; for a file, write {name}.py" if missing and Path(f"{name}.py").exists() else ""
        raise Refused(f"{name} cannot be imported: {described(error)}{hint}") from error


@contextmanager
def seeded(seed: int = 0) -> Iterator[None]:
    """torch's random numbers from a seed, and from where they were afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def described(error: Exception) -> str:
    """An exception with the line of the user's code that raised it."""
    text = (str(error).strip().splitlines() or ["no message"])[0]
    if out_of_memory(error):
        where = line_of_error(error)
        return f"{where.spoken}: not enough memory; make it smaller" if where.file else "not enough memory"
    if isinstance(error, SyntaxError):
        return f"{shown(Path(error.filename or '?'))}:{error.lineno} raises SyntaxError: {error.msg}"
    where = line_of_error(error)
    return f"{where.spoken} raises {type(error).__name__}: {text}" if where.file else f"{type(error).__name__}: {text}"


def shown(path: Path) -> str:
    """A path relative to the current folder where it lies in it."""
    return str(path).removeprefix(os.getcwd() + os.sep)


def called(function: Any, text: str, seed: int = 0) -> Any:
    """What `function()` returns."""
    if missing := asks_for(function):
        raise Refused(f"{text} asks for {missing}; name a function without arguments that calls it")
    try:
        with seeded(seed):
            return function()
    except SamesameError:
        raise
    except Exception as error:
        raise Refused(f"{text} fails: {described(error)}") from error


def asks_for(function: Any) -> str:
    """The arguments that a callable cannot do without; nothing where there are none, or where it does not tell."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ""
    optional = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return ", ".join(p.name for p in parameters if p.default is p.empty and p.kind not in optional)
