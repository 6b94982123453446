"""A campaign: workers lose one case at a time, a folder goes on where it was, and bad input is one sentence."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from samesame.cli import app
from samesame.evidence import SamesameError
from samesame.fuzz import single
from samesame.fuzz.apart import run_apart
from samesame.fuzz.campaign import Settings, _Campaign, fuzz, table
from samesame.fuzz.corpus import Corpus, Finding, read_campaign
from samesame.fuzz.finding import script, write_finding
from samesame.fuzz.generators.taste import Taste
from samesame.fuzz.program import Input, Program, Ref, Step, encoded, source
from samesame.fuzz.reached import lines_of, shares, watching
from samesame.fuzz.single import fuzz_own
from samesame.fuzz.tasks import accuses
from samesame.fuzz.tasks import script as script_alone

QUICK = Settings(backends=("aot_eager",), cases=3, bisect=False, feedback=False)


def test_a_case_that_does_not_come_back_costs_itself_only(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (1.0, 1.0, 1.0))

    def crash(say):
        say("compiled program", text="y = x")
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(say):
        say("twin")
        time.sleep(60)

    def takes_all(say):
        say("compiled program")
        return {"status": "agrees", "length": len(bytearray(16 << 30))}

    crashed = run_apart(crash, 3.0, 4.0)
    assert (crashed["status"], crashed["stage"], crashed["detail"]) == ("crashed", "compiled program", "signal 9")
    assert accuses(crashed) and crashed["text"] == "y = x"
    def busy(say):
        say("compiled program")
        while True:
            pass

    assert run_apart(busy, 1.0, 4.0)["status"] == "hung"
    hung = run_apart(hang, 0.2, 4.0)
    assert (hung["status"], hung["stage"]) == ("hung", "twin") and not accuses(hung), "eager torch hangs by itself"
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 99.0, 99.0))
    slow = run_apart(lambda say: (say("compiled program"), time.sleep(60)), 0.1, 4.0)
    assert slow["status"] == "slow" and not accuses(slow), "a busy machine accuses nobody"
    assert run_apart(takes_all, 3.0, 4.0)["status"] == "out of memory"
    assert run_apart(lambda say: {}["nothing"], 3.0, 4.0)["status"] == "failed"
    assert run_apart(lambda say: {"status": "agrees"}, 3.0, 4.0)["status"] == "agrees"


def test_a_campaign_goes_on_where_it_was(tmp_path):
    first = fuzz(tmp_path / "found", QUICK)
    assert first.cases == 3 and not [f for f in first.findings if f.kind == "wrong value"]
    with pytest.raises(SamesameError, match="holds a campaign; go on with --resume"):
        fuzz(tmp_path / "found", QUICK)
    with pytest.raises(SamesameError, match="has seed 0, not 1"):
        fuzz(tmp_path / "found", Settings(backends=("aot_eager",), seed=1), resume=True)
    fuzz(tmp_path / "found", QUICK, resume=True)
    corpus = Corpus(tmp_path / "found", QUICK.kept(), resume=True)
    assert corpus.done() == frozenset(range(6))
    with pytest.raises(SamesameError, match="another campaign is at work"):
        Corpus(tmp_path / "found", QUICK.kept(), resume=True)
    corpus.database.execute("UPDATE about SET format = 99")
    corpus.close()
    with pytest.raises(SamesameError, match="written by another version"):
        read_campaign(tmp_path / "found")


def finding() -> Finding:
    program = Program((Input("x", "torch.ones(2)"),), (Step(("y",), "torch.neg", (Ref("x"),)),), ("y",))
    what = "aot_eager", "wrong value", "output 0", "1.0 for -1.0"
    return Finding(1, *what, encoded(program), source(program), calls=["torch.neg"], dtypes=["float"])


def test_a_finding_is_run_again_stage_by_stage(tmp_path):
    result = CliRunner().invoke(app, ["fuzz", "--replay", str(write_finding(tmp_path, finding()))])
    stages = dict(line.split(maxsplit=1) for line in result.output.splitlines() if line.endswith("agrees"))
    assert result.exit_code == 0 and {"eager", "aot_eager"} <= set(stages) and "it does not show here" in result.output


def test_findings_are_pasted_into_an_issue(tmp_path, monkeypatch):
    folder = str(write_finding(tmp_path, finding()))
    corpus = Corpus(tmp_path, QUICK.kept(), resume=True)
    corpus.keep(finding())
    corpus.close()
    listed = CliRunner().invoke(app, ["fuzz", "--list", str(tmp_path), "--format", "github"])
    assert listed.exit_code == 1 and listed.output.startswith("❌ **1 fault, shown by 1 program**\n")
    assert "| ❌ | 0001 aot\\_eager | " in listed.output
    assert "/0001/script.py:1` a script that shows it" in listed.output
    for stages, first in ([], "✅ **it does not show here: "), ([("aot_eager", {"kind": "wrong value"})], "❌ **"):
        monkeypatch.setattr(single, "replay", lambda _, stages=stages: stages)
        again = CliRunner().invoke(app, ["fuzz", "--replay", folder, "--format", "markdown"])
        assert again.output.startswith(first) and again.exit_code == len(stages), again.output
    names = CliRunner().invoke(app, ["fuzz", "--backend", "list", "--format", "markdown"]).output
    assert names.startswith("```text\n") and "inductor" in names


def test_a_case_goes_step_by_step_to_a_finding_and_the_next_like_it_is_counted(tmp_path):
    corpus = Corpus(tmp_path / "found", QUICK.kept(), resume=False)
    campaign = _Campaign(corpus, replace(QUICK, bisect=True), lambda progress: None, None)
    wrong = {"status": "found", "stage": "compiled program", "kind": "wrong value", "detail": "1.0 for -1.0",
             "text": "y", "program": finding().program, "seconds": 1.0, "rewrites": []}
    answers = {"probe": wrong, "shrink": wrong, "script": {"status": "fails"}, "bisect": {"guilty": {"place": "neg"}}}

    def through(number):
        asking, asked = campaign._through(campaign._case(number)), []
        case, _ = next(asking)
        while case is not None:
            asked.append(case["task"])
            try:
                case, _ = asking.send(answers[case["task"]])
            except StopIteration:
                case = None
        return asked

    assert through(0) == ["probe", "shrink", "script", "bisect"] and through(1) == ["probe", "shrink"]
    answers["shrink"] = {"status": "gone"}
    assert through(2) == ["probe", "shrink"]
    answers["probe"] = {"status": "hung", "stage": "compiled program", "program": finding().program, "seconds": 1.0}
    assert through(3) == ["probe", "probe", "shrink"], "what does not come back is given more time"
    [found] = campaign.progress.findings
    assert found.times == 2 and found.guilty == {"place": "neg"}
    assert campaign.progress.statuses == {"found": 2, "unsteady": 2} and corpus.done() == frozenset(range(4))
    corpus.close()


def test_findings_of_one_guilty_pass_stand_together():
    one, other, third = (replace(finding(), number=k, detail=str(k)) for k in range(3))
    one.guilty = other.guilty = {"place": "lowering"}
    other.text, third.kind = one.text + "\n", "crash"
    assert [[f.number for f in group] for group in table([third, other, one])] == [[0, 1], [2]]


def test_a_full_disk_is_one_sentence(tmp_path):
    corpus = Corpus(tmp_path / "found", QUICK.kept(), resume=False)
    corpus.database.execute("PRAGMA max_page_count = 1")
    with pytest.raises(SamesameError, match=r"cannot be written .*full.*; what was found so far is kept: make room"):
        for number in range(1000):
            corpus.keep(replace(finding(), number=number))
    corpus.close()
    assert read_campaign(tmp_path / "found").findings == [replace(finding(), number=k) for k in range(number)]


def test_a_script_that_does_not_fail_alone_is_no_finding():
    case = {"text": "assert False, 'here'", "error": "AssertionError"}
    assert script_alone(case, {}, lambda stage: None)["status"] == "fails"
    assert script_alone({**case, "text": "nothing"}, {}, lambda stage: None)["status"] == "passes", "another error"
    assert script_alone({**case, "text": ""}, {}, lambda stage: None)["status"] == "passes"


def test_a_script_does_not_import_what_lies_beside_it(tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text("raise RuntimeError('another torch')")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    case = {"text": "import torch; assert torch.ones(1) == 0", "error": "AssertionError"}
    assert script_alone(case, {}, lambda stage: None)["status"] == "fails"


def test_lines_of_the_compiler_are_seen():
    from torch._inductor import utils

    utils.ceildiv(5, 2)
    reached = set[str]()
    with watching(reached):
        utils.ceildiv(5, 2)
    assert {line.partition(":")[0] for line in reached} >= {"utils.py"} and len(reached) < sum(lines_of().values())
    of_all, of_files = shares(reached)
    assert 0 < of_all < of_files < 1


def test_what_reached_nothing_new_is_tried_less():
    taste, dice = Taste(tried={"torch.add": 8}), random.Random(0)
    drawn = Counter(taste.pick(dice, ["torch.add", "torch.mul"]) for _ in range(300))
    assert drawn["torch.mul"] > 4 * drawn["torch.add"] > 0


def test_a_finding_is_a_script_that_runs_with_torch_alone(tmp_path):
    place = write_finding(tmp_path, finding())
    text = (place / "script.py").read_text()
    assert len(text.splitlines()) <= 20 and "samesame" not in text
    run = subprocess.run([sys.executable, place / "script.py"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr  # nothing is wrong with neg: the script passes
    assert json.loads((place / "finding.json").read_text())["kind"] == "wrong value"
    assert "def test_aot_eager_wrong_value():" in (place / "test_regression.py").read_text()
    assert script(finding(), Program((), (), ("y",)))


OWN = """
import torch
class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 8)
    def forward(self, x):
        return torch.softmax(self.up(x) + 1, -1)
module = Module()
inputs = (torch.randn(3, 4),)
def fails(x):
    return x.reshape(7)
"""


def test_a_program_of_ones_own(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    target, inputs = f"{tmp_path / 'own.py'}:module", f"{tmp_path / 'own.py'}:inputs"
    found = fuzz_own(target, inputs, QUICK, twins=3)
    assert found.verdict == "compiled rightly" and found.twins == 3 and found.exit_code == 0
    with pytest.raises(SamesameError, match="does not run on"):
        fuzz_own(f"{tmp_path / 'own.py'}:fails", inputs, QUICK)


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["--backend", "nonesuch"], "there is no back end nonesuch; there are eager, aot_eager"),
        (["--generators", "poems=1"], "there is no generator poems; there are operators, statements"),
        (["--generators", "operators=many"], "the share of the generator operators is 'many'; give a number"),
        (["model.py:module"], "model.py:module needs inputs to run on; give --inputs file.py:name"),
        (["--list", "nowhere"], "nowhere holds no campaign; name the folder that was given as --out"),
        (["--replay", "nowhere"], "nowhere holds no finding; name a folder such as found/0001"),
    ],
)
def test_bad_input_is_one_sentence(options, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["fuzz", *options])
    assert result.exit_code == 2 and sentence in " ".join(result.output.split()), result.output
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_a_back_end_that_is_not_installed_says_what_to_do(tmp_path):
    from samesame.fuzz.backends import BACKENDS

    missing = next((name for name, backend in BACKENDS.items() if backend.missing()), None)
    if missing is None:
        pytest.skip("every back end is installed")
    with pytest.raises(SamesameError, match=f"the back end {missing} cannot run here: .* pip install"):
        fuzz(tmp_path / "found", Settings(backends=(missing,)))
