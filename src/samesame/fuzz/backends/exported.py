"""torch.export, with its default decompositions: the program that other tools take."""

from __future__ import annotations

from typing import Any

import torch

from samesame.fuzz.backends.backend import Backend, as_module


def _exported(function: Any, inputs: Any) -> Any:
    return torch.export.export(as_module(function), tuple(inputs), strict=False).run_decompositions().module()


BACKENDS = (Backend("export", "export", _exported),)
