"""A CUDA device that is not there: what host code around Triton kernels asks of one, answered without a GPU.

Wrappers ask which device is current and what it can do, choose block sizes by it, and launch. `pretended` puts plain
answers in the place of torch's and Triton's questions to the driver, and takes them away again. Nothing is launched:
whoever captures or interprets says what happens to a launch instead, for every kind of launcher: kernels, autotuners,
heuristics, and launchers of the user's own that derive from Triton's.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS, CustomOpDef
from torch._library.triton import set_wrap_triton_enabled
from torch._ops import OpOverloadPacket

from samesame.evidence import Refused
from samesame.programs.alone import acting, alone

try:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver
    from triton.runtime.autotuner import Autotuner, Heuristics
    from triton.runtime.jit import JITFunction, KernelInterface

    from samesame.kernels.host.versions import times_a_single_one
except ImportError as missing:
    raise Refused(f"Triton cannot be imported ({missing}); install samesame[triton]") from missing

TARGET = GPUTarget("cuda", 90, 32)
PROPERTIES = types.SimpleNamespace(
    name="a device of compute capability 9.0",
    major=9,
    minor=0,
    multi_processor_count=132,
    total_memory=80 << 30,
    L2_cache_size=50 << 20,
    max_threads_per_multi_processor=2048,
    shared_memory_per_block=48 << 10,
    shared_memory_per_block_optin=227 << 10,
    warp_size=32,
    regs_per_multiprocessor=65536,
    gcnArchName="",
    is_integrated=False,
)
LIMITS = {
    "max_shared_mem": 227 << 10,
    "multiprocessor_count": 132,
    "warpSize": 32,
    "sm_clock_rate": 1,
    "mem_clock_rate": 1,
    "mem_bus_width": 1,
    "max_num_regs": 65536,
}

Launcher = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], Any]    # kernel, args, keywords, grid


class Noted:
    """What is known of the device, with a note of each fact that a program asks for, by name."""

    def __init__(self, facts: dict[str, Any], asked: dict[str, Any]) -> None:
        self._facts, self._asked = facts, asked

    def __getattr__(self, name: str) -> Any:
        if name not in self._facts:
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        if asked_by_program():
            self._asked[name] = self._facts[name]
        return self._facts[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self._facts else default

    def __contains__(self, name: str) -> bool:
        return name in self._facts


def asked_by_program() -> bool:
    """Whether it is host code that asks: the first frame outside of this file is not torch's or Triton's own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").partition(".")[0] not in ("torch", "triton", "samesame")


class Driver:
    """What Triton asks a driver."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = asked
        self.utils = types.SimpleNamespace(get_device_properties=lambda device: Noted(LIMITS, asked))

    def get_current_target(self) -> GPUTarget:
        if asked_by_program():
            self.asked["target"] = f"{TARGET.backend} {TARGET.arch}"
        return TARGET

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_benchmarker(self) -> Any:
        return lambda call, **options: [0.0, 0.0, 0.0]


class Stream:
    """A stream that has nothing to wait for."""

    cuda_stream = 0

    def wait_stream(self, other: Any) -> None:
        return None

    def synchronize(self) -> None:
        return None


class DiceState:
    """The state of a generator: seed and offset, however it is looked at."""

    def view(self, dtype: torch.dtype) -> list[int]:
        return [0, 0]

    def clone(self, **_: Any) -> DiceState:
        return self


class Dice:
    """A generator of random numbers, which wrappers ask for its seed."""

    def get_state(self) -> DiceState:
        return DiceState()

    def set_state(self, state: Any) -> None:
        return None

    def initial_seed(self) -> int:
        return 0


def no_context(*_: Any, **__: Any) -> Any:
    return contextlib.nullcontext()


# torch.cuda's questions, and the answers.
ANSWERS: dict[str, Any] = {
    "_lazy_init": lambda: None,
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "set_device": lambda device: None,
    "get_device_capability": lambda device=None: (9, 0),
    "get_device_name": lambda device=None: PROPERTIES.name,
    "get_arch_list": lambda: ["sm_90"],
    "synchronize": lambda device=None: None,
    "empty_cache": lambda: None,
    "current_stream": lambda device=None: Stream(),
    "default_stream": lambda device=None: Stream(),
    "device": no_context,
    "stream": no_context,
    "_DeviceGuard": no_context,
    "is_bf16_supported": lambda *_, **__: True,
    "is_current_stream_capturing": lambda: False,
    "default_generators": (Dice(),),
    "manual_seed": lambda seed: None,
    "manual_seed_all": lambda seed: None,
}


FACTS = {  # of torch.cuda's questions: those on which a program decides what it launches, and the fact it asks for
    "get_device_capability": "compute capability",
    "get_device_name": "name",
    "get_arch_list": "architectures",
    "is_bf16_supported": "support of bfloat16",
    "device_count": "number of devices",
}


def noted_answers(asked: dict[str, Any]) -> dict[str, Any]:
    """The answers on which a program may decide what it launches, with a note of those that it asks for."""

    def noting(question: str) -> Callable[..., Any]:
        def answer(*args: Any, **keywords: Any) -> Any:
            found = ANSWERS[question](*args, **keywords)
            if asked_by_program():
                asked[FACTS[question]] = found
            return found

        return answer

    return {question: noting(question) for question in FACTS} | {
        "get_device_properties": lambda device=None: Noted(vars(PROPERTIES), asked)
    }


@contextmanager
def pretended(launch: Launcher | None = None, asked: dict[str, Any] | None = None) -> Iterator[None]:
    """As if there were a device. A launch calls `launch(kernel, args, keywords, grid)`; where that is None, it is
    refused. The facts of the device that the program asks for are noted in `asked`."""
    asked = {} if asked is None else asked
    with alone(), ExitStack() as stack:
        for name, answer in (ANSWERS | noted_answers(asked)).items():
            replaced(stack, torch.cuda, name, answer)
        active = driver._active
        driver.set_active(Driver(asked))
        stack.callback(setattr, driver, "_active", active)
        stack.enter_context(launching(launch or refuse))
        stack.enter_context(own_operators_opened())
        yield


@contextmanager
def own_operators_opened() -> Iterator[None]:
    """Operators that were made by `torch.library.custom_op` and `triton_op` run as the functions that they are, so that
    what these launch is seen; and a kernel behind `wrap_triton` is the kernel."""
    original = OpOverloadPacket.__call__

    def by_name(self: Any, /, *args: Any, **keywords: Any) -> Any:
        made = OPDEFS.get(self._qualified_op_name)
        return body_of(made)(*args, **keywords) if made is not None else original(self, *args, **keywords)

    with ExitStack() as stack:
        replaced(stack, OpOverloadPacket, "__call__", by_name)
        replaced(stack, CustomOpDef, "__call__", lambda self, /, *args, **keywords: body_of(self)(*args, **keywords))
        stack.enter_context(set_wrap_triton_enabled(False))
        yield


def body_of(made: CustomOpDef) -> Callable[..., Any]:
    """What an operator does on the device."""
    return made._backend_fns.get("cuda", made._init_fn)


@contextmanager
def launching(found: Launcher) -> Iterator[None]:
    """Launches of kernels call `found(kernel, args, keywords, grid)` instead of a device, whichever thread launches."""

    def launched(*launch: Any) -> Any:
        with acting():
            return found(*launch)

    def get(self: Any, grid: Any) -> Callable[..., Any]:
        return lambda *args, **keywords: launched(self, args, keywords, grid)

    def run(self: Any, *args: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> Any:
        return None if warmup else launched(self, args, keywords, grid)

    with alone(), ExitStack() as stack:
        replaced(stack, KernelInterface, "__getitem__", get)
        for launcher in (JITFunction, Autotuner, Heuristics):
            replaced(stack, launcher, "run", run)
        yield


def replaced(stack: ExitStack, holder: Any, name: str, value: Any) -> None:
    """Put a value in the place of an attribute until the stack unwinds."""
    held = vars(holder) if not isinstance(holder, types.ModuleType) else holder.__dict__
    if name in held:
        stack.callback(setattr, holder, name, held[name])
    else:
        stack.callback(delattr, holder, name)
    setattr(holder, name, value)


def refuse(kernel: Any, args: tuple[Any, ...], keywords: dict[str, Any], grid: Any) -> Any:
    raise Refused(f"the kernel {name_of(kernel)} is launched while the file is imported; launch it in a function")


def name_of(launcher: Any) -> str:
    return str(getattr(jit_of(launcher), "__name__", "?"))


def jit_of(launcher: Any) -> JITFunction[Any]:
    """The kernel inside autotuners, heuristics and launchers of the user's own."""
    while not isinstance(launcher, JITFunction):
        if not hasattr(launcher, "fn"):
            raise Refused(f"{launcher!r} launches something that is no Triton kernel")
        launcher = launcher.fn
    return launcher


def arguments_of(
    jit: JITFunction[Any], args: tuple[Any, ...], keywords: Mapping[str, Any], grid: Any
) -> tuple[dict[str, Any], tuple[int, int, int]]:
    """The value of each parameter of a kernel that is launched on numbers, and how many programs run."""
    binding = jit.signature.bind(*args, **{k: v for k, v in keywords.items() if k in jit.arg_names})
    binding.apply_defaults()
    values = dict(binding.arguments)
    extent = grid(dict(values)) if callable(grid) else grid
    x, y, z = (int(n) for n in (*(extent if isinstance(extent, tuple | list) else (extent,)), 1, 1)[:3])
    return values, (x, y, z)


@dataclass(frozen=True)
class Choice:
    """One choice of the autotuners around a kernel: a label, the keywords with what was chosen, and what `hook` runs
    before each launch, on these `arguments`. `tuner` is the one that times its choices, if there is any."""

    label: str
    keywords: dict[str, Any]
    arguments: dict[str, Any]
    hook: Callable[[dict[str, Any]], Any] | None = None
    tuner: Any = None

    def prepare(self) -> None:
        """What the choice does before a launch (it zeroes an output, say)."""
        if self.hook is not None:
            self.hook(self.arguments)

    @property
    def put_back(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parameters that the tuner resets to zero, and those that it restores, before it runs the kernel again."""
        return tuple(self.tuner.reset_to_zero), tuple(self.tuner.restore_value)

    def tried(self, run: Callable[[], Any]) -> None:
        """One run of those by which a tuner compares its choices."""
        self.prepare()
        self.tuner.pre_hook(self.arguments)
        run()
        self.tuner.post_hook(self.arguments, exception=None)

    def settled(self) -> None:
        """What the tuner does when it has compared them."""
        self.tuner.pre_hook(self.arguments, reset_only=True)


def configurations(launcher: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[Choice]:
    """Every choice of the autotuners around a kernel."""
    if isinstance(launcher, JITFunction):
        yield Choice("", keywords, {**dict(zip(launcher.arg_names, args, strict=False)), **keywords})
    elif isinstance(launcher, Autotuner):
        configs = tried(launcher, args, keywords)
        for config in configs:
            chosen = config.all_kwargs()
            several = len(configs) > 1
            label = ", ".join(f"{k}={v}" for k, v in config.kwargs.items()) if several else ""
            timed = several or (len(launcher.configs) > 1 and times_a_single_one())
            for inner in configurations(launcher.fn, args, {**chosen, **keywords}):
                yield replace(
                    inner,
                    label=", ".join(filter(None, (label, inner.label))),
                    hook=config.pre_hook or inner.hook,
                    tuner=launcher if timed else inner.tuner,
                )
    else:
        if isinstance(launcher, Heuristics):
            keywords = dict(keywords)
            for name, heuristic in launcher.values.items():
                keywords[name] = heuristic({**dict(zip(launcher.arg_names, args, strict=False)), **keywords})
        yield from configurations(launcher.fn, args, keywords)


def tried(tuner: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
    """The configurations that a tuner would try here."""
    tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
    configs = tuner.prune_configs(keywords) if tuner.early_config_prune else tuner.configs
    return list(configs) or list(tuner.configs)


def compiled(*_: Any) -> Any:
    """What a launch returns to host code that looks at it."""
    return types.SimpleNamespace(n_regs=0, n_spills=0, asm={}, metadata=types.SimpleNamespace(shared=0, num_warps=4))


AGAIN = 0.5                  # seconds in which what was raised has come out, unless it was dropped


class TimeUp(BaseException):
    """The host code has run too long. Not an Exception: the user's program must not take it for one of its own."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeUp in this thread after so many seconds, in a loop of Python's, wherever that runs; and again a while
    later if it is still there, for Python drops what is raised in a callback of a weak reference or a finalizer."""
    thread, changing, left = threading.get_ident(), threading.Lock(), threading.Event()

    def raise_there() -> None:
        wait = seconds
        while not left.wait(wait):
            with changing:
                if not left.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeUp))
            wait = AGAIN

    others = sys.unraisablehook

    def in_silence(dropped: Any) -> None:
        if dropped.exc_type is not TimeUp:                 # that it was dropped is nothing to tell a user
            others(dropped)

    sys.unraisablehook = in_silence
    threading.Thread(target=raise_there, daemon=True).start()
    try:
        yield
    finally:
        with changing:
            left.set()
        if sys.unraisablehook is in_silence:
            sys.unraisablehook = others


__all__ = [
    "TARGET", "Autotuner", "Heuristics", "JITFunction", "KernelInterface", "TimeUp", "compiled", "configurations",
    "jit_of", "launching", "limited", "name_of", "pretended", "replaced", "triton",
]
