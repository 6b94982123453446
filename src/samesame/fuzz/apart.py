"""Apart: what a case does happens in a fork, under limits of time and memory, and costs that one case.

Generated code runs there, and a compiler that crashes, hangs or takes all memory. The fork says through a pipe which
stage it is in, so that a case that does not come back is told as what it is.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from math import ceil
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

Result = dict[str, Any]
Say = Callable[..., None]    # which stage a task is in, and by name what is to be known where it does not come back
GIGABYTE = 1 << 30
HUNG, CRASHED, OUT_OF_MEMORY = DIED = ("hung", "crashed", "out of memory")     # statuses of what did not come back
SLOW = "slow"                # neither: the machine was too busy to tell
PATIENCE = 4                 # seconds on the wall for each second of the processor


def run_apart(task: Callable[[Say], Result], seconds: float, gigabytes: float) -> Result:
    """What a task gives in a fork; where it does not come back by itself, a status of hung, crashed or out of memory
    and what it said last; where it raises something, failed.

    The seconds are of the processor: a busy machine makes nobody hang. What waits for something and takes none has
    hung after `PATIENCE` times as long, if the machine had time for it.
    """
    reader, writer = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        reader.close()
        os.setsid()  # what it starts (a C++ compiler) ends with it
        _in_the_fork(task, seconds, gigabytes, writer)
    writer.close()
    begun = time.monotonic()
    said, result, ended = _listen(reader, begun + PATIENCE * seconds)
    if not ended:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    reader.close()
    took = {"seconds": round(time.monotonic() - begun, 3)}
    if result is not None:
        return {"stage": said["stage"], **result, **took}
    told = {**said, **took}
    if not ended and os.getloadavg()[0] > PATIENCE * (os.cpu_count() or 1):
        return {**told, "status": SLOW, "detail": "the machine is busy"}
    if not ended or code == -signal.SIGXCPU:
        return {**told, "status": HUNG, "detail": f"after {seconds:g} seconds"}
    return {**told, "status": CRASHED, "detail": f"signal {-code}" if code < 0 else f"exit code {code}"}


def _in_the_fork(task: Callable[[Say], Result], seconds: float, gigabytes: float, writer: Connection) -> None:
    """Run the task, write its result, and leave without a trace. Never returns."""
    memory = int(gigabytes * GIGABYTE)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds) + 5))
    try:
        result = task(lambda stage, **told: _write(writer, {"stage": stage, **told}))
    except MemoryError:
        result = {"status": OUT_OF_MEMORY, "detail": f"more than {gigabytes:g} GB"}
    except BaseException as error:  # ours: told with its place, and never taken for a finding
        *_, place = traceback.extract_tb(error.__traceback__)
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        result = {"status": "failed", "detail": f"{type(error).__name__}: {error} at {where}"}
    _write(writer, result)
    os._exit(0)


def _write(writer: Connection, told: Result) -> None:
    """As JSON: what a fork did is believed to be no more than data."""
    writer.send_bytes(json.dumps(told).encode())


def _listen(reader: Connection, until: float) -> tuple[Result, Result | None, bool]:
    """What was said last, the result if one came, and whether the fork ended in time."""
    said: Result = {"stage": ""}
    result = None
    with suppress(EOFError):
        while reader.poll(max(until - time.monotonic(), 0.0)):
            told = json.loads(reader.recv_bytes())
            if "status" in told:
                result = told
            else:
                said = told
        return said, result, False
    return said, result, True
