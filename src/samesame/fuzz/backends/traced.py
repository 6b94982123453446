"""torch.jit.trace: the trace of one run."""

from __future__ import annotations

from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend


def _traced(function: Any, inputs: Any) -> Any:
    trace: Any = torch.jit.trace  # it is not typed
    return trace(function, tuple(inputs), check_trace=False)


BACKENDS = (Backend("trace", "trace", _traced),)
