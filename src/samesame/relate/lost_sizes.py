"""Sizes that a file fixes, although the program beside it takes others.

An exporter that is not told which sizes vary writes the example's into the file, as the shape of an input or where
something is reshaped. The two are then the same, at these sizes, and what was lost is no difference of numbers that
anybody could find. So it is asked: each size that stayed a number is changed, and both are recorded by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from samesame.capture import capture
from samesame.capture.program import Foreign
from samesame.capture.sizes.family import place_text, resized, separate
from samesame.evidence import SamesameError, Sizes
from samesame.graph import Graph


def lost_sizes(programs: tuple[Any, Any], sizes: Sizes, example: Any, how: str) -> Iterator[str]:
    """What is lost, by file: `x.shape[0] = 3 only, which static.onnx fixes`."""
    for file, other in (programs, programs[::-1]):
        if not isinstance(file, Foreign) or isinstance(other, Foreign | Graph):
            continue
        apart, names = separate(other, example)
        held = {(name, d): n for name in names.values() for d, n in enumerate(sizes.shapes.get(name, ()))
                if (name, d) not in sizes.places}
        larger = {place: resized(apart, names, {place: n + 1}) for place, n in held.items()}
        found = [place for place, there in larger.items() if _takes(other, there, how) and not _takes(file, there, how)]
        if found:
            yield f"{', '.join(f'{place_text(p)} = {held[p]}' for p in found)} only, which {file} fixes"


def _takes(program: Any, example: Any, how: str) -> bool:
    """Does the program run on this example?"""
    try:
        capture(program, example, how=how)
    except SamesameError:
        return False
    return True
