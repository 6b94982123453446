"""What was found as a page: bars of the race, formulas before and after, the rules between them, proof and rounding."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from pooled import inputs, module
from typer.testing import CliRunner

from report import pictured
from report.pages import sound, text_only
from samesame.capture import capture
from samesame.cli import app
from samesame.cli import optimize as command
from samesame.formula.mathml import is_mathml, mathml_tensor
from samesame.formula.tensor import leaf
from samesame.optimize.algebra import algebraic, specified
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import DEFAULT, EAGER
from samesame.optimize.search import searched
from samesame.optimize.verb import Optimized
from samesame.report import optimized as optimized_words
from samesame.report.html.optimized import optimized_html
from samesame.report.optimized import FASTER, NOTHING, Contract, Formula, Report, Row, Step, sections

ROWS = [Row("kernels", EAGER, True, 3.5e-4, 0.17, 64, winner=True), Row("eager torch", EAGER, False, 1.5e-3, 0.1, 64),
        Row("torch.compile", "torch.compile", False, 1.1e-3, 0.3, 64, best=True),
        Row("form 1", EAGER, True, None, None, 0, failed="outside the numeric contract: off by 2")]


@cache
def candidate() -> Candidate:
    """The mean goes before the matmul: by algebra, in two steps."""
    specification = specified(module, inputs, capture(module, inputs))
    return list(algebraic(specification, searched(specification)))[-1]


def optimized(found: Candidate, verdict: str = FASTER) -> Optimized:
    report = Report("model.py:module", verdict, rows=ROWS, proof="same   every output proved", conditions=["x ≠ 0"],
                    contract=Contract(83, 1359872, 0.5, 2.7e-6, 6.6e-7, 3), counts={"e-nodes": 123}, threads=2,
                    machine="a machine", evidence="proved for all sizes", notes=["A note."], versions={"torch": "2"})
    report.changed, report.formulas, report.steps = found.changed, found.formulas, found.steps
    return Optimized(module, report, {"fast.py": found.source})


def test_the_page_says_what_the_report_says_and_draws_it():
    found = optimized(candidate())
    page = sound(optimized_html(found.report, found.files))
    assert "faster 3.14 × as fast as torch.compile, the best there was; proved for all sizes" in page.said
    for _, lines in sections(found.report, explain=False):
        for cell in (cell for line in lines for cell in re.split(r"\s{2,}", line) if cell):
            assert re.sub(r"[\s+]", "", cell.replace(" rounds", "")) in page.squeezed, cell
    assert [step.rule for step in found.report.steps] == ["sum-of-sums", "take-out"]
    tags = [tag for tag, _ in page.elements]
    assert tags.count("math") == 2 + 2 * 2 and tags.count("rect") == 3 + 2
    assert sum("whisker" in (given.get("class") or "") for _, given in page.elements) == 3
    assert "classFast(" in page.squeezed and "found:form1failed:outsidethenumericcontract:offby2" in page.squeezed


def test_a_report_calls_the_ways_to_run_a_program_as_they_are_called():
    assert (EAGER, DEFAULT) == (optimized_words.EAGER, optimized_words.DEFAULT)


def test_where_nothing_is_faster_nothing_is_drawn_of_it():
    report = Report("model.py:module", NOTHING, rows=[ROWS[1]], machine="a machine")
    page = sound(optimized_html(report, {}))
    assert "nothing faster found" in page.said and "step by step" not in page.said and "code" not in page.said


def test_text_of_a_search_stays_text():
    evil, quotes, hidden, long, template = pictured.NASTY
    bad = f"<math display=\"block\">{evil}</math>"
    step = Step(evil, quotes, hidden, (bad, mathml_tensor(evil, leaf(quotes, (2,)))))
    hurt = Candidate(evil, quotes, changed=(template, long), formulas=(Formula(hidden, bad, evil),), steps=(step,))
    found = optimized(hurt)
    found.report.rows = [replace(row, name=evil, failed=hidden and row.failed and quotes) for row in ROWS]
    found.report.title, found.report.machine, found.report.proof = hidden, template, evil
    text_only(optimized_html(found.report, {evil: quotes, long: hidden}))


@pytest.mark.parametrize("text", [
    "<math display=\"block\"><mi onclick=\"f()\">x</mi></math>", "<math display=\"block\"><script>x</script></math>",
    "<math><mi>x</mi></math>", "<math display=\"block\"></math><p>", "<math display=\"block\"><a href=\"x\"/></math>",
])
def test_what_is_no_formula_is_not_taken_for_one(text):
    assert not is_mathml(text)
    assert all(is_mathml(side) for step in candidate().steps for side in step.drawn)


def test_the_command_writes_it(tmp_path, monkeypatch):
    found = optimized(candidate())
    monkeypatch.setattr(command, "found_for", lambda *_, **__: found)
    result = CliRunner().invoke(app, ["optimize", "model.py:module", "--html", str(tmp_path / "page.html")])
    assert result.exit_code == 0 and "<math" in (tmp_path / "page.html").read_text()
    assert CliRunner().invoke(app, ["optimize", "model.py:module", "--html", "-"]).exit_code == 2


def test_the_command_tells_other_tools(tmp_path, monkeypatch):
    found = optimized(candidate())
    monkeypatch.setattr(command, "found_for", lambda *_, **__: found)
    names = [str(tmp_path / name) for name in ("report.xml", "report.sarif")]
    asked = ["optimize", "model.py:module", "--junit", names[0], "--sarif", names[1], "--format", "github"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0 and result.output.startswith("✅ **faster** 3.14 × as fast as torch.compile")
    assert "<details><summary>the whole report</summary>" in result.output
    (case,) = ET.parse(names[0]).iter("testcase")
    assert case.get("classname") == "samesame.optimize" and not len(case)
    (told,) = json.loads(Path(names[1]).read_text())["runs"][0]["results"]
    assert (told["ruleId"], told["level"]) == ("can-be-faster", "note")
    assert CliRunner().invoke(app, ["optimize", "model.py:module", "--sarif", "-"]).exit_code == 2
