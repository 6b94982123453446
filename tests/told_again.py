"""What some lifts and checks answer, with every question that they put to the solver: as `python told_again.py NAMES`
writes it from a process of its own, which begins with the names given."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any
from unittest import mock

import z3

from kernel_corpus import KERNELS, target
from pairs.corpus import PAIRS
from samesame import check
from samesame.lift import lift
from samesame.report.json import to_json


@contextmanager
def questions() -> Iterator[list[str]]:
    """What is put to the solver meanwhile, in digests."""
    asked: list[str] = []
    check_ = z3.Solver.check

    def heard(solver: z3.Solver, *assumptions: Any) -> Any:
        asked.append(blake2b(solver.sexpr().encode(), digest_size=8).hexdigest())
        return check_(solver, *assumptions)

    with mock.patch.object(z3.Solver, "check", heard):
        yield asked


def without_times(answer: Any) -> Any:
    """An answer as data, without what is measured in seconds."""
    if isinstance(answer, dict):
        return {key: without_times(value) for key, value in answer.items() if key not in ("ms", "seconds", "timing")}
    return [without_times(value) for value in answer] if isinstance(answer, list) else answer


def told(name: str) -> Any:
    """The answer about a kernel or a pair, and the questions on the way."""
    with questions() as asked:
        if name in KERNELS:
            answer = lift(target(name)).to_json()
        else:
            (pair,) = (pair for pair in PAIRS if pair.name == name)
            answer = to_json(check(pair.left, pair.right, pair.inputs))
    return json.loads(json.dumps([without_times(answer), asked]))


def all_told(names: Sequence[str]) -> dict[str, Any]:
    return {name: told(name) for name in names}


if __name__ == "__main__":
    json.dump(all_told(sys.argv[1:]), sys.stdout)
