"""A probe, one field of a config with another value, and a plan, all probes of a sweep; as data, without torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Probe:
    """One field of a config with another value. `fields` is everything to be set: the field, and its companions.

    The name of a nested field has dots. The probe without a field is the config as it was given.
    """

    field: str
    value: Any
    fields: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What tells this probe from the others of a sweep."""
        return f"{self.field} {json.dumps(self.fields, sort_keys=True)}"

    @property
    def without(self) -> Probe:
        """The companions alone."""
        return Probe("", None, _without(self.fields, self.field))

    @property
    def spoken(self) -> str:
        return f"{self.field} = {brief(self.value)}" if self.field else "the config as it is"

    @property
    def companions(self) -> str:
        """What is set besides the field, in words; of rotary positions only the kind."""
        beside = ((name, value) for name, value in flat(self.fields) if name != self.field)
        shown = (pair for pair in beside if not pair[0].startswith("rope_parameters.") or pair[0].endswith("rope_type"))
        return ", ".join(f"{name.rpartition('.')[2]} = {brief(value)}" for name, value in shown)


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    first, _, rest = name.partition(".")
    found = {k: v for k, v in fields.items() if k != first}
    if rest and (inner := _without(fields[first], rest)):
        found[first] = inner
    return found


AS_GIVEN = Probe("", None, {})


def brief(value: Any) -> str:
    """A value as JSON; long lists by their ends."""
    if isinstance(value, list) and len(value) > 4:
        return f"[{value[0]:g}, …, {value[-1]:g}]"
    return json.dumps(value)


def flat(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by dotted names."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep tries, and the fields that it leaves out, each with the reason."""

    probes: tuple[Probe, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def names(self) -> frozenset[str]:
        """Names of all fields: those that are tried and those left out."""
        return frozenset(probe.field for probe in self.probes) | {name for name, _ in self.left_out}
