"""What was recorded of host code, with sizes in the place of torch's symbols."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from samesame.kernels.host.launch import Call, HostStep, View
from samesame.kernels.host.sizes import Reading


def read(value: Any, reading: Reading) -> Any:
    """A recorded value with sizes in the place of torch's symbols."""
    match value:
        case View(memory, shape, strides, offset, dtype):
            return View(memory, *reading.laid_out(shape, strides), reading.number(offset), dtype)
        case tuple():
            return tuple(read(part, reading) for part in value)
        case list():
            return [read(part, reading) for part in value]
        case dict():
            return {name: read(part, reading) for name, part in value.items()}
    return reading.number(value)


def read_step(step: Call | HostStep, reading: Reading) -> Call | HostStep:
    if isinstance(step, HostStep):
        return read_host_step(step, reading)
    return Call(tuple(
        replace(v, grid=read(v.grid, reading), arguments=read(v.arguments, reading),
                before=tuple(read_host_step(one, reading) for one in v.before))
        for v in step.variants
    ))


def read_host_step(step: HostStep, reading: Reading) -> HostStep:
    return HostStep(step.operator, read(step.args, reading), read(step.kwargs, reading), read(step.results, reading),
                    step.origin)
