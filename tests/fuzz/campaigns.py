"""Folders of campaigns as a fuzzer leaves them, written at once: for tests of what is made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from samesame.fuzz.campaign import Settings
from samesame.fuzz.corpus import Corpus, Finding
from samesame.fuzz.program import Input, Program, Ref, Step, encoded, source

SETTINGS = Settings(backends=("inductor", "aot_eager"))


def finding() -> Finding:
    """A clone that is not one, with its program, its twin and the pass that is guilty."""
    steps = (Step(("y",), "torch.clone", (Ref("x"),)), Step((), ".fill_", (Ref("x"), 2.0)))
    program = Program((Input("x", "torch.ones(2)"),), steps, ("y",))
    twin = replace(program, steps=(Step(("y",), "torch.mul", (Ref("x"), 1)), steps[1]))
    return Finding(
        1, "inductor", "wrong value", "output 0", "2 of 2 elements: 2.0 for 1.0", encoded(program), source(program),
        guilty={"backend": "inductor", "subsystem": "post_grad_passes", "place": "reinplace_inplaceable_ops"},
        calls=["torch.clone", ".fill_"], dtypes=["float"], found_by="statements", stage="program", first="x.fill_(2.0)",
        twin=source(twin), times=3, versions={"torch": "2.13.0", "python": "3.11"})


def campaign(folder: Path, *findings: Finding) -> Path:
    """A folder with these findings, and with cases that found none."""
    corpus = Corpus(folder, SETTINGS.kept(), resume=False)
    for one in findings:
        corpus.keep(one)
    for number, status in enumerate(["agrees"] * 17 + ["found"] * len(findings) + ["undefined", "invalid", "odd"]):
        corpus.add({"number": number, "generator": "statements", "backend": "inductor"}, {"status": status}, None)
    corpus.close()
    return folder
