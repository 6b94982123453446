"""The ordinary state: how torch is set while a program runs for us, whether it is recorded or not.

A program runs eagerly and by torch's own kernels. One that computes no gradients runs in inference mode, where torch
shows whole operators (`linear`, `softmax`). One that does runs as its users run it, with gradients on: what torch shows
then is what autograd keeps a derivative of (`addmm`, `_softmax`), and the derivatives themselves.
Distributions do not check their arguments: such a check looks at values only to raise, and that it passes is a
condition (`asked.py`). Adafactor computes with tensors what torch's own computes with numbers of Python that hang on
data, so that no value leaves torch for it.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch.distributions import Distribution
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim import _adafactor

from samesame.capture.eager import eagerly
from samesame.capture.lists import adafactor
from samesame.evidence import Refused
from samesame.programs.alone import alone


@contextmanager
def ordinary(gradients: bool = False) -> Iterator[None]:
    """Inside, torch runs programs by its own kernels, with `gradients` or without them; one thread's at a time."""
    with alone(), ExitStack() as stack:
        stack.enter_context(torch.inference_mode(not gradients))
        stack.enter_context(torch.set_grad_enabled(gradients))     # sets it when it is made: not before inference mode
        stack.enter_context(eagerly())
        stack.enter_context(general_kernels())
        stack.enter_context(unchecked_distributions())
        stack.enter_context(adafactor_of_tensors())
        stack.enter_context(sdpa_kernel(SDPBackend.MATH) if gradients else nullcontext())
        yield


@contextmanager
def unchecked_distributions() -> Iterator[None]:
    """Inside, torch.distributions takes its arguments for valid, unless a program tells it to check them."""
    with _unchecked.holding():
        yield


@contextmanager
def adafactor_of_tensors() -> Iterator[None]:
    """Inside, a step of torch's Adafactor is the one in `lists`."""
    with _one_by_one.holding(), _in_lists.holding():
        yield


class Setting:
    """An attribute that has another value while anyone is inside. It is the process's: the last thread to leave puts
    back what the first one found."""

    def __init__(self, owner: Any, name: str, value: Any) -> None:
        self.owner, self.name, self.value = owner, name, value
        self.lock, self.inside, self.before = threading.Lock(), 0, None

    @contextmanager
    def holding(self) -> Iterator[None]:
        with self.lock:
            if not self.inside:
                self.before = getattr(self.owner, self.name)
            self.inside += 1
            setattr(self.owner, self.name, self.value)
        try:
            yield
        finally:
            with self.lock:
                self.inside -= 1
                if not self.inside:
                    setattr(self.owner, self.name, self.before)


_unchecked = Setting(Distribution, "_validate_args", False)
_one_by_one = Setting(_adafactor, "_single_tensor_adafactor", adafactor)
_in_lists = Setting(_adafactor, "_multi_tensor_adafactor", adafactor)


def random_states() -> tuple[Any, ...]:
    """The states of the random numbers that torch does not know of: Python's, and numpy's where it is loaded."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return random.getstate(), None
    state = numpy.random.get_state(legacy=False)["state"]
    return random.getstate(), {name: bytes(part) if hasattr(part, "tobytes") else part for name, part in state.items()}


@contextmanager
def general_kernels() -> Iterator[None]:
    """Do without the libraries that have whole recurrent layers as operators of their own, in few dtypes.

    By torch's own functions: the flags in torch.backends may be frozen (torch's test tools freeze them), and the
    context managers there set other flags too, which warns.
    """
    own = torch._C
    libraries = [
        (own._get_mkldnn_enabled(), own._set_mkldnn_enabled),
        (own._get_cudnn_enabled(), own._set_cudnn_enabled),
    ]
    for _, switch in libraries:
        switch(False)
    try:
        yield
    finally:
        for enabled, switch in libraries:
            switch(enabled)


def triton_kernels(noted: Callable[[Refused], Refused] | None = None) -> AbstractContextManager[None]:
    """Launches of Triton kernels as operators; nothing where no program can have one, for Triton is slow to load."""
    if "triton.runtime.jit" not in sys.modules:
        return nullcontext()
    from samesame.capture.triton_operators import kernels_as_operators

    return kernels_as_operators(noted)
