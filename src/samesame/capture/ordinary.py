"""The ordinary state: how torch is set while a program runs for us, whether it is recorded or not.

A program runs eagerly and by torch's own kernels. One that computes no gradients runs in inference mode, where torch
shows whole operators (`linear`, `softmax`). One that does runs as its users run it, with gradients on: what torch shows
then is what autograd keeps a derivative of (`addmm`, `_softmax`), and the derivatives themselves.
Distributions do not check their arguments: such a check looks at values only to raise, and that it passes is a
condition (`asked.py`).
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

from samesame.capture.eager import eagerly
from samesame.evidence import Refused


@contextmanager
def ordinary(gradients: bool = False) -> Iterator[None]:
    """Inside, torch runs programs by its own kernels, with `gradients` or without them."""
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(not gradients))
        stack.enter_context(torch.set_grad_enabled(gradients))     # sets it when it is made: not before inference mode
        stack.enter_context(eagerly())
        stack.enter_context(general_kernels())
        stack.enter_context(unchecked_distributions())
        stack.enter_context(sdpa_kernel(SDPBackend.MATH) if gradients else nullcontext())
        yield


@contextmanager
def unchecked_distributions() -> Iterator[None]:
    """Inside, torch.distributions takes its arguments for valid, unless a program tells it to check them. The setting
    is the process's: the last thread to leave puts it back."""
    with _unchecked:
        _before.append(Distribution._validate_args)
        Distribution._validate_args = False
    try:
        yield
    finally:
        with _unchecked:
            before = _before.pop()
            if not _before:
                Distribution._validate_args = before


_unchecked = threading.Lock()
_before: list[bool] = []  # settings that were found by those inside, the ordinary one first


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
