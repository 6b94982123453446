"""Programs by people who know the documentation and not the code: no verdict on any of them may be false.

`corpus/` has them: pairs for `check` in one file a class, and batches of them in `pairs/`, with the truth in the first
line or in a folder each, with its command and what is expected; launches for `lift` in `kernels/`, jobs for `refine` in
`jobs/`. Each says what is true of it (`case.py`). The suite takes one of 192; all of them with the long tests.
"""

from __future__ import annotations

import importlib
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from promises.corpus.case import judge
from samesame.cli import app

CORPUS = Path(__file__).parent / "corpus"
CLASSES = ("sizes", "weights", "state", "hiding", "rounding", "formulas")
EVERY = 192
CASES = [(name, case) for name in CLASSES for case in importlib.import_module(f"promises.corpus.{name}").CASES]
HOLDS = ("verified", "refines")


def sampled(things, name):
    """One of so many as it is, the others among the long tests."""
    marks = [() if number % EVERY == 0 else (pytest.mark.long,) for number in range(len(things))]
    return [pytest.param(thing, id=name(thing), marks=mark) for thing, mark in zip(things, marks, strict=True)]


@pytest.mark.parametrize("case", sampled(CASES, lambda case: f"{case[0]}-{case[1].name}"))
def test_no_verdict_on_a_pair_is_false(case):
    outcome = judge(case[1], timeout=10.0)
    assert not outcome.false, f"{outcome.said}: {outcome.detail}"


@pytest.mark.parametrize("file", sampled(sorted((CORPUS / "pairs").glob("*.py")), lambda file: file.stem))
def test_no_verdict_on_a_pair_of_a_batch_is_false(file):
    truth = re.match(r"# (EQUAL|DIFFERENT)\b", file.read_text())
    assert truth is not None, "the file does not say what is true"
    result = CliRunner().invoke(app, ["check", str(file), "--quiet", "--timeout", "15"])
    assert result.exit_code != (1 if truth[1] == "EQUAL" else 0), result.output


@pytest.mark.parametrize("file", sampled(sorted((CORPUS / "pairs").glob("*/pair.json")), lambda file: file.parent.name))
def test_no_verdict_on_a_pair_in_files_of_its_own_is_false(file, monkeypatch):
    told = json.loads(file.read_text())
    monkeypatch.chdir(file.parent)
    result = CliRunner().invoke(app, [*shlex.split(told["command"])[1:], "--quiet", "--timeout", "15"])
    assert result.exit_code != (1 if told["expected"] == "same" else 0), result.output


@pytest.mark.parametrize("file", sampled(sorted((CORPUS / "kernels").glob("*.py")), lambda file: file.stem))
def test_no_verdict_on_a_kernel_is_false(file):
    own = re.findall(r"^(?:def )?(reference|inputs)\b", file.read_text(), re.M)
    options = {"reference": "--against", "inputs": "--inputs"}
    given = [word for name in dict.fromkeys(own) for word in (options[name], f"{file}:{name}")]
    require_true(["lift", f"{file}:launch", "--quiet", *given], file)


@pytest.mark.parametrize("file", sampled(sorted((CORPUS / "jobs").glob("*.py")), lambda file: file.stem))
def test_no_verdict_on_a_job_is_false(file):
    require_true(["refine", str(file), "--quiet", "--timeout", "15"], file)


def require_true(command: list[str], file: Path) -> None:
    """Exit code 0 where the truth is that it holds, 1 where it does not; 3 and 2 claim nothing."""
    truth = re.search(r'^TRUTH = "(.*)"', file.read_text(), re.M)
    assert truth is not None, "the file does not say what is true"
    result = CliRunner().invoke(app, command)
    assert result.exit_code != (1 if truth[1] in HOLDS else 0), result.output
