"""What a program holds in Python is seen, and put back: hooks that a call puts on, and caches of any callable."""

import functools

from torch import nn

from samesame.capture.snapshot import snapshot


def test_hooks_that_a_call_puts_on_are_taken_off_with_what_says_that_they_are_on():
    """Transformers puts hooks on stages in the first call, and marks the model: where only the mark was taken back,
    the next call put them on twice."""
    model = nn.Linear(2, 2)
    kept = model.register_forward_hook(lambda *seen: None)
    before = snapshot(model)
    model.register_forward_hook(lambda *seen: None)
    model.register_forward_pre_hook(lambda *seen: None, with_kwargs=True)
    model.hooked = True
    before.restore()
    assert list(model._forward_hooks) == [kept.id] and not model._forward_pre_hooks
    assert not model._forward_pre_hooks_with_kwargs and not hasattr(model, "hooked")


def test_a_cache_without_a_name_is_emptied():
    """What caches a functools.partial has no name of its own."""
    model = nn.Linear(2, 2)
    model.again = functools.lru_cache(functools.partial(pow, 3))
    before = snapshot(model)
    model.again(2)
    assert before.changed(snapshot(model)) == {"again.cache_info"}
    before.restore()
    assert model.again.cache_info().currsize == 0
