"""The state that a verdict is for, in words: modes of modules, gradients, and what the programs ask for beside values.

A program that asks whether gradients are on, or how its inputs lie in memory, is another program where the answer is
another. Where that was tried and made no difference nothing is said; where it made one, or could not be tried, the
verdict is for the state of capture, and the headline or the section `captured` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from samesame.evidence import Verdict
from samesame.graph import Asked, Setting

# What a program asks for: the question, and the answer that it was captured with.
QUESTIONS = {
    "gradients": ("whether gradients are on", "with gradients {}"),
    "strides": ("how tensors lie in memory", "with inputs laid out as the example's"),
    "autocast": ("for autocast", "with autocast as it was"),
    "default dtype": ("for the default dtype", "with the default dtype as it was"),
    "threads": ("for the number of threads", "with the number of threads as it was"),
    "tracing": ("whether it is traced or compiled", "neither traced nor compiled"),
    "clock": ("for the time", "whatever the clock showed"),
    "chance": ("for random numbers", "whatever was drawn"),
    "checks": ("whether a distribution's arguments are valid", "where torch.distributions accepts its arguments"),
}
SHOWN = {"eval": "in eval mode", "training": "in training mode", "mixed": "with some parts in training mode", "": ""}


def sides(verdict: Verdict) -> Iterator[tuple[str, Setting]]:
    yield from zip(("left", "right"), verdict.settings or (), strict=False)


def only_with(verdict: Verdict) -> str:
    """The states without which the programs compute something else, for the headline."""
    found = {answer(a, setting): None for _, setting in sides(verdict) for a in setting.asked if a.same is False}
    return "".join(f", {words}" for words in found)


def captured(verdict: Verdict) -> Iterator[str]:
    """The state that both sides were captured in, a line for all and one for each question that matters."""
    modes = {side: SHOWN[setting.mode] for side, setting in sides(verdict) if setting.mode}
    if verdict.settings is None:
        return
    if len(set(modes.values())) == 1:
        modes = {"both" if len(modes) == 2 else next(iter(modes)): next(iter(modes.values()))}
    unusual = {words: None for _, setting in sides(verdict) for words in setting.unusual}
    spoken = [words if side == "both" else f"{side} {words}" for side, words in modes.items()]
    yield ", ".join([*spoken, "with gradients" if verdict.settings[0].gradients else "without gradients", *unusual])
    for side, setting in sides(verdict):
        for asked in setting.asked:
            if asked.same is not True:
                yield f"{side} asks {QUESTIONS[asked.what][0]}{place(asked)}: captured {consequence(asked, setting)}"


def place(asked: Asked) -> str:
    return f" ({asked.origin.file}:{asked.origin.line})" if asked.origin.file else ""


def answer(asked: Asked, setting: Setting) -> str:
    """What the program was told when it was captured."""
    return QUESTIONS[asked.what][1].format("on" if setting.gradients else "off")


def consequence(asked: Asked, setting: Setting) -> str:
    told = answer(asked, setting)
    if asked.same is False:
        return f"{told}, and otherwise it computes something else, or nothing"
    return told if asked.what in ("clock", "chance") else f"{told}; no other state was tried"


def setting_json(setting: Setting) -> dict[str, Any]:
    return {
        "mode": setting.mode,
        "gradients": setting.gradients,
        "unusual": setting.unusual,
        "asked": [
            {"what": a.what, "file": a.origin.file, "line": a.origin.line, "same_otherwise": a.same}
            for a in setting.asked
        ],
    }
