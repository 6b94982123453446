"""A suite as a page: a table that is filtered by what came of its entries, each of them with its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from report import pictured, suites
from report.pages import sound, text_only
from samesame.report.answers import FAILS, Answer, Finding, Place, Rule
from samesame.suite.entries import Entry
from samesame.suite.page import suite_html
from samesame.suite.table import command
from samesame.suite.verb import Row, Suite

NOWHERE = Path("no_such_files")


def test_each_entry_stands_in_the_table_and_has_its_report():
    suite = suites.made()
    page = sound(suite_html(suite, NOWHERE))
    assert "1 as expected (1 of them unchanged), 1 not, 1 undecided, 1 not reached" in page.said
    names = [given["href"] for tag, given in page.elements if tag == "a" and "entry" in (given.get("href") or "")]
    assert names == ["#entry-1", "#entry-2", "#entry-3"] and page.said.count("not as expected") > 2
    opened = [given["id"] for _, given in page.elements if given.get("class") == "relation" and "open" in given]
    assert opened == ["entry-1", "entry-2"], "what is not as expected stands first, and open"
    for row in suite.rows:
        assert "".join(command(row.entry).split()) in page.squeezed
        assert "".join(row.answer.report.split()) in page.squeezed
    assert "SUITES=\"thelinethatismeant\"" in page.squeezed and "not reached late" in page.said
    assert "open: it opened a connection" in page.said


def test_a_suite_that_was_interrupted_says_so():
    assert "Interrupted: what was reached is here." in sound(suite_html(
        Suite(Path("s.toml"), [], [], 1.0, True), NOWHERE)).said


def test_text_of_a_suite_stays_text():
    evil, quotes, hidden, long, template = pictured.NASTY
    entry = Entry("check", evil, {"left": quotes, "right": hidden, "inputs": template}, evil, long, 1.0, (), 3)
    finding = Finding(Rule(evil, "error", quotes), hidden, (Place(long, 1, template, evil),))
    answer = Answer("check", evil, quotes, FAILS, hidden, evil + long, 1.0, (finding,), template)
    late = replace(entry, name=template)
    row = Row(entry, answer, FAILS, evil, not_kept=long)
    text_only(suite_html(Suite(Path(template), [entry, late], [row]), NOWHERE))
