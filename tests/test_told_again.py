"""The same programs get the same answers from the same questions, in every process and whatever was done before."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

from told_again import all_told

TESTS = Path(__file__).parent
NAMES = ("argmax", "flip of a concatenation")
MORE = (*NAMES, "welford", "attention, fused and in three steps", "recurrence by a triangular matrix")
MORE += ("flash_attention", "running_variance", "rms_norm_backward", "matmul")


def test_answers_and_questions_are_the_same_after_other_work() -> None:
    first = all_told(NAMES)
    assert all(asked for _, asked in first.values())
    assert all_told(reversed(NAMES)) == first


@pytest.mark.long
def test_answers_and_questions_are_the_same_in_other_processes() -> None:
    def beginning_with(names: tuple[str, ...], seed: int) -> dict[str, object]:
        path = os.pathsep.join([str(TESTS), *sys.path])
        done = subprocess.run(
            [sys.executable, TESTS / "told_again.py", *names], capture_output=True, text=True, check=True, timeout=300,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path},
        )  # fmt: skip
        return dict(json.loads(done.stdout))

    assert beginning_with(MORE, 1) == beginning_with(MORE[::-1], 2)
