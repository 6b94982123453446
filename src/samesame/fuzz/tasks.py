"""What a worker does with a case: generate and judge a program, reduce one, find the guilty pass.

A task is a function of a case, the settings (both JSON) and a way to say which stage it is in. All run in a fork, but
for the reduction, which forks for each candidate: a candidate that crashes is what it is about.
"""

from __future__ import annotations

import logging
import random
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from tempfile import NamedTemporaryFile
from typing import Any

import torch

from samesame.fuzz.apart import DIED, Result, Say, run_apart
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.generators.operators import operators
from samesame.fuzz.generators.taste import Taste
from samesame.fuzz.guilty import guilty_pass
from samesame.fuzz.judge import judge
from samesame.fuzz.learnt import learnt
from samesame.fuzz.own import judge_own, judge_twin, judge_written, loaded
from samesame.fuzz.program import Program, decoded, encoded, source
from samesame.fuzz.reached import watching
from samesame.fuzz.reduce import first_wrong, reduced
from samesame.fuzz.terms import Twin
from samesame.fuzz.twins import twin_of

TWINS_TRIED = 4              # twins of a reduced program that are tried for one that is compiled rightly
Task = Callable[[dict[str, Any], dict[str, Any], Say], Result]


def warm(settings: dict[str, Any]) -> None:
    """Load the compiler, and compile something, so that a fork has it all."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    operators()
    learnt(settings["store"])
    for name in settings["backends"]:
        BACKENDS[name].compile(lambda x: x + 1, lambda: [torch.ones(3)])(torch.ones(3))
    torch._dynamo.reset()


def done(case: dict[str, Any], settings: dict[str, Any], known: set[str]) -> Result:
    """The result of a case; of a case that is to be traced with the lines that were not `known`, which then are."""
    seconds = case.get("seconds") or settings["seconds"]
    if case["task"] == "shrink":
        return shrink(case, settings)

    def task(say: Say) -> Result:
        if not case.get("traced"):
            return TASKS[case["task"]](case, settings, say)
        reached = set[str]()
        with watching(reached):
            result = TASKS[case["task"]](case, settings, say)
        return {**result, "lines": sorted(reached - known)}

    result = run_apart(task, seconds, settings["gigabytes"])
    known.update(result.get("lines", ()))
    return result


def accuses(result: Result) -> bool:
    """Whether a result accuses the compiler: what does not come back must have been in the compiler's hands."""
    return result["status"] == "found" or (result["status"] in DIED and result["stage"].startswith("compiled"))


def label(result: Result) -> str:
    """What is wrong, as coarse as reduction must keep it: the kind, and for an error what it says, but for numbers."""
    if not accuses(result):
        return ""
    kind = result.get("kind") or result["status"]
    return f"{kind} {re.sub(r'[0-9]+', '', result['detail'])[:60]}" if kind in ("crash", "refusal") else kind


def generated(case: dict[str, Any], settings: dict[str, Any]) -> tuple[Program, Twin | None]:
    """The program of a case's number, and its twin."""
    dice = random.Random(f"{settings['seed']}/{case['number']}")
    program = GENERATORS[case["generator"]](dice, Taste(frozenset(case["avoid"]), case["tried"]))
    return program, twin_of(program, dice, learnt(settings["store"])) if settings["twins"] else None


def probe(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Generate the program of a number, and judge it and its twin."""
    say("generate")
    program, twin = generated(case, settings)
    exact = twin is None or twin.exact

    def subject(stage: str) -> dict[str, str]:
        judged = twin.program if twin and stage.endswith("twin") else program
        return {"program": encoded(judged), "text": source(judged)}

    def saying(stage: str) -> None:
        say(stage, **subject(stage))

    judged = judge(program, BACKENDS[case["backend"]], twin.program if twin else None, exact, saying)
    result = {**asdict(judged), "size": len(program), "rewrites": list(twin.rules) if twin else []}
    if case["traced"]:
        result["calls"] = program.calls + dtypes(program)
    if judged.status == "wrong twin":
        result["original"] = source(program)
    return result | subject(judged.stage) if judged.status in ("found", "wrong twin") else result


def dtypes(program: Program) -> list[str]:
    """The dtypes of a program's inputs."""
    return sorted({str(tensor.dtype).removeprefix("torch.") for tensor in program.make_inputs()})


def rejudge(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Judge one given program under one back end."""
    return asdict(judge(decoded(case["program"]), BACKENDS[case["backend"]], say=say))


def shrink(case: dict[str, Any], settings: dict[str, Any]) -> Result:
    """Reduce a program that shows a difference, each candidate in a fork of its own; then say after which line it shows
    first, and look for an equal spelling that is compiled rightly."""
    tried, last = 0, {}
    until = time.monotonic() + case["budget"]

    def shows(candidate: Program) -> str:
        nonlocal tried, last
        tried += 1
        asked = {"program": encoded(candidate), "backend": case["backend"]}
        judged = run_apart(lambda say: rejudge(asked, settings, say), settings["seconds"], settings["gigabytes"])
        last = judged
        return label(judged)

    program = decoded(case["program"])
    wanted = shows(program)
    if not wanted:
        return {"status": "gone", "tried": tried}
    small = reduced(program, shows, wanted, until)
    if shows(small) != wanted:
        return {"status": "gone", "tried": tried}
    told = {**last, "program": encoded(small), "text": source(small), "first": first_wrong(small, shows)}
    asked = {"program": encoded(small), "backend": case["backend"]}
    right = run_apart(lambda say: right_twin(asked, settings, say), settings["seconds"], settings["gigabytes"])
    return {**told, "tried": tried, "size": len(small), "twin": right.get("text", "")}


def right_twin(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """A twin of the program that is compiled rightly."""
    program = decoded(case["program"])
    for number in range(TWINS_TRIED):
        twin = twin_of(program, random.Random(number))
        if twin is None:
            break
        agree = judge(program, BACKENDS["eager"], twin.program, twin.exact).status == "agrees"
        if agree and judge(twin.program, BACKENDS[case["backend"]]).status == "agrees":
            return {"status": "agrees", "text": source(twin.program)}
    return {"status": "none"}


def bisect(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Which pass or lowering is guilty, by torch's own bisector; empty where it cannot say."""
    return {"status": "told", "guilty": guilty_pass(decoded(case["program"]), case["backend"])}


def own(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """The user's own module, eager and compiled."""
    return asdict(judge_own(loaded(case["target"], case["inputs"]), BACKENDS[case["backend"]], say))


def own_twin(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """One twin of the user's program."""
    rules = learnt(settings["store"])
    return judge_twin(decoded(case["program"]), BACKENDS[case["backend"]], case["number"], say, rules)


def written(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """A module that was written as text: itself, and its twin by swaps of Python's operators."""
    judged = judge_written(case["text"], BACKENDS[case["backend"]], settings["twins"], say)
    return {**asdict(judged), "text": case["text"]}


def script(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Whether a finding's script fails with torch alone, in a process of its own, and as the finding says."""
    with NamedTemporaryFile("w", suffix=".py") as file:
        file.write(case["text"])
        file.flush()
        say("compiled script")                                        # -P: what else lies in that folder is no module
        run = subprocess.run([sys.executable, "-P", file.name], capture_output=True, text=True)
    told = [line for line in run.stderr.splitlines() if line and not line[0].isspace()]
    fails = run.returncode < 0 or any(case["error"] in line for line in told)
    return {"status": "fails" if fails else "passes", "detail": (told or [""])[-1]}


TASKS: dict[str, Task] = {
    "probe": probe, "rejudge": rejudge, "bisect": bisect, "own": own, "written": written, "own twin": own_twin,
    "script": script,
}  # fmt: skip
