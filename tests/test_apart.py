"""No output of a run is one of its inputs, a program, weights, or another output: that is said before anything runs."""

import json

import pytest
from typer.testing import CliRunner

from samesame.cli import app

PROGRAM = "raise SystemExit('this program ran')\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model.py", "other.py", "helper.py", "job.py", "kernel.ttir", "package/part.py",
                 "ck/model.safetensors", "m.gguf", "waived.json", "case/relation.json", "rules.sqlite", "rules.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PROGRAM)
    (tmp_path / "ck" / "config.json").write_text(json.dumps({"model_type": "llama"}))
    (tmp_path / "graph.json").write_text("{}")
    (tmp_path / "suite.toml").write_text('[[check]]\nname = "a"\nleft = "model.py:f"\nright = "graph.json"\n')
    (tmp_path / "link.json").symlink_to(tmp_path / "waived.json")
    return tmp_path


def refused(folder, words):
    """The sentence with which a call is refused; no file is another one than before."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 2, result.output
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    return result.output


@pytest.mark.parametrize("words", [
    "check model.py --html model.py",
    "check model.py:f other.py:g --inputs model.py:inputs --json other.py",
    "check model.py:f package.part:g --sarif package/part.py",
    "check graph.json model.py:f --certificate ./graph.json",
    "check jax:model.py:f inductor:other.py:g --junit other.py",
    "check hf:ck gguf:m.gguf --json m.gguf",
    "check hf:ck?attn=eager hf:ck --json ck/config.json",
    "refine job.py --html job.py",
    "refine hf:ck --tp 2 --json ck/model.safetensors",
    "refine --case case/relation.json --json case/relation.json",
    "lift model.py:launch --against other.py:f --json other.py",
    "lift kernel.ttir model.py --json kernel.ttir",
    "sweep hf:ck vllm:ck --waive waived.json --resume waived.json",
    "sweep hf:ck vllm:ck --waive link.json --json waived.json",
    "suite suite.toml --resume suite.toml",
    "suite suite.toml --json graph.json",
    "optimize model.py:f --inputs other.py:inputs --html other.py",
    "fuzz model.py:f --store model.py",
    "graph graph.json --save graph.json",
    "graph hf:ck --save ck/model.json",
    "rules import rules.jsonl --store rules.jsonl",
])
def test_no_output_is_an_input(folder, words):
    assert "which this run reads; give another file" in refused(folder, words)


@pytest.mark.parametrize("words", [
    "check model.py --json helper.py", "rules export helper.py", "graph model.py:f --save ck/model.json",
])
def test_programs_and_weights_are_never_written_over(folder, words):
    assert "which may be a program or weights; give another file" in refused(folder, words)


@pytest.mark.parametrize("words", [
    "check model.py --json new.txt --html ./new.txt", "suite suite.toml --resume out --junit out",
    "optimize model.py:f --out fast --html fast", "check model.py --sarif link.json --junit waived.json",
    "rules export rules.sqlite --store rules.sqlite",
])
def test_two_outputs_are_two_files(folder, words):
    assert "are both to be written to" in refused(folder, words)


def test_a_report_of_an_earlier_run_is_written_over(folder):
    (folder / "report.html").write_text("old")
    (folder / "ids.py").write_text("def left(x):\n    return x\n\n\nright = left\n\n\n"
                                   "def inputs():\n    import torch\n\n    return (torch.ones(3),)\n")
    words = "check ids.py --html report.html --json /dev/null --junit /dev/null"
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 0, result.output
    assert (folder / "report.html").read_text() != "old"
    words = "graph ids.py:left --inputs ids.py:inputs --save g.json"
    saved = [CliRunner().invoke(app, words.split()) for _ in range(2)]
    assert [one.exit_code for one in saved] == [0, 0], saved[1].output
