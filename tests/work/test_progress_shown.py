"""Progress in a log: a line now and then, which says what, how far, how long yet, and where it hangs."""

import os
import re
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

import samesame
from samesame.budget import DOING
from samesame.cli import app, progress
from samesame.cli.progress import Log, progress_of, terminated_gently
from samesame.work.progress import Progress

SOURCE = Path(samesame.__file__).parent


@pytest.fixture(autouse=True)
def every_half_minute(no_heartbeat, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 30.0)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def log():
    clock, said = Clock(), []
    found = Log(said.append, clock)
    found.clock, found.said_lines = clock, said
    return found


def test_a_run_says_its_stage_its_place_and_how_long_it_has_been_there(log):
    log.stage("capture")
    log.clock.now = 29.0
    log.show()
    assert not log.said_lines
    log.clock.now = 31.0
    log.show()
    log.stage("prove")
    for done in range(11):
        log.clock.now = 31.0 + done
        log.advance(done, 40, f"layers.{done}")
    log.clock.now = 81.0
    log.show()
    log.show()
    assert log.said_lines == [
        "samesame: capturing the programs for 31 s",
        "samesame: relating their tensors: 10 of 40 operators after 50 s; about 2 min 30 s to go; under way: layers.10 "
        "(40 s)",
    ]


def test_a_run_with_a_limit_says_how_long_yet_in_every_stage():
    clock, said = Clock(), []
    log = Log(said.append, clock, limit=100.0)
    log.stage("capture")
    clock.now = 31.0
    log.show()
    log.stage("prove")
    log.advance(0, 40, "layers.0")
    clock.now = 62.0
    log.advance(4, 40, "layers.4")
    log.stage("race")
    clock.now = 93.0
    log.show()
    assert said == [
        "samesame: capturing the programs for 31 s; at most 1 min 9 s to go",
        "samesame: relating their tensors: 4 of 40 operators after 31 s; about 38 s to go; under way: layers.4",
        "samesame: trying and timing what was found for 31 s; at most 7 s to go",
    ]


def test_every_stage_has_words():
    """A log says what is done, and not what we call it."""
    found = re.findall(r'\.during\("(\w+)"\)', "".join(file.read_text() for file in SOURCE.rglob("*.py")))
    assert {"capture", "race"} <= set(found) <= set(DOING)


def test_a_crew_says_its_tasks(log):
    far = Progress("probes", 4, clock=log.clock)
    for log.clock.now in range(0, 65, 5):
        far.done, far.under_way = int(log.clock.now // 20), [("hidden_act", log.clock.now % 20 + 1)]
        log.far(far)
    assert log.said_lines == [
        "samesame: 1 of 4 probes after 30 s; about 1 min 30 s to go; under way: hidden_act",
        "samesame: 3 of 4 probes after 1 min; about 20 s to go; under way: hidden_act",
    ]


def test_a_campaign_ends_with_its_time(log):
    far = Progress("programs", 0, note="90 % valid, findings: none", limit=600.0, clock=log.clock)
    log.clock.now, far.done = 60.0, 31
    log.far(far)
    assert log.said_lines == [
        "samesame: 31 programs after 1 min; about 9 min to go; 90 % valid, findings: none"]


def test_a_command_without_a_terminal_says_that_it_lives(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    pair = "import torch\nleft = right = torch.nn.Linear(2, 2)\ninputs = (torch.ones(3, 2),)\n"
    (tmp_path / "pair.py").write_text(pair)
    found = CliRunner().invoke(app, ["check", str(tmp_path / "pair.py"), "--store", "-"])
    assert found.exit_code == 0 and "samesame: capturing the programs for 0 s" in found.stderr.splitlines()
    quiet = CliRunner().invoke(app, ["check", str(tmp_path / "pair.py"), "--store", "-", "--quiet"])
    assert not quiet.stderr


def test_sigterm_is_heard_as_ctrl_c_is():
    with progress_of(quiet=True) as shown, pytest.raises(KeyboardInterrupt), terminated_gently():
        os.kill(os.getpid(), signal.SIGTERM)
    assert shown is None and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
