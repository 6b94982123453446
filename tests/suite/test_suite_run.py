"""A suite asks what has changed and nothing else, whatever a program does to its process, and says what is not as
expected."""

from __future__ import annotations

import json
import os
import re

import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

from report.pages import sound
from samesame.cli import app
from samesame.report.answers import FAILS, HOLDS, OPEN, UNUSABLE, unusable
from samesame.report.html.beside import folder_beside
from samesame.store import Store
from samesame.suite import asking, verb
from samesame.suite.entries import Entry
from samesame.suite.page import write_suite
from samesame.suite.table import command, dumps, text
from samesame.suite.verb import suite
from samesame.work import reads
from samesame.work.crew import Crew

PAIR = """
import torch
from helper import twice

def left(x):
    return twice(x) * 0.5

def right(x):
    return x * 1.0

def other(x):
    return x * 1.5

def named(x):
    import os
    return x * float(os.environ.get("FACTOR", "1"))

def written(x):
    with open("factor.txt") as file:
        return x * float(file.read())

def optional(x):
    try:
        import faster
    except ImportError:
        return x * 1.0
    return faster.run(x)

def helped(x):
    import subprocess
    subprocess.run(["true"])
    return x * 1.0

inputs = (torch.linspace(-1, 1, 6).reshape(2, 3),)
"""


def entry(right, **more):
    lines = ["[[check]]", f'name = "{right}"', 'left = "pair.py:right"',
             f'right = "{right if ":" in right else "pair.py:" + right}"',
             'inputs = "pair.py:inputs"', *(f"{key} = {json.dumps(value)}" for key, value in more.items())]
    return "\n".join(lines) + "\n\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "pair.py").write_text(PAIR)
    (tmp_path / "helper.py").write_text("def twice(x):\n    return x + x\n")
    (tmp_path / "factor.txt").write_text("1")
    factor(tmp_path, 1.0)
    touch(tmp_path / "stored.py", "from safetensors.torch import load_file\n"
          "FACTOR = load_file('factor.safetensors')['factor']\ndef right(x):\n    return x * FACTOR\n")
    monkeypatch.chdir(tmp_path)
    os.utime(tmp_path / "pair.py", (0, 0))
    os.utime(tmp_path / "helper.py", (0, 0))
    os.utime(tmp_path / "factor.txt", (0, 0))
    return tmp_path


@pytest.fixture
def ask(folder, request):
    """Run these entries with a store of their own: the suite, and by name what was unchanged."""
    store = Store.open(folder / "rules.db", prover="p", semantics="s")
    request.addfinalizer(store.close)

    def run(*entries, **options):
        for name in ("digest", "_names", "_importable", "_is_found"):
            getattr(reads, name).cache_clear()                      # another process would begin without them
        (folder / "suite.toml").write_text("".join(entries))
        found = suite(folder / "suite.toml", **{"store": store, **options})
        return found, {row.entry.name: row.unchanged for row in found.rows}

    return run


def factor(folder, number):
    save_file({"factor": torch.tensor(number)}, folder / "factor.safetensors")
    os.utime(folder / "factor.safetensors", (0, 0))


def touch(file, text):
    file.write_text(text)
    os.utime(file, (1, 1))                                          # long before the next run


def test_each_answer_is_judged_by_what_is_expected(ask, folder):
    (folder / "crash.py").write_text("import ctypes\nctypes.string_at(0)\n")
    found, _ = ask(entry("left"), entry("other"), entry("crash.py:f"), entry("none"),
                   entry("written", at_least="proved for all sizes"), jobs=2)
    states = {row.entry.name: row.state for row in found.rows}
    assert states == {"left": HOLDS, "other": FAILS, "crash.py:f": UNUSABLE, "none": UNUSABLE, "written": HOLDS}
    assert found.exit_code == 1 and [row.entry.name for row in found.rows] == [*states]
    report = text(found)
    assert "other   different, expected same   " in report and "pair.py:12   return x * 1.5" in report
    assert "the process crashed (SIGSEGV) while a program" in report and "pair.py has no none" in report
    assert "samesame check pair.py:right pair.py:other --inputs pair.py:inputs" in report
    assert json.loads(dumps(found))["counts"] == {HOLDS: 2, FAILS: 1, UNUSABLE: 2}
    by_name = {answer.name: answer for answer in found.answers}
    assert [f.rule.id for f in by_name["other"].findings] == ["different-numbers"] and not by_name["left"].findings
    place = by_name["other"].findings[0].places[0]
    assert (place.file, place.line) == (str(found.path.parent / "pair.py"), 12)


@pytest.mark.long
def test_what_was_expected_to_differ_and_does_not_is_a_finding_at_its_entry(ask):
    found, _ = ask(entry("other", expect="different"), entry("left", expect="different"))
    assert [row.state for row in found.rows] == [HOLDS, FAILS]
    (finding,) = found.answers[1].findings
    assert (finding.rule.id, finding.places[0].line) == ("unexpected", 8)


def test_an_unchanged_entry_is_free(ask, folder, monkeypatch):
    both = entry("left"), entry("other", expect="different")
    assert not any(ask(*both)[1].values())
    monkeypatch.setattr(Crew, "_staff", lambda crew: pytest.fail("asked"))
    found, unchanged = ask(*both)
    assert all(unchanged.values()) and found.exit_code == 0 and "(2 of them unchanged)" in text(found)


@pytest.mark.parametrize("right, change, then", [
    ("left", lambda folder: touch(folder / "helper.py", "def twice(x):\n    return x * 3\n"), "different"),
    ("written", lambda folder: touch(folder / "factor.txt", "2"), "different"),
    ("stored.py:right", lambda folder: factor(folder, 2.0), "different"),
    ("named", lambda folder: os.environ.update(FACTOR="2"), "different"),
    ("optional", lambda folder: touch(folder / "faster.py", "def run(x):\n    return x * 3\n"), "different"),
    ("left", lambda folder: touch(folder / "torch.py", "raise ImportError"), "unusable"),
], ids=["a module it imports", "a file it opens", "a file that Rust opens", "a variable it looks up",
        "a module it found missing", "a file in front of a library"])
def test_a_change_of_what_it_read_is_seen(ask, folder, monkeypatch, right, change, then):
    monkeypatch.setenv("FACTOR", "1")
    assert [row.state for row in ask(entry(right))[0].rows] == [HOLDS]
    assert ask(entry(right))[1] == {right: True}
    change(folder)
    assert ask(entry(right))[1] == {right: False}, f"then {then}"


@pytest.mark.long
def test_what_does_not_matter_is_no_change(ask, folder):
    assert ask(entry("left"))[1] == {"left": False}
    touch(folder / "beside.py", "x = 1")
    touch(folder / "factor.txt", "2")
    assert ask(entry("left", at_least="tested", expect="same"))[1] == {"left": True}
    assert ask(entry("left", seed=1))[1] == {"left": False}


def test_a_file_that_is_named_is_among_what_was_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reads, "_modules", list)                    # whose files would all be read
    named = tmp_path / "factor.txt"
    named.write_text("1")
    left = Entry("check", "left", {"left": "a.py:left", "right": "a.py:right"}, "same", "", 1.0, (str(named),), 1)
    told = asking.told(left, reads.Reads(0.0, {}), lambda: asking.Asked(unusable("check", "left", "there is none")))
    assert [*told["reads"]["files"]] == [str(named)]


@pytest.mark.long
def test_a_file_that_is_named_counts(ask, folder):
    assert ask(entry("left", reads=["factor.txt"]))[1] == {"left": False}
    assert ask(entry("left", reads=["factor.txt"]))[1] == {"left": True}
    touch(folder / "factor.txt", "2")
    assert ask(entry("left", reads=["factor.txt"]))[1] == {"left": False}


@pytest.mark.long
def test_a_target_that_is_a_file_counts_whoever_opens_it(ask, folder):
    torch.jit.script(torch.nn.Linear(3, 3)).save(folder / "linear.pt")
    os.utime(folder / "linear.pt", (0, 0))
    pair = '[[check]]\nname = "itself"\nleft = "linear.pt"\nright = "linear.pt"\ninputs = "pair.py:inputs"\n'
    assert ask(pair)[1] == {"itself": False}
    assert ask(pair)[1] == {"itself": True}
    torch.jit.script(torch.nn.Linear(3, 3)).save(folder / "linear.pt")
    os.utime(folder / "linear.pt", (0, 0))
    assert ask(pair)[1] == {"itself": False}


def test_what_cannot_be_known_is_asked_again_and_said(ask):
    found, _ = ask(entry("helped"))
    assert "helped: it started another process" in text(found)
    assert ask(entry("helped"))[1] == {"helped": False}


def test_what_is_undecided_is_not_kept_but_in_the_record(ask, folder, monkeypatch):
    record = folder / "record.jsonl"
    ask(entry("none"), resume=record)
    assert ask(entry("none"))[1] == {"none": False}
    with record.open("a") as file:
        file.write('["cut sho')
    found, unchanged = ask(entry("none"), resume=record, store=None)
    assert unchanged == {"none": True} and found.rows[0].state == UNUSABLE


def test_ctrl_c_keeps_what_is_done(ask, folder):
    def interrupt(progress):
        if progress.done:
            raise KeyboardInterrupt

    record = folder / "record.jsonl"
    found, _ = ask(entry("left"), entry("named"), resume=record, store=None, progress=interrupt)
    assert found.interrupted and found.exit_code == 3 and "1 not reached" in text(found)
    assert found.goes_on == f"1 of 2 entries are done and kept in {record}; the same command goes on from there"
    found, unchanged = ask(entry("left"), entry("named"), resume=folder / "record.jsonl", store=None)
    assert unchanged == {"left": True, "named": False} and found.exit_code == 0


def test_an_entry_that_hangs_is_ended(ask, folder, monkeypatch):
    touch(folder / "hangs.py", "import time\ntime.sleep(60)\n")
    monkeypatch.setattr("samesame.suite.asking.GRACE", 0.5)
    found, _ = ask(entry("hangs.py:f", timeout=0.1))
    assert "it was ended after 1 s" in text(found) and found.exit_code == 2


def test_options_are_those_of_the_command_line(folder):
    (folder / "suite.toml").write_text(
        '[[check]]\nfile = "pair.py"\nignore = ["dtype", "shape"]\n\n[[refine]]\njob = "job.py"\nworld_size = 4\n'
        'train = true\n\n[[lift]]\ntarget = "k.py:launch"\nagainst = "k.py:ref"\nassume = ["N > 1"]\n')
    commands = [command(found) for found in verb.read_suite(folder / "suite.toml")]
    assert commands == [
        "samesame check pair.py:left pair.py:right --inputs pair.py:inputs --ignore dtype,shape",
        "samesame refine job.py --world-size 4 --train",
        "samesame lift k.py:launch --against k.py:ref --assume 'N > 1'",
    ]


def test_the_command_writes_its_files_and_exits_by_the_suite(folder):
    (folder / "suite.toml").write_text(entry("left") + entry("other"))
    words = "suite suite.toml --store - -j 1 --junit j.xml --sarif s.sarif --html s.html --only oth"
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 1 and "suite.toml: 1 entry: 0 as expected, 1 not" in result.output
    assert 'file="pair.py" line="12"' in (folder / "j.xml").read_text()
    assert json.loads((folder / "s.sarif").read_text())["runs"][0]["results"]
    assert "different, expected same" in (folder / "s.html").read_text()


def drawn(folder):
    """By entry, the page that the suite's page leads to, which says what the suite says."""
    links = re.findall('href="(s_files/(.*?)-[0-9a-f]+.html)"', (folder / "s.html").read_text())
    return {name: sound((folder / link).read_text()) for link, name in links}


def test_each_entry_leads_to_its_report_as_its_verb_draws_it(ask, folder):
    def pages(*entries):
        found, unchanged = ask(*entries, pages=folder_beside(folder / "s.html"))
        write_suite(found, folder / "s.html")
        return drawn(folder), unchanged

    both = entry("left"), entry("other", expect="different")
    first, _ = pages(*both)
    assert [*first] == ["left", "other"] and "same every output proved" in first["left"].said
    assert "both programs, side by side" in first["other"].said and "return x * 1.5" in first["other"].said
    again, unchanged = pages(*both)
    assert all(unchanged.values()) and [page.said for page in again.values()] == [page.said for page in first.values()]
    touch(folder / "pair.py", PAIR.replace("x * 1.5", "x * 1.0"))
    asked, _ = ask(*both)
    write_suite(asked, folder / "s.html")
    assert not drawn(folder), "an answer that was not drawn does not lead to the page of another"


def test_a_suite_is_pasted_with_a_row_for_each_entry(folder):
    (folder / "suite.toml").write_text(entry("left") + entry("other"))
    words = "suite suite.toml --store - -j 1 --format github"
    shown = CliRunner().invoke(app, words.split()).output
    first, *rows = shown.splitlines()
    assert first.startswith("❌ **suite.toml: 2 entries: 1 as expected, 1 not** ")
    assert [row[:13] for row in rows if row.startswith("| ")][1:] == ["| ✅ | left | ", "| ❌ | other | "[:13]]
    assert "  - `pair.py:12` `return x * 1.5`" in rows and shown.count("<details>") == 2


def test_exit_codes(ask):
    found, _ = ask(entry("left"))
    row = found.rows[0]
    for state, code in ((HOLDS, 0), (FAILS, 1), (UNUSABLE, 2), (OPEN, 3)):
        found.rows = [verb.Row(row.entry, row.answer, state)]
        assert found.exit_code == code
    found.rows = []
    assert found.exit_code == 3
