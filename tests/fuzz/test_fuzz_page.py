"""A campaign as a page: faults worst first, each with its script, its twin and who is guilty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fuzz.campaigns import campaign, finding
from report import pictured
from report.pages import sound, text_only
from samesame.cli import app
from samesame.fuzz import single
from samesame.fuzz.corpus import read_campaign
from samesame.fuzz.finding import write_finding
from samesame.fuzz.page import campaign_html, own_html, replayed_html
from samesame.fuzz.single import OwnResult


def test_faults_stand_worst_first_with_all_that_is_known(tmp_path):
    crash = replace(finding(), number=2, kind="crash", detail="RuntimeError: boom", where="", guilty={}, twin="")
    folder = campaign(tmp_path / "found", crash, finding(), replace(finding(), number=3, text=finding().text + "\n"))
    page = sound(campaign_html(read_campaign(folder), folder))
    assert "found 2 faults, shown by 3 programs" in page.said
    assert page.said.index("1. inductor: wrong value seen 6 times") < page.said.index("2. inductor: crash")
    assert "guiltyinductor/post_grad_passes/reinplace_inplaceable_ops" in page.squeezed
    assert "-y=torch.clone(x)+y=torch.mul(x,1)" in page.squeezed
    assert "theypartatx.fill_(2.0)" in page.squeezed and "torch 2.13.0" in page.said
    assert "how 23 programs ended" in page.said and "torch leaves the result open" in page.said
    marked = [given for tag, given in page.elements if tag == "span" and given.get("class") == "meant"]
    assert len(marked) == 3, "the line after which eager and compiled part, in each script"


def test_a_campaign_without_findings_and_a_program_of_ones_own(tmp_path):
    folder = campaign(tmp_path / "found")
    assert "nothing found" in sound(campaign_html(read_campaign(folder), folder)).said
    right = OwnResult("compiled rightly", "", 3, ("exp-of-sum",), 0, 1.0, target="model.py:f", backend="inductor")
    assert "3 equal twins compiled rightly" in sound(own_html(right)).said
    wrong = replace(right, verdict="not compiled rightly", why="wrong value in output 0",
                    text="def program(x):\n    return x")
    page = sound(own_html(wrong))
    assert "not compiled rightly wrong value in output 0" in page.said and "1defprogram(x):2returnx" in page.squeezed


def test_text_of_findings_stays_text(tmp_path):
    evil, quotes, hidden, long, template = pictured.NASTY
    hurt = replace(finding(), kind=quotes, where=hidden, detail=long, program="", text=evil, first=template,
                   guilty={"place": evil}, calls=[template, hidden], dtypes=[quotes], found_by=long,
                   versions={evil: hidden})
    folder = tmp_path / "found"
    kept = read_campaign(campaign(folder, hurt))
    text_only(campaign_html(replace(kept, settings={**kept.settings, "backends": [evil]}), folder / template))
    text_only(own_html(OwnResult(evil, quotes, 0, (template,), 0, 1.0, hidden, long, evil)))
    text_only(replayed_html(hurt, folder / template, True, {evil: {"status": quotes, "detail": hidden + long}}))


def test_the_command_writes_it(tmp_path):
    folder, page = campaign(tmp_path / "found", finding()), tmp_path / "page.html"
    result = CliRunner().invoke(app, ["fuzz", "--list", str(folder), "--html", str(page)])
    assert result.exit_code == 1 and "1 fault, shown by 1 program" in page.read_text()


@pytest.mark.parametrize("last, word, colour", [
    ({"status": "found", "kind": "wrong value", "where": "output 0"}, "it still shows", "cell refuted"),
    ({"status": "agrees"}, "it does not show here", "cell all"),
])
def test_a_finding_that_is_run_again_has_what_each_back_end_does(tmp_path, monkeypatch, last, word, colour):
    stages = [("eager", {"status": "agrees"}), ("inductor", last)]
    monkeypatch.setattr(single, "replay", lambda _: stages)
    folder, page = write_finding(tmp_path, finding()), tmp_path / "page.html"
    result = CliRunner().invoke(app, ["fuzz", "--replay", str(folder), "--html", str(page)])
    shown = sound(page.read_text())
    assert result.exit_code == (word == "it still shows") and shown.said.count(word) == 2
    cells = [given["class"] for tag, given in shown.elements if tag == "td"]
    assert cells == ["cell all", colour] and f"a script that shows it {folder}/script.py" in shown.said


@pytest.mark.parametrize("options, sentence", [
    (["--backend", "list", "--html", "page.html"], "leave --html out"),
    (["--list", "none", "--html", "-"], "give a file name in place of -"),
    (["--list", "none", "--html", "missing/page.html"], "there is no folder"),
])
def test_what_has_no_page_is_refused_in_a_sentence(options, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["fuzz", *options])
    assert result.exit_code == 2 and sentence in " ".join(result.output.split()) and not list(Path().iterdir())
