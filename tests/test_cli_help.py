"""Each verb's help shows how it is called and what its exit codes mean, and shells complete verbs and options."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from samesame.cli import app

COMMANDS = get_command(app).commands
VERBS = sorted([*COMMANDS, *(f"rules {name}" for name in COMMANDS["rules"].commands)])


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example_and_the_exit_codes(verb):
    shown = CliRunner().invoke(app, [*verb.split(), "--help"], env={"COLUMNS": "120", "NO_COLOR": "1"}).output
    examples = [line.strip() for line in shown.splitlines() if f"{line.strip()} ".startswith(f"samesame {verb} ")]
    assert examples or f"&& samesame {verb} " in shown
    assert "Exit codes: 0 " in shown
    for example in examples:
        for word in filter(lambda word: word.startswith("--"), example.split()):
            assert f" {word} " in shown.replace(example, "") or verb == "rules", f"{word} is no option of {verb}"


def test_rules_are_forgotten_only_where_that_is_confirmed(tmp_path):
    words = ["rules", "clear", "--store", str(tmp_path / "rules.db")]
    for answer, said in ("n\n", "nothing is forgotten"), ("", "interrupted"):
        ran = CliRunner().invoke(app, words, input=answer)
        assert ran.exit_code == 130 and f"samesame: {said}" in ran.output
    assert CliRunner().invoke(app, words, input="y\n").exit_code == 0


@pytest.mark.parametrize("shell, given, found", [
    ("bash", {"COMP_WORDS": "samesame su", "COMP_CWORD": "1"}, "suite"),
    ("zsh", {"_TYPER_COMPLETE_ARGS": "samesame check --js"}, "--json"),
    ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": "samesame check --format "}, "github"),
])
def test_shells_complete(shell, given, found):
    environment = {**os.environ, **given, "_SAMESAME_COMPLETE": f"complete_{shell}"}
    ran = subprocess.run([sys.executable, "-m", "samesame"], env=environment, capture_output=True, text=True)
    assert found in ran.stdout and "torch" not in ran.stderr, ran.stderr
