"""Which lines of the compiler's Python programs reach, so that generators can turn to what is new.

A tracer halves the speed, so only one case in a few is traced. Its fork tells the lines that its worker did not know
yet; the worker keeps them, and the forks after it know them. Lines that run when the compiler is imported count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any


def compiler() -> Path:
    """Where the compiler's Python lies, without importing it."""
    torch = find_spec("torch")
    assert torch is not None and torch.origin is not None
    return Path(torch.origin).parent / "_inductor"


@contextmanager
def watching(reached: set[str]) -> Iterator[None]:
    """Add the compiler's lines that run meanwhile, as `scheduler.py:12`."""
    root = f"{compiler()}/"
    numbers: dict[str, set[int]] = {}

    @cache
    def tracer(file: str) -> Any:
        if not file.startswith(root):
            return None
        add = numbers.setdefault(file.removeprefix(root), set()).add

        def trace(frame: Any, event: str, argument: Any) -> Any:
            add(frame.f_lineno)
            return trace

        return trace

    def called(frame: Any, event: str, argument: Any) -> Any:
        return tracer(frame.f_code.co_filename)

    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(None)
        reached.update(f"{file}:{number}" for file, found in numbers.items() for number in found)


@cache
def lines_of() -> dict[str, int]:
    """How many lines each file of the compiler has that can run."""
    found = {}
    for file in compiler().rglob("*.py"):
        code = SourceFileLoader("", str(file)).get_code("")
        assert code is not None
        lines = {line for part in _codes(code) for _, _, line in part.co_lines() if line}
        found[str(file.relative_to(compiler()))] = len(lines)
    return found


def shares(reached: set[str]) -> tuple[float, float]:
    """The share of all lines that were reached, and of those in files that any was reached of."""
    all_lines, files = lines_of(), {line.partition(":")[0] for line in reached}
    return len(reached) / sum(all_lines.values()), len(reached) / (sum(all_lines.get(file, 0) for file in files) or 1)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)
