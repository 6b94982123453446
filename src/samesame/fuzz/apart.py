"""Apart: what a case does happens in a fork, under limits of time and memory, and costs that one case.

Generated code runs there, and a compiler that crashes, hangs or takes all memory. The fork says through a pipe which
stage it is in, so that a case that does not come back is told as what it is.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from math import ceil
from typing import Any

Say = Callable[[str], None]
Result = dict[str, Any]
GIGABYTE = 1 << 30
HUNG, CRASHED, OUT_OF_MEMORY = DIED = ("hung", "crashed", "out of memory")     # statuses of what did not come back
SLOW = "slow"                # neither: the machine was too busy to tell
PATIENCE = 4                 # seconds on the wall for each second of the processor


def run_apart(task: Callable[[Say], Result], seconds: float, gigabytes: float) -> Result:
    """What a task gives in a fork; where it does not come back by itself, a status of hung, crashed or out of memory
    and the stage it said last; where it raises something, failed.

    The seconds are of the processor: a busy machine makes nobody hang. What waits for something and takes none has
    hung after `PATIENCE` times as long, if the machine had time for it.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setsid()  # what it starts (a C++ compiler) ends with it
        _in_the_fork(task, seconds, gigabytes, writer)
    os.close(writer)
    begun = time.monotonic()
    stage, result, ended = _listen(reader, begun + PATIENCE * seconds)
    if not ended:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(reader)
    took = {"seconds": round(time.monotonic() - begun, 3)}
    if result is not None:
        return {"stage": stage, **result, **took}
    if not ended and os.getloadavg()[0] > PATIENCE * (os.cpu_count() or 1):
        return {"status": SLOW, "stage": stage, "detail": "the machine is busy", **took}
    if not ended or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
        return {"status": HUNG, "stage": stage, "detail": f"after {seconds:g} seconds", **took}
    how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
    return {"status": CRASHED, "stage": stage, "detail": how, **took}


def _in_the_fork(task: Callable[[Say], Result], seconds: float, gigabytes: float, writer: int) -> None:
    """Run the task, write its result, and leave without a trace. Never returns."""
    memory = int(gigabytes * GIGABYTE)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds) + 5))
    try:
        result = task(lambda stage: _write(writer, {"at": stage}))
    except MemoryError:
        result = {"status": OUT_OF_MEMORY, "detail": f"more than {gigabytes:g} GB"}
    except BaseException as error:  # ours: told with its place, and never taken for a finding
        result = {"status": "failed", "detail": _told(error)}
    _write(writer, result)
    os._exit(0)


def _write(writer: int, told: Result) -> None:
    data = json.dumps(told).encode() + b"\n"
    while data:
        data = data[os.write(writer, data) :]


def _told(error: BaseException) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f" at {os.path.basename(last.tb_frame.f_code.co_filename)}:{last.tb_lineno}" if last else ""
    return f"{type(error).__name__}: {error}{place}"


def _listen(reader: int, until: float) -> tuple[str, Result | None, bool]:
    """The last stage that was said, the result if one came, and whether the fork ended in time."""
    stage, result, rest = "", None, b""
    while (left := until - time.monotonic()) > 0:
        if not select.select([reader], [], [], left)[0]:
            break
        data = os.read(reader, 1 << 16)
        if not data:
            return stage, result, True
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            told = json.loads(line)
            stage = told.get("at", stage)
            result = told if "status" in told else result
    return stage, result, False
