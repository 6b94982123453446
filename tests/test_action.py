"""The action for CI calls `samesame suite` with options that it has, ends as it ends, and hands on what it wrote."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from samesame.cli import app

yaml = pytest.importorskip("yaml")
ACTION = yaml.safe_load((Path(__file__).parent.parent / "action.yml").read_text())
STEPS = {step.get("id") or step["name"]: step for step in ACTION["runs"]["steps"]}


def test_every_input_is_used_and_described():
    steps = str(ACTION["runs"])
    assert ACTION["runs"]["using"] == "composite"
    for name, given in ACTION["inputs"].items():
        assert given["description"] and "default" in given and f"inputs.{name}" in steps, name
    assert all("shell" in step for step in STEPS.values() if "run" in step)
    assert not any("${{" in step.get("run", "") for step in STEPS.values()), "an input in a script could be a command"


@pytest.mark.parametrize("code, writes", [(0, True), (1, True), (2, False)])
def test_the_step_ends_as_the_suite_does(tmp_path, code, writes):
    options = {option for parameter in get_command(app).commands["suite"].params for option in parameter.opts}
    script = tmp_path / "samesame"
    script.write_text(f'#!/bin/bash\necho "$@" > {tmp_path}/called\n'
                      + ('while [ "$1" != --sarif ]; do shift; done; echo {} > "$2"\n' if writes else "")
                      + f"exit {code}\n")
    script.chmod(0o755)
    given = {"SUITE": "a suite.toml", "JOBS": "2", "ARGUMENTS": "--only norm --anew",
             "GITHUB_OUTPUT": f"{tmp_path}/out",
             "SAMESAME_STORE": f"{tmp_path}/store/rules.sqlite", "REPORTS": f"{tmp_path}/reports"}
    environment = {**os.environ, **given, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(["bash", "-e", "-c", STEPS["suite"]["run"]], env=environment)
    assert ran.returncode == code
    said = dict(line.split("=") for line in (tmp_path / "out").read_text().splitlines())
    assert (said.get("written") == "true") is writes and said["sarif"].endswith("samesame.sarif")
    called = (tmp_path / "called").read_text().split()
    assert {word for word in called if word.startswith("--")} <= options and "--anew" in called
