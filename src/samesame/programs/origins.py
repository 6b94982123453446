"""Where a node comes from: the user's own line, and the module that was running.

The user's line is the innermost frame outside torch and samesame: for a layer of torch that is the line that calls the
layer, for a Transformers model a line of its modeling file. Files are named relative to where Python found them, so
that a report does not depend on where packages are installed.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as hooks

from samesame.graph import Origin

OURS = (os.path.join(os.path.dirname(os.path.dirname(__file__)), ""),)
NOT_THE_USER = (*OURS, *(os.path.join(folder, "") for folder in torch.__path__))
PYTHONS = os.path.join(sysconfig.get_path("stdlib"), "")
# Frames of vLLM between a layer and torch: every operator comes through them, so they tell nothing. Likewise Triton's
# own between a launch and what answers it, those of the algebra behind symbolic sizes, and what warns of old names.
PASSING_ON = (
    "/vllm/ir/", "/vllm/_custom_ops.py", "/vllm/model_executor/layers/utils.py",
    "/triton/runtime/", "/triton/language/", "/triton/compiler/", "/triton/testing.py", "/sympy/",
    "/typing_extensions.py",
)
INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))
GENERATED = "<eval_with_key>"                              # the file of what a graph module runs
TRACED_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (.+)')


@lru_cache(maxsize=4096)
def is_users(file: str) -> bool:
    """Whether code of this file is the user's program: not torch, samesame or Python's own, nothing generated or that
    merely passes operators on."""
    pythons = file.startswith(PYTHONS) and not any(marker in file for marker in INSTALLED)
    passing = any(part in file for part in PASSING_ON)
    return not (pythons or passing or file.startswith(("<frozen", "<string>", "<eval", *NOT_THE_USER)))


@lru_cache(maxsize=4096)
def shown(file: str) -> str:
    """A file as reports name it: relative to its package folder, else to the current directory where it lies in it."""
    for marker in INSTALLED:
        if marker in file:
            return file.rpartition(marker)[2]
    inside = os.getcwd() + os.sep
    return file.removeprefix(inside)


def place(file: str, line: int, function: str, module: str = "") -> Origin:
    """The origin of a line, with the line's text."""
    return Origin(shown(file), line, function, linecache.getline(file, line).strip(), module)


def users_line(entry: CodeType, module: str = "") -> Origin:
    """The innermost line of the user's program that runs now; no line if none does below the function `entry`, or if
    that does not run."""
    innermost: Origin | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not entry:
        if innermost is None and is_users(frame.f_code.co_filename):
            innermost = place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, module)
        elif innermost is None and frame.f_code.co_filename.startswith(GENERATED):
            innermost = line_of_traced(frame, module)
        frame = frame.f_back
    return Origin(module=module) if frame is None or innermost is None else innermost


def line_of_traced(frame: FrameType, module: str) -> Origin | None:
    """The line of which torch traced the node that a graph module runs in this frame, if that was noted."""
    graph = frame.f_locals.get("self")
    nodes = getattr(getattr(graph, "graph", None), "nodes", ())
    number = (getattr(graph, "_lineno_map", None) or {}).get(frame.f_lineno - getattr(graph, "_prologue_start", 0))
    node = None if number is None else next(islice(nodes, number, None), None)
    trace = "" if node is None else node.meta.get("stack_trace") or ""
    if node is None or not trace:
        return None
    paths = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    return line_in_text(trace, module or (paths[-1] if paths else ""))


def name_of_value(fits: Callable[[Any], bool]) -> str:
    """The variable that holds what fits in the innermost function of the user's program that runs now, if one does."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return next((name for name, value in frame.f_locals.items() if fits(value)), "") if frame is not None else ""


def thread_line() -> Origin:
    """The innermost line of the user's program that runs now in this thread, whatever called it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return Origin() if frame is None else place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def line_of_error(error: BaseException) -> Origin:
    """The innermost line of the user's program that an exception came through."""
    found = Origin()
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_users(code.co_filename):
            found = place(code.co_filename, trace.tb_lineno, code.co_name)
        trace = trace.tb_next
    return found


def line_in_text(trace: str, module: str = "") -> Origin:
    """The innermost line of the user's program in a printed stack trace."""
    frames = [(file, int(line), function) for file, line, function in TRACED_FRAME.findall(trace) if is_users(file)]
    return place(*frames[-1], module) if frames else Origin(module=module)


@contextmanager
def running_modules(paths: Mapping[int, str]) -> Iterator[list[str]]:
    """The paths of the modules that are running, outermost first, kept up to date; `paths` has the path of each by
    id."""
    stack: list[str] = []

    def enter(module: nn.Module, args: Any) -> None:
        stack.append(paths.get(id(module), stack[-1] if stack else ""))

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        stack.pop()

    handles = (
        hooks.register_module_forward_pre_hook(enter),
        hooks.register_module_forward_hook(leave, always_call=True),
    )
    try:
        yield stack
    finally:
        for handle in handles:
            handle.remove()
