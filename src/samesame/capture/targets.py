"""Targets: programs and inputs named on a command line.

`file.py:name` and `package.module:name` name a module, a function over tensors, or a class or function that makes one
when called without arguments. A file that ends in .json or .json.gz is a saved graph. `hf:DIR` and `vllm:DIR` are the
model of a checkpoint folder as Transformers and as vLLM run it, with options after a question mark. Everything is
imported and called under a fixed seed of torch, so that the same target has the same weights each time; inputs have a
seed of their own.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import torch
from torch import nn

from samesame.capture.checkpoints import Checkpoint, is_checkpoint, parse, tiny
from samesame.capture.files import is_graph_file, load_graph
from samesame.capture.origins import line_of_error
from samesame.capture.outputs import kind_of_value
from samesame.capture.transformers_models import load_hf
from samesame.capture.vllm_models import load_vllm
from samesame.evidence import Refused, SamesameError
from samesame.execute import out_of_memory

FORMS = "file.py:name, package.module:name, hf:DIR, vllm:DIR, or a saved graph (.json, .json.gz)"
LOADERS: dict[str, Callable[[Checkpoint], Any]] = {"hf": load_hf, "vllm": load_vllm}


def load_target(text: str | Checkpoint) -> Any:
    """The program that `text` names: a module, a function over tensors, or a Graph. Raises Refused where there is
    none."""
    if isinstance(text, Checkpoint) or is_checkpoint(text):
        checkpoint = parse(text) if isinstance(text, str) else text
        return LOADERS[checkpoint.library](checkpoint)
    if is_graph_file(text):
        return load_graph(text)
    found = named(text)
    if makes_program(found):
        found = called(found, text)
    if not callable(found):
        raise Refused(f"{text} is {kind_of_value(found)}, not a module or a function over tensors")
    return found


@contextmanager
def tiny_twins(texts: Sequence[str], seed: int) -> Iterator[list[Any]]:
    """The targets, a checkpoint's replaced by that of a tiny twin of its config, whose folder lasts as long as this.

    Checkpoints of one folder get one twin; options that all of them have are its config's, others stay their own.
    """
    found: list[Any] = [parse(text) if is_checkpoint(text) else text for text in texts]
    twins: dict[Path, list[Checkpoint]] = {}
    for target in found:
        if isinstance(target, Checkpoint):
            twins.setdefault(target.path.resolve(), []).append(target)
    if not twins:
        raise Refused("--tiny is for models of a checkpoint: hf:DIR and vllm:DIR")
    with TemporaryDirectory(prefix="samesame-") as place:
        folders = {}
        for number, (path, named) in enumerate(twins.items()):
            first, *others = (checkpoint.overrides for checkpoint in named)
            shared = {k: v for k, v in first.items() if all(o.get(k) == v and k in o for o in others)}
            folders[path] = tiny(path, Path(place) / str(number), shared, seed=seed)
        yield [t.in_folder(folders[t.path.resolve()]) if isinstance(t, Checkpoint) else t for t in found]


def load_inputs(target: Any) -> Any:
    """Example inputs: a tuple of arguments or a dict of arguments by name.

    `target` is these themselves, a function that returns them, or the text that names either.
    """
    given = named(target) if isinstance(target, str) else target
    label = target if isinstance(target, str) else "inputs"
    makes = callable(given) and not isinstance(given, torch.Tensor)
    inputs = called(given, label, seed=1) if makes else given
    if isinstance(inputs, torch.Tensor):
        return (inputs,)
    if isinstance(inputs, list):
        return tuple(inputs)
    if isinstance(inputs, tuple | Mapping):
        return inputs
    what = "returns" if inputs is not given else "is"
    raise Refused(f"{label} {what} {kind_of_value(inputs)}; give a tuple of arguments, or a dict of arguments by name")


def makes_program(found: Any) -> bool:
    """Whether this is a class, or a function that asks for no argument: something to call for a program."""
    if inspect.isclass(found):
        return True
    if isinstance(found, nn.Module) or not inspect.isroutine(found):
        return False
    try:
        return not inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False


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
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
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
