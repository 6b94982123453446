"""Asked: what a program asks for beside values, and the state it was captured in.

A program may look whether gradients are on, how its inputs lie in memory, what time it is, or whether somebody traces
it, and compute accordingly. A graph stands for the state it was captured in: without autocast, its inputs
laid out as the example's, nobody tracing. What the user's own lines ask for is noted while the program runs
with nobody else watching, by Python's profile hook, which sees every call of a function whatever name it goes by. What
can be tried is: a program that asks for gradients or strides runs once more in the other state, and only where it then
computes something else the verdict is said to hold for this state alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch import nn

from samesame.capture.program import referred
from samesame.capture.views import is_written_by_user
from samesame.graph import Asked, Origin, Setting
from samesame.programs.origins import place

# What is asked for, by the name of the function that tells.
TELLS = {
    "gradients": "is_grad_enabled is_inference_mode_enabled is_inference",
    "autocast": "is_autocast_enabled is_autocast_cpu_enabled get_autocast_dtype get_autocast_cpu_dtype",
    "default dtype": "get_default_dtype",
    "threads": "get_num_threads get_num_interop_threads",
    "tracing": "gettrace getprofile _is_tracing is_tracing is_compiling is_dynamo_compiling is_scripting is_exporting",
    "clock": "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time now utcnow today",
    "chance": "random getrandbits randbytes urandom uuid4 uuid1 token_bytes",
}
DISTRIBUTIONS = "torch.distributions."           # whatever is called there may check what it is given
KINDS = {name: kind for kind, names in TELLS.items() for name in names.split()}


@contextmanager
def asking(asked: dict[str, Origin]) -> Iterator[None]:
    """Inside, what the user's lines ask for is noted, each kind with the first line that does."""

    def see(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            kind, caller = KINDS.get(function.__name__), frame
        elif event == "call":
            kind, caller = KINDS.get(frame.f_code.co_name), frame.f_back     # type: ignore[assignment]
            kind = None if kind is None or is_written_by_user(frame.f_code.co_filename) else kind
            kind = "checks" if str(frame.f_globals.get("__name__")).startswith(DISTRIBUTIONS) else kind
        else:
            return
        if kind is None or kind in asked:
            return
        asks = users(caller, far=kind in ("chance", "checks"))
        if asks is not None:
            asked[kind] = place(asks.f_code.co_filename, asks.f_lineno, asks.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        yield
    finally:
        sys.setprofile(before if callable(before) else None)
        if before is not None and not callable(before):      # cProfile's, which is no function and enables itself
            before.enable()


@contextmanager
def laid_out_otherwise(tensors: Iterable[torch.Tensor]) -> Iterator[None]:
    """Inside, these tensors hold the same elements in another order in memory, where they have two dimensions or
    more."""
    before = [(tensor, tensor.data) for tensor in tensors if tensor.dim() > 1]
    for tensor, memory in before:
        turned = memory.transpose(0, -1)
        tensor.data = turned.clone(memory_format=torch.contiguous_format).transpose(0, -1)
    try:
        yield
    finally:
        for tensor, memory in before:
            tensor.data = memory


def mode_of(program: Any) -> str:
    """The mode of the modules that a program uses: eval, training, or mixed."""
    modules = (part for _, thing in referred(program) if isinstance(thing, nn.Module) for part in thing.modules())
    return {(True,): "training", (False,): "eval", (False, True): "mixed"}.get(
        tuple(sorted({part.training for part in modules})), "")


def setting_of(program: Any, asked: tuple[Asked, ...], gradients: bool = False) -> Setting:
    """The state that a program is captured in now."""
    unusual = [f"{torch.get_default_dtype()} by default".removeprefix("torch.")]
    unusual = [] if torch.get_default_dtype() is torch.float32 else unusual
    if torch.is_autocast_enabled("cpu"):
        unusual.append(f"autocast to {torch.get_autocast_dtype('cpu')}".replace("torch.", ""))
    return Setting(mode_of(program), tuple(unusual), asked, gradients)


def users(frame: FrameType | None, *, far: bool) -> FrameType | None:
    """The frame, if the user wrote its line; else, where one may be `far`, the nearest such below it."""
    while frame is not None and not is_written_by_user(frame.f_code.co_filename):
        frame = frame.f_back if far else None
    return frame
