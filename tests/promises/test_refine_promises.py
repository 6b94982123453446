"""What `refine` promises: what is wrong on the ranks does not refine, and the report says why at the right line; what
is right does, and the headline names what it stands on."""

from __future__ import annotations

import linecache
import re

import pytest
import refine_right
import refine_wrong

from samesame.evidence import Rung
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
