"""A crew does every task, whatever becomes of one of its workers."""

import signal
import threading
import time
from itertools import count

import pytest

from samesame.evidence import SamesameError
from samesame.work import crew as crew_module
from samesame.work.crew import Crew
from samesame.work.local import Local
from samesame.work.progress import Progress, in_minutes
from samesame.work.tasks import Lost, Task


def tasks(contents, limit=30.0):
    return [Task(str(content), content, limit=limit) for content in contents]


def done(contents, *, jobs=2, limit=30.0, given=("",), until=float("inf"), forks=True, tries=2, each=None):
    place = Local("sweep_fakes:numbers", given, jobs, forks=forks, tasks_each=each)
    with Crew([place], tries) as crew:
        return {found.task.content: found.result for found in crew.results(tasks(contents, limit), until)}


@pytest.mark.parametrize("forks", [True, False], ids=["forks", "processes"])
def test_every_task_has_its_result_and_a_worker_does_many(forks):
    found = done(range(20), forks=forks)
    assert {task: result[0] for task, result in found.items()} == {n: n for n in range(20)}
    assert len({process for _, process in found.values()}) <= 2


def test_a_worker_makes_room_for_a_fresh_one():
    assert len({process for _, process in done(range(4), each=1).values()}) == 4


def test_a_crash_takes_one_task_along_and_no_other():
    found = done([1, "crash", 2, 3])
    assert found["crash"].why == "the process that ran it was ended by SIGSEGV, twice"
    assert found.pop("crash").code == -signal.SIGSEGV
    assert {result[0] for result in found.values()} == {1, 2, 3}


def test_what_a_fork_printed_is_told_where_it_has_no_result():
    found = done(["print and exit"], tries=1)["print and exit"]
    assert (found.code, found.printed) == (3, "the last words")


def test_a_task_is_tried_again_after_a_crash(tmp_path):
    found = done(["crash once", 2], given=(str(tmp_path),))
    assert found["crash once"][0] == "crash once" and found[2][0] == 2


def test_a_task_that_takes_too_long_is_ended():
    found = done(["hang", 1, 2], limit=1.0)
    assert found.pop("hang") == Lost("it was ended after 1 s; give it more time, or make it smaller")
    assert {result[0] for result in found.values()} == {1, 2}


def test_an_exception_is_a_defect_and_the_worker_goes_on():
    found = done(["raise", 1], jobs=1)
    assert found["raise"].why.endswith("ValueError: no such thing")
    assert found[1][0] == 1


@pytest.mark.parametrize("prepare, message", [
    ("sweep_fakes:unusable", "the library is not installed"),
    ("sweep_fakes:dies_at_once", "ended with exit code 3 while it loaded the libraries"),
])
def test_workers_that_cannot_start_say_so(prepare, message):
    with Crew([Local(prepare, (), forks=True)]) as crew, pytest.raises(SamesameError, match=message):
        list(crew.results(tasks([1])))


def test_after_the_time_limit_nothing_is_begun():
    assert done([1, "hang"], jobs=1, until=time.monotonic() + 1.5).keys() == {1}


def test_workers_are_gone_afterwards():
    with Crew([Local("sweep_fakes:numbers", ("",), 2, forks=True)]) as crew:
        list(crew.results(tasks(range(4))))
        processes = [hand.worker.process for hand in crew._hands]
        assert processes and all(process.is_alive() for process in processes)
    assert not any(process.is_alive() for process in processes)


def test_a_worker_has_its_surroundings_from_the_first_moment():
    place = Local("sweep_fakes:surroundings", (), environment={"SAMESAME_TEST": "here"})
    with Crew([place]) as crew:
        (found,) = crew.results([Task("", "SAMESAME_TEST")])
    assert found.result == ["here", "here"]


def test_tasks_may_go_on_for_ever_and_lead_to_others_that_come_first():
    place = Local("sweep_fakes:numbers", ("",), forks=True)
    seen = []
    with Crew([place]) as crew:
        for found in crew.results(Task(str(n), n) for n in count()):
            seen.append(found.task.content)
            if len(seen) == 1:
                crew.add(Task("first", "then this"), Task("second", "and this"))
            if len(seen) == 5:
                break
    assert seen == [0, "then this", "and this", 1, 2]


class Afar(Local):
    """Workers as of another machine."""

    here = False

    def __init__(self, *given):
        super().__init__(*given, forks=True)
        self.here = False


def test_what_is_to_be_done_here_goes_nowhere_else():
    here, afar = Local("sweep_fakes:numbers", ("",), forks=True), Afar("sweep_fakes:numbers", ("",))
    with Crew([afar, here]) as crew:
        given = [Task(str(n), n, here=n % 2 == 1) for n in range(6)]
        assert {found.task.content: found.here for found in crew.results(given)} == {n: n % 2 == 1 for n in range(6)}


class Fading(Afar):
    """A place whose first workers are lost with their machine, at their first task."""

    losses = 2

    def begin(self):
        worker = super().begin()
        if self.losses:
            self.losses -= 1
            heard = worker.heard

            def lost():
                kind, content = heard()
                return (kind, content) if kind == "ready" else ("gone", "its machine is lost")

            worker.heard = lost
        return worker


def test_a_task_whose_machine_is_lost_is_done_elsewhere_and_nothing_is_done_twice():
    place = Fading("sweep_fakes:numbers", ("",), 2)
    with Crew([place]) as crew:
        assert sorted(found.task.content for found in crew.results(tasks(range(8)))) == [*range(8)]


def test_a_task_with_which_machines_are_lost_again_and_again_is_given_up():
    place = Fading("sweep_fakes:numbers", ("",))
    place.losses = 3
    with Crew([place]) as crew:
        (found, other) = crew.results(tasks([0, 1]))
    assert found.result == Lost("3 machines were lost while they were at it: its machine is lost")
    assert other.result[0] == 1


def test_one_says_what_is_under_way_and_for_how_long(monkeypatch):
    monkeypatch.setattr(crew_module, "TURN", 0.05)
    place, seen = Local("sweep_fakes:numbers", ("",), 2, forks=True), []
    with Crew([place]) as crew:
        crew.watch = lambda: seen.append([task.key for task, _ in crew.under_way])
        for _ in crew.results(tasks(["hang", 1], limit=0.5)):
            pass
    assert ["hang"] in seen


def test_ctrl_c_while_a_process_begins_is_heard():
    """On whatever thread the signal arrives."""
    import os

    idle = threading.Event()
    threading.Thread(target=idle.wait, daemon=True).start()
    os.register_at_fork(before=lambda: os.kill(os.getpid(), signal.SIGINT) if heard else None)
    heard = [True]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)     # a run in the background may not hear it
    try:
        with pytest.raises(KeyboardInterrupt):
            done([1])
    finally:
        heard.clear()
        signal.signal(signal.SIGINT, before)
        idle.set()
    assert done([1])[1][0] == 1


def test_progress_says_what_how_far_how_long_yet_and_where_it_hangs():
    now = [0.0]
    progress = Progress("probes", 39, 4, 4, clock=lambda: now[0])
    assert progress.line == "4 of 39 probes after 0 s"
    now[0], progress.done, progress.under_way = 130.0, 14, [("hidden_act", 48.0), ("b", 1.0), ("c", 0.5), ("d", 0.1)]
    assert progress.line == ("14 of 39 probes after 2 min 10 s; about 5 min 25 s to go; under way: hidden_act (48 s), "
                             "b, c, and 1 more")
    progress.done, progress.under_way = 39, []
    assert progress.line == "39 of 39 probes after 2 min 10 s"


@pytest.mark.parametrize("seconds, words", [(3.4, "3 s"), (61, "1 min 1 s"), (700, "11 min"), (3600, "1 h"),
                                            (9000, "2 h 30 min")])
def test_times_are_as_people_say_them(seconds, words):
    assert in_minutes(seconds) == words
