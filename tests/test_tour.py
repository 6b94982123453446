"""docs/tour.md shows what the commands print: every stop is run again, and held against its page."""

from __future__ import annotations

import re

import pytest
from docs.tour import STOPS, Workplace, excerpt, picture

from documented import ROOT, TOUR, blocks, commands, missing

PAGE = (ROOT / TOUR).read_text()


def shown(stop) -> str:
    """The output that the page shows under a stop's command."""
    begin = PAGE.index(f"    {stop.command}\n")
    return re.compile(rf"```{stop.language}\n(.*?)\n```$", re.M | re.S).search(PAGE, begin)[1]


def test_the_page_has_every_stop_in_order_and_nothing_else():
    assert [command.text for command in commands(TOUR) if command.text.startswith(("samesame", "pytest"))] == [
        stop.command for stop in STOPS]
    assert re.findall("^## (.*)$", PAGE, re.M) == [stop.title for stop in STOPS]
    assert all(stop.words in PAGE for stop in STOPS)
    for stop in STOPS:
        if stop.file[0]:
            assert (f"# {stop.file[0]}\n{stop.file[1]}") in [text for _, _, text in blocks(TOUR)]


def test_the_pictures_are_there_and_small():
    wanted = {picture(stop) for stop in STOPS if stop.picture}
    found = {file.name: file.stat().st_size for file in (ROOT / "docs" / "img").iterdir()}
    assert {*found} == wanted == {*re.findall(r"\]\(img/([^)]*)\)", PAGE)}
    assert sum(found.values()) < 300_000


@pytest.mark.long
@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.title)
def test_a_stop_prints_what_the_page_shows(stop, tmp_path):
    if stop.needs:
        pytest.importorskip(stop.needs, reason=f"needs {stop.needs}")
    code, output = Workplace(tmp_path).output(stop)
    if stop.steady:
        assert code == stop.code and missing(shown(stop), output) == "", output
    else:                                                         # what is fastest, a machine decides
        assert code in (0, 3) and "side by side" in excerpt(stop, output)
