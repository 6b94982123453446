"""Lapses: a fault of our own on the way to more than was asked for, such as the general form of what is proved already.

A meaning that was never tried on size symbols may raise whatever Python raises. What is proved stands without the
general form, so a lapse costs that form and nothing else. It is told, with its place, and never passed over.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from samesame.evidence import SamesameError

ROOM = Path(__file__).resolve().parent.parent
LONGEST = 120                                              # letters of a message


def lapse(error: Exception) -> str:
    """What happened, where, in words. What is no lapse, since it was meant for the user, is raised again."""
    if isinstance(error, SamesameError):
        raise error
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = Path(last.filename)
    place = place.relative_to(ROOM) if place.is_relative_to(ROOM) else Path(place.name)
    said = " ".join(str(error).split())[:LONGEST]
    return f"samesame failed at {place}:{last.lineno} ({type(error).__name__}{f': {said}' if said else ''})"
