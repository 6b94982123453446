"""Which of the host's functions run now: who makes a tensor says whether it is an example or a wrapper's own.

What the launch function makes in its own body, before it launches anything, is an example tensor; so is what the
function `inputs` of its file makes that it calls, as that is where files keep their examples. Any other function may
be a wrapper, which allocates what its kernels write to.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from samesame.programs.origins import is_users

EXAMPLES = "inputs"  # the function of a file that makes them


def call(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The one place from which host code is called: frames are looked at down to here."""
    return function(*args, **keywords)


def users_frames() -> list[FrameType]:
    """The frames of the host code that runs now, outermost first; Triton's own left out."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not call.__code__:
        if is_users(frame.f_code.co_filename) and not frame.f_globals.get("__name__", "").startswith("triton."):
            found.append(frame)
        frame = frame.f_back
    return found[::-1] if frame is not None else []


def makes_examples() -> bool:
    """Whether the launch function's own body runs, or the function of its file that makes examples, called by it."""
    names = [(frame.f_code.co_filename, frame.f_code.co_name) for frame in users_frames()]
    return len(names) == 1 or (len(names) == 2 and names[1] == (names[0][0], EXAMPLES))
