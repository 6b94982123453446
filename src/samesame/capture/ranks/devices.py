"""Where a rank's tensors are: on the CPU, whatever device the program asks for.

Libraries for GPUs make a buffer on "the current device", or move a module there. Ranks run without one, and what is
computed does not depend on where. Streams are left out: in which order they write is nothing that a CPU could show.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

CPU = torch.device("cpu")


def _stay(thing: Any, *_: Any, **__: Any) -> Any:
    return thing


def _synchronised(self: nn.SyncBatchNorm, x: torch.Tensor) -> torch.Tensor:
    """The layer as on a GPU: it asks for one, or for what torch calls a backend of private use."""
    with patch.object(torch._C, "_get_privateuse1_backend_name", lambda: CPU.type):
        return _FORWARD(self, x)


_FORWARD = nn.SyncBatchNorm.forward


@contextmanager
def on_the_cpu() -> Iterator[None]:
    """Inside, the current GPU is the CPU, and what is moved there stays where it is."""
    with ExitStack() as stack:
        for where, name, put in (
            (torch.cuda, "current_device", lambda: CPU), (torch.cuda, "set_device", lambda device: None),
            (torch.Tensor, "cuda", _stay), (nn.Module, "cuda", _stay),
            (nn.SyncBatchNorm, "forward", _synchronised),
        ):
            stack.enter_context(patch.object(where, name, put))
        yield
