"""What a back end is: a name, a way to compile, and, where it cannot run here, a sentence that says why."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Function = Callable[..., Any]
Compile = Callable[[Function, Sequence[torch.Tensor]], Function]


def here() -> str:
    """No reason why not."""
    return ""


@dataclass(frozen=True, slots=True)
class Backend:
    """`compile(function, inputs)` gives a function of the same inputs. `missing()` says why it cannot run here, or "".

    `writes`: whether it can change its inputs in place as eager torch does; others are given no program that writes.
    `family`: back ends that are one compiler with other settings.
    """

    name: str
    family: str
    compile: Compile
    missing: Callable[[], str] = here
    writes: bool = True


def as_module(function: Function) -> torch.nn.Module:
    """The function as a module, for compilers that take nothing else."""

    class Module(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            return function(*given)

    return Module()


def needs(package: str, extra: str) -> Callable[[], str]:
    """A package that must be installed."""

    def missing() -> str:
        if importlib.util.find_spec(package) is not None:
            return ""
        return f"{package} is not installed: pip install {extra}"

    return missing
