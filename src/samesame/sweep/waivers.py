"""Waivers: differences that are known and intended, each with a reason.

A file of waivers is JSON: {"format": 1, "waive": [{"field": "attention_bias", "value": true, "model_type": "qwen3",
"reason": "…"}]}. Without `value` a waiver is for every value of its field, without `model_type` for every model. A
waiver of a field that does not exist is an error, since it would hide nothing and look as if it did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samesame.evidence import SamesameError
from samesame.sweep.outcome import Outcome, waived
from samesame.sweep.probe import brief

FORMAT = 1
WAIVABLE = ("different", "undecided", "unsupported")
KEYS = {"field", "value", "model_type", "reason"}
_ANY = object()


@dataclass(frozen=True, slots=True)
class Waiver:
    """A difference that is known: of this field, and of this value or of all."""

    field: str
    reason: str
    value: Any = _ANY
    kind: str = ""

    def covers(self, outcome: Outcome) -> bool:
        probe = outcome.probe
        same_value = self.value is _ANY or (probe.value == self.value and type(probe.value) is type(self.value))
        return probe.field == self.field and same_value

    @property
    def spoken(self) -> str:
        return self.field if self.value is _ANY else f"{self.field} = {brief(self.value)}"


def read_waivers(path: Path | None, kind: str, fields: Iterable[str]) -> list[Waiver]:
    """The waivers of a file for a model type whose config has these fields. Raises SamesameError in one sentence where
    the file is no such file, or waives a field that the config does not have."""
    if path is None:
        return []
    shape = 'give {"format": 1, "waive": [{"field": …, "reason": …}]}'
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise SamesameError(f"cannot read {path}: {error.strerror}; give a file of waivers") from None
    except ValueError as error:
        raise SamesameError(f"{path} is no JSON: {error}; {shape}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("waive"), list):
        raise SamesameError(f"{path} is no file of waivers; {shape}")
    waivers = [_waiver(path, number, entry) for number, entry in enumerate(found["waive"], 1)]
    ours = [waiver for waiver in waivers if waiver.kind in ("", kind)]
    known = frozenset(fields)
    for waiver in ours:
        if waiver.field not in known:
            raise SamesameError(
                f"{path} waives {waiver.field}, which is no field that a sweep of {kind} tries; "
                "`samesame sweep … --list` shows those"
            )
    return ours


def _waiver(path: Path, number: int, entry: Any) -> Waiver:
    if not isinstance(entry, dict) or not {"field", "reason"} <= set(entry):
        raise SamesameError(f"{path}: waiver {number} lacks a field or a reason; every waiver has both")
    if unknown := sorted(set(entry) - KEYS):
        raise SamesameError(f"{path}: waiver {number} has {unknown[0]!r}, which is none of {', '.join(sorted(KEYS))}")
    for name in ("field", "reason", "model_type"):
        if name in entry and (not isinstance(entry[name], str) or not entry[name].strip()):
            raise SamesameError(f"{path}: the {name} of waiver {number} is no text")
    return Waiver(entry["field"], entry["reason"], entry.get("value", _ANY), entry.get("model_type", ""))


def apply(waivers: Sequence[Waiver], outcomes: Iterable[Outcome]) -> tuple[list[Outcome], list[str]]:
    """The outcomes with waived ones marked, and a note for each waiver that nothing needed."""
    used: list[Waiver] = []
    found = []
    for outcome in outcomes:
        waiver = next((w for w in waivers if w.covers(outcome)), None)
        if waiver is not None and outcome.outcome in WAIVABLE:
            used.append(waiver)
            outcome = waived(outcome, waiver.reason)
        found.append(outcome)
    return found, [f"The waiver for {w.spoken} is not needed." for w in waivers if w not in used]
