"""What a back end is: a name, a way to compile, and, where it cannot run here, a sentence that says why.

A way to compile is text that anybody can run with torch alone: lines after which `compiled` does what `program` does
on `inputs()`. The campaign runs that text, and the script of a finding is made of it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Function = Callable[..., Any]
Inputs = Callable[[], list[torch.Tensor]]

# A program as a module, for compilers that take nothing else, and as torch.export exports it.
MODULE = "module = torch.nn.Module()\nmodule.forward = program\n"
EXPORTED = f"{MODULE}exported = torch.export.export(module, tuple(inputs()), strict=False)\n"


@dataclass(frozen=True, slots=True)
class Backend:
    """`precise` is a text like `text` that rounds in between as eager torch does, where there is one. `package` must be
    installed, by `install`. `writes`: whether it changes its inputs in place as eager torch does; others are given no
    program that writes. `family`: back ends that are one compiler with other settings."""

    name: str
    family: str
    text: str
    precise: str = ""
    package: str = "torch"
    install: str = ""
    writes: bool = True

    def compile(self, function: Function, inputs: Inputs, precise: bool = False) -> Function:
        """The compiled function, as the text makes it."""
        torch._dynamo.reset()
        space: dict[str, Any] = {"torch": torch, "program": function, "inputs": inputs}
        exec(self.precise if precise else self.text, space)
        made: Function = space["compiled"]
        return made

    def missing(self) -> str:
        """Why it cannot run here, or ""."""
        if importlib.util.find_spec(self.package) is not None:
            return ""
        return f"{self.package} is not installed: pip install {self.install}"
