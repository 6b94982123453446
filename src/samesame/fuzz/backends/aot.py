"""AOTAutograd without a code generator: functionalisation, with and without inductor's decompositions."""

from __future__ import annotations

from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend, Compile


def _compiled(backend: str) -> Compile:
    def compile_(function: Any, inputs: Any) -> Any:
        torch._dynamo.reset()
        return torch.compile(function, backend=backend, dynamic=False)

    return compile_


BACKENDS = (
    Backend("aot_eager", "aot", _compiled("aot_eager")),
    Backend("aot_eager_decomp_partition", "aot", _compiled("aot_eager_decomp_partition")),
)
