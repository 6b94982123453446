"""A run ends when its time is over or when it is interrupted, says so, and keeps what it has established."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest
import torch
import z3

from samesame.budget import TIME, TOLERANCE, Deadline, Run, Stopped, undisturbed
from samesame.check import check
from samesame.evidence import Rung
from samesame.formula import effort
from samesame.formula.laws import LAWS
from samesame.relate.prove import Prover
from samesame.relate.rules import Rule

LAYERS = """
import torch, sys, time

def silu(x):
    return x * torch.sigmoid(x)

def spelled(x):
    return x / (1 + torch.exp(-x))

def deep(activation, layers):
    def run(x):
        for k in range(layers):
            x = activation(x + k) + x / (k + 2)
        return x
    return run

print("loaded", file=sys.stderr, flush=True)
"""

QUICK = LAYERS + """
left, right = deep(silu, 2), deep(spelled, 2)
inputs = (torch.linspace(-1, 1, 6).reshape(2, 3),)
"""

SLOW_PROOF = LAYERS + """
left, right = deep(silu, 400), deep(spelled, 400)
inputs = (torch.linspace(-1, 1, 6).reshape(2, 3),)
"""

SLOW_LOADING = LAYERS + """
time.sleep(60)
"""

SLOW_CAPTURE = LAYERS + """
def left(x):
    print("capturing", file=sys.stderr, flush=True)
    while True:
        x = x + 1
        time.sleep(0.01)

right = left
inputs = (torch.zeros(2, 3),)
"""

STUBBORN = LAYERS + """
def left(x):
    print("capturing", file=sys.stderr, flush=True)
    while True:
        try:
            time.sleep(0.05)
        except Exception:
            pass

right = left
inputs = (torch.zeros(2, 3),)
"""


class Cli:
    """`samesame check` on a file of its own, as a process."""

    def __init__(self, folder: Path, source: str, *options: str, **settings) -> None:
        (folder / "pair.py").write_text(source)
        command = [sys.executable, "-m", "samesame", "check", "pair.py", *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, cwd=folder, preexec_fn=hear_interrupts, **(pipes | settings))

    def wait_for(self, word: str) -> float:
        while word not in (line := self.process.stderr.readline()):
            assert line, "it ended before"
        return time.monotonic()

    def end(self, timeout: float = 60.0) -> tuple[int, str, str]:
        """Exit code, stdout and stderr, words separated by single blanks."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, " ".join(out.split()), " ".join(err.split())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)


def hear_interrupts() -> None:
    """A shell lets its background jobs ignore Ctrl-C, and they hand that on to what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def verdict(folder: Path) -> dict:
    return json.loads((folder / "verdict.json").read_text())


def spent(folder: Path) -> float:
    """Seconds of the whole run, by its own account: what the interpreter needs to start and end is not in it."""
    return sum(seconds for stage, seconds in verdict(folder)["timing"].items() if stage != "proofs")


# ---------------------------------------------------------------------------------------------------------- time limits


@pytest.mark.parametrize(
    "source, doing",
    [
        (SLOW_LOADING, r"while loading the programs, at .*pair.py:\d+"),
        (SLOW_CAPTURE, r"while capturing the programs, at .*pair.py:\d+"),
        (STUBBORN, r"while capturing the programs, at .*pair.py:\d+"),
    ],
    ids=["loading", "capturing", "a program that catches every Exception"],
)
def test_a_slow_program_is_stopped_at_the_limit(source, doing, tmp_path):
    cli = Cli(tmp_path, source, "--timeout", "4", "--json", "verdict.json")
    code, out, _ = cli.end()
    assert spent(tmp_path) < 1.2 * 4
    assert code == 3
    assert out.startswith("undecided")
    assert re.search(f"Stopped {doing}", out) and "the time limit was reached (4 seconds)" in out


@pytest.mark.long
def test_a_slow_proof_is_stopped_at_the_limit_and_keeps_what_it_proved(tmp_path):
    cli = Cli(tmp_path, SLOW_PROOF, "--timeout", "12", "--json", "verdict.json")
    code, out, _ = cli.end()
    assert spent(tmp_path) < 1.2 * 12
    assert code == 3
    assert "time limit was reached" in out
    methods = {relation["evidence"]["method"] for relation in verdict(tmp_path)["relations"]}
    assert methods & {"normal form", "smt"} and "rule" in methods


def test_a_limit_that_is_not_reached_changes_nothing(tmp_path):
    code, out, _ = Cli(tmp_path, QUICK, "--timeout", "100").end()
    assert code == 0 and out.startswith("same")
    assert "Stopped" not in out


def silu(x):
    return x * torch.sigmoid(x)


def spelled(x):
    return x / (1 + torch.exp(-x))


X = (torch.linspace(-1, 1, 6).reshape(2, 3),)


@pytest.mark.long
def test_the_library_is_bounded_too_and_leaves_the_alarm_as_it_was():
    def endless(x):
        while True:
            x = x + 1

    found = check(endless, endless, X, timeout=12.0)
    assert found.verdict == "undecided" and not found.roots
    assert "while capturing the programs" in found.notes[-1] and "test_budgets.py" in found.notes[-1]
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert check(silu, spelled, X, timeout=60.0).verdict == "same"


def test_what_was_reached_stays(monkeypatch):
    """The verdict stands when the time is over while rounding is measured."""
    monkeypatch.setattr(sys.modules["samesame.check"], "_numeric", lambda *_: time.sleep(30))
    found = check(silu, spelled, X, timeout=6.0)
    assert found.verdict == "same" and found.relations
    assert "while measuring rounding errors" in found.notes[-1]


def test_outputs_are_named_even_if_they_were_not_compared(monkeypatch):
    module = sys.modules["samesame.check"]
    monkeypatch.setattr(module, "weigh", lambda *_, **__: time.sleep(30))
    verdict = check(silu, spelled, X, timeout=2.0)
    assert [(root.name, root.evidence.rung) for root in verdict.roots] == [("0", Rung.UNDECIDED)]
    assert "while running both programs" in verdict.notes[-1]
    assert verdict.timing["execute"] > 0.5


def test_what_stood_in_the_way_of_a_proof_is_said():
    found = check(lambda x: x.sinh().asinh(), lambda x: x * 1, X)
    assert found.verdict == "undecided"
    assert any(note.startswith("Not proved") for note in found.notes)


def test_on_another_thread_no_signal_is_touched():
    verdicts = []
    thread = threading.Thread(target=lambda: verdicts.append(check(silu, spelled, X, timeout=60.0)))
    thread.start()
    thread.join()
    assert verdicts[0].verdict == "same"


def test_an_alarm_of_the_users_own_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGALRM, lambda *_: heard.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert check(silu, spelled, X, timeout=60.0).verdict == "same"
        time.sleep(0.3)
        assert heard == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --------------------------------------------------------------------------------------------------------------- Ctrl-C


@pytest.mark.parametrize(
    "source, word", [(SLOW_LOADING, "loaded"), (SLOW_CAPTURE, "capturing"), (STUBBORN, "capturing")]
)
def test_an_interrupt_before_anything_is_established_is_one_sentence(source, word, tmp_path):
    cli = Cli(tmp_path, source)
    cli.wait_for(word)
    time.sleep(0.3)
    cli.interrupt()
    code, out, err = cli.end(40.0)                              # loading alone would take longer
    assert (code, out) == (130, "")
    assert err == "samesame: interrupted"


PROVING = """
import samesame.relate.prove as prove
original, paused = prove.Prover._timed, []
def timed(self, *block_and_limits):
    found = original(self, *block_and_limits)
    if len(self.rules) == 2 and not paused:
        paused.append(self)
        print("proving", file=sys.stderr, flush=True)
        for _ in range(PAUSE):               # short sleeps: a signal may reach another thread, which ends none
            time.sleep(0.1)
    return found
prove.Prover._timed = timed
left, right = deep(silu, 200), deep(spelled, 200)
"""


@pytest.mark.parametrize("after", [0.0, 0.4, 1.5])
def test_an_interrupt_while_proving_leaves_what_was_proved(after, tmp_path):
    cli = Cli(tmp_path, SLOW_PROOF + PROVING.replace("PAUSE", "2"))
    cli.wait_for("proving")
    time.sleep(after)
    cli.interrupt()
    code, out, err = cli.end(40.0)
    assert code == 130, err
    assert err == "samesame: interrupted" or (out.startswith("undecided") and "Ctrl-C was pressed" in out)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_being_told_to_end_leaves_what_was_proved_though_it_is_told_twice(tmp_path, number):
    """As `timeout 60 samesame check …` does: to the whole group, whose parent hands it on."""
    cli = Cli(tmp_path, SLOW_PROOF + PROVING.replace("PAUSE", "2"))
    cli.wait_for("proving")
    time.sleep(0.4)
    for _ in range(2):
        cli.process.send_signal(number)
    code, out, err = cli.end(10.0)
    assert code == 130, err
    told = "the process was told to end (SIGTERM)" if number == signal.SIGTERM else "Ctrl-C was pressed"
    assert out.startswith("undecided") and told in out and not err


def test_a_second_interrupt_does_not_wait(tmp_path):
    source = SLOW_PROOF + PROVING.replace("PAUSE", "600")
    cli = Cli(tmp_path, source)
    cli.wait_for("proving")
    cli.interrupt()
    time.sleep(0.2)
    cli.interrupt()
    code, out, err = cli.end(40.0)                              # the proof alone would take longer
    assert (code, out, err) == (130, "", "samesame: interrupted")


def test_an_interrupt_during_a_query_is_not_taken_by_the_solver():
    x, y, z = z3.Ints("x y z")
    solver = z3.Solver()
    solver.set("timeout", 1500)
    solver.add(x * x * x + y * y * y + z * z * z == 114, x > 1)
    run, before = Run(), signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with run.bounded(interrupts=True), run.during("prove"):
            timer.start()
            assert solver.check() == z3.unknown
            timer.join()
            assert run.interrupted and run.over
    finally:
        signal.signal(signal.SIGINT, before)


# ------------------------------------------------------------------------------------------------------------- progress


@pytest.mark.long
def test_progress_says_what_is_done_how_much_of_it_and_where(tmp_path):
    """On a terminal: the stage, which operator of how many, the time, and the place in the user's program."""
    ours, theirs = pty.openpty()
    env = os.environ | {"COLUMNS": "110", "TERM": "xterm"}
    cli = Cli(tmp_path, SLOW_PROOF, "--timeout", "12", stderr=theirs, env=env)
    os.close(theirs)
    shown = b""
    while cli.process.poll() is None or select.select([ours], [], [], 0)[0]:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
    os.close(ours)
    cli.process.communicate()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "capture" in text
    assert re.search(r"prove, operator \d+ of \d+ .* 0:00:\d\d .*pair.py:\d+", text)


# ----------------------------------------------------------------------------------------------------------- the pieces


def test_a_deadline_that_has_passed_is_in_the_past_for_everyone():
    deadline = Deadline(time.monotonic() + 1000)
    shared = min(time.monotonic() + 2000, deadline)
    assert not time.monotonic() > deadline
    deadline.passed()
    assert time.monotonic() > deadline and time.monotonic() > shared
    assert deadline - time.monotonic() < 0


def test_the_proof_under_way_is_cut(monkeypatch):
    run = Run()
    with run.during("prove"), effort.spending(effort.Budget(seconds=100.0), LAWS):
        run._on_signal(signal.SIGINT, None)
        with pytest.raises(effort.OutOfBudget):
            effort.step()
    assert run.over and run.interrupted
    assert effort.current().seconds_left() > 1000, "proofs to come have their own time"


def test_after_an_interrupt_no_stage_begins():
    run = Run()
    with run.during("prove"):
        run._on_signal(signal.SIGINT, None)
    with run.bounded(), run.during("diagnose"):
        pytest.fail("it began")
    assert run.notes()[0].startswith("Stopped while relating their tensors")
    assert run.notes()[0].endswith("Ctrl-C was pressed. What is missing was not tried.")


def test_attempts_that_take_too_long_are_left_out_and_said():
    def attempts():
        yield 1
        time.sleep(30)

    run = Run(timeout=2.0)
    with run.bounded(), run.during("prove"):
        assert list(run.sparing(attempts(), 0.2, "too slow")) == [1]
        assert 0.3 < time.monotonic() - run.started < 20.0
        time.sleep(30)
    assert 2.0 < time.monotonic() - run.started < 20.0
    assert run.notes()[0] == "too slow" and "while relating" in run.notes()[1]


@pytest.mark.parametrize("file", [contextlib.__file__, weakref.__file__])
def test_no_alarm_is_raised_where_contexts_are_left(file):
    """Raised there, Stopped would leave `bounded` before it has disarmed the alarm, and hit whatever runs next; or it
    would be lost where an object ends."""
    leaving = compile("signal.raise_signal(signal.SIGALRM)\nleft = True", file, "exec")
    seen: dict[str, object] = {"signal": signal}
    run = Run(timeout=0.01, started=time.monotonic() - 100.0)
    with run.bounded():
        exec(leaving, seen)
        time.sleep(30)                       # it comes again where it can be raised
    assert seen.get("left") and run.why == TIME
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and not any(signal.getitimer(signal.ITIMER_REAL))


def test_stopped_is_no_exception_that_a_program_catches():
    assert not issubclass(Stopped, Exception)
    assert TOLERANCE < 1.2


@pytest.mark.parametrize(("left", "again"), [(60.0, True), (-1.0, False), (None, False)])
def test_what_ran_out_of_time_gets_more_where_the_run_has_a_limit_that_leaves_some(left, again):
    prover = Prover(deadline=None if left is None else time.monotonic() + left, short={"slow"})
    block = object()
    prover.rules = {"slow": Rule("P1", block, None, "time"), "open": Rule("P2", block, None, "left over")}
    given = prover.budget
    assert prover.try_harder() is again
    assert list(prover.rules) == (["open"] if again else ["slow", "open"])
    assert (prover.budget.seconds > given.seconds) is again and (prover.budget.solver > given.solver) is again
    assert not prover.try_harder()


def test_an_undecided_pair_is_tried_again_until_nothing_is_short_of_time(monkeypatch):
    rounds = iter((True, True, False))
    monkeypatch.setattr(Prover, "try_harder", lambda self: next(rounds))
    assert check(torch.erf, lambda x: torch.erf(x) + torch.sin(x * 1e-11), (torch.randn(3),)).verdict != "same"
    assert next(rounds, None) is None


def test_what_must_not_be_left_half_done_is_done() -> None:
    run, done = Run(), []
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)         # a run in the background may not hear it
    try:
        with run.bounded(interrupts=True):
            with undisturbed():
                for k in range(3):
                    os.kill(os.getpid(), signal.SIGINT if k == 0 else signal.SIGALRM)
                    done.append(k)
            time.sleep(2.0)
            done.append("after")
    finally:
        signal.signal(signal.SIGINT, heard)
    assert done == [0, 1, 2] and run.interrupted
