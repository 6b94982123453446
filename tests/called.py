"""What something takes as a number that is the same on every machine: how often it calls a function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def calls(work: Callable[[], Any]) -> int:
    """How many calls, of functions in Python or C, this makes on this thread."""
    count, before = 0, sys.getprofile()

    def seen(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
