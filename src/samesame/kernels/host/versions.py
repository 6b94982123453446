"""What differs between versions of Triton, each difference in one place.

Triton is not one library: torch pins a version of its own, which a user has, and it moves what we ask it for. Whatever
has another name, place or result in one of the versions that `pyproject.toml` admits stands here, asked for by what is
there and not by a number, so that the rest reads as if there were one Triton. Its intermediate language is a text that
says what it holds, and needs no version: `execution/ttir` reads what any of them prints.
"""

from __future__ import annotations

from typing import Any


def defined_at(jit: Any) -> tuple[str, int]:
    """The file and the line of a kernel's `def`, below its decorators. From 3.9 on a kernel says both; what they are
    made of it always said."""
    above = next((k for k, line in enumerate(jit.raw_src) if line.strip().startswith("def ")), 0)
    return jit.fn.__code__.co_filename, jit.starting_line_number + above
