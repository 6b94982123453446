"""Pins: the evidence that an assertion once stood on, in a file beside the tests, and what is weaker than that.

    {
     "test_port.py::test_llama": {"verdict": "same", "evidence": "proved for all sizes", "bounds": {"B": [2, null]}}
    }

A pin says the least that is to hold: more than that passes, and less is a failure that names what was lost. Several
processes may write one file: each takes its turn, and a reader sees the old file or the whole new one.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samesame.evidence import Verdict
    from samesame.kernels.verdict import LiftVerdict

FILE = "samesame_pins.json"


@dataclass(frozen=True, slots=True)
class Pin:
    """The verdict, the rung it stands on, the bounds of each size that varies, and what it is conditional on."""

    verdict: str
    evidence: str = ""
    bounds: dict[str, list[int | None]] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)


def pin_of(verdict: Verdict | LiftVerdict) -> Pin:
    """What is pinned of a verdict of `check`, `refine` or `lift`."""
    kernels = getattr(verdict, "kernels", None)
    if kernels is not None:
        against = [f"the reference is {verdict.against}"] if verdict.against else []      # type: ignore[union-attr]
        return Pin(verdict.verdict, conditions=[*against, *dict.fromkeys(n for k in kernels for n in k.preconditions)])
    region = verdict.sizes.region                                                          # type: ignore[union-attr]
    provided = getattr(verdict, "provided", None)
    granted = verdict.only if provided is None else provided                               # type: ignore[union-attr]
    return Pin(verdict.verdict, str(verdict.evidence),                                     # type: ignore[union-attr]
               {name: [low, high] for name, (low, high) in region.bounds.items()},
               [*map(str, region.conditions), *granted])


def weaker(now: Pin, pinned: Pin) -> str:
    """What is lost since it was pinned, as a sentence without a full stop; nothing where nothing is."""
    from samesame.evidence import LADDER

    strength = {words: rung for rung, words in LADDER.items()} | {"": 0}
    if now.verdict != pinned.verdict:
        return f"it was {pinned.verdict}, and is {now.verdict}"
    if strength[now.evidence] < strength[pinned.evidence]:
        return f"it was {pinned.evidence}, and is now only {now.evidence}"
    if strength[now.evidence] > strength[pinned.evidence]:
        return ""
    for name, bounds in pinned.bounds.items():
        if name not in now.bounds:
            return f"it was proved for every {_range(name, bounds)}, and {name} is no longer varied"
        if not _covers(now.bounds[name], bounds):
            return f"it was proved for {_range(name, bounds)}, and is now only for {_range(name, now.bounds[name])}"
    more = [condition for condition in now.conditions if condition not in pinned.conditions]
    return f"it now stands on more than before: {'; '.join(more)}" if more else ""


def _covers(now: list[int | None], before: list[int | None]) -> bool:
    (low, high), (least, most) = now, before
    return (low or 0) <= (least or 0) and (high is None or (most is not None and high >= most))


def _range(name: str, bounds: list[int | None]) -> str:
    low, high = bounds
    return f"{name} ≥ {low}" if high is None else f"{low} ≤ {name} ≤ {high}"


def read(folder: Path) -> dict[str, Pin]:
    """The pins beside the tests of a folder. Raises ValueError with a sentence for a file that is none."""
    file = folder / FILE
    try:
        return {name: _read(name, form) for name, form in json.loads(file.read_text()).items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} holds no pins ({error}); mend it, or remove it and run pytest --samesame-update") \
            from None


def _read(name: str, form: dict[str, Any]) -> Pin:
    """The pin, as `write` writes one. Raises ValueError or TypeError for what is none."""
    from samesame.evidence import LADDER

    pin = Pin(**form)
    if pin.evidence not in ("", *LADDER.values()):
        raise ValueError(f"{name} has the evidence {pin.evidence!r}")
    for size, bounds in pin.bounds.items():
        if len(bounds) != 2 or not all(bound is None or type(bound) is int for bound in bounds):
            raise ValueError(f"{name} has the bounds {bounds!r} of {size}")
    if not all(isinstance(text, str) for text in (pin.verdict, *pin.conditions)) or isinstance(pin.conditions, str):
        raise ValueError(f"{name} has a verdict or conditions that are no text")
    return pin


def write(folder: Path, name: str, pin: Pin) -> None:
    """Pin this in the place of what was pinned there, beside what others pin at the same time."""
    with _alone(folder):
        pins = {**read(folder), name: pin}
        rows = [f" {_written(key)}: {_written(_told(pins[key]))}" for key in sorted(pins)]        # one line each
        text = "{\n" + ",\n".join(rows) + "\n}\n"
        whole = folder / f".{FILE}.{os.getpid()}"
        whole.write_text(text)
        whole.replace(folder / FILE)


def _told(pin: Pin) -> dict[str, Any]:
    return {key: value for key, value in asdict(pin).items() if value}


def _written(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process writes there meanwhile; the lock is the folder's own, and leaves no file."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
