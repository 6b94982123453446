"""A verdict pasted into an issue or shown in a notebook: headline, places, report, and nothing read as markup."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import verdicts
from samesame import as_html, as_markdown
from samesame.cli import app
from samesame.fuzz.campaign import Progress
from samesame.fuzz.corpus import Finding as Fault
from samesame.fuzz.single import OwnResult
from samesame.kernels.verdict import Formula, KernelVerdict, LiftVerdict, Obligation
from samesame.notebook import answers_of
from samesame.optimize.verb import Optimized
from samesame.report.markdown import markdown, plain
from samesame.report.optimized import Report

HOSTILE = "<script>alert(1)</script> ```\n</details> [x](y) **b** $z$ |c| \u202e"


def hostile():
    verdict = verdicts.different()
    verdict.left, verdict.right = HOSTILE, f"{HOSTILE}.py:right"
    return verdict


def lifted():
    kernel = KernelVerdict("softmax", "k.py:4", obligations=[Obligation("bounds", "proved")])
    kernel.formulas = [Formula("out", "out[i] = exp(x[i])", r"\mathrm{out}_{i} = e^{x_{i}} < 1")]
    return LiftVerdict("k.py:launch", [kernel])


def test_a_notebook_gets_the_headline_places_and_the_report():
    shown = verdicts.different()._repr_markdown_()
    assert shown.startswith("❌ **different** 1 of 2 outputs differs: logits")
    assert "`examples/fused_llama.py:41` `wide * torch.rsqrt(mean + 1e-05)`" in shown
    assert "they agree again if" in shown.lower() and "```text\ndifferent   1 of 2" in shown
    assert verdicts.same()._repr_html_().startswith("<p>✅ <b>same</b> every output")
    assert "❔ **undecided**" in as_markdown(verdicts.undecided())


def test_formulas_are_latex():
    assert "\n$$ \\mathrm{out}_{i} = e^{x_{i}} < 1 $$\n" in lifted()._repr_markdown_()
    assert r"<p>$$ \mathrm{out}_{i} = e^{x_{i}} &lt; 1 $$</p>" in as_html(lifted())


def campaign_of_two(found=()):
    return Progress(Counter(found=len(found), agrees=2), 60.0, list(found), folder=Path("found"))


@pytest.mark.parametrize("result, said", [
    (OwnResult("compiled rightly", "", 3, (), 0, 1.0, target="m.py:f", backend="inductor"), "✅ **compiled rightly**"),
    (OwnResult("not compiled rightly", "wrong value", 0, (), 0, 1.0), "❌ **not compiled rightly** wrong value"),
    (campaign_of_two(), "✅ **nothing found** 2 programs"),
    (campaign_of_two([Fault(7, "inductor", "wrong value", "output 0", "1 of 2 elements", "", "x = 1")]),
     "❌ **found** 3 programs"),
    (Optimized(None, Report("m.py:f", "faster")), "✅ **faster**"),
])
def test_what_fuzz_and_optimize_return_is_shown_too(result, said):
    assert result._repr_markdown_().startswith(said)
    assert result._repr_html_().startswith("<p>" + said[:2] + "<b>") and "<script" not in result._repr_html_()


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attributes):
        assert not attributes
        self.seen.append(tag)


def test_names_are_text_in_html():
    reader = Tags()
    reader.feed(as_html(hostile()))
    assert {*reader.seen} == {"p", "b", "ul", "li", "code", "details", "summary", "pre"}
    assert reader.seen.count("details") == 1


@pytest.mark.parametrize("folded", [False, True])
def test_names_are_text_in_markdown(folded):
    shown = markdown(answers_of(hostile()), folded=folded)
    fence = re.search("^(`{3,})text$", shown, re.M)[1]
    outside = shown[: shown.index(f"\n{fence}text\n")] + shown[shown.rindex(f"\n{fence}\n"):]
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "code", outside)       # in code nothing is read as markup
    assert "<script" not in outside and len(fence) == 4
    assert outside.count("</details>") == (1 if folded else 0) == outside.count("<details>")
    assert "\\[x\\](y)" in outside and "\\*\\*b\\*\\*" in outside


def test_the_command_line_prints_it(tmp_path, monkeypatch):
    (tmp_path / "pair.py").write_text("import torch\nleft = lambda x: x * 2\nright = lambda x: x * 3\n"
                                      "inputs = (torch.ones(2, 3),)\n")
    monkeypatch.chdir(tmp_path)
    for form, folded in (("github", True), ("markdown", False)):
        ran = CliRunner().invoke(app, ["check", "pair.py", "--store", "-", "--format", form])
        assert ran.exit_code == 1 and ran.stdout.startswith("❌ **different** output 0 differs")
        assert ("<details>" in ran.stdout) is folded and "`pair.py:3`" in ran.stdout


def test_text_stays_on_one_line():
    assert plain("a\n# b & <c>") == r"a \# b &amp; &lt;c\>"
