"""Kept: a search that was done before, for the same program, machine and versions, is not done again.

The key is a digest of everything that the answer hangs on: the captured graph; the facts that its drop-in would have
of the program, which say how calls and results are put together; which tensors share memory; the threads, the
processor, torch, and our own code. What is in weights is not in it, since what was proved holds for all of them.
Another program gets the tiles that won before on this machine, to be tried first.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import torch

from samesame.capture import Recorded
from samesame.capture.memory import address
from samesame.certificate.forms import digest_of
from samesame.graph.text import to_json
from samesame.report.optimized import Contract, Formula, Report, Row, Step
from samesame.store import Store, StoreError
from samesame.store.kept import FASTEST, get, keep
from samesame.versions import code

LEARNT = 12                                          # choices of tiles that are worth trying first


def key_of(
    recorded: Recorded, facts: Mapping[str, Any], tensors: Mapping[str, torch.Tensor], *about: Any
) -> str:
    """The key of a program on a machine, which `about` describes. `facts` are of a program with all weights."""
    graph, shown = recorded.graph, recorded.interface
    whole = to_json(graph)
    nodes = [{key: value for key, value in node.items() if key != "origin"} for node in whole["nodes"]]
    constants = {node.name: digest_of(graph.tensors[node.name]) for node in graph.sources("constant")}
    aliases = {output: sorted(found) for output, found in shown.aliases.items()}
    # As Python writes it: JSON has one word for tuples and lists.
    told = [nodes, whole["roots"], constants, facts, shown.arguments, shown.structures, aliases, in_memory(tensors),
            code(), *about]
    return sha256(repr(told).encode()).hexdigest()


def in_memory(tensors: Mapping[str, torch.Tensor]) -> dict[str, tuple[str, int]]:
    """The first tensor in the same memory, and where in it each begins."""
    first: dict[int, str] = {}
    return {name: (first.setdefault(address(tensor), name), int(tensor.storage_offset()))
            for name, tensor in tensors.items()}


def recalled(store: Store, key: str, minutes: float) -> tuple[Report, dict[str, str], dict[str, Any] | None] | None:
    """The report, files and certificate of an earlier search that had as much time."""
    form = get(store, FASTEST, key)
    if form is None or form["report"]["minutes"] < minutes:
        return None
    kept = form["report"]
    kept["rows"] = [Row(**row) for row in kept["rows"]]
    kept["steps"] = tuple(Step(**step) for step in kept["steps"])
    kept["formulas"] = tuple(Formula(**formula) for formula in kept["formulas"])
    kept["contract"] = kept["contract"] and Contract(**kept["contract"])
    return Report(**kept), form["files"], form["certificate"]


def remember(
    store: Store, key: str, report: Report, files: Mapping[str, str], certificate: dict[str, Any] | None
) -> None:
    """Keep what a search ended with; where that cannot be, a note of the report says so."""
    try:
        keep(store, FASTEST, key, {"report": asdict(report), "files": dict(files), "certificate": certificate})
    except StoreError as error:
        report.notes.append(f"It is not kept for the next run: {error}.")


class Tiles:
    """Numbers for tiles by what they are for, those that won last first: on this machine, with so many threads."""

    def __init__(self, store: Store | None, threads: int, machine: str) -> None:
        self.store, self.key = store, f"tiles, {threads} threads, {machine}"
        self.won: list[Mapping[str, int]] = ((store and get(store, FASTEST, self.key)) or {}).get("won", [])

    def won_by(self, roles: Mapping[str, int]) -> None:
        if roles:
            self.won = [roles, *(other for other in self.won if other != roles)][:LEARNT]

    def remember(self) -> None:
        """Keep them for other programs. A store that cannot be written to was complained of already."""
        if self.store is not None:
            with suppress(StoreError):
                keep(self.store, FASTEST, self.key, {"won": [dict(roles) for roles in self.won]})
