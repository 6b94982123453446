"""torch.compile with Inductor: C++ on a CPU, Triton on a GPU; one back end for each setting that makes other code."""

from __future__ import annotations

from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend, Compile

SETTINGS: dict[str, dict[str, Any]] = {
    "inductor": {},
    "inductor-dynamic": {"dynamic": True},
    "inductor-cpp-wrapper": {"options": {"cpp_wrapper": True}},
    "inductor-max-autotune": {"options": {"max_autotune": True}},
    "inductor-freezing": {"options": {"freezing": True}},
    "inductor-scalar": {"options": {"cpp.simdlen": 1}},
    "inductor-precise": {"options": {"emulate_precision_casts": True}},
}


def _compiled(dynamic: bool = False, options: dict[str, Any] | None = None) -> Compile:
    def compile_(function: Any, inputs: Any) -> Any:
        torch._dynamo.reset()
        return torch.compile(function, backend="inductor", dynamic=dynamic, options=options)

    return compile_


BACKENDS = tuple(Backend(name, "inductor", _compiled(**given)) for name, given in SETTINGS.items())
