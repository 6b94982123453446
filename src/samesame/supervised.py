"""Supervised: a command runs in a process of its own, and only that process's word is an answer.

The programs that a command runs are other people's: one may end its process (`os._exit(0)`), crash it, or print what
it likes. So the process that was started only waits. Its child does the work, tells its exit code through a pipe when
all is done, and only that counts: a child that ends in any other way has found nothing, and the parent says so. In the
child, file descriptor 1 leads to stderr as soon as the work begins, and results go to where it led before, so that
nothing else reaches those who read them. Where processes cannot be forked the work is done in this one.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

HEARD = ("SIGINT", "SIGTERM", "SIGHUP")       # what the parent hands on
FROM_TERMINAL = 0x80                          # the kernel sends these to the child as well
MMAP_THRESHOLD, LARGE = -3, 1 << 21           # of mallopt, and bytes
DIES_WITH_PARENT = 1                          # prctl's PR_SET_PDEATHSIG


def supervised(work: Callable[[], object], unusable: int) -> int:
    """Do the work in a child: the exit code with which it raised SystemExit; `unusable`, after a sentence on stderr,
    where the child ended in any other way. What SystemExit says goes on where stdout is replaced."""
    if sys.stdout is not sys.__stdout__:                    # somebody in this process reads what is printed
        work()
        return 0
    if not hasattr(os, "fork") or not hasattr(signal, "sigwaitinfo"):
        return worked(work, unusable)
    signals = {getattr(signal, name) for name in HEARD} | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        dies_with_parent()
        if sys.__stderr__ is not None:
            faulthandler.enable(sys.__stderr__)
        try:
            os.write(theirs, bytes([worked(work, unusable) & 255]))
            atexit._run_exitfuncs()
        finally:
            os._exit(unusable)                              # who called has the parent, and no use for two
    os.close(theirs)
    status = ended(child, signals)
    answer = os.read(ours, 1)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if answer:
        return answer[0]
    print(f"samesame: {without_answer(os.waitstatus_to_exitcode(status))}", file=sys.stderr)
    return unusable


def large_apart() -> None:
    """Let what is large have pages of its own, which go back at once when it is freed. In a heap that widened weights
    come to and go from, small tensors settle in the gaps, and the next weight takes new memory: three times as much in
    a model of 32 layers. Only glibc can be told so."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE)


def worked(work: Callable[[], object], unusable: int) -> int:
    """Do the work, with results kept apart from all else that is printed; its exit code."""
    results_apart()
    large_apart()
    try:
        work()
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else unusable
    except BaseException:
        traceback.print_exc()
        code = unusable
    try:
        sys.stdout.flush()
    except (OSError, AttributeError, ValueError):           # nobody reads, or there never was a stdout
        code = code or unusable
    sys.stdout = sys.stderr                                 # what is printed at the interpreter's exit is no result
    return code


def results_apart() -> None:
    """Results go where stdout leads; from now on everything else that is written to file descriptor 1, by children and
    by C code too, goes to stderr."""
    if sys.stdout is None or sys.stderr is None:
        return
    own = sys.stdout
    try:
        number = os.dup(own.fileno())
        os.dup2(sys.stderr.fileno(), own.fileno())
    except (OSError, ValueError):                           # one of them is no file, or closed
        return
    lines = 1 if own.line_buffering else -1
    sys.stdout = open(number, "w", lines, encoding=own.encoding, errors=own.errors)     # noqa: SIM115


def ended(child: int, signals: set[signal.Signals]) -> int:
    """How the child ended, as waitpid tells; until then signals that reach this process alone are handed on to it."""
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        heard = signal.sigwaitinfo(signals)
        if heard.si_signo != signal.SIGCHLD and heard.si_code != FROM_TERMINAL:
            os.kill(child, heard.si_signo)


def without_answer(code: int) -> str:
    """What to say where a process ended before its work was done, with this exit code."""
    if code >= 0:
        return (f"a program ended the process (exit code {code}) while it was loaded or run, so there is no verdict; "
                "remove what calls os._exit, or whatever else ends it")
    if -code == signal.SIGKILL:
        return "the process was killed, so there is no verdict; often no memory is left: try fewer layers"
    return (f"the process crashed ({signal.Signals(-code).name}) while a program was loaded or run, so there is no "
            "verdict; the lines above show where")


def dies_with_parent() -> None:
    """On Linux a child whose parent is killed is ended too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGHUP)


@contextmanager
def surrounded(environment: Mapping[str, str]) -> Iterator[None]:
    """Inside, the environment has these variables: so does what is started there, from its first moment."""
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
