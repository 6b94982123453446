"""Exits: the ways by which what a tensor holds reaches Python, or memory that nobody watches, without an operator.

Operators pass the recorder. A list of numbers, a NumPy array, the text of a tensor, the address of its memory and a
thread of its own do not: torch's function mode sees most of these before they happen, and for the rest the function
that opens the way is replaced while a program runs. Whatever leaves must be closed, a constant of the program. A
refusal here is noted by the recorder, so that it stands whatever the program makes of the exception.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch

from samesame.capture.eager import Watching
from samesame.evidence import Refused
from samesame.operators.execute import tensors_in
from samesame.programs.origins import is_users, shown

Tensor = torch.Tensor

# Ways out that are no operators.
LEAVES = {
    Tensor.tolist: "calls .tolist() on a tensor",
    Tensor.numpy: "calls .numpy() on a tensor",
    Tensor.__array__: "calls .__array__() on a tensor",
    Tensor.__dlpack__: "calls .__dlpack__() on a tensor",
    Tensor.__float__: "calls float() on a tensor",
    Tensor.__int__: "calls int() on a tensor",
    Tensor.__index__: "calls int() on a tensor",
    Tensor.__complex__: "calls complex() on a tensor",
    Tensor.__repr__: "writes out what a tensor holds (print, str, repr or an f-string)",
    Tensor.__format__: "writes out what a tensor holds (format or an f-string)",
    Tensor.apply_: "calls .apply_() on a tensor",
    Tensor.map_: "calls .map_() on a tensor",
    Tensor.map2_: "calls .map2_() on a tensor",
}
UNSEEN = "by which it is read and written in a way torch does not show"
# Ways to the memory itself; torch's own code takes them to manage memory, the program to read it.
ADDRESSES = {
    Tensor.data_ptr: f"takes the address of a tensor (.data_ptr()), {UNSEEN}",
    Tensor.untyped_storage: f"takes the memory of a tensor (its storage, or pickle, copy or torch.save), {UNSEEN}",
    Tensor.storage: f"takes the memory of a tensor (.storage()), {UNSEEN}",
    Tensor.share_memory_: f"shares the memory of a tensor with other processes, {UNSEEN}",
}
# Packages that take an address to see whether it is a multiple of 16, which decides between kernels of one meaning.
ALIGN_ONLY = ("transformers/", "vllm/")
PASSED_THROUGH = ("torch/overrides.py", "torch/_tensor.py")
RECORDERS = str(Path(__file__).parent) + os.sep
PICKLES = "_reduce_ex_internal"
SENDS = "torch/multiprocessing/"
# These make a tensor of numbers, and take them out of tensors without an operator.
OF_NUMBERS = {torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor, Tensor.new}
# x[…], where torch takes the numbers out of the tensors that a list holds, and shows no operator.
BRACKETS = {Tensor.__getitem__, Tensor.__setitem__}
TAKEN_ALONE = 32                           # numbers in a list; fewer parts, with a tensor among them, are a tuple's
# A program that is recorded without gradients is recorded anew if it computes some.
GRADIENTS = {torch.autograd.grad, torch.autograd.backward, Tensor.backward}
# These have no derivative, and are no operators of their own above autograd, which takes them apart. A derivative that
# a program writes itself calls them where no mode sees its functions.
BELOW_AUTOGRAD = ((torch.nn.functional, "one_hot"),)
BELOW = {getattr(holder, name) for holder, name in BELOW_AUTOGRAD}
# What a tensor is beside its values: what the verdict is for, where the program asks.
ASKS = {
    Tensor.stride: "strides",
    Tensor.is_contiguous: "strides",
    Tensor.storage_offset: "strides",
    **{getattr(Tensor, name).__get__: "gradients" for name in ("requires_grad", "grad_fn", "is_leaf")},
    Tensor.is_inference: "gradients",
}


class Differentiates(Refused):
    """A program computes gradients where these are off: it has to be recorded with them."""


OFF = "computes gradients, and these are off where a program is exported; record it instead"


def may_want_gradients(error: Refused) -> bool:
    """Whether a program that was refused without gradients may run with them: it computes some, or torch misses them.
    """
    missed = str(error.__cause__)
    return isinstance(error, Differentiates) or ("require" in missed and "grad" in missed)


class Watcher(Protocol):
    """What exits ask of a recorder."""

    asked: dict[str, Any]
    has_gradients: bool
    in_brackets: bool

    def here(self) -> Any: ...
    def refusal(self, why: str, kind: type[Refused] = Refused) -> Refused: ...
    def demand_closed(self, tensors: Iterator[torch.Tensor], doing: str, instead: str = ...) -> None: ...
    def demand_unknown(self, tensors: Iterator[torch.Tensor], doing: str) -> None: ...


class Exits(TorchFunctionMode):
    """Watches the ways by which a tensor's values reach Python without an operator."""

    def __init__(self, recorder: Watcher) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        recorder = self.recorder
        if function in LEAVES:
            recorder.demand_closed(tensors_in(args[:1]), LEAVES[function])
        elif function in ADDRESSES and takes_memory(sys._getframe(1)):
            recorder.demand_closed(tensors_in(args[:1]), ADDRESSES[function])
        elif function in OF_NUMBERS:
            lists = [given for given in (*args, *(kwargs or {}).values()) if isinstance(given, list | tuple)]
            recorder.demand_closed(tensors_in(lists), "makes a tensor of numbers in tensors, unlike torch.stack")
        elif function in BRACKETS:
            recorder.demand_closed(numbers_in(args[1]), "indexes with a list of numbers that tensors hold",
                                   "make one tensor of them with torch.stack")
        elif function in ASKS:
            if ASKS[function] not in recorder.asked and asker(sys._getframe(1)) is not None:
                recorder.asked[ASKS[function]] = recorder.here()
        elif function in GRADIENTS and not recorder.has_gradients:
            raise recorder.refusal(OFF, Differentiates)
        before, recorder.in_brackets = recorder.in_brackets, function is Tensor.__getitem__
        try:
            with torch._C._AutoDispatchBelowAutograd() if function in BELOW else nullcontext():
                return function(*args, **(kwargs or {}))
        finally:
            recorder.in_brackets = before


class Derives(TorchFunctionMode):
    """Sees whether a program computes gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.any = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.any = self.any or function in GRADIENTS
        return function(*args, **(kwargs or {}))


def numbers_in(index: Any) -> Iterator[torch.Tensor]:
    """The tensors in the sequences of an index: lists, and whatever else torch goes through as one."""
    several = isinstance(index, tuple) or (is_sequence(index) and len(index) < TAKEN_ALONE)
    waiting = [part for part in (index if several else [index]) if is_sequence(part)]
    while waiting:
        for part in waiting.pop():
            if isinstance(part, torch.Tensor):
                yield part
            elif is_sequence(part):
                waiting.append(part)


def is_sequence(thing: Any) -> bool:
    kind = type(thing)
    return hasattr(kind, "__getitem__") and hasattr(kind, "__len__") and not isinstance(
        thing, torch.Tensor | str | bytes | dict)


def passes_on(frame: FrameType) -> bool:
    """Whether the code that runs there only hands on what is called: torch's, or another mode of a recorder's."""
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    return shown(file) in PASSED_THROUGH or (name == "__torch_function__" and file.startswith(RECORDERS))


def asker(frame: FrameType | None) -> FrameType | None:
    """The user's frame that called a function of a tensor; None where torch's own code did."""
    while frame is not None and passes_on(frame):
        frame = frame.f_back
    return frame if frame is not None and is_users(frame.f_code.co_filename) else None


def takes_memory(frame: FrameType | None) -> bool:
    """Whether it is the program that asks for a tensor's memory, or for a copy of it by pickle."""
    user, below = asker(frame), frame
    if user is not None:
        return not shown(user.f_code.co_filename).startswith(ALIGN_ONLY)
    while below is not None and passes_on(below):
        if below.f_code.co_name == PICKLES:
            return True
        below = below.f_back
    return below is not None and shown(below.f_code.co_filename).startswith(SENDS)


# ------------------------------------------------------------------------------------- ways that no mode of torch sees


class Elsewhere(Watching):
    """In another thread than the one that is recorded: operators are let be, unless they read what is open."""

    def __init__(self, recorder: Watcher, running: list[bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recorder, self.running = recorder, running

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.running:
            given = tensors_in([*args, *(kwargs or {}).values()])
            self.recorder.demand_unknown(given, "computes in a thread of its own, where it is not recorded; compute in "
                                                "the thread that was called")
        return operation(*args, **(kwargs or {}))


# Switches that turn the recorder off.
SWITCHES = (
    (torch._C, "_DisableTorchDispatch"),
    (torch._C, "DisableTorchFunction"),
    (torch._C, "_DisableFuncTorch"),
    (torch._C, "_ExcludeDispatchKeyGuard"),
    (torch._C, "_pop_torch_dispatch_stack"),
    (torch._C, "_pop_torch_function_stack"),
    (_python_dispatch, "_disable_current_modes"),
    (_python_dispatch, "_pop_mode"),
    (_python_dispatch, "_pop_mode_temporarily"),
)
FORK = getattr(os, "fork", None)                           # multiprocessing calls it for the program
# Other processes, and the end of this one.
LEAVING = (
    (os, "_exit", "ends the process (os._exit)"),
    (os, "abort", "ends the process (os.abort)"),
    (os, "kill", "sends a signal to a process (os.kill)"),
    (os, "fork", "runs another process (os.fork)"),
    (os, "execv", "becomes another process (os.exec)"),
    (os, "execve", "becomes another process (os.exec)"),
)
SWITCHED = "switches off the modes of torch by which it is watched"
# Who runs what it is given in threads, or processes, that may be there already.
HANDS_ON = ((ThreadPoolExecutor, "submit"), (Pool, "apply_async"), (Pool, "_map_async"))
STARTS = ((_thread, "start_new_thread"), (threading, "_start_new_thread"))


@contextmanager
def guarded(recorder: Watcher) -> Iterator[None]:
    """Inside, the program cannot switch the recorder off, end the process or compute where the recorder is not."""
    running = [True]
    owner = threading.get_ident()

    def elsewhere(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            if not running or threading.get_ident() == owner:
                return function(*args, **kwargs)
            with Elsewhere(recorder, running):
                return function(*args, **kwargs)

        return run

    def starting(own: Callable[..., Any]) -> Callable[..., Any]:
        return lambda function, *rest: own(elsewhere(function), *rest)

    def handing(own: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, function, *rest, **named: own(self, elsewhere(function), *rest, **named)

    def refusing(own: Any, doing: str) -> Callable[..., Any]:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            by_user = is_users(sys._getframe(1).f_code.co_filename) or own is FORK
            if running and threading.get_ident() == owner and by_user:
                raise recorder.refusal(f"{doing}, so what it computes cannot be told; leave that out")
            return own(*args, **kwargs)

        return refuse

    def below(own: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                return own(*args, **kwargs)

        return run

    with ExitStack() as stack:
        stack.callback(running.clear)
        for library, name in BELOW_AUTOGRAD:
            _replace(stack, library, name, below)
        for library, name in STARTS:
            _replace(stack, library, name, starting)
        for kind, name in HANDS_ON:
            _replace(stack, kind, name, handing)
        for holder, name in SWITCHES:
            _replace(stack, holder, name, partial(refusing, doing=SWITCHED))
        for holder, name, doing in LEAVING:
            _replace(stack, holder, name, partial(refusing, doing=doing))
        yield


def _replace(stack: ExitStack, holder: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put what `make` makes of a function in its place until the stack unwinds; nothing where there is none."""
    own = getattr(holder, name, None)
    if own is not None:
        stack.callback(setattr, holder, name, own)
        setattr(holder, name, make(own))
