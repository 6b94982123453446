"""The verb from end to end on hand-written candidates, and its answers to unusable input."""

from __future__ import annotations

import json
import math
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pooled
import pytest
import torch
from pooled import Pooled, averaged_first, inputs, module, summed
from torch import nn
from typer.testing import CliRunner

from optimize.test_dropin import IN_TORCH
from samesame import optimize
from samesame.capture import capture
from samesame.capture.program import Program
from samesame.check import check
from samesame.cli import app
from samesame.evidence import Refused, SamesameError, Verdict
from samesame.optimize import attempt as attempts
from samesame.optimize import compiled, timing, verb
from samesame.optimize.algebra import specified
from samesame.optimize.candidate import Candidate
from samesame.optimize.dropin import AUTOTUNED, BOTH, DEFAULT, EAGER, FROZEN
from samesame.optimize.facts import facts_of, shape_of_results
from samesame.optimize.job import Job, keep, loaded
from samesame.optimize.racer import sentence
from samesame.optimize.saved import files_of, require_room, save, write_files
from samesame.optimize.timing import Ahead, Racer, incumbent, race
from samesame.report.optimized import FASTER, Report, in_full


class Dropped(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.5, training=self.training)


class Written(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2


class Branching(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2


class Once(nn.Module):
    """Its attributes stay what the first call made of them."""

    def __init__(self):
        super().__init__()
        self.width = None

    def forward(self, x):
        self.width = x.shape[-1]
        return x * 2


class Elsewhere(nn.Module):
    def forward(self, x):
        return torch.Size(x.shape), x + 1, {1, 2}


@pytest.mark.parametrize("program, why", [
    (Dropped(), r"draws random numbers .*call \.eval\(\)"),
    (nn.BatchNorm1d(48), "writes into .*running_mean.*eval mode"),
    (Written(), "writes into x, which a faster program would not do"),
    (Branching(), "depends on data"),
    (Counting(), "a second call changes calls, so no two calls do the same"),
    (Elsewhere(), "returns a set"),
])
def test_what_cannot_be_optimized_is_refused_in_one_sentence(program, why):
    with pytest.raises(SamesameError, match=why) as error:
        optimize(program, (torch.randn(4, 48),), minutes=0.1)
    assert "\n" not in str(error.value)


@pytest.fixture
def undecided(monkeypatch):
    """Nothing races: what was found is handed out."""
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(found, attempt.report))


def test_what_a_first_call_notes_does_no_harm(undecided):
    assert optimize(Once(), (torch.randn(4, 8),), minutes=0.1, threads=1, candidates=lambda *_: []).module == []


@pytest.mark.parametrize("program", [type("Cell", (nn.Module,), {"__module__": "__main__", "forward": torch.sin})(),
                                     type("Local", (nn.Module,), {"forward": torch.sin})()])
def test_what_no_other_process_can_run_is_refused_before_anything_is_searched(program):
    with pytest.raises(SamesameError, match=r"no other process can import; move it to|cannot be sent"):
        optimize(program, (torch.randn(4),), candidates=lambda *_: pytest.fail("it was searched"))


def failing(*lines):
    return sentence(RuntimeError("\n".join(lines)))


def test_why_a_program_does_not_compile_is_said_in_a_line():
    """Of all that torch says, the line that says why."""
    rest = "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace"
    assert failing("backend='inductor' raised:", "InvalidCxxCompiler: No compiler", "", rest).endswith("No compiler")
    assert failing("C++ compile error", "Output:", "x.cpp:3: error: no omp.h").endswith("x.cpp:3: error: no omp.h")
    assert failing("RuntimeError when tracing", "  Explanation: no meaning", rest) == "RuntimeError: no meaning"
    assert failing() == "RuntimeError: no message"


@pytest.mark.parametrize("arguments", [["hf:nowhere"], ["no.py:f", "--inputs", "no.py:i"], ["torch:relu"],
                                       ["torch:relu", "--inputs", "torch:e", "--target", "tpu"]])
def test_usage(arguments):
    assert CliRunner().invoke(app, ["optimize", *arguments]).exit_code == 2


def test_a_budget_of_a_second_is_too_little_and_says_so():
    found = optimize(module, inputs, minutes=1 / 60, candidates=lambda *_: [])
    assert found.module is module and found.report.exit_code == 3
    assert "Nothing could be measured in this time; give it more with --minutes." in in_full(found.report)


class Shared(nn.Module):
    """Each way in which a result may lie in memory that is not its own."""

    def __init__(self, returned):
        super().__init__()
        self.linear, self.returned = nn.Linear(8, 8, bias=False), returned
        self.register_buffer("scale", torch.ones(8))

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return y, *self.returned(self, x, y)


@pytest.mark.parametrize("returned", [
    lambda m, x, y: (x,), lambda m, x, y: (y,), lambda m, x, y: (y.view(-1),), lambda m, x, y: (m.linear.weight,),
    lambda m, x, y: (m.scale,), lambda m, x, y: (x[1:],), lambda m, x, y: (m.scale.expand(3, 8),),
])
def test_kernels_return_copies_and_so_stand_for_no_result_that_shares_memory(returned, monkeypatch):
    monkeypatch.setattr(attempts, "keep", lambda *_: None)     # no lambda can be pickled
    monkeypatch.setattr(attempts.native, "candidates", lambda *_, **__: pytest.fail("kernels were looked for"))
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(None, attempt.report))
    found = optimize(Shared(returned).eval(), (torch.randn(4, 8),), minutes=0.5, threads=1)
    assert "memory with an input, a weight or another output" in "".join(found.report.notes)


def test_results_with_memory_of_their_own_may_have_kernels(monkeypatch):
    monkeypatch.setattr(attempts, "keep", lambda *_: None)     # no lambda can be pickled
    monkeypatch.setattr(attempts.native, "candidates", lambda *_, **__: iter([averaged_first()]))
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(found, attempt.report))
    found = optimize(Shared(lambda m, x, y: (x.clone(),)).eval(), (torch.randn(4, 8),), minutes=0.5, threads=1)
    assert averaged_first() in found.module and not found.report.notes


class Masked(nn.Module):
    def forward(self, x, mask):
        return torch.relu(x * mask).sum(-1)


@pytest.mark.parametrize("program, example, why", [
    (nn.Linear(4, 4).half().eval(), (torch.randn(3, 4).half(),), "take no float16; give it as one of float32"),
    (Masked(), (torch.randn(3, 4), torch.ones(3, 4).half()), "take no float16; give it as one of float32"),
    (Masked(), (torch.randn(0, 4), torch.randn(0, 4)), "x has no elements, so that nothing can be measured"),
])
def test_what_there_are_no_kernels_for_is_noted(program, example, why, monkeypatch):
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(found, attempt.report))
    found = optimize(program, example, minutes=0.5, threads=1)
    assert not any(candidate.native for candidate in found.module)
    assert any(f"There are no kernels of our own: {why}" in note.replace("kernels for the processor ", "")
               for note in found.report.notes)


PART = nn.Linear(8, 8)


def over(table):
    return lambda x: torch.relu(x @ table) @ table


@pytest.mark.parametrize("function", [over(torch.randn(8, 8)), lambda x: torch.relu(PART(x))])
def test_a_function_over_tensors_of_its_own_is_raced_as_it_is(function, monkeypatch):
    monkeypatch.setattr(attempts, "keep", lambda *_: None)     # no lambda can be pickled
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(found, attempt.report))
    found = optimize(function, (torch.randn(4, 8),), minutes=0.5, threads=1)
    assert not found.module and "belongs to no module; give a module that holds it" in "".join(found.report.notes)


def on_one_thread(x):
    """torch's own solvers fail on two threads on some machines."""
    if torch.get_num_threads() > 1:
        raise RuntimeError("two threads")
    return torch.relu(x)


def test_a_program_runs_on_the_threads_that_are_asked_for():
    """Also where its facts are found out, and one that fails there is refused in a sentence."""
    before, inputs = torch.get_num_threads(), (torch.randn(4),)
    torch.set_num_threads(2)
    try:
        with pytest.raises(Refused, match="raises RuntimeError: two threads"):
            shape_of_results(on_one_thread, Program(on_one_thread, inputs))
        attempt = SimpleNamespace(module=on_one_thread, example=inputs, threads=1, gradients=False)
        assert verb.Attempt.facts(attempt, Candidate("", "", ()), EAGER)["results"] == ...
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


TABLES = [torch.linspace(0, 1, 200)]


def at_levels(x):
    return (x[:, None] - TABLES[0]).abs().sum(0)


def test_a_table_in_a_list_that_a_helper_refers_to_is_written_out():
    def program(x):
        return at_levels(x)

    inputs = (torch.randn(4),)
    specification = specified(program, inputs, capture(program, inputs))
    (table,) = (tensor for tensor in specification.tensors.values() if tensor.role == "weight")
    assert torch.equal(torch.tensor(table.value), TABLES[0])


def test_a_candidate_that_cannot_be_captured_fails_alone(monkeypatch):
    def verified(attempt, found):
        file = write_files(attempt.place / "found", files_of(broken, facts_of(module, inputs, broken, EAGER)))
        return attempt.verified(broken, EAGER, file, attempt.proving())

    broken = replace(averaged_first(), source=averaged_first().source.replace("x.mean(-2)", "self.nowhere"))
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(verified(attempt, found),
                                                                                     attempt.report))
    found = optimize(module, inputs, minutes=0.2, threads=1, candidates=lambda *_: [])
    assert re.search("not proved to compute the same: .*raises AttributeError", found.module)


def test_what_is_not_proved_is_told_in_the_words_of_check(monkeypatch):
    def verified(attempt, found):
        file = write_files(attempt.place / "found", files_of(summed(), facts_of(module, inputs, summed(), EAGER)))
        return attempt.verified(summed(), EAGER, file, attempt.proving())

    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(verified(attempt, found),
                                                                                     attempt.report))
    found = optimize(module, inputs, minutes=0.2, threads=1, candidates=lambda *_: [])
    assert re.search("not proved to compute the same; check says: different .*output 0 differs", found.module)


def in_steps_that_data_decides(x):
    steps = 0
    while steps < 9 and bool((x.abs() < 3).any()):
        x, steps = x * 1.5, steps + 1
    return x


def test_a_program_whose_steps_data_decides_is_refused():
    with pytest.raises(Refused, match=r"asks whether there are any, .* so the graph depends on data"):
        optimize(in_steps_that_data_decides, (torch.randn(40),), minutes=0.1, threads=1)


def of_albedo(x):
    return x * (0.886227 * torch.ones_like(x)) + x.sum()


OF_NUMBER = '''
import torch
from torch import nn


class Fast(nn.Module):
    def __init__(self, weights):
        super().__init__()

    def forward(self, x):
        return (x * NUMBER + x.sum(),)
'''


@pytest.mark.parametrize(("number", "proved"), [("0.886227", True), ("0.8862271", False)])
def test_a_constant_that_the_original_works_out_is_the_number_that_it_means(monkeypatch, number, proved):
    """And the headline says so. Another number is another."""
    candidate = Candidate("a number", OF_NUMBER.replace("NUMBER", number), ())

    def verified(attempt, found):
        file = write_files(attempt.place / "found", files_of(candidate, facts_of(of_albedo, given, candidate, EAGER)))
        verdict = attempt.verified(candidate, EAGER, file, attempt.proving())
        if isinstance(verdict, Verdict):
            attempt.report.prove(verdict, ())
        return verdict

    given = (torch.randn(6),)
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: verb.Optimized(verified(attempt, found),
                                                                                     attempt.report))
    found = optimize(of_albedo, given, minutes=0.2, threads=1, candidates=lambda *_: [])
    assert isinstance(found.module, Verdict) == proved, found.module
    if proved:
        assert found.report.evidence == "proved up to the rounding of constants that it works out"
        assert any("are read as exact: off by at most" in condition for condition in found.report.conditions)


def test_a_search_that_looks_at_no_clock_is_ended(monkeypatch):
    def endless(attempt):
        yield averaged_first()
        while True:
            pass

    found = []
    monkeypatch.setattr(timing, "cores", lambda: 1)
    monkeypatch.setattr(verb.Attempt, "searched", endless)
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, candidates: found.extend(candidates) or verb.Optimized(
        None, attempt.report))
    report = optimize(module, inputs, minutes=0.1, threads=1).report
    assert [candidate.name for candidate in found] == ["the mean goes first"]
    assert any("took longer than its share" in note for note in report.notes)


def test_a_search_that_ends_by_itself_was_not_ended(monkeypatch):
    """A little after its share of the time."""
    def late(attempt):
        time.sleep(max(attempt.until - time.monotonic(), 0.0) + 0.05)
        yield averaged_first()

    monkeypatch.setattr(timing, "cores", lambda: 1)
    monkeypatch.setattr(verb.Attempt, "searched", late)
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, candidates: verb.Optimized(None, attempt.report))
    assert not optimize(module, inputs, minutes=0.1, threads=1).report.notes


def test_without_a_compiler_algebra_is_left(monkeypatch):
    def missing():
        raise SamesameError("there is no C++ compiler (g++): install g++")

    def decide(attempt, found):
        seen.extend(found)
        return verb.Optimized(None, attempt.report)

    seen: list[Candidate] = []
    monkeypatch.setattr(compiled, "compiler", missing)
    monkeypatch.setattr(verb.Attempt, "decide", decide)
    found = optimize(module, inputs, minutes=0.2, threads=1)
    assert seen and not any(candidate.native for candidate in seen)
    assert any("There are no kernels of our own: there is no C++ compiler" in note for note in found.report.notes)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SamesameError, match="holds something else"):
        require_room(tmp_path)
    with pytest.raises(SamesameError, match="there is no folder"):
        require_room(tmp_path / "a" / "b")


class Folded(nn.Module):
    """A tensor of each kind that freezing may make a constant of."""

    def __init__(self):
        super().__init__()
        self.linear, self.plain = nn.Linear(48, 48), torch.ones(48)
        self.register_buffer("scale", torch.ones(48))

    def forward(self, x):
        return self.linear(x) * self.scale + self.plain


def incumbent_saved(folder, way):
    """What a folder in which torch's own compiler won has to offer."""
    save(folder, Report("it", way=way, threads=1, seed=0, versions={}, machine="", minutes=1.0), {}, None)
    return loaded(folder / "fast.py").optimized


@pytest.mark.parametrize("changed", ["linear.weight", "linear.bias", "scale", "plain"])
def test_a_saved_frozen_program_sees_each_tensor_that_changes(changed, tmp_path, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda program, mode: lambda x: "frozen")
    original = Folded().eval()
    program = incumbent_saved(tmp_path / "fast", FROZEN)(original)
    with torch.no_grad():
        assert program(inputs[0]) == program(inputs[0]) == "frozen"
        attrgetter(changed)(original).add_(1)
        torch.testing.assert_close(program(inputs[0]), original(inputs[0]))


def test_what_is_saved_of_a_function_can_be_used(tmp_path, monkeypatch):
    """It is not frozen, for nobody knows all the tensors it may read; but where these are given."""
    monkeypatch.setattr(torch, "compile", lambda program, mode: program)
    weight = torch.ones(3)
    for way, left in ((EAGER, EAGER), (DEFAULT, DEFAULT), (FROZEN, DEFAULT), (BOTH, AUTOTUNED)):
        optimized = incumbent_saved(tmp_path / way, way)
        program = optimized(torch.sin)
        torch.testing.assert_close(program(weight), torch.sin(weight))
        assert program._instead.way == left
        assert optimized(torch.sin, {"weight": weight})._instead.way == way


def test_a_folder_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    found = optimize(module, inputs, minutes=1 / 60, candidates=lambda *_: [], out=tmp_path / "fast")
    assert {file.name for file in (tmp_path / "fast").iterdir()} == {"fast.py", "report.json", "report.txt"}
    before = (tmp_path / "fast" / "report.json").read_bytes()
    monkeypatch.setattr(json, "dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(tmp_path / "fast", found.report, {}, None)
    assert (tmp_path / "fast" / "report.json").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["fast"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_earlier_folder_comes_back_where_the_new_one_cannot_take_its_place(tmp_path, monkeypatch, error):
    report = Report("it", threads=1, machine="", minutes=1.0)
    save(tmp_path / "fast", report, {}, None)
    before = {file.name: file.read_bytes() for file in (tmp_path / "fast").iterdir()}
    rename = Path.rename

    def renamed(path, target):
        if path.name.endswith(".tmp"):
            raise error
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)
    with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else SamesameError):
        save(tmp_path / "fast", replace(report, title="another"), {}, None)
    assert {file.name: file.read_bytes() for file in (tmp_path / "fast").iterdir()} == before
    assert [file.name for file in tmp_path.iterdir()] == ["fast"]


@pytest.mark.parametrize("late", [2, 9])
def test_what_was_found_starts_second_and_what_was_not_ready_is_said(late, monkeypatch):
    """Where time is up after so many programs have started."""
    def start(racer, folder, threads, seconds):
        started.append(racer.name)
        racer.process = SimpleNamespace(poll=lambda: 0, wait=lambda: 0, stdin=None, stdout=None)
        racer.measured = [2.0 if racer.candidate is None else 1.0] * 16

    def decided(attempt, until):
        racers = list(attempt.lineup([replace(averaged_first(), complete=True)] * 2))
        for racer in racers:
            attempt.begin(racer, math.inf if len(started) < until else 0.0)
        attempt.tabulate(racers, racers[0], racers[1])
        return verb.Optimized(None, attempt.report)

    started = []
    monkeypatch.setattr(timing, "cores", lambda: 1)        # nobody gets ready beside the search
    monkeypatch.setattr(Racer, "start", start)
    monkeypatch.setattr(verb.Attempt, "decide", lambda attempt, found: decided(attempt, late))
    report = optimize(module, inputs, minutes=0.2, threads=1, candidates=lambda *_: []).report
    assert started[:2] == ["eager torch", "the mean goes first"] and len(started) == min(late, 7)
    report.verdict = FASTER
    assert ("the best that was ready in time" in report.headline) == (late < 7)
    assert ("Not ready in time, and so not raced: torch.compile" in in_full(report)) == (late < 7)


def test_the_users_own_programs_get_ready_beside_the_search(monkeypatch):
    """One after the other on one spare core; who is not ready in time is ended, who was not begun starts as ever."""
    def start(racer, folder, threads, seconds):
        begun.append(racer.name)
        slow.wait(30) if racer.way == FROZEN else None

    begun, slow = [], Event()
    monkeypatch.setattr(Racer, "start", start)
    monkeypatch.setattr(Racer, "signal", lambda racer, number: slow.set() if number == signal.SIGKILL else None)
    monkeypatch.setattr(timing, "cores", lambda: 2)
    racers = [incumbent(way) for way in (EAGER, FROZEN, BOTH)]
    ahead = Ahead(racers, None, 1, 60.0)
    try:
        while len(begun) < 2:
            time.sleep(0.01)
        assert ahead.ready(racers[0], 30.0) and not racers[0].failed
        assert ahead.ready(racers[1], 0.2) and racers[1].late and "not ready after" in racers[1].failed
        assert not ahead.ready(incumbent(DEFAULT), 1.0)
    finally:
        ahead.end()
    assert begun[:2] == [racers[0].name, racers[1].name]
    monkeypatch.setattr(timing, "cores", lambda: 1)
    alone = Ahead(racers, None, 1, 60.0)
    assert not alone.ready(racers[0], 1.0)
    alone.end()


@pytest.mark.long
def test_who_gets_ready_stands_still_while_something_is_measured(tmp_path, monkeypatch):
    keep(Job(module, inputs, {}, {}), tmp_path)
    monkeypatch.setattr(timing, "cores", lambda: 2)
    racer = incumbent(EAGER)
    ahead = Ahead([racer], tmp_path, 1, 100.0)
    try:
        while racer.process is None:
            time.sleep(0.01)
        with ahead.held():
            time.sleep(0.1)
            assert Path(f"/proc/{racer.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        assert ahead.ready(racer, 100.0) and racer.running and race([racer], 2, time.monotonic() + 5)
    finally:
        ahead.end()
        racer.stop()


def saved_with_reference(folder):
    """A folder with a program whose kernels stand beside it, as text here, and its certificate."""
    reference = Candidate("in torch", IN_TORCH, ("linear.weight",), whole=True)
    found = replace(averaged_first(), native={"kernels.cpp": "// c = 2"}, reference=reference)
    verdict = check(module, averaged, inputs, certify=True)
    report = Report("it", threads=1, machine="", minutes=1.0)
    save(folder, report, files_of(found, facts_of(module, inputs, found, EAGER, verdict)), verdict.certificate)
    return folder


def averaged(x):
    return x.mean(-2) @ module.linear.weight.t()


@pytest.fixture(scope="module")
def with_reference(tmp_path_factory):
    return saved_with_reference(tmp_path_factory.mktemp("saved") / "fast")


def replayed(folder):
    answer = CliRunner().invoke(app, ["replay", str(folder / "certificate.json")])
    return answer.exit_code, answer.output


def test_a_certificate_is_of_the_files_beside_it(with_reference):
    code, told = replayed(with_reference)
    assert code == 0 and "checked   kernels.cpp, reference.py, fast.py beside it as they were saved" in told
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        program = loaded(with_reference / "fast.py").optimized(module)
        torch.testing.assert_close(program(*inputs), module(*inputs))


@pytest.mark.parametrize("name", ["kernels.cpp", "reference.py", "fast.py"])
@pytest.mark.parametrize("how", ["altered", "missing"])
def test_what_was_altered_after_it_was_saved_does_not_run(name, how, with_reference, tmp_path):
    folder = shutil.copytree(with_reference, tmp_path / "fast")
    text = (folder / name).read_text()
    (folder / name).unlink() if how == "missing" else (folder / name).write_text(text.replace("2", "3", 1))
    code, told = replayed(folder)
    assert code == (how == "altered")
    assert (f"{name} beside it is not the one that it was saved with" if code else f"{name} not there") in told
    if name != "fast.py":
        why = "cannot be read" if how == "missing" else "is no longer as it was saved"
        with pytest.warns(UserWarning, match=f"the original runs, .*{name}.* {why}"):
            program = loaded(folder / "fast.py").optimized(module)
        with torch.no_grad():
            torch.testing.assert_close(program(*inputs), module(*inputs))


def racer(*seconds: float) -> Racer:
    return Racer("", "eager", None, measured=list(seconds))


def test_faster_is_faster_in_most_rounds():
    usual = racer(10, 11, 10, 12, 10, 11)
    assert racer(8, 9, 8, 9, 20, 9).beats(usual)
    assert not racer(9, 9, 20, 20, 20, 9).beats(usual)
    assert not usual.beats(usual)
    assert usual.lower == 10 and usual.spread == pytest.approx(0.1)


@pytest.mark.long
def test_the_faster_program_is_found_proved_and_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(verb.Attempt, "ways", ("eager", "freezing"))
    listed = [replace(candidate, complete=True) for candidate in (summed(), averaged_first())]
    found = optimize(module, inputs, minutes=3, threads=1, candidates=lambda *_: listed, out=tmp_path / "fast")
    report = found.report
    assert report.verdict == "faster" and report.exit_code == 0 and report.evidence == "proved for all sizes"
    assert report.winner.name == "the mean goes first" and report.ratio() > 1
    assert report.changed == ("mean(x·Wᵀ) → mean(x)·Wᵀ",)
    assert report.contract.draws > 60 and report.contract.weights == 3
    with torch.no_grad():
        torch.testing.assert_close(found.module(torch.randn(5, 48)).shape, torch.Size([48]))
        torch.testing.assert_close(found.module(*inputs), module(*inputs))
    assert CliRunner().invoke(app, ["replay", str(tmp_path / "fast" / "certificate.json")]).exit_code == 0
    assert json.loads((tmp_path / "fast" / "report.json").read_text())["ratio"] == pytest.approx(report.ratio())


@pytest.mark.long
def test_the_command_line_finds_by_algebra(tmp_path):
    target = Path(pooled.__file__)
    result = tmp_path / "result.json"
    ran = CliRunner().invoke(app, ["optimize", f"{target}:module", "--inputs", f"{target}:inputs", "--threads", "1",
                                   "--out", str(tmp_path / "fast"), "--json", str(result), "--explain"])
    assert ran.exit_code == 0, ran.output
    for words in ("× as fast as", "proved for all sizes", "what was changed", "step by step", "numeric contract"):
        assert words in ran.output
    found = json.loads(result.read_text())
    assert found["verdict"] == "faster" and found["ratio"] > 1 and found["counts"]["e-nodes"] > 0
    program = loaded(tmp_path / "fast" / "fast.py").optimized(module)
    with torch.no_grad():
        torch.testing.assert_close(program(*inputs), module(*inputs))


@pytest.mark.long
def test_where_nothing_is_faster_the_best_of_torch_is_the_answer(monkeypatch):
    monkeypatch.setattr(verb.Attempt, "ways", ("eager", "freezing"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    wrong = [replace(summed(), complete=True)]
    found = optimize(Pooled().eval(), inputs, minutes=2, threads=1, candidates=lambda *_: wrong)
    assert found.report.exit_code == 3 and found.report.way == "eager"
    assert "outside the numeric contract" in next(row.failed for row in found.report.rows if row.found)
    frozen = next(row for row in found.report.rows if row.way == "freezing")
    assert "compiler" in frozen.failed.lower()


@pytest.mark.long
def test_a_file_named_as_one_of_pythons_own_does_no_harm(tmp_path, monkeypatch):
    """Where the program's folder stands first on the path, as for a script, racers start all the same."""
    (tmp_path / "nt.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verb.Attempt, "ways", ("eager",))
    assert optimize(module, inputs, minutes=1, threads=1, candidates=lambda *_: []).report.best is not None


@pytest.mark.long
def test_ctrl_c_leaves_no_process_and_no_folder(tmp_path):
    target = Path(pooled.__file__)
    command = [sys.executable, "-m", "samesame", "optimize", f"{target}:module", "--inputs", f"{target}:inputs",
               "--out", str(tmp_path / "fast"), "--threads", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 120
        while not (racing := running(process.pid)) and time.monotonic() < until:
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130 and "interrupted" in process.stderr.read()
    time.sleep(1)
    assert racing and not any(Path(f"/proc/{racer}").exists() for racer in racing)
    assert not list(tmp_path.iterdir())


def running(ancestor: int) -> list[str]:
    """The racers below a process."""
    found, parents = [], {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[folder.name] = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if "samesame.optimize.racer" in (folder / "cmdline").read_text():
                found.append(folder.name)
        except OSError:
            continue

    def below(process: str) -> bool:
        return process == str(ancestor) or (process in parents and below(parents[process]))

    return [process for process in found if below(process)]


@pytest.mark.long
@pytest.mark.parametrize("program, why", [(pooled.Killed(), "it was killed, often for want of memory"),
                                          (pooled.Hungry(), "RuntimeError: .*can't allocate memory")])
def test_a_program_that_runs_out_of_memory_is_left_out_with_a_sentence(tmp_path, program, why):
    keep(Job(program, inputs, {}, {}), tmp_path)
    racer = incumbent(EAGER)
    try:
        racer.start(tmp_path, 1, 60.0)
        assert re.match(why, racer.failed) and not race([racer], 2, time.monotonic() + 5)
    finally:
        racer.stop()
