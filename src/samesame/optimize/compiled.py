"""Printed kernels as something to call with tensors: compiled once, kept by content, bound through ctypes.

The text of the kernels and a small description, plain enough for JSON, are all that is needed, so a saved folder is
loaded by the same function. The shared library stands in the user's cache folder under a hash of the text, compiler,
flags and machine. What kernels marked `ahead` make of weights (packed panels) is kept until a weight changes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from samesame.evidence import SamesameError
from samesame.optimize.dropin import STEPS
from samesame.optimize.emit.places import C_TYPES, LANES, reserved, strides, whole
from samesame.optimize.guard import NO_PLACE
from samesame.optimize.ir import Program
from samesame.optimize.machine import compiler, here, threading_runtime
from samesame.store import default_path

FLAGS = ("-std=gnu++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-Wno-psabi", "-w")
CPU = torch.device("cpu")                             # whatever device a context or a default says
Description = dict[str, Any]                         # plain data: lists, dictionaries, texts and numbers


def describe(program: Program, inputs: Sequence[str], weights: Sequence[str], outputs: Sequence[str]) -> Description:
    """What a caller of the kernels has to know: tensors by name, who makes them, and in which order kernels run."""
    buffers = {b.name: b for kernel in program.kernels for b in kernel.tensors}
    ahead = {b.name for kernel in program.kernels if kernel.ahead for b in kernel.writes}
    written = {b.name for kernel in program.kernels for b in kernel.writes}
    given = {*inputs, *weights}
    if missing := sorted({*buffers} - written - given):
        raise ValueError(f"nothing makes {', '.join(missing)}, and no argument is called so")
    role = {**dict.fromkeys(ahead, "kept"), **dict.fromkeys(outputs, "output"),
            **dict.fromkeys(inputs, "input"), **dict.fromkeys(weights, "weight")}
    return {
        "kernels": [{"name": reserved(k.name), "ahead": k.ahead, "takes": [b.name for b in k.tensors]}
                    for k in program.kernels],
        "tensors": {name: {"shape": [whole(size) for size in b.shape], "strides": strides(b), "dtype": b.dtype,
                           "role": role.get(name, "scratch")} for name, b in buffers.items()},
        "arguments": [name for name in (*inputs, *weights)],
        "outputs": list(outputs),
    }


def load(source: str, description: Description) -> Compiled:
    """Kernels and their description as `describe` and `cpp.source` made them, now or in an earlier process."""
    return Compiled(source, description, library(source + driver(description)))


# ------------------------------------------------------------------------------------------------------------ compiling


def library(source: str, flags: Iterable[str] = FLAGS) -> Path:
    """The shared library of this text, from the cache if it was compiled before."""
    program, version = compiler()
    runtime = threading_runtime()
    parts = [source, *flags, *_vector_functions(), version, here().features, str(runtime)]
    mark = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    folder = default_path().parent / "kernels"
    file = folder / f"{mark[:32]}.so"
    if not file.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=folder) as work:
                threads = ["-fopenmp"] if runtime is not None else []
                command = [program, *flags, *threads]
                if source.startswith(lanes := LANES.read_text()):
                    header = _header(lanes, command, folder, f"{version}\n{here().features}")
                    source = f'#include "{header}"\n{source.removeprefix(lanes)}'
                made = _compiled(source, command, runtime, Path(work))
                os.replace(made, file)               # whole or not at all
        except OSError as fault:
            raise SamesameError(f"compiled kernels cannot be kept in {folder}: {fault.strerror}; "
                                "name another place in XDG_CACHE_HOME") from fault
    return file


def _header(lanes: str, command: list[str], folder: Path, machine: str) -> Path:
    """A file with what all kernels begin with, read by the compiler once and for all: half of the time that small
    kernels take to be compiled. One that does not know such a file reads the text beside it."""
    mark = hashlib.sha256("\n".join([lanes, *command, machine]).encode()).hexdigest()
    kept = folder / f"lanes-{mark[:32]}"
    if not kept.exists():
        with TemporaryDirectory(dir=folder) as work:
            text = Path(work) / "lanes" / LANES.name
            text.parent.mkdir()
            text.write_text(lanes)
            _run([*command, "-x", "c++-header", str(text), "-o", f"{text}.gch"])
            try:
                os.replace(text.parent, kept)        # whole or not at all
            except OSError:
                if not kept.exists():                # else another process was first
                    raise
    return kept / LANES.name


def _compiled(source: str, command: list[str], runtime: Path | None, folder: Path) -> Path:
    """Two steps, so that the compiler does not link an OpenMP library of its own beside torch's."""
    text, code, made = folder / "kernels.cpp", folder / "kernels.o", folder / "kernels.so"
    text.write_text(source)
    sanitized = [flag for flag in command if flag.startswith("-fsanitize")]
    _run([*command, "-c", str(text), "-o", str(code)])
    _run([command[0], "-shared", *sanitized, str(code), "-o", str(made), *([str(runtime)] if runtime else []),
          *_vector_functions(), "-Wl,--as-needed", "-lm"])
    return made


def _run(step: list[str]) -> None:
    said = subprocess.run(step, capture_output=True, text=True, check=False)
    if said.returncode:
        first = next((line for line in said.stderr.splitlines() if "error" in line), said.stderr.strip()[:200])
        raise SamesameError(f"{step[0]} cannot compile the kernels: {first}")


def _vector_functions() -> list[str]:
    """The C library's functions of vectors, where it has any. Kernels that refer to them weakly do without where there
    are none; a linker that takes only what is needed counts no such reference."""
    try:
        ctypes.CDLL("libmvec.so.1")
    except OSError:
        return []
    return ["-Wl,--no-as-needed", "-l:libmvec.so.1"]


# -------------------------------------------------------------------------------------------------------------- calling


def driver(description: Description, name: str = "run") -> str:
    """A function that calls all kernels of a program, those that run ahead if its second argument says so. The
    addresses of all tensors come in one array, in the order of `slots`. False: an index is outside of what is looked
    up at it, and what is behind the kernel that found this has not run."""
    place = {tensor: i for i, tensor in enumerate(slots(description))}
    calls = []
    for kernel in description["kernels"]:
        types = [C_TYPES[description["tensors"][tensor]["dtype"]] for tensor in kernel["takes"]]
        takes = [f"({kind}*)at[{place[tensor]}]" for kind, tensor in zip(types, kernel["takes"], strict=True)]
        calls.append(f"    if ({'' if kernel['ahead'] else '!'}ahead) {kernel['name']}({', '.join(takes)});")
        if NO_PLACE in kernel["takes"]:
            calls.append(f"    if (!ahead && *(const float*)at[{place[NO_PLACE]}] != 0) return false;")
    return "\n".join([f'extern "C" bool {name}(void* const* at, bool ahead) {{', *calls, "    return true;", "}\n"])


def slots(description: Description) -> list[str]:
    """Every tensor once: arguments, outputs, then what stays inside."""
    return list(dict.fromkeys([*description["arguments"], *description["outputs"], *description["tensors"]]))


class Compiled:
    """Called with the tensors of `arguments` in order; returns a tuple with the outputs. Raises IndexError where an
    index among them is outside of what is looked up at it."""

    def __init__(self, source: str, description: Description, file: Path, name: str = "run") -> None:
        self.source, self.description, self.file = source, description, file
        self.tensors: Mapping[str, Mapping[str, Any]] = description["tensors"]
        self.arguments: list[str] = description["arguments"]
        self._run = ctypes.CDLL(str(file))[name]
        self._run.argtypes, self._run.restype = [ctypes.c_void_p, ctypes.c_bool], ctypes.c_bool
        self._slots = slots(description)
        self._expected = [_Expected(name, self.tensors.get(name)) for name in self.arguments]
        self._weights = [i for i, name in enumerate(self.arguments) if self._role(name) == "weight"]
        self._outputs = [self._form(name) for name in description["outputs"]]
        self._ahead = any(kernel["ahead"] for kernel in description["kernels"])
        self._thread = threading.local()
        self._packing = threading.Lock()
        self._packed: _Packed | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled as text and description; the library is found again by them."""
        return load, (self.source, self.description)

    def _role(self, name: str) -> str | None:
        return self.tensors[name]["role"] if name in self.tensors else None

    def _form(self, name: str) -> tuple[list[int], torch.dtype]:
        return self.tensors[name]["shape"], getattr(torch, self.tensors[name]["dtype"])

    def _made(self, role: str) -> dict[int, torch.Tensor]:
        """New tensors for all that has this role, by their slots."""
        forms = {i: self._form(name) for i, name in enumerate(self._slots) if self._role(name) == role}
        return {i: torch.empty(shape, dtype=dtype, device=CPU) for i, (shape, dtype) in forms.items()}

    def __call__(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if len(tensors) != len(self._expected):
            raise SamesameError(f"these kernels take {len(self._expected)} tensors, {', '.join(self.arguments)}")
        at = self._addresses()
        place = 0
        for expected, tensor in zip(self._expected, tensors, strict=True):
            expected.check(tensor)
            at[place] = tensor.data_ptr()
            place += 1
        outputs = []
        for shape, dtype in self._outputs:
            outputs.append(made := torch.empty(shape, dtype=dtype, device=CPU))
            at[place] = made.data_ptr()
            place += 1
        if self._ahead:
            self._keep([tensors[i] for i in self._weights], at)
        if not self._run(at, False):
            raise IndexError("an index is outside of what is looked up at it")
        return tuple(outputs)

    def _addresses(self) -> Any:
        """This thread's array of addresses, with scratch of its own, so that two threads may call at once."""
        held = self._thread.__dict__
        if "at" not in held:
            held["scratch"], held["packed"] = self._made("scratch"), None
            held["at"] = (ctypes.c_void_p * len(self._slots))()
            for i, tensor in held["scratch"].items():
                held["at"][i] = tensor.data_ptr()
        return held["at"]

    def _keep(self, weights: list[torch.Tensor], at: Any) -> None:
        """What kernels that run ahead made of these weights; made again if one is another, or was written to, or an
        optimizer took a step: a fused one leaves the version of what it writes to as it was. Tensors of inference mode
        do not say whether they were written to: theirs is made each time."""
        packed = self._packed
        mark = None if any(w.is_inference() for w in weights) else [
            (STEPS[0], 0), *((w.data_ptr(), w._version) for w in weights)]
        if packed is None or mark is None or packed.mark != mark:
            with self._packing:
                made = self._made("kept")
                for i, tensor in made.items():
                    at[i] = tensor.data_ptr()
                self._run(at, True)
                packed = self._packed = _Packed(mark, [w.detach() for w in weights], made)
        if self._thread.packed is not packed:
            for i, tensor in packed.made.items():
                at[i] = tensor.data_ptr()
            self._thread.packed = packed


@dataclass(frozen=True, eq=False)
class _Packed:
    """`weights` keeps the memory of the packed ones, else another weight could come to lie where one was."""

    mark: list[tuple[int, int]] | None
    weights: list[torch.Tensor]
    made: dict[int, torch.Tensor]


class _Expected:
    """What an argument has to be; None: the kernels do not read it."""

    def __init__(self, name: str, tensor: Mapping[str, Any] | None) -> None:
        self.name, self.unused = name, tensor is None
        if tensor is not None:
            self.shape, self.strides = torch.Size(tensor["shape"]), tuple(tensor["strides"])
            self.dtype = getattr(torch, tensor["dtype"])
            self.plain = self.strides == torch.empty(self.shape, device="meta").stride()

    def check(self, tensor: torch.Tensor) -> None:
        if self.unused or (tensor.dtype is self.dtype and tensor.shape == self.shape and tensor.is_cpu and (
                tensor.is_contiguous() if self.plain else lie_alike(self.shape, tensor.stride(), self.strides))):
            return
        wanted = f"{self.dtype} of shape {list(self.shape)} and strides {list(self.strides)} on cpu"
        is_now = f"{tensor.dtype} of shape {list(tensor.shape)} and strides {list(tensor.stride())} on {tensor.device}"
        raise SamesameError(f"{self.name} has to be {wanted}; it is {is_now}")


def lie_alike(shape: Sequence[int], strides: Sequence[int], others: Sequence[int]) -> bool:
    """Whether elements lie alike with these strides and with others: those of dimensions of one element say nothing."""
    return 0 in shape or all(size == 1 or a == b for size, a, b in zip(shape, strides, others, strict=True))
