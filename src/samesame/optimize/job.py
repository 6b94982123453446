"""A job: a program and the inputs it is optimised on, on disk, so that a process of its own can run it.

What Python imports by a name is imported there in the same way; modules of files that were named on a command line are
loaded from these files again.
"""

from __future__ import annotations

import importlib.util
import pickle
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from torch import nn

from samesame.evidence import Refused
from samesame.optimize.dropin import by_compiler
from samesame.programs.named import imported_files, module_of_file

NAME, FILES = "job.pt", "files.txt"


@dataclass
class Job:
    """A program, its arguments, and its weights by name; and whether it computes gradients, as it then can only where
    these are on."""

    program: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    weights: dict[str, torch.Tensor]
    gradients: bool = False

    def on(self, device: str) -> Job:
        """A copy of the job on a device, in which tensors that are one stay one. Raises Refused for a function with
        tensors of its own."""
        if device == "cpu":
            return self
        self.require_movable(device)
        return Job(*copied(self.parts, device))

    def require_movable(self, device: str) -> None:
        """Raises Refused for a function with tensors of its own."""
        if self.weights and not isinstance(self.program, nn.Module):
            raise Refused(f"{name_of(self.program)} holds {next(iter(self.weights))}, a tensor that is none of its "
                          f"arguments and cannot be moved to {device}: make it a module with that as a buffer")

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.program, self.args, self.kwargs, self.weights, self.gradients


def copied(thing: Any, device: Any) -> Any:
    """A copy of whatever can be pickled with its tensors on a device: with their strides, and those that are one as
    one."""
    written = BytesIO()
    torch.save(thing, written)
    written.seek(0)
    return torch.load(written, map_location=device, weights_only=False)


def keep(job: Job, folder: Path) -> None:
    """Write the job into the folder. Raises Refused where another process could not read it."""
    (folder / FILES).write_text("\n".join(map(str, imported_files())))
    module = getattr(job.program, "__module__", "")
    own = {type(part).__module__ for part in job.program.modules()} if isinstance(job.program, nn.Module) else {module}
    if "__main__" in own:
        raise Refused(f"{name_of(job.program)} is defined in the script that runs, which no other process can import; "
                      "move it to a file and import it from there")
    try:
        torch.save(job.parts, folder / NAME)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise Refused(f"{name_of(job.program)} cannot be sent to another process, where it is timed: {error}") from None


def load(folder: Path) -> Job:
    """The job in the folder."""
    for file in (folder / FILES).read_text().splitlines():
        module_of_file(Path(file))
    return Job(*torch.load(folder / NAME, weights_only=False))


def runnable(job: Job, file: Path | None, way: str) -> Callable[..., Any]:
    """The job's program compiled in this way; or what was found, as the file has it."""
    if file is None:
        return by_compiler(job.program, way, job.weights)
    found: Callable[..., Any] = loaded(file).optimized(job.program)
    return found


def loaded(file: Path) -> Any:
    """The module in a file that was written."""
    name = f"samesame_found_{abs(hash(str(file)))}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def name_of(program: Any) -> str:
    return str(getattr(program, "__qualname__", type(program).__qualname__))


def example_of(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments."""
    return ((), dict(inputs)) if isinstance(inputs, Mapping) else (tuple(inputs), {})
