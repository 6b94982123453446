"""AOTInductor: the program exported, compiled to a shared library, and loaded again."""

from __future__ import annotations

from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend, as_module


def _packaged(function: Any, inputs: Any) -> Any:
    exported = torch.export.export(as_module(function), tuple(inputs), strict=False)
    return torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(exported))


BACKENDS = (Backend("aotinductor", "inductor", _packaged),)
