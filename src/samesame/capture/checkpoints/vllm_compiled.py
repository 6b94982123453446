"""vLLM's models as torch.compile sees them: the graph that is handed to the compiler, run in place of the modules.

`vllm:DIR?compiled=true` lets vLLM trace the model once with torch.compile, as it does for a server, with its kernels
off where a compiler would fuse (vLLM's own choice; `custom_ops` overrides it). The compiler is replaced by one that
keeps the traced graph and runs it operator by operator, so that the recorder sees what was traced, and not the modules.
What a compiler makes of that graph afterwards (fused loops, vLLM's passes over them for a GPU) is not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from samesame.evidence import Refused

# vLLM's way of compiling on a CPU: one trace by Dynamo, which keeps no guards.
TRACED = {"mode": 2, "backend": "samesame.capture.checkpoints.vllm_compiled.kept", "custom_ops": ["none"]}
# No trace is read from a cache, or made ahead of time and written to one.
FRESH = {"VLLM_USE_AOT_COMPILE": "0", "VLLM_DISABLE_COMPILE_CACHE": "1"}

_runs = 0


def kept(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """A compiler for torch.compile that leaves the graph as it is."""

    def run(*args: Any) -> Any:
        global _runs
        _runs += 1
        return graph.forward(*args)

    return run


@contextmanager
def traced(name: str) -> Iterator[None]:
    """Around a step of a model: its traced graph is what runs. Raises Refused where the modules ran all the same."""
    before, runs = {variable: os.environ.get(variable) for variable in FRESH}, _runs
    os.environ.update(FRESH)
    try:
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value
    if _runs == runs:
        raise Refused(f"{name}: vLLM does not compile this model, so there is no compiled graph; leave out compiled")


def wanted(option: Any, name: str) -> bool:
    """Whether the compiled graph is asked for. Raises Refused for anything but true and false."""
    if not isinstance(option, bool):
        raise Refused(f"{name} has compiled={option}; give true or false")
    return option
