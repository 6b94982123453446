"""What a worker does in a fork: generate and judge a program, reduce one, find the guilty pass.

A task is a function of a case and the settings, both JSON, and says which stage it is in.
"""

from __future__ import annotations

import logging
import os
import random
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from samesame.fuzz.encode import decoded, encoded
from samesame.fuzz.program import Program, source

Say = Callable[[str], None]
Result = dict[str, Any]


def warm(settings: dict[str, Any]) -> None:
    """Load torch and the compiler, and compile something, so that a fork has it all."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = settings["cache"]
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    from samesame.fuzz.backends import BACKENDS
    from samesame.fuzz.generators import GENERATORS
    from samesame.fuzz.generators.operators import operators

    operators()
    assert GENERATORS
    example = [torch.ones(3)]
    for name in settings["backends"]:
        BACKENDS[name].compile(lambda x: x + 1, example)(*example)
    torch._dynamo.reset()


def probe(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Generate the program of a number, and judge it and its twin."""
    from samesame.fuzz.backends import BACKENDS
    from samesame.fuzz.generators import GENERATORS
    from samesame.fuzz.judge import judge
    from samesame.fuzz.twins import twin_of

    dice = random.Random(f"{settings['seed']}/{case['number']}")
    say("generate")
    program = GENERATORS[case["generator"]](dice, frozenset(case["avoid"]))
    twin = twin_of(program, dice) if settings["twins"] else None
    judged = judge(
        program, BACKENDS[case["backend"]], twin.program if twin else None, twin.exact if twin else True, say
    )
    result = {**asdict(judged), "size": len(program), "rewrites": list(twin.rules) if twin else []}
    if judged.status not in ("agrees", "invalid"):
        subject = twin.program if twin and judged.stage == "twin" else program
        result |= {"program": encoded(subject), "text": source(subject)}
        if twin and judged.status == "wrong twin":
            result["original"] = encoded(program)
    return result


def rejudge(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Judge one given program under one back end."""
    from samesame.fuzz.backends import BACKENDS
    from samesame.fuzz.judge import judge

    return asdict(judge(decoded(case["program"]), BACKENDS[case["backend"]], say=say))


def shrink(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Reduce a program that shows a difference; each candidate is judged in this fork."""
    from samesame.fuzz.backends import BACKENDS
    from samesame.fuzz.judge import judge
    from samesame.fuzz.reduce import reduced

    backend, label, tried = BACKENDS[case["backend"]], case["kind"], 0

    def shows(candidate: Program) -> str | None:
        nonlocal tried
        tried += 1
        try:
            judged = judge(candidate, backend)
        except Exception:  # a candidate that cannot even be written down shows nothing
            return None
        return judged.kind if judged.status == "found" else None

    program = decoded(case["program"])
    if shows(program) != label:
        return {"status": "gone", "tried": tried}
    small = reduced(program, shows, label, time.monotonic() + case["budget"])
    judged = judge(small, backend)
    return {**asdict(judged), "program": encoded(small), "text": source(small), "tried": tried, "size": len(small)}


def bisect(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """Which pass or lowering is guilty, by torch's own bisector; empty where it cannot say."""
    from samesame.fuzz.guilty import guilty_pass

    return {"status": "told", "guilty": guilty_pass(decoded(case["program"]), case["backend"])}


def generate(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """The program of a number, for a case that did not come back."""
    from samesame.fuzz.generators import GENERATORS

    dice = random.Random(f"{settings['seed']}/{case['number']}")
    program = GENERATORS[case["generator"]](dice, frozenset(case["avoid"]))
    return {"status": "made", "program": encoded(program), "text": source(program)}


def own(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """The user's own module, eager and compiled."""
    from samesame.fuzz.backends import BACKENDS
    from samesame.fuzz.own import judge_own, loaded

    say("eager")
    return asdict(judge_own(loaded(case["target"], case["inputs"]), BACKENDS[case["backend"]]))


def own_twin(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """One twin of the user's program."""
    from samesame.fuzz.backends import BACKENDS
    from samesame.fuzz.judge import judge
    from samesame.fuzz.twins import twin_of

    program = decoded(case["program"])
    twin = twin_of(program, random.Random(f"{settings['seed']}/{case['number']}"))
    if twin is None:
        return {"status": "no twin", "rewrites": []}
    judged = judge(program, BACKENDS[case["backend"]], twin.program, twin.exact, say)
    result = {**asdict(judged), "rewrites": list(twin.rules)}
    if judged.status == "found":
        subject = twin.program if judged.stage == "twin" else program
        result |= {"program": encoded(subject), "text": source(subject)}
    return result


def written(case: dict[str, Any], settings: dict[str, Any], say: Say) -> Result:
    """A module that was written as text: itself, and its twin by swaps of Python's operators."""
    from samesame.fuzz.backends import BACKENDS
    from samesame.fuzz.own import judge_written

    judged = judge_written(case["text"], BACKENDS[case["backend"]], settings["twins"], say)
    return {**asdict(judged), "text": case["text"]}


TASKS: dict[str, Callable[[dict[str, Any], dict[str, Any], Say], Result]] = {
    "probe": probe,
    "rejudge": rejudge,
    "shrink": shrink,
    "bisect": bisect,
    "generate": generate,
    "own": own,
    "written": written,
    "own twin": own_twin,
}
