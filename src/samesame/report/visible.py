"""Visible: text that shows what it holds, on a terminal as on a page.

Names come from other people's files. One with an escape sequence would colour, move or erase what a terminal shows,
and one that turns the direction of reading would make it say something else; such characters are written as their
numbers, and everything else is left as it is.
"""

from __future__ import annotations

import re
from typing import IO, Any

CONTROLS = "\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ud800-\udfff"
TURNING = "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
HIDDEN = re.compile(f"[{CONTROLS}{TURNING}]|\r(?!\n)")


def visible(text: str) -> str:
    """The text with characters that cannot be seen written as their numbers."""
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", text)


class Visible:
    """A stream to which all text goes visibly. What colours its own text writes to the stream `under` it."""

    def __init__(self, under: IO[str]) -> None:
        self.under = under

    def write(self, text: str) -> int:
        return self.under.write(visible(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.under, name)
