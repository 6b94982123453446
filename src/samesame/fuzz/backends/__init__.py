"""Back ends: one file each, and one line each in this table."""

from __future__ import annotations

from samesame.fuzz.backends import aot, aotinductor, eager, exported, inductor, onnxruntime, openvino, traced, tvm
from samesame.fuzz.backends.backend import Backend

MODULES = (eager, aot, inductor, aotinductor, exported, traced, onnxruntime, openvino, tvm)
BACKENDS: dict[str, Backend] = {backend.name: backend for module in MODULES for backend in module.BACKENDS}
