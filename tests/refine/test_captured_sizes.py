"""Captured graphs whose sizes cannot be made small: a sentence, before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captured_graphs import Name, call, given, output, write
from samesame.entangle.roles import Roles
from samesame.entangle.verb import refine_case
from samesame.evidence import Refused

LARGE = 20_000_000


def case(folder: Path, rows: int) -> str:
    """Two programs that read six rows as so many; only as three or as two is it plain what each size is made of."""
    nodes = [given("x", (6, LARGE)), call("y", "aten.view.default", [Name("x"), [rows, -1]], (rows, 6 * LARGE // rows))]
    for name in ("one", "rank"):
        write(folder / f"{name}.gpickle.gz", [*nodes, output("y")])
    file = {
        "format": "refinement-case/1", "case": "large", "seq": "one.gpickle.gz", "dist": ["rank.gpickle.gz"],
        "unstated": "by name and shape",
    }
    path = folder / "relation.json"
    path.write_text(json.dumps(file))
    return str(path)


def test_what_is_too_large_at_any_size_is_refused_with_the_place(tmp_path):
    with pytest.raises(Refused, match=r"take 3\.6 GiB even with small.*size 20000000 stays.*at y \(aten.view"):
        refine_case(case(tmp_path, 4))


def test_the_same_with_sizes_that_are_understood_runs(tmp_path):
    assert refine_case(case(tmp_path, 3)).verdict == "refines"


def test_sums_are_the_same_where_what_they_do_not_share_is():
    """Of four ranks, the first has a piece and the others the rest: 4a = a + b."""
    roles = Roles()
    a, b = roles.fresh(384), roles.fresh(1152)
    roles.same(roles.product([4, a]), roles.total([a, b]))
    assert not roles.kept and list(roles.free(b)) == [a]
    assert roles.key(b) == roles.key(roles.product([3, a]))
