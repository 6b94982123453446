"""Torch's own artefacts as programs: what torch.export, torch.jit and torch.fx made of a module, in memory or a file.

An exported program is run by the module that torch gives for it, with its checks on sizes; a script by `torchscript`;
anything else is its own program. No code is run from a file but TorchScript's, and nothing is unpickled but tensors.
"""

from __future__ import annotations

import logging
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from samesame.capture.torchscript import scripted
from samesame.evidence import Refused

EXPORTED, SCRIPTS = (".pt2",), (".pt", ".pth", ".jit", ".ts")

PARTS = {"torch.export.save": ("archive_format", ".pt2"), "torch.jit.save": ("constants.pkl", ".pt")}   # in the archive


def program_of(thing: Any) -> Any:
    """The program to capture for something that torch made; anything else as it is."""
    if isinstance(thing, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        return scripted(thing)
    if type(thing).__name__ == "ExportedProgram" and isinstance(thing, torch.export.ExportedProgram):
        return thing.module()
    if hasattr(thing, "get_compiler_config"):              # torch.compile was here
        from samesame.capture.inductor import compiled  # loads the compiler, which few need

        return compiled(thing) or thing
    return thing


def is_artefact_file(path: str) -> bool:
    """Whether a file of this name holds what torch made of a program."""
    return path.endswith((*EXPORTED, *SCRIPTS))


def load_artefact(path: str) -> Any:
    """The program in a file of torch.export.save or torch.jit.save. Raises Refused where there is none."""
    if not Path(path).is_file():
        raise Refused(f"{path} does not exist" if not Path(path).exists() else f"{path} is no file")
    load, saves = (_exported, "torch.export.save") if path.endswith(EXPORTED) else (_script, "torch.jit.save")
    try:
        return program_of(load(path))
    except (RuntimeError, ValueError, OSError, KeyError, EOFError, AttributeError, pickle.UnpicklingError,
            zipfile.BadZipFile) as error:
        raise Refused(f"{path} holds no program of {saves}{why_not(path, saves)}") from error


def why_not(path: str, saves: str) -> str:
    """What such a file is instead, as its parts are called, and what to do: torch speaks of its own readers."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.partition("/")[2] for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError):
        with Path(path).open("rb") as stream:
            begun = stream.read(2) == b"PK"
        return (": it was cut off, or is damaged; save or fetch it again" if begun else
                ": it is no archive as torch writes them; give a file that it saved")
    for kind, (part, ending) in PARTS.items():
        if part in names and kind != saves:
            return f": it is one of {kind}; call it {Path(path).stem}{ending}"
        if part in names:
            return f" that torch {torch.__version__} reads: save it again with this version"
    if "data.pkl" in names:
        return (": these are weights, or a module that torch.save pickled; name what makes the module instead, such as "
                "model.py:Model")
    return ": it is an archive of something else; give a file that torch saved"


def _exported(path: str) -> Any:
    log = logging.getLogger("torch.export")
    before, log.disabled = log.disabled, True              # a failure is said in one sentence
    try:
        with patch.dict(os.environ, TORCH_FORCE_WEIGHTS_ONLY_LOAD="1"):
            return torch.export.load(path)
    finally:
        log.disabled = before


def _script(path: str) -> Any:
    loaded: Callable[..., Any] = torch.jit.load(path, map_location="cpu")    # type: ignore[no-untyped-call]
    return loaded
