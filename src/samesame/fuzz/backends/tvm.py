"""TVM, from an exported program through Relax, for the machine's own processor."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend, as_module, needs


def _in_tvm(function: Any, inputs: Any) -> Any:
    tvm = importlib.import_module("tvm")
    translate = importlib.import_module("tvm.relax.frontend.torch").from_exported_program
    exported = torch.export.export(as_module(function), tuple(inputs), strict=False)
    module = translate(exported, keep_params_as_input=False)
    machine = tvm.relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())

    def run(*given: torch.Tensor) -> Any:
        results = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in given))
        return tuple(torch.from_numpy(result.numpy()) for result in results)

    return run


BACKENDS = (Backend("tvm", "tvm", _in_tvm, needs("tvm", "apache-tvm"), writes=False),)
