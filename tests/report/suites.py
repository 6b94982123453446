"""A suite that ran, written down by hand: for tests of its page."""

from __future__ import annotations

from pathlib import Path

from samesame.report.answers import FAILS, HOLDS, OPEN, Answer, Finding, Place, Rule
from samesame.suite.entries import Entry
from samesame.suite.verb import Row, Suite

SUITES = "the line that is meant"
HERE = Path(__file__)


def entry(name: str, line: int) -> Entry:
    options = {"left": f"{name}.py:left", "right": f"{name}.py:right", "inputs": f"{name}.py:inputs"}
    return Entry("check", name, options, "same", "proved", 300.0, (), line)


def made() -> Suite:
    """One as expected, one not, one undecided, one not reached."""
    line = 1 + HERE.read_text().splitlines().index(f'SUITES = "{SUITES}"')
    finding = Finding(Rule("different-numbers", "error", "They differ."), "output 0 differs",
                      (Place(str(HERE), line, "SUITES =", "right computes aten.mul"),))
    entries = [entry(name, number) for number, name in enumerate(("right", "wrong", "open", "late"), 1)]
    answers = [
        Answer("check", "right", "same", HOLDS, "every output proved", "same   every output", 1.0, (), "tested"),
        Answer("check", "wrong", "different", FAILS, "output 0 differs", "different   output 0", 2.0, (finding,)),
        Answer("check", "open", "undecided", OPEN, "nothing was decided", "undecided   nothing", 3.0),
    ]
    whys = ("", "different, expected same", "undecided, expected same")
    rows = [Row(of, answer, answer.state, why, unchanged=of.name == "right",
                not_kept="it opened a connection" if of.name == "open" else "")
            for of, answer, why in zip(entries, answers, whys, strict=False)]
    return Suite(Path("suite.toml"), entries, rows, 6.0)
