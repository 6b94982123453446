"""Threads that lift or check at once know nothing of each other; nor do forks that one of them makes meanwhile."""

from __future__ import annotations

import builtins
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest
import torch
import triton
import triton.language as tl

from samesame import check
from samesame.evidence import Refused
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import numbers_read
from samesame.lift.program import lift
from samesame.programs.alone import acting, alone, is_inside


@triton.jit
def doubled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def divided(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at, mask=at < n, other=1.0), tl.load(y_ptr + at, mask=at < n, other=1.0)
    tl.store(out_ptr + at, x / y, mask=at < n)


def double(x):
    out = torch.empty_like(x)
    doubled[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def divide(x, y):
    out = torch.empty_like(x)
    divided[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out


def doubled_by_a_thread(x):
    out = torch.empty_like(x)
    thread = Thread(target=lambda: doubled[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64))
    thread.start()
    thread.join()
    return out


LAUNCHES = ((double, (torch.ones(200),)), (divide, (torch.ones(200), torch.ones(200))))


def answers(number):
    target, inputs = LAUNCHES[number]
    found = lift(target, inputs=inputs)
    return found.verdict, [formula.text for kernel in found.kernels for formula in kernel.formulas]


@pytest.fixture
def quick_turns():
    """Threads take turns every few hundred steps."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def test_threads_that_lift_at_once_get_what_one_gets_alone(quick_turns):
    alone_, together, root = [answers(0), answers(1)], Barrier(2), math.sqrt
    assert [verdict for verdict, _ in alone_] == ["verified", "verified"]

    def begin(number):
        together.wait()
        return [answers(number) for _ in range(2)]

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(begin, range(2))) == [[one, one] for one in alone_]
    assert math.sqrt is root


def test_threads_that_check_at_once_leave_everything_in_its_place(quick_turns):
    before = [getattr(holder, name) for holder, name in PLACES]

    def begin(_):
        sides = (lambda x: x.sum(-1) / len(x[0])), (lambda x: x.mean(-1))
        return [check(*sides, (torch.ones(3, 5),)).verdict for _ in range(3)]

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(begin, range(2))) == [["same"] * 3] * 2
    assert [getattr(holder, name) for holder, name in PLACES] == before


PLACES = ((builtins, "len"), (builtins, "print"), (math, "sqrt"), (os, "fork"), (ThreadPoolExecutor, "submit"))


def test_what_a_launch_function_launches_from_a_thread_of_its_own_is_part_of_its_run():
    assert interpret(doubled_by_a_thread, (torch.ones(200),)).outputs["0"].tolist() == [2.0] * 200
    assert lift(doubled_by_a_thread, inputs=(torch.ones(200),)).verdict == "verified"
    with pytest.raises(Refused, match="in a thread of its own"):
        check(doubled_by_a_thread, lambda x: 2 * x, (torch.ones(200),))


def test_a_file_that_lifts_while_it_is_imported_does_not_wait_for_itself():
    """What the host reads from a tensor is read by a run on a thread of its own."""
    with alone():
        assert numbers_read(double_some, (torch.ones(200), torch.tensor([100])), 60.0) == (100,)


def double_some(x, count):
    return double(x[: int(count[0])])


def test_whoever_is_alone_goes_on_and_others_wait_unless_they_act_for_it():
    came, left = Event(), Event()

    def comes():
        with alone():
            came.set()
        left.set()

    with alone(), alone():
        assert is_inside()
        thread = Thread(target=comes)
        thread.start()
        assert not came.wait(0.05)
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(acts).result()
    assert came.wait(60) and left.wait(60) and not is_inside()


def acts():
    with acting(), alone():
        return is_inside()


def test_a_fork_waits_for_another_threads_run_and_not_for_its_own():
    begun, over, ended = Event(), Event(), []

    def run():
        with alone():
            begun.set()
            over.wait(60)
            ended.append(True)

    thread = Thread(target=run)
    thread.start()
    begun.wait(60)
    Thread(target=lambda: over.wait(0.05) or over.set()).start()
    assert status_of_a_fork() == 0 and ended
    thread.join()
    with alone():
        assert status_of_a_fork() == 0


def status_of_a_fork():
    """Of a child that is alone for a moment."""
    child = os.fork()
    if not child:
        with alone():
            os._exit(0)
    return os.waitpid(child, 0)[1]
