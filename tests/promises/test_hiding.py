"""A program cannot hide: what it takes from its values unseen, or does beside computing, is refused, and at its line.

And a program that only looks as if it hid something is proved as before.
"""

import inspect
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy
import pytest
import torch

from promises import hidden, honest
from samesame.capture import again, capture
from samesame.capture.again import in_private_memory
from samesame.check import check
from samesame.evidence import Refused, Rung
from samesame.report.setting import captured, only_with


def title(program):
    return getattr(program, "__name__", type(program).__name__)


def marked(program):
    """The lines of a program that end in `# here`; of a module, of its class."""
    if isinstance(program, torch.jit.ScriptFunction):
        return []
    lines, first = inspect.getsourcelines(program if inspect.isfunction(program) else type(program))
    return [first + k for k, line in enumerate(lines) if line.rstrip().endswith("# here")]


@pytest.mark.parametrize("program", hidden.HIDING, ids=title)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_hides_is_refused_at_its_line(program):
    with pytest.raises(Refused) as caught:
        capture(program, hidden.example())
    lines = marked(program)
    if lines:
        assert f"hidden.py:{lines[0]} " in str(caught.value), caught.value


def test_there_are_many_ways_to_hide():
    assert len(hidden.HIDING) >= 60
    assert len(honest.HONEST) >= 15


@pytest.mark.parametrize("program", honest.HONEST, ids=title)
def test_what_hides_nothing_is_proved(program):
    verdict = check(honest.plain, program, (torch.randn(3, 4),))
    assert verdict.verdict == "same"
    assert verdict.evidence >= Rung.PROVED_HERE
    assert not only_with(verdict)


# ----------------------------------------------------------------------------------------- the state a verdict is for


def tripled_with_gradients(x):
    return x * 3 if torch.is_grad_enabled() else x * 2


asks_under_another_name = torch.is_grad_enabled


def renamed(x):
    return x * 3 if asks_under_another_name() else x * 2


def tripled_across(x):
    return x * 2 if x.stride(-1) == 1 else x * 3


@pytest.mark.parametrize(
    "program, words",
    [
        (tripled_with_gradients, "with gradients off"),
        (renamed, "with gradients off"),
        (tripled_across, "with inputs laid out as the example's"),
    ],
)
def test_a_state_that_matters_stands_in_the_headline(program, words):
    verdict = check(honest.plain, program, (torch.randn(3, 4),))
    assert verdict.verdict == "same"
    assert only_with(verdict) == f", {words}"
    assert any("right asks" in line and "test_hiding.py:" in line for line in captured(verdict))


def test_the_clock_and_the_default_dtype_are_named_where_a_program_asks():
    verdict = check(honest.plain, honest.timed, (torch.ones(2, 3),))
    assert any("asks for the time (" in line for line in captured(verdict))

    def asks(x):
        return (x * 2).to(torch.get_default_dtype())

    verdict = check(honest.plain, asks, (torch.ones(2, 3),))
    assert any("for the default dtype" in line and "no other state was tried" in line for line in captured(verdict))


@pytest.mark.long
def test_the_mode_of_each_side_is_said():
    left, right = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    right.load_state_dict(left.state_dict())
    told = next(captured(check(left.eval(), right.eval(), (torch.ones(2, 4),))))
    assert told == "in eval mode, without gradients"
    told = next(captured(check(left.train(), right, (torch.ones(2, 4),))))
    assert told == "left in training mode, right in eval mode, without gradients"


def test_weights_and_inputs_hold_afterwards_what_they_held_before():
    module, x = torch.nn.Linear(4, 4), torch.randn(2, 4)
    before = [x.clone(), *(weight.clone() for weight in module.parameters())]
    capture(module, (x,))
    assert all(torch.equal(a, b) for a, b in zip(before, [x, *module.parameters()], strict=True))


def test_weights_in_a_file_are_left_alone(tmp_path):
    """Memory mapped read-only cannot be written, and what is written into a shared mapping goes into the file."""
    numpy.full(16, 0.5, dtype=numpy.float32).tofile(tmp_path / "weights")
    before = (tmp_path / "weights").stat().st_mtime_ns, (tmp_path / "weights").read_bytes()
    for mode in ("r", "r+"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weight = torch.from_numpy(numpy.memmap(tmp_path / "weights", dtype=numpy.float32, mode=mode)).view(4, 4)
        module = torch.nn.Linear(4, 4, bias=False)
        module.weight = torch.nn.Parameter(weight)
        assert in_private_memory(list(module.parameters())) == []
        capture(module, (torch.randn(2, 4),))
    assert ((tmp_path / "weights").stat().st_mtime_ns, (tmp_path / "weights").read_bytes()) == before
    assert len(in_private_memory(list(torch.nn.Linear(4, 4).parameters()))) == 2


def test_a_weight_that_a_run_lays_into_a_file_is_left_alone_by_the_next(tmp_path, monkeypatch):
    """Which weights may be written is found out before the first run on other values, and again if one has moved."""
    numpy.full(16, 0.5, dtype=numpy.float32).tofile(tmp_path / "weights")
    module, owned = torch.nn.Linear(4, 4, bias=False), []

    def run_on(draws, program, graph, ways, movable):
        owned.append(movable)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mapped = numpy.memmap(tmp_path / "weights", dtype=numpy.float32, mode="r")
            module.weight.data = torch.from_numpy(mapped).view(4, 4)
        return ()

    monkeypatch.setattr(again, "run_on", run_on)
    ways = again.Ways(run=None, recorded=None, weights={"weight": module.weight}, others=[], written=[], asked={},
                      otherwise="")
    again.demand_same(None, None, ways)
    assert list(map(len, owned)) == [1, 0]


# --------------------------------------------------------------------------------------------------- the command line


LOUD = """
import atexit, ctypes, os, subprocess, sys
import torch
inputs = (torch.ones(3, 4),)
def right(x):
    return x * 2
"""

NOISE = """
print("loaded"); os.write(1, b"raw"); subprocess.run(["echo", "child"]); sys.__stdout__.write("dunder")
ctypes.CDLL(None).puts(b"from C")
atexit.register(lambda: print("at exit"))
def left(x):
    print("running"); os.write(1, b"raw"); sys.stdout.write("written")
    return x + x
"""

ENDS = {
    "os._exit": "os._exit(0)",
    "os._exit under another name": "leave(0)",
    "libc": "ctypes.CDLL(None)._exit(0)",
    "a crash": "ctypes.string_at(0)",
    "a signal": "ctypes.CDLL(None).kill(os.getpid(), 9)",
    "sys.exit": "sys.exit(0)",
    "exit": "exit(0)",
    "abort": "os.abort()",
}


def command(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "pair.py").write_text(LOUD + source)
    line = [sys.executable, "-m", "samesame", "check", "pair.py", "--store", "-", *options]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_what_a_program_prints_is_no_part_of_the_result(tmp_path):
    done = command(tmp_path, NOISE, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "same"
    for word in ("loaded", "raw", "child", "dunder", "from C", "running", "written", "at exit"):
        assert word in done.stderr


@pytest.mark.parametrize("way", [pytest.param(way, marks=() if way in ("a crash", "sys.exit") else pytest.mark.long)
                                 for way in ENDS])       # each takes a process of its own
def test_a_program_that_ends_the_process_is_no_verdict(tmp_path, way):
    source = f"leave = os._exit\ndef left(x):\n    {ENDS[way]}\n    return x + x\n"
    done = command(tmp_path, source, "--json", "-")
    assert done.returncode == 2
    assert done.stdout == ""
    assert [line for line in done.stderr.splitlines() if line.startswith("samesame: ")]


def test_a_process_that_ends_while_it_is_loaded_is_no_verdict(tmp_path):
    done = command(tmp_path, "import ctypes\nctypes.CDLL(None)._exit(0)\n")
    assert done.returncode == 2
    assert "ended the process (exit code 0)" in done.stderr
