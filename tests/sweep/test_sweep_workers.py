"""Workers do every task, whatever becomes of one of them."""

import time

import pytest

import sweep_fakes
from samesame.evidence import SamesameError
from samesame.sweep.workers import Lost, Workers


def done(tasks, *, jobs=2, limit=30.0, given=("",), until=float("inf")):
    with Workers(sweep_fakes.numbers, given, jobs, limit) as workers:
        return dict(workers.results(tasks, until))


def test_every_task_has_its_result_and_a_worker_does_many():
    found = done(range(20))
    assert {task: result[0] for task, result in found.items()} == {n: n for n in range(20)}
    assert len({process for _, process in found.values()}) <= 2


def test_a_crash_takes_one_task_along_and_no_other():
    found = done([1, "crash", 2, 3])
    assert found.pop("crash") == Lost("the process that ran it was ended by SIGSEGV, twice")
    assert {result[0] for result in found.values()} == {1, 2, 3}


def test_a_task_is_tried_again_after_a_crash(tmp_path):
    found = done(["crash once", 2], given=(str(tmp_path),))
    assert found["crash once"][0] == "crash once" and found[2][0] == 2


def test_a_task_that_takes_too_long_is_ended():
    found = done(["hang", 1, 2], limit=1.0)
    assert found.pop("hang") == Lost("it took longer than 1 s")
    assert {result[0] for result in found.values()} == {1, 2}


def test_an_exception_is_a_defect_and_the_worker_goes_on():
    found = done(["raise", 1], jobs=1)
    assert found["raise"].why.endswith("ValueError: no such thing")
    assert found[1][0] == 1


@pytest.mark.parametrize("prepare, message", [
    (sweep_fakes.unusable, "the library is not installed"),
    (sweep_fakes.dies_at_once, "ended with exit code 3 while it loaded the libraries"),
])
def test_workers_that_cannot_start_say_so(prepare, message):
    with Workers(prepare, (), 1, 5.0) as workers, pytest.raises(SamesameError, match=message):
        list(workers.results([1]))


def test_after_the_time_limit_nothing_is_begun():
    assert done([1, "hang"], jobs=1, until=time.monotonic() + 3.0).keys() == {1}


def test_workers_are_gone_afterwards():
    with Workers(sweep_fakes.numbers, ("",), 2, 30.0) as workers:
        list(workers.results(range(4)))
        processes = [worker.process for worker in workers._workers]
        assert processes and all(process.is_alive() for process in processes)
    assert not any(process.is_alive() for process in processes)
