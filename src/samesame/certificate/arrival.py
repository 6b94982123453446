"""Arrival: what another machine says is the same counts when its certificate holds here.

A machine is not believed: it may have other code, other files, or memory that forgets. So a verdict of `same` comes
with its certificate, which is replayed on this one. Where the programs are at hand their graphs are recorded here, and
the certificate has to be of these; then nothing rests on the other machine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from samesame.certificate.replay import Broken, Given, replay
from samesame.evidence import Verdict
from samesame.graph.text import to_json
from samesame.relate.sides import Sides, instance
from samesame.work.tasks import NotAccepted

DRAWN_THERE = ("This page was drawn on a machine of the cluster, which is not believed: of what it says the verdict "
               "counts, and `same` only because its certificate holds where the run began.")


def to_be_drawn(verdict: Verdict) -> Verdict:
    """The verdict for a page that is drawn on another machine, which says so."""
    return replace(verdict, notes=[*verdict.notes, DRAWN_THERE])


def accepted(form: Any, evidence: str, graphs: tuple[Given, Given] | None = None) -> tuple[list[str], list[str]]:
    """What was checked of a certificate for a verdict on this evidence, and what is trusted. Raises NotAccepted."""
    try:
        checked, trusted = replay(form, graphs)
    except Broken as fault:
        raise NotAccepted(f"its certificate does not hold here: {fault}") from None
    if form["evidence"] != evidence:
        raise NotAccepted(f"its certificate says {form['evidence']}, and its answer {evidence}")
    return checked, trusted


def recorded(programs: Sequence[Any], example: Any, how: str, ignore: Collection[str]) -> tuple[Given, Given]:
    """The graphs of two programs as they are recorded here, for a certificate to be of. Raises NotAccepted where they
    differ in more than numbers."""
    left, right = map(instance, programs)
    sides = Sides((left, right), how, ignore)
    graphs = sides.first(example() if callable(example) else example)
    if sides.differences:
        raise NotAccepted(f"here the programs differ: {sides.differences[0].text}")
    mine, yours = ((to_json(graph), graph.tensors) for graph in graphs)
    return mine, yours
