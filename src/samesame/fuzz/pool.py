"""Worker processes, as the campaign sees them: a case goes in, its result comes out, and one that dies is replaced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from samesame.evidence import SamesameError

SURROUNDINGS = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}


class Worker:
    """A worker process with a cache folder of its own; `settings` are JSON. Raises SamesameError where it does not
    begin."""

    def __init__(self, cache: Path, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.surroundings = {**SURROUNDINGS, "TORCHINDUCTOR_CACHE_DIR": str(cache.absolute())}
        self.reached: dict[str, list[int]] = {}  # the lines of the compiler that it takes to begin
        self.process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "samesame.fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **self.surroundings},
            start_new_session=True,  # Ctrl-C is the campaign's to answer
        )
        ready = self._answer(process, self.settings)
        if not ready:
            raise SamesameError("a worker process ended as it began; run with one of its back ends alone to see why")
        self.reached = json.loads(ready)["lines"]
        return process

    def _answer(self, process: subprocess.Popen[str], asked: dict[str, Any]) -> str:
        """The line that a process answers; "" where it is gone."""
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            return process.stdout.readline()
        except OSError:
            return ""

    def ask(self, case: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """The result of a case; `seconds` where it may take longer than others."""
        line = self._answer(self.process, {**case, "seconds": seconds} if seconds else case)
        if line:
            result: dict[str, Any] = json.loads(line)
            return result
        self.process.kill()
        self.process.wait()
        self.process = self._started()
        return {"status": "failed", "stage": "", "detail": "the worker process ended"}

    def close(self) -> None:
        """End the process; what it is at is not waited for."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
