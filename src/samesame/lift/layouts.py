"""How the example's tensors lie in memory, where a kernel is right for that layout only.

What is proved is proved for tensors that lie as the example's do. Whether others get to the kernel is seen by running
the host code once more on tensors whose elements lie two apart: where the host makes them contiguous first, or refuses
them, nothing is needed; where it hands them on, the layout is a need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from samesame.evidence import Refused
from samesame.kernels.front import layout_of, passed_of
from samesame.kernels.tiles.memory import is_contiguous

STEP = 2


def layouts_needed(target: Any, inputs: Any, captured: Any) -> dict[int, list[str]]:
    """By the number of a launch: which tensors have to lie as they do in the example."""
    from samesame.kernels.host.launches import capture_launches

    try:
        other = capture_launches(target, inputs, symbolic=False, step=STEP, reads=captured.reads)
    except Refused:
        return {}  # the host refuses such tensors
    calls = {launch.call: launch for launch in other.launches}
    alike = [launch.kernel for launch in captured.launches] == [launch.kernel for launch in other.launches]
    found: dict[int, list[str]] = {}
    for launch in captured.launches:
        if launch.call in calls or not other.refused:
            there = calls.get(launch.call) if alike else None
            found[launch.call] = list(needs_of(launch, captured, there, other))
    return found


def needs_of(launch: Any, captured: Any, there: Any, other: Any) -> Iterator[str]:
    """What one launch needs; `there` is the same launch on other tensors, None where the host does something else."""
    try:
        passed = passed_of(launch, captured)
    except Refused:
        return  # said of the launch itself
    in_order: dict[str, None] = {}
    for parameter, one in passed.items():
        handed = one.view if there is None else there.arguments[parameter]
        memories: Mapping[int, Any] = captured.memories if there is None else other.memories
        if not one.view.shape or not memories[handed.memory].given:
            continue
        if there is not None and is_contiguous(layout_of(parameter, handed)):
            continue
        if is_contiguous(layout_of(one.name, one.view)):
            in_order[one.name] = None
        else:
            yield f"{one.name} with strides as in the example"
    if in_order:
        yield f"{', '.join(in_order)} contiguous"
