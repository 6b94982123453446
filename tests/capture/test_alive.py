"""Which tensors exist is known to every thread, also while one has told the collector to leave the old ones alone.

The collector goes through all objects again and again here, of which a process that collected all tests has millions:
so these tests run in a process of their own (`test_all_of_this_with_few_objects`), and by themselves among the long
ones.
"""

import gc
import subprocess
import sys
import weakref
from contextlib import suppress
from threading import Thread

import pytest
import torch

from samesame import check
from samesame.capture import alive, capture, capture_calls
from samesame.capture.alive import _known, all_gone_through, tensors_alive, tensors_known
from samesame.evidence import Refused


def test_all_of_this_with_few_objects():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", "long", "--assert=plain", __file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout


@pytest.fixture(autouse=True)
def tensors_from_before_are_known():
    """Nothing is left alone, as where no tests run (see tests/conftest.py)."""
    gc.unfreeze()
    _known.clear()


@pytest.mark.long
def test_old_and_new_tensors_are_known_and_the_collector_is_as_it_was():
    old = torch.ones(2)
    with tensors_known():
        new = torch.ones(3)
        assert id(old) not in {id(thing) for thing in gc.get_objects()}      # the collector leaves it alone
        assert {id(old), id(new)} <= tensors_alive().keys()
        with tensors_known():
            assert {id(old), id(new)} <= tensors_alive().keys()
        assert id(old) in tensors_alive()
    assert gc.get_freeze_count() == 0
    assert id(old) in tensors_alive()


@pytest.mark.long
def test_another_thread_knows_the_old_ones_too():
    old, found = torch.ones(2), []
    with tensors_known():
        thread = Thread(target=lambda: found.append(id(old) in tensors_alive()))
        thread.start()
        thread.join()
    assert found == [True]


@pytest.mark.long
def test_a_check_knows_what_was_there_and_refuses_what_was_made_behind_torch():
    table = torch.arange(6.0)

    def looked_up(x):
        return x * table

    def behind(x):
        return x * torch.utils.dlpack.from_dlpack(table.numpy())

    x = (torch.randn(2, 6),)
    assert check(looked_up, lambda x: table * x, x).verdict == "same" and gc.get_freeze_count() == 0
    with pytest.raises(Refused, match="made in a way torch does not show"):
        check(looked_up, behind, x)
    assert gc.get_freeze_count() == 0 and not _known


@pytest.mark.long
def test_what_was_made_before_all_was_gone_through_again_is_known_afterwards():
    with tensors_known():
        new = torch.ones(3)
        with all_gone_through():
            assert id(new) in {id(thing) for thing in gc.get_objects()}
        assert id(new) not in {id(thing) for thing in gc.get_objects()}
        assert id(new) in tensors_alive()
    assert gc.get_freeze_count() == 0 and not _known


@pytest.fixture
def quick_turns():
    """Threads take turns every few hundred steps."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.long
def test_a_thread_that_builds_tuples_meanwhile_is_not_disturbed(quick_turns):
    """A tuple that is only half built is among all objects, and has to be held by nobody but who builds it."""
    built, over = [], []

    def build():
        while not over:
            built.append(len(tuple(number for number in range(200))))

    class Part(torch.Tensor):
        pass

    part, found = torch.ones(2).as_subclass(Part), []
    thread = Thread(target=build)
    thread.start()
    for _ in range(3):
        found.append(id(part) in tensors_alive())
    alive, _ = thread.is_alive(), over.append(True)
    thread.join()
    assert alive and set(built) == {200} and set(found) == {True} and gc.isenabled()


@pytest.mark.long
def test_what_refers_to_itself_is_let_go_of_between_recordings(monkeypatch):
    """The collector counts what it was told to leave alone as old, and looks at old objects when there are more new
    ones: it never would, and each of many recordings leaves what refers to itself."""
    monkeypatch.setattr(alive, "_left", [0])
    monkeypatch.setattr(alive, "_among_objects", dict)              # which tensors there are is not asked here

    class Knot:
        def __init__(self):
            self.itself, self.more = self, [[] for _ in range(5000)]

    made = []
    monkeypatch.setattr(alive, "GROWN", 1.0 + 15_000 / len(gc.get_objects()))
    for _ in range(8):
        made.append(weakref.ref(Knot()))
        with tensors_known():
            pass
    assert sum(knot() is not None for knot in made) < 6


@pytest.mark.long
@pytest.mark.parametrize("record", [capture, capture_calls])
@pytest.mark.parametrize("refused", [False, True])
def test_a_recording_leaves_nothing_to_the_collector(record, refused):
    """Each further recording goes through all tensors that there are, and large ones take much memory."""
    shape = 2, 3, 5, 7

    def program(x):
        y = x.exp()
        return y.tolist() if refused else y.sin()

    def alive_now():
        return sum(isinstance(thing, torch.Tensor) and thing.shape == shape for thing in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = alive_now()                               # other tests may hold some
        x = torch.randn(shape)
        with suppress(Refused):
            record(program, (x,))
        assert alive_now() == before + 1
    finally:
        gc.enable()
