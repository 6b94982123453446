"""Which functions of a file launch kernels, as far as can be seen without calling any of them."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import FunctionType
from typing import Any

from samesame.evidence import Refused
from samesame.kernels.host.device import KernelInterface, pretended
from samesame.kernels.host.failures import about_import
from samesame.programs.named import module_of_file
from samesame.programs.spoken import names_in


def launch_functions(file: str) -> tuple[list[str], list[str]]:
    """Names of the functions of a file that launch a kernel, themselves or by a function that they name, in the order
    in which they stand there: those that need no arguments, and those that do. Raises Refused where the file cannot be
    imported."""
    try:
        with pretended():
            module = module_of_file(Path(file))
    except Refused as refused:
        raise about_import(refused, file) from refused.__cause__
    own = [(name, found) for name, found in vars(module).items()
           if isinstance(found, FunctionType) and found.__module__ == module.__name__ and not name.startswith("_")]
    launching = [(name, found) for name, found in own if launches(found, set())]
    return [name for name, f in launching if not needs(f)], [name for name, f in launching if needs(f)]


def launches(function: FunctionType, seen: set[FunctionType]) -> bool:
    """Does it name a kernel, or a function that does?"""
    seen.add(function)
    named = [function.__globals__.get(name) for name in names_in(function.__code__)]
    held = [cell.cell_contents for cell in function.__closure__ or () if not is_empty(cell)]
    return any(isinstance(found, KernelInterface) for found in (*named, *held)) or any(
        launches(found, seen) for found in (*named, *held) if isinstance(found, FunctionType) and found not in seen)


def is_empty(cell: Any) -> bool:
    try:
        return cell.cell_contents is None
    except ValueError:
        return True


def needs(function: FunctionType) -> bool:
    """Does it take an argument that has no default?"""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return any(p.default is p.empty and p.kind not in several for p in parameters)
