"""What `refine` promises: what is wrong on the ranks does not refine, and the report says why at the right line; what
is right does, and the headline names what it stands on."""

from __future__ import annotations

import linecache
import re

import pytest
import refine_right
import refine_wrong
import torch
from refine_parts import Job, row, steps, summed

from samesame.evidence import Refused, Rung
from samesame.refine import refine
from samesame.report.refinement import headline, plain_text


@pytest.mark.parametrize("name", list(refine_wrong.JOBS))
def test_what_is_wrong_does_not_refine_and_the_report_says_why(name: str) -> None:
    verdict = refine(**refine_wrong.JOBS[name]())
    text = " ".join(plain_text(verdict, width=400).split())
    assert verdict.verdict == "does not refine", text
    found = re.search(refine_wrong.WHY[name], text)
    assert found, f"{refine_wrong.WHY[name]} is not in\n{text}"
    for place, line in found.groupdict().items():
        assert linecache.getline(refine_wrong.__file__, int(line)).rstrip().endswith(f"# {place}"), text


@pytest.mark.parametrize("name", list(refine_right.JOBS))
def test_what_is_right_refines_and_the_headline_names_what_it_stands_on(name: str) -> None:
    verdict = refine(**refine_right.JOBS[name]())
    assert verdict.verdict == "refines" and verdict.evidence >= Rung.PROVED_HERE, plain_text(verdict)
    told = headline(verdict).plain
    assert re.search(refine_right.SAYS.get(name, ""), told) and (name in refine_right.SAYS) == (", if " in told), told


def mean_of_squares(rows: int, *, weighed: bool) -> Job:
    """Each rank's rows come from `inputs` itself; the mean of the ranks' means, or the sum of all over their number."""
    def program(x, rank, ranks):
        rows = x.square().mean(1)
        return summed(rows.sum()) / summed(torch.tensor(float(len(x)))) if weighed else summed(rows.mean()) / ranks

    def inputs(rank=0, world_size=1):
        return (torch.arange(6.0 * rows).sin().reshape(rows, 6).chunk(world_size)[rank],)

    return {"sequential": lambda: lambda x: x.square().mean(), "distributed": steps(program), "inputs": inputs}


@pytest.mark.parametrize("rows", [2, 4, 6])
def test_parts_that_are_not_equally_large_are_tried(rows: int) -> None:
    weighed, plain = (refine(**mean_of_squares(rows, weighed=weighed)) for weighed in (True, False))
    assert weighed.verdict == plain.verdict == "refines"
    assert weighed.provided == [] and plain.provided == ["every rank has equally much of x"]
    tried = "Where the last rank has less of x than the others, "
    assert f"{tried}every output is where it should be as well, on all draws." in weighed.notes
    assert "unequal parts of x tested" in headline(weighed).plain and "unequal parts" not in headline(plain).plain
    assert f"{tried}0 is not where it should be." in plain.notes


@pytest.mark.long
def test_a_mesh_is_cut_unevenly_over_its_own_axis() -> None:
    def program(x, rank, ranks):
        return summed(x.square().sum()) / 2

    mesh = {"dp": 2, "tp": 2}
    verdict = refine(lambda: lambda x: x.square().sum(), lambda rank, ranks, mesh: lambda x: program(x, rank, ranks),
                     row, world_size=4, mesh=mesh, relations={"x": "shard(0) over dp"})
    assert verdict.verdict == "refines" and verdict.provided == []


@pytest.mark.long
def test_where_sizes_are_written_into_a_program_evenness_is_a_condition() -> None:
    def program(x, rank, ranks):
        return summed(x.reshape(2, 6).square().sum())

    verdict = refine(lambda: lambda x: x.square().sum(), steps(program), row, relations={"x": "shard(0)"})
    assert verdict.provided == ["every rank has equally much of x"]
    assert not any(note.startswith("Where the last rank") for note in verdict.notes)


class Looking(torch.nn.Module):
    """Looks at its weight through memory that it shares with NumPy, where no recorder sees it."""

    def __init__(self, looks: bool) -> None:
        super().__init__()
        self.weight, self.looks = torch.nn.Parameter(torch.arange(1.0, 7.0)), looks
        self.shared = self.weight.detach().numpy()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.looks and self.shared[0] < 0:
            return x * self.weight + 1
        return x * self.weight


class Halves(Looking):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return summed(super().forward(x) / 2)


@pytest.mark.parametrize(("alone", "beside"), [(True, False), (False, True)])
def test_a_branch_on_values_that_nobody_saw_is_found(alone: bool, beside: bool) -> None:
    with pytest.raises(Refused, match=r"test_refine_promises.py:\d+ does something else on other inputs and weights"):
        refine(lambda: Looking(alone), lambda *_: Halves(beside), row)
    assert refine(lambda: Looking(False), lambda *_: Halves(False), row).verdict == "refines"


@pytest.mark.parametrize(("put", "holds"), [(0.0, True), (0.5, False)])
def test_numbers_that_are_none_are_drawn_where_a_program_asks_for_them(put: float, holds: bool) -> None:
    verdict = refine(lambda: lambda x: torch.where(x.isnan(), 0.0, x),
                     steps(lambda x, rank, ranks: summed(torch.where(x != x, put, x) / ranks)), row)
    assert (verdict.verdict == "refines") == holds
    assert holds or verdict.outputs[0].words.endswith(", on the example with NaN in some places")


def test_integers_are_drawn_over_the_range_of_their_dtype() -> None:
    bytes_ = (torch.arange(24, dtype=torch.uint8).reshape(4, 6),)
    verdict = refine(lambda: lambda x: x.int() + x.int(), steps(lambda x, rank, ranks: summed((x + x).int()) // ranks),
                     lambda: bytes_)
    assert verdict.verdict == "does not refine"
    assert verdict.outputs[0].words.endswith(", on the example with integers over the range of their dtype")
