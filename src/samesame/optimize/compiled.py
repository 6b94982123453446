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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from samesame.evidence import SamesameError
from samesame.optimize.emit import cpp
from samesame.optimize.emit.places import reserved, strides, whole
from samesame.optimize.ir import Program
from samesame.optimize.machine import compiler, here, threading_runtime
from samesame.store import default_path

FLAGS = ("-std=gnu++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-Wno-psabi", "-w")
Description = dict[str, Any]                         # plain data: lists, dictionaries, texts and numbers


def describe(program: Program, inputs: Sequence[str], weights: Sequence[str], outputs: Sequence[str]) -> Description:
    """What a caller of the kernels has to know: tensors by name, who makes them, and in which order kernels run."""
    buffers = {b.name: b for kernel in program.kernels for b in cpp.parameters(kernel)}
    ahead = {b.name for kernel in program.kernels if kernel.ahead for b in kernel.writes}
    written = {b.name for kernel in program.kernels for b in kernel.writes}
    given = {*inputs, *weights}
    if missing := sorted({*buffers} - written - given):
        raise ValueError(f"nothing makes {', '.join(missing)}, and no argument is called so")
    role = {**dict.fromkeys(ahead, "kept"), **dict.fromkeys(outputs, "output"),
            **dict.fromkeys(inputs, "input"), **dict.fromkeys(weights, "weight")}
    return {
        "kernels": [{"name": reserved(k.name), "ahead": k.ahead, "takes": [b.name for b in cpp.parameters(k)]}
                    for k in program.kernels],
        "tensors": {name: {"shape": [whole(size) for size in b.shape], "strides": strides(b), "dtype": b.dtype,
                           "role": role.get(name, "scratch")} for name, b in buffers.items()},
        "arguments": [name for name in (*inputs, *weights)],
        "outputs": list(outputs),
    }


def compile_program(
    program: Program, inputs: Sequence[str], weights: Sequence[str], outputs: Sequence[str]
) -> Compiled:
    """A program with numbers for all its sizes, ready to be called."""
    return load(cpp.source(program, here().lanes), describe(program, inputs, weights, outputs))


def load(source: str, description: Description) -> Compiled:
    """Kernels and their description as `describe` and `cpp.source` made them, now or in an earlier process."""
    return Compiled(source, description, library(source))


# ------------------------------------------------------------------------------------------------------------ compiling


def library(source: str, flags: Iterable[str] = FLAGS) -> Path:
    """The shared library of this text, from the cache if it was compiled before."""
    program, version = compiler()
    runtime = threading_runtime()
    mark = hashlib.sha256("\n".join([source, *flags, version, here().features, str(runtime)]).encode()).hexdigest()
    folder = default_path().parent / "kernels"
    file = folder / f"{mark[:32]}.so"
    if not file.exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=folder) as work:
                made = _compiled(source, program, list(flags), runtime, Path(work))
                os.replace(made, file)               # whole or not at all
        except OSError as fault:
            raise SamesameError(f"compiled kernels cannot be kept in {folder}: {fault.strerror}; "
                                "name another place in XDG_CACHE_HOME") from fault
    return file


def _compiled(source: str, program: str, flags: list[str], runtime: Path | None, folder: Path) -> Path:
    """Two steps, so that the compiler does not link an OpenMP library of its own beside torch's."""
    text, code, made = folder / "kernels.cpp", folder / "kernels.o", folder / "kernels.so"
    text.write_text(source)
    threads = ["-fopenmp"] if runtime is not None else []
    sanitized = [flag for flag in flags if flag.startswith("-fsanitize")]
    steps = ([program, *flags, *threads, "-c", str(text), "-o", str(code)],
             [program, "-shared", *sanitized, str(code), "-o", str(made), *([str(runtime)] if runtime else []),
              "-Wl,--as-needed", *_vector_functions(), "-lm"])
    for step in steps:
        said = subprocess.run(step, capture_output=True, text=True, check=False)
        if said.returncode:
            first = next((line for line in said.stderr.splitlines() if "error" in line), said.stderr.strip()[:200])
            raise SamesameError(f"{program} cannot compile the kernels: {first}")
    return made


def _vector_functions() -> list[str]:
    """The C library's functions of vectors, where it has any."""
    for name in ("libmvec.so.1",):
        try:
            ctypes.CDLL(name)
        except OSError:
            return []
    return ["-l:libmvec.so.1"]


# -------------------------------------------------------------------------------------------------------------- calling


class Compiled:
    """Called with the tensors of `arguments` in order; returns a tuple with the outputs."""

    def __init__(self, source: str, description: Description, file: Path) -> None:
        self.source, self.description, self.file = source, description, file
        self.tensors: Mapping[str, Mapping[str, Any]] = description["tensors"]
        self.arguments: list[str] = description["arguments"]
        code = ctypes.CDLL(str(file))
        self._ahead = [_Call(code, kernel) for kernel in description["kernels"] if kernel["ahead"]]
        self._calls = [_Call(code, kernel) for kernel in description["kernels"] if not kernel["ahead"]]
        self._expected = [_Expected(name, self.tensors.get(name)) for name in self.arguments]
        self._weights = [i for i, name in enumerate(self.arguments) if self._role(name) == "weight"]
        self._outputs = [(name, *self._form(name)) for name in description["outputs"]]
        self._scratch = threading.local()
        self._packing = threading.Lock()
        self._packed: tuple[tuple[Any, ...], list[torch.Tensor], dict[str, torch.Tensor]] | None = None

    def _role(self, name: str) -> str | None:
        return self.tensors[name]["role"] if name in self.tensors else None

    def _form(self, name: str) -> tuple[list[int], torch.dtype]:
        return self.tensors[name]["shape"], getattr(torch, self.tensors[name]["dtype"])

    def _made(self, role: str) -> dict[str, torch.Tensor]:
        forms = {name: self._form(name) for name, tensor in self.tensors.items() if tensor["role"] == role}
        return {name: torch.empty(shape, dtype=dtype) for name, (shape, dtype) in forms.items()}

    def __call__(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if len(tensors) != len(self._expected):
            raise SamesameError(f"these kernels take {len(self._expected)} tensors, {', '.join(self.arguments)}")
        for expected, tensor in zip(self._expected, tensors, strict=True):
            expected.check(tensor)
        outputs = [torch.empty(shape, dtype=dtype) for _, shape, dtype in self._outputs]
        at = self._addresses()
        at.update((name, tensor.data_ptr()) for name, tensor in zip(self.arguments, tensors, strict=True))
        at.update((name, tensor.data_ptr()) for (name, *_), tensor in zip(self._outputs, outputs, strict=True))
        if self._ahead:
            at.update(self._kept(tensors, at))
        for call in self._calls:
            call(at)
        return tuple(outputs)

    def _addresses(self) -> dict[str, int]:
        """Scratch of this thread, so that two threads may call at once."""
        held = self._scratch.__dict__
        if "tensors" not in held:
            held["tensors"] = self._made("scratch")
        return {name: tensor.data_ptr() for name, tensor in held["tensors"].items()}

    def _kept(self, tensors: Sequence[torch.Tensor], at: dict[str, int]) -> dict[str, int]:
        """What `ahead` kernels made of these weights; made again if one is another, or was written to."""
        weights = [tensors[i] for i in self._weights]
        mark = tuple((w.data_ptr(), None if w.is_inference() else w._version) for w in weights)
        packed = self._packed
        if packed is None or packed[0] != mark or any(version is None for _, version in mark):
            with self._packing:
                made = self._made("kept")
                addresses = {**at, **{name: tensor.data_ptr() for name, tensor in made.items()}}
                for call in self._ahead:
                    call(addresses)
                alive = [w.detach() for w in weights]           # else another weight could come to lie where one was
                packed = self._packed = (mark, alive, made)
        return {name: tensor.data_ptr() for name, tensor in packed[2].items()}


class _Call:
    """One kernel's function."""

    def __init__(self, code: ctypes.CDLL, kernel: Mapping[str, Any]) -> None:
        self.takes: list[str] = kernel["takes"]
        self.function = code[kernel["name"]]
        self.function.argtypes = [ctypes.c_void_p] * len(self.takes)
        self.function.restype = None

    def __call__(self, at: Mapping[str, int]) -> None:
        self.function(*[at[name] for name in self.takes])


class _Expected:
    """What an argument has to be; None: the kernels do not read it."""

    def __init__(self, name: str, tensor: Mapping[str, Any] | None) -> None:
        self.name, self.unused = name, tensor is None
        if tensor is not None:
            self.shape, self.strides = torch.Size(tensor["shape"]), tuple(tensor["strides"])
            self.dtype = getattr(torch, tensor["dtype"])

    def check(self, tensor: torch.Tensor) -> None:
        if self.unused or (tensor.dtype is self.dtype and tensor.shape == self.shape and tensor.device.type == "cpu"
                           and self._lies_well(tensor)):
            return
        wanted = f"{self.dtype} of shape {list(self.shape)} and strides {list(self.strides)} on cpu"
        is_now = f"{tensor.dtype} of shape {list(tensor.shape)} and strides {list(tensor.stride())} on {tensor.device}"
        raise SamesameError(f"{self.name} has to be {wanted}; it is {is_now}")

    def _lies_well(self, tensor: torch.Tensor) -> bool:
        """The strides of dimensions of one element say nothing."""
        sizes = zip(self.shape, tensor.stride(), self.strides, strict=True)
        return tensor.stride() == self.strides or 0 in self.shape or all(size == 1 or a == b for size, a, b in sizes)
