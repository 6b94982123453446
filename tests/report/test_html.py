"""A page holds what the terminal says, is well formed, fetches nothing, and shows other people's text as text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import verdicts
from report import pictured
from report.pages import Page, sound, text_only
from samesame.evidence import Claim, Evidence, Picture, Relation, Rung, Verdict
from samesame.lift import lift
from samesame.refine import load_job, refine
from samesame.report import dumps, plain_text
from samesame.report.html.check import check_html, write_check
from samesame.report.html.folding import fold
from samesame.report.html.lift import lift_html
from samesame.report.html.page import is_ours, page
from samesame.report.html.proof import steps_of
from samesame.report.html.refine import refine_html
from samesame.report.html.several import several_html
from samesame.report.refinement import plain_text as refined_text
from samesame.several import agreeing, alone, exit_code
from samesame.sweep.outcome import Outcome, Sweep
from samesame.sweep.page import sweep_html
from samesame.sweep.probe import Plan, Probe
from samesame.sweep.table import text

MADE = [verdicts.same, verdicts.different, verdicts.undecided, lambda: Verdict("undecided", Rung.UNDECIDED)]
DRAWN = [pictured.checked, lambda: pictured.checked(wrong=True), pictured.nasty]


@pytest.mark.parametrize("make", [*MADE, *DRAWN])
def test_a_page_is_well_formed_and_stands_alone(make):
    drawn = check_html(make())
    sound(drawn)
    assert is_ours(drawn), "nobody's text makes a page do more than ours do"


@pytest.mark.parametrize("before, after", [
    ("</main>", "<script>alert(1)</script></main>"),
    ("<main ", "<main onclick=alert(1) "),
    ("</main>", "<a href=' java&#115;cript:alert(1)'>more</a></main>"),
    ("</main>", "<iframe srcdoc=x></iframe></main>"),
    ("</main>", "<meta http-equiv=refresh content=0></main>"),
    ("default-src 'none'", "default-src *"),
    ("<!DOCTYPE", "<script>alert(1)</script><!DOCTYPE"),
    ("addEventListener", "open"),
])
def test_a_page_that_does_more_than_ours_is_none_of_ours(before, after):
    drawn = page("page.html", title="drawn")
    assert before in drawn and is_ours(drawn) and not is_ours(drawn.replace(before, after, 1))


@pytest.mark.parametrize("make", [*MADE, *DRAWN[:2]])
def test_the_sentences_are_those_of_the_terminal(make):
    verdict = make()
    said = Page(check_html(verdict)).said
    squeezed = re.sub(r"\s", "", said)
    told = plain_text(verdict, width=10_000).split("relations\n")[0]
    assert len(told) > 50
    for line in filter(None, map(str.strip, told.splitlines())):
        for cell in filter(None, re.split(r"\s{2,}", line)):
            assert re.sub(r"\s", "", cell) in squeezed, cell


def test_text_of_programs_stays_text():
    text = check_html(pictured.nasty())
    text_only(text)
    assert len(text) < 1_000_000


def test_each_pair_of_several_programs_has_its_report():
    verdicts = pictured.three()
    page = sound(several_html(verdicts, alone(verdicts), agreeing(verdicts), exit_code(verdicts)))
    assert "c stands alone: a and b agree" in page.said and "aandbagreecstandsalone" in page.squeezed
    cells = [given["href"] for tag, given in page.elements if tag == "a" and "probe" in (given.get("class") or "")]
    assert cells == ["#pair-1", "#pair-2", "#pair-3"]
    opened = [given["id"] for tag, given in page.elements if "pair" in (given.get("class") or "") and "open" in given]
    assert opened == ["pair-2", "pair-3"] and page.said.count("both programs, side by side") == 3
    undecided = [replace(verdict, verdict="undecided") if verdict.right == "c" else verdict for verdict in verdicts]
    said = sound(several_html(undecided, alone(undecided), agreeing(undecided), exit_code(undecided))).said
    assert "c may agree with others: that is undecided" in said


def test_text_of_several_programs_stays_text():
    text_only(several_html([pictured.nasty()] * 3, pictured.NASTY[0], [pictured.NASTY, [pictured.NASTY[2]]], 1))


def test_layers_that_repeat_are_one_and_what_is_unlike_stands_out():
    same, wrong = pictured.checked(), pictured.checked(wrong=True)
    folded = fold(same, same.picture)
    assert {band.places[0] for band in folded.bands} >= {"layers.0…2.norm", "layers.0…2.q", "inputs and parameters"}
    assert max(len(tie.members) for tie in folded.ties) == 3
    assert sum(len(tie.members) for tie in folded.ties) == len(same.relations)
    apart = [tie for tie in fold(wrong, wrong.picture).ties if tie.apart]
    assert [tie.apart for tie in apart] == ["here they part: layers.1.norm"]
    assert "here they part: layers.1.norm" in Page(check_html(wrong)).said


def test_a_layer_on_another_rung_is_a_line_of_its_own():
    verdict = pictured.checked()
    tested = [Relation(r.left, r.right, r.layout, Evidence(Rung.TESTED, "test"), r.left_origin, r.right_origin)
              if "layers.1" in r.left_origin.module else r for r in verdict.relations]
    made = Verdict("same", Rung.TESTED, relations=tested, picture=verdict.picture)
    rungs = {tie.rung for tie in fold(made, verdict.picture).ties}
    assert rungs == {Rung.TESTED, Rung.PROVED}


def test_a_page_does_not_grow_with_the_number_of_layers():
    small, large = (len(check_html(pictured.checked(layers=n))) for n in (2, 4))
    assert large < small + 6_000


def test_a_page_without_a_drawing_says_so():
    assert "the programs are not drawn" in Page(check_html(verdicts.undecided())).said
    assert "the programs are not drawn" not in Page(check_html(pictured.checked())).said


def test_both_formulas_and_where_they_stand_are_told():
    page = Page(check_html(pictured.checked()))
    assert [tag for tag, _ in page.elements].count("math") >= 4 and "U+" not in page.said
    assert "h = self.norm(x)" in page.said and "pictured.py" in page.said
    lines = [given for tag, given in page.elements if tag == "a" and (given.get("class") or "").startswith("tie")]
    assert lines and all(given["aria-label"] and given["href"] == f"#{given['data-tie']}" for given in lines)


def test_the_proof_of_a_relation_stands_step_by_step():
    verdict = pictured.checked()
    links = {relation.right: f"tie-{relation.right}" for relation in verdict.relations}
    steps = {r.right: steps_of(r, verdict.picture, links) for r in verdict.relations}
    assert [step.by for step in steps["add_1"]] == ["related", "meaning", "normal form", "hence"]
    assert [step.by for step in steps["add_4"]] == ["related", "meaning", "rule", "normal form", "hence"]
    related, _, normal, hence = steps["mul_2"]
    assert related.rests == (("x0: linear = getitem", "tie-getitem"), ("x1: linear_1 = getitem_1", "tie-getitem_1"))
    assert normal.code == ("x0[i,j,k]·x1[i,j,k]",) and "this is the normal form of both" in normal.words
    assert hence.words == "mul_2 = mul, proved for all sizes; from here on both are one tensor"
    carried, _ = steps["add_2"]
    assert carried.words == ("left add = add(x, left mul); right add_2 = add(x, right mul_2): one operator on equal "
                             "tensors") and carried.rests == (("mul_2", "tie-mul_2"),)
    assert steps["x"] == steps["layers.0.weight"] == [], "what is given has no proof"
    page = sound(check_html(verdict))
    assert page.said.count("the proof, step by step") == 5 and "x0: linear = getitem" in page.said


@pytest.mark.parametrize("method, detail, normal, questions, told", [
    ("smt", "the difference cancels", ("a", "b"), ("(assert x)", "(assert y)"), ["normal form", "solver"]),
    ("normal form", "for each of the 8 values of an index", ("a",), (), ["cases"]),
    ("normal form", "identical normal forms", ("a", "b"), (), ["normal form"]),
    ("test", "softmax opaque; 16 draws", (), ("(assert x)",), ["test"]),
])
def test_a_step_says_by_what(method, detail, normal, questions, told):
    picture = Picture((), (), {"key": Claim(None, None, "", normal, questions)}, {"y": ("key", ())})
    relation = Relation(("x",), "y", "x", Evidence(Rung.PROVED, method, "P1", detail, ("x ≠ 0",)))
    steps = steps_of(relation, picture, {})
    assert [step.by for step in steps] == [*told, "if", "hence"] and steps[0].words.startswith(detail)
    assert steps[0].code == (() if detail == "identical normal forms" or method == "test" else normal)
    assert told != ["normal form", "solver"] or ("2 questions" in steps[1].words and steps[1].folded == questions)


def test_the_json_has_the_picture_and_keeps_to_its_schema():
    schema = json.loads(files("samesame.report").joinpath("check.schema.json").read_text())
    for verdict in (pictured.checked(), pictured.checked(wrong=True)):
        document = json.loads(dumps(verdict))
        jsonschema.validate(document, schema)
        assert any(claim["left"] and "Σ" in claim["left"] for claim in document["picture"]["claims"].values())
        assert any("Σ" in claim["normal"][0] for claim in document["picture"]["claims"].values())
        assert document["picture"]["because"]["add_2"][0]["rests"] == ["mul_2"]
        assert sum(found["elements"] for found in document["picture"]["apart"]["0"]) > 0
        assert any(node["error"] for node in document["picture"]["left"])


REFINED = [("tensor_parallel", "refines"), ("tensor_parallel_bias", "does not refine")]


@pytest.mark.parametrize("example, words", REFINED)
def test_lanes_say_how_each_rank_has_each_tensor(example, words):
    verdict = refine(**load_job(f"examples/{example}.py"), world_size=2)
    text = refine_html(verdict)
    page = Page(text)
    squeezed = re.sub(r"\s", "", page.said)
    assert f"{words}" in page.said and "rank 1" in page.said and text.isascii()
    assert "slice(·;0,12:24)" in squeezed and "all_reducesum" in squeezed
    assert ("lost here" in page.said) == (words != "refines")
    for line in filter(None, map(str.strip, refined_text(verdict, width=10_000).split("collectives")[0].splitlines())):
        for cell in filter(None, re.split(r"\s{2,}", line)):
            assert re.sub(r"\s", "", cell) in squeezed, cell


def test_a_kernels_page_has_its_formula_and_what_breaks_it_beside_the_line():
    pytest.importorskip("triton", reason="no Triton here")
    verdict = lift(f"{Path(__file__).parent / 'paged.py'}:sloppy")
    text = lift_html(verdict)
    page = Page(text)
    squeezed = re.sub(r"\s", "", page.said)
    assert text.isascii() and "violated; over the reals" in page.said and "U+" not in page.said
    for obligation in verdict.kernels[0].obligations:
        assert re.sub(r"\s", "", obligation.detail) in squeezed
    assert "x=tl.load(x_ptr+row*n+column)bounds:violated" in squeezed
    assert "loadofxatoffset400,of400elements" in squeezed and "seeninTriton'sinterpretertoo" in squeezed
    assert [tag for tag, _ in page.elements].count("mfrac") == 1


def test_a_sweep_is_a_matrix_of_fields_and_values():
    evil, quotes, _, long, _ = pictured.NASTY
    probes = [Probe(name, value, {name: value}) for name in ("eps", evil) for value in (1, long)]
    apart = {"message": quotes, "moved": (True, False), "max_error": 0.5, "mean_error": 0.1}
    ends = [Outcome(probes[0], "different", **apart), Outcome(probes[1], "same"),
            Outcome(probes[2], "refused", "right", "no")]
    sweep = Sweep("hf:.", "vllm:.", "llama", Outcome(Probe("", None, {}), "same"),
                  Plan(tuple(probes), (("vocab_size", "weights would be others"),)), ends)
    page = Page(sweep_html(sweep, {}, Path("no_such_files")))
    squeezed = re.sub(r"\s", "", page.said)
    for line in text(sweep, {}).splitlines()[3:8]:
        assert re.sub(r"\s", "", line) in squeezed, line
    cells = [given for tag, given in page.elements if tag == "a" and "probe" in (given.get("class") or "")]
    assert [given["href"] for given in cells] == ["#probe-1", "#probe-2", "#probe-3"]
    assert [tag for tag, _ in page.elements].count("script") == 1 and "not reached" in page.said


def test_a_page_is_written_whole(tmp_path):
    path = tmp_path / "page.html"
    write_check(verdicts.same(), path)
    assert path.read_text().rstrip().endswith("</html>") and [path] == list(tmp_path.iterdir())
