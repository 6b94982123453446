"""The command line says what it found, and never says `same` by accident."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from importlib.resources import files
from types import ModuleType

import jsonschema
import pytest

import verdicts
from samesame import cli
from samesame.evidence import Refused

PAIR = """
import torch

print("the program of the user prints this")


def left(x):
    return (x + x) * 0.5


def right(x):
    return x * 1.0


inputs = (torch.linspace(-1, 1, 6).reshape(2, 3),)
"""


NORMS = """
import torch


def left(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def right(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


inputs = (torch.linspace(-1, 1, 6).reshape(2, 3),)
"""

SCHEMA = json.loads(files("samesame.report").joinpath("check.schema.json").read_text())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "pair.py").write_text(PAIR)
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    (tmp_path / "syntax.py").write_text("def left(:\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "part.py").write_text("def left(x):\n    return x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def samesame(folder, monkeypatch, capsys):
    """Run the command in this process: (exit code, stdout, stderr)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["samesame", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def answers(monkeypatch):
    """Put a function that gives, or raises, an answer in the place of `check`; returns what it was called with."""

    def put(answer) -> dict:
        calls: dict = {}

        def check(left, right, inputs, **options):
            calls.update(options, left=left, right=right, inputs=inputs)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        stand_in = ModuleType("samesame.check")
        stand_in.check = check
        monkeypatch.setitem(sys.modules, "samesame.check", stand_in)
        return calls

    return put


def one_sentence(err: str) -> str:
    lines = err.strip().splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("samesame: ")
    return lines[0]


# ---------------------------------------------------------------------------------------------------------- the verdict


@pytest.mark.parametrize("make, code", [(verdicts.same, 0), (verdicts.different, 1), (verdicts.undecided, 3)])
def test_the_exit_code_is_the_verdict(samesame, answers, make, code):
    answers(make())
    found, out, _ = samesame("check", "pair.py")
    assert found == code
    assert out.startswith(f"{make().verdict}   ")


def test_a_file_of_its_own_defines_the_pair(samesame, answers):
    calls = answers(verdicts.same())
    _, out, err = samesame("check", "pair.py", "--seed", "7", "--timeout", "9", "--how", "export")
    assert (calls["left"].__name__, calls["right"].__name__) == ("left", "right")
    assert calls["inputs"][0].shape == (2, 3)
    assert (calls["seed"], calls["timeout"], calls["how"]) == (7, 9.0, "export")
    assert "left   pair.py:left" in out
    assert "the program of the user prints this" in err
    assert "the program of the user prints this" not in out


def test_both_programs_can_be_named(samesame, answers):
    calls = answers(verdicts.same())
    assert samesame("check", "pair.py:right", "part.py:left", "--inputs", "pair.py:inputs")[0] == 0
    assert (calls["left"].__name__, calls["right"].__name__) == ("right", "left")


def test_json_on_stdout_is_all_there_is(samesame, answers):
    answers(verdicts.different())
    code, out, _ = samesame("check", "pair.py", "--json", "-")
    assert code == 1
    assert json.loads(out)["verdict"] == "different"
    assert json.loads(out)["left"] == "pair.py:left"


def test_json_in_a_file_comes_beside_the_report(samesame, answers, folder):
    answers(verdicts.same())
    code, out, _ = samesame("check", "pair.py", "--json", "out.json")
    assert code == 0
    assert out.startswith("same   ")
    assert json.loads((folder / "out.json").read_text())["verdict"] == "same"


def test_quiet_is_one_line_and_verbose_is_every_relation(samesame, answers):
    answers(verdicts.same(8))
    quiet, brief, full = (samesame("check", "pair.py", *flag)[1] for flag in (["--quiet"], [], ["--verbose"]))
    assert len(quiet.splitlines()) == 1
    assert "einsum_5" not in brief
    assert "einsum_5" in full


def test_an_epsilon_is_found_and_mended(samesame, folder):
    (folder / "norms.py").write_text(NORMS)
    code, report, _ = samesame("check", "norms.py", "--json", "out.json")
    document = json.loads((folder / "out.json").read_text())
    jsonschema.validate(document, SCHEMA)
    assert (code, document["verdict"], document["evidence"]) == (1, "different", "refuted")
    places = [document["divergence"][side]["origin"] for side in ("left", "right")]
    assert [place["line"] for place in places] == [6, 10]
    assert "1e-5" in places[1]["code"]
    edits = [(edit["site"]["side"], edit["edit"]) for edit in document["diagnosis"]]
    assert any(side == "right" and "1e-05" in edit and "1e-06" in edit for side, edit in edits)
    assert "They agree again if" in report


def test_a_program_that_fails_is_not_called_a_defect_of_samesame(samesame, folder):
    (folder / "pair.py").write_text(PAIR.replace("x * 1.0", "x @ x"))
    code, out, err = samesame("check", "pair.py")
    assert (code, out) == (2, "")
    assert "pair.py:12" in one_sentence(err.replace("the program of the user prints this\n", ""))
    assert "defect" not in err


# --------------------------------------------------------------------------------- what cannot be checked is no verdict


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["no_such.py"], "no_such.py"),
        (["broken.py"], "broken.py"),
        (["syntax.py"], "syntax.py"),
        (["part.py"], "right"),
        (["pair.py:left"], "pair.py:left"),
        (["pair.py:left", "pair.py:absent", "--inputs", "pair.py:inputs"], "absent"),
        (["pair.py:left", "no_such_package:f", "--inputs", "pair.py:inputs"], "no_such_package"),
        (["pair.py:left", "no_such.json", "--inputs", "pair.py:inputs"], "no_such.json"),
        (["pair.py:left", "pair.py:right"], "--inputs"),
        (["pair.py:left", "pair.py:right", "--inputs", "pair.py:absent"], "absent"),
        (["pair.py", "--json", "no/folder/x.json"], "no/folder/x.json"),
        (["pair.py", "--json", "."], "folder"),
        (["leaves.py"], "sys.exit"),
    ],
)
def test_unusable_input_is_one_sentence_that_names_it(samesame, answers, arguments, named):
    calls = answers(verdicts.same())
    code, out, err = samesame("check", *arguments)
    assert code == 2
    assert out == ""
    said = [line for line in err.splitlines() if "the program of the user" not in line]
    assert named in one_sentence("\n".join(said))
    assert not calls


@pytest.mark.parametrize("words, said", [
    ("check", "missing argument 'LEFT'; `samesame check --help` shows how it is called"),
    ("check pair.py --bogus", "no such option: --bogus"),
    ("check pair.py --seed x", "invalid value for '--seed': "),
    ("check pair.py --timeout 0", "invalid value for --timeout: give a number above 0; `samesame check -"),
    ("check pair.py --timeout nan", "give a number above 0"),
    ("check pair.py --how guess", "invalid value for '--how': 'guess' is not one of 'record', 'export'; `samesame"),
    ("prove pair.py", "no such command 'prove'; `samesame --help` shows how it is called"),
    ("rules list more", "; `samesame rules list --help` shows how it is called"),
])
def test_wrong_usage_exits_with_2_and_one_sentence(samesame, words, said):
    code, out, err = samesame(*words.split())
    assert (code, out) == (2, "")
    assert said in one_sentence(err)


@pytest.mark.parametrize(
    "failure, code, said",
    [
        (Refused("model.py:3 calls .item(); pass the value as an argument"), 2, "model.py:3 calls .item()"),
        (MemoryError(), 2, "not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), 2, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (SystemExit(0), 2, "sys.exit(0)"),
        (KeyError("x"), 2, "not a verdict: KeyError"),
        (RecursionError("deep\nand deeper"), 2, "not a verdict: RecursionError: deep"),
    ],
)
def test_no_failure_looks_like_a_verdict(samesame, answers, folder, failure, code, said):
    answers(failure)
    found, out, err = samesame("check", "pair.py", "--json", "out.json")
    assert found == code
    assert out == ""
    assert said in one_sentence(err.replace("the program of the user prints this\n", ""))
    assert not (folder / "out.json").exists()


def test_verbose_shows_the_traceback_of_a_defect_only(samesame, answers):
    answers(KeyError("x"))
    assert "Traceback" in samesame("check", "pair.py", "--verbose")[2]
    answers(Refused("no"))
    assert "Traceback" not in samesame("check", "pair.py", "--verbose")[2]


# --------------------------------------------------------------------------------------------------------------- graphs


def test_a_saved_graph_is_a_target(samesame, folder):
    code, shown, _ = samesame("graph", "pair.py:left")
    assert code == 0
    assert "aten.mul" in shown
    assert samesame("graph", "pair.py:left", "--inputs", "pair.py:inputs", "--save", "left.json.gz")[:2] == (0, "")
    code, again, _ = samesame("graph", "left.json.gz")
    assert code == 0
    assert again.splitlines()[1:] == shown.splitlines()[1:]


def test_a_graph_that_cannot_be_saved_is_not_captured(samesame):
    code, out, err = samesame("graph", "pair.py:left", "--save", "no/folder/x.json")
    assert (code, out) == (2, "")
    assert "no/folder/x.json" in one_sentence(err)


# --------------------------------------------------------------------------------------------------- the process itself


def process(*arguments: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "samesame", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, preexec_fn=hear_interrupts, **pipes, **options)


def hear_interrupts() -> None:
    """A shell lets its background jobs ignore Ctrl-C, and they hand that on to what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_help_loads_no_torch():
    code = "import sys, samesame.cli; sys.exit('torch' in sys.modules or 'samesame.check' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    before = os.times()
    out, _ = process("--help").communicate()
    assert "check" in out and "graph" in out
    assert os.times().children_user - before.children_user < 2, "processor seconds: a busy machine is not slow"


def test_version_is_said():
    out, _ = process("--version").communicate()
    assert out.startswith("samesame")


def test_a_terminal_of_ascii_gets_a_report_too(folder):
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    running = process("check", "pair.py", env=env)
    out, err = running.communicate()
    assert running.returncode == 0, err
    assert out.startswith("same   ")


def test_a_reader_that_leaves_changes_no_exit_code(folder):
    running = process("check", "pair.py")
    running.stdout.close()
    assert running.wait() == 0
    assert "Error" not in running.stderr.read()


def test_a_full_disk_is_no_verdict(folder):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "samesame", "check", "pair.py"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "cannot write to standard output" in done.stderr


def test_ctrl_c_exits_with_130(folder):
    (folder / "slow.py").write_text(
        "import sys, time\nprint('ready', file=sys.stderr, flush=True)\ntime.sleep(60)\n"
    )
    running = process("check", "slow.py")
    assert "ready" in running.stderr.readline()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=20)
    assert running.returncode == 130
    assert one_sentence(err) == "samesame: interrupted"


def test_a_page_is_written_beside_the_report(samesame, folder):
    code, out, _ = samesame("check", "pair.py", "--html", "report.html")
    page = (folder / "report.html").read_text()
    assert code == 0 and out.startswith("same") and page.startswith("<!DOCTYPE html>") and "<math" in page


def test_a_page_of_several_programs_has_each_pair(samesame, folder):
    with (folder / "pair.py").open("a") as file:
        file.write("\nthird = left\n")
    targets = ("pair.py:left", "pair.py:right", "pair.py:third")
    code, out, _ = samesame("check", *targets, "--inputs", "pair.py:inputs", "--html", "report.html")
    page = (folder / "report.html").read_text()
    assert code == 0 and out.startswith("all of them are the same") and page.count('id="pair-') > 3


def test_pairs_of_several_programs_are_compared_at_the_same_time(samesame, folder):
    with (folder / "pair.py").open("a") as file:
        file.write("\nthird = left\n")
    targets = ("pair.py:left", "pair.py:right", "pair.py:third", "--inputs", "pair.py:inputs", "--store", "-")
    one, many = (samesame("check", *targets, "--html", f"{jobs}.html", "-j", jobs) for jobs in ("1", "2"))
    seconds = re.compile(r"\d\.\d s.*|\d\.\d( s)?</.*")
    assert many[0] == one[0] == 0 and seconds.sub("", many[1]) == seconds.sub("", one[1])
    pages = [(folder / f"{jobs}.html").read_text() for jobs in (1, 2)]
    assert [page.count("<math") for page in pages] == [pages[0].count("<math")] * 2 and "<math" in pages[0]


def test_a_ctrl_c_leaves_the_pairs_that_were_not_decided_open(folder, monkeypatch):
    from samesame.several import compare_targets

    def interrupt(progress):
        if progress.done == at:
            raise KeyboardInterrupt

    monkeypatch.chdir(folder)
    with (folder / "pair.py").open("a") as file:
        file.write("\nthird = left\n")
    settings = {"seed": 0, "timeout": None, "picture": False}
    for at in 1, 0:
        ask = partial(compare_targets, ["pair.py:left", "pair.py:right", "pair.py:third"], "pair.py:inputs", settings,
                      jobs=1, progress=interrupt)
        if at:
            verdicts, _, interrupted = ask()
            assert interrupted and [verdict.verdict for verdict in verdicts] == ["same", "undecided", "undecided"]
            assert "Stopped by Ctrl-C" in verdicts[1].notes[0] and verdicts[1].right == "pair.py:third"
        else:
            with pytest.raises(KeyboardInterrupt):
                ask()


@pytest.mark.parametrize("given, said", [
    (["pair.py", "--jobs", "2"], "--jobs is of several programs; two are compared in one process"),
    (["pair.py:left", "pair.py:right", "pair.py:no", "--jobs", "2", "--inputs", "pair.py:inputs"], "pair.py has no no"),
    (["pair.py:left", "pair.py:right", "pair.py:ends", "--jobs", "2", "--inputs", "pair.py:inputs"], "a program ended"),
    (["pair.py:left", "pair.py:right", "pair.py:left", "--inputs", "pair.py:inputs"], "pair.py:left is given twice"),
])
def test_pairs_that_cannot_be_compared_at_the_same_time_are_one_sentence(samesame, folder, given, said):
    with (folder / "pair.py").open("a") as file:
        file.write("\ndef ends():\n    getattr(__import__('os'), '_e' + 'xit')(4)\n")
    code, out, err = samesame("check", *given)
    assert code == 2 and not out and said in one_sentence(err)


@pytest.mark.parametrize("given, said", [
    (["pair.py", "--html", "-"], "give a file name in place of -"),
    (["pair.py", "--html", "missing/page.html"], "there is no folder"),
])
def test_a_page_that_cannot_be_is_refused_before_any_work(samesame, given, said):
    code, out, err = samesame("check", *given)
    assert code == 2 and said in err and not out
