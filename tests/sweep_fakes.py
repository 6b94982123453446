"""Workers without libraries: what a probe comes to is said here, so that tests see the runner alone."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from pathlib import Path

from samesame.evidence import SamesameError


def numbers(folder: str = ""):
    """A function of numbers with every way to go wrong."""

    def work(task):
        if task == "crash":
            faulthandler.disable()
            os.kill(os.getpid(), signal.SIGSEGV)
        if task == "crash once" and not (mark := Path(folder) / "crashed").exists():
            mark.touch()
            os._exit(7)
        if task == "hang":
            time.sleep(600)
        if isinstance(task, list):                              # how long, and which
            time.sleep(task[0])
            (Path(folder) / f"{task[1]}-{time.monotonic_ns()}").touch()
        if task == "print and exit":
            print("the last words")
            os._exit(3)
        if task == "raise":
            raise ValueError("no such thing")
        return task, os.getpid()

    return work


def surroundings():
    """A variable of the environment: now, and when this was loaded."""
    return lambda name: [os.environ.get(name), AT_FIRST.get(name)]


AT_FIRST = dict(os.environ)


def unusable():
    raise SamesameError("the library is not installed")


def dies_at_once():
    os._exit(3)


def outcomes(left, right, seed, per_probe, store, certify):
    """Probes of activations end in every way; all others are the same. With a folder for `store`, each is noted."""
    ends = {
        "gelu": dict(outcome="different", max_error=0.5, mean_error=0.1, moved=(True, False),
                     config={"model_type": "llama"}, tokens=12),
        "relu": dict(outcome="refused", by="right", message="Only silu is supported."),
        "tanh": dict(outcome="unsupported", by="samesame", message="no meaning for tanh"),
    }

    def attempt(probe):
        if store != "-":
            (Path(store) / f"{probe.field or 'base'}-{probe.value}-{time.monotonic_ns()}").touch()
        if probe.value == "mish":
            os.kill(os.getpid(), signal.SIGKILL)
        return ends.get(probe.value, dict(outcome="same")) if isinstance(probe.value, str) else dict(outcome="same")

    return attempts(attempt)


def attempts(ends):
    """What a worker does, by what becomes of a probe."""
    from samesame.sweep.outcome import Outcome, to_json
    from samesame.sweep.probe import Probe

    def work(content):
        probe = Probe(**content["probe"])
        page = f"the report of {probe.spoken}" if content["drawn"] else None
        return {**to_json(Outcome(probe, **ends(probe))), "certificate": None, "page": page}

    return work


def refused_as_it_is(*given):
    return attempts(lambda probe: dict(outcome="refused", by="right", message="vLLM has no model of its own for it"))


def differs_as_it_is(*given):
    return attempts(lambda probe: dict(outcome="same" if probe.field else "different"))
