"""Which tensors exist is known to every thread, also while one has told the collector to leave the old ones alone."""

import gc
from threading import Thread

import torch

from samesame.capture.alive import tensors_alive, tensors_known


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


def test_another_thread_knows_the_old_ones_too():
    old, found = torch.ones(2), []
    with tensors_known():
        thread = Thread(target=lambda: found.append(id(old) in tensors_alive()))
        thread.start()
        thread.join()
    assert found == [True]
