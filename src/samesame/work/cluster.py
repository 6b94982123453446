"""Workers on other machines: each is a process like those here, held by an actor of a Ray cluster that has one
processor.

A task goes to the actor as text and its result comes back as text. Every machine needs samesame, with the same code and
the same versions of its packages, which is asked first, and sees the files that tasks name under the same paths. A
machine that is lost gives its task back. Ray is imported where a cluster is asked for, and nowhere else.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from multiprocessing import Pipe
from socket import create_connection
from tempfile import TemporaryDirectory
from typing import Any

from samesame.evidence import SamesameError
from samesame.versions import code, versions, versions_of_packages
from samesame.work.local import CRASHED, GONE, LOST, READY, UNUSABLE, Local, Message, Process
from samesame.work.tasks import Lost, Task

ANSWERING = 10.0             # seconds for a cluster to answer at its address
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
FRAME, SETTINGS = 9, b"\x04"             # bytes of a frame's head, and the kind of the first one
ENDING = 2.0                 # seconds for a worker to put away what is its own


class Cluster:
    """A Ray cluster with room for `jobs` workers; without a number, one for each processor. `scratch` names a variable
    that is a folder of each worker's own, which goes with it. Raises SamesameError where no such cluster answers."""

    here = False
    tasks_each: int | None = None

    def __init__(
        self, address: str, jobs: int | None, prepare: str, given: Sequence[Any], *,
        environment: Mapping[str, str] | None = None, quiet: bool = False, scratch: str = "",
    ) -> None:
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise SamesameError("--ray needs Ray: pip install 'samesame[ray]'") from None
        self.ray, self.address, self.spoken = ray, address, f" on the cluster at {address}"
        self.settings = {"prepare": prepare, "given": list(given), "environment": dict(environment or {}),
                         "quiet": quiet, "scratch": scratch, "path": sys.path}
        try:
            demand_answer(address)
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except Exception as error:
            told = f"no Ray cluster answers at {address}: {' '.join(str(error).split())[:200].rstrip('.')}"
            raise SamesameError(f"{told}; start one with `ray start --head`, and give its address") from None
        processors = int(ray.cluster_resources().get("CPU", 0))
        self.jobs = processors if jobs is None else jobs
        if processors < max(self.jobs, 1):
            self.close()
            raise SamesameError(f"the cluster at {address} has {processors} processors; give no more --jobs")

    def begin(self) -> Remote:
        return Remote(self)

    def close(self) -> None:
        self.ray.shutdown()


def demand_answer(address: str) -> None:
    """Raises OSError where nobody at host:port speaks as Ray's servers do, which is HTTP/2; Ray itself would wait for
    minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or os.environ.get("RAY_USE_TLS") == "1":
        return
    with create_connection((host, int(port)), ANSWERING) as connection:
        connection.sendall(GREETING)
        if connection.recv(FRAME)[3:4] != SETTINGS:
            raise OSError("what answers there is no Ray cluster")


class Remote:
    """A worker somewhere on the cluster; to a crew it is like one beside it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.ray = cluster, cluster.ray
        self.pipe, self._theirs = Pipe(duplex=False)         # has a word for each answer, which waits in `_answer`
        self._answer: Message = GONE, "nobody asked it"
        self.actor = self.ray.remote(num_cpus=1, max_concurrency=2)(Holder).remote(json.dumps(cluster.settings))
        self._ask(self.actor.ready.remote())

    def _ask(self, reference: Any) -> None:
        reference.future().add_done_callback(self._answered)

    def _answered(self, future: Any) -> None:
        """On a thread of Ray's."""
        try:
            kind, content = json.loads(future.result())
            self._answer = kind, Lost(**content) if kind == LOST else content
        except Exception as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            died = isinstance(error, self.ray.exceptions.RayActorError) and "creation task" not in str(error)
            self._answer = (GONE, "its machine is lost") if died else (UNUSABLE, self._told(lines[-1]))
        try:
            self._theirs.send(None)
        except OSError:
            return                                          # nobody waits for it any more

    def _told(self, what: str) -> str:
        return f"no worker begins{self.cluster.spoken}: {what}"

    def give(self, task: Task) -> bool:
        self._ask(self.actor.ask.remote(json.dumps(task.content)))
        return True

    def heard(self) -> Message:
        self.pipe.recv()
        kind, content = self._answer
        if kind == READY:
            self._demand_alike(content)
        return kind, content

    def _demand_alike(self, there: dict[str, str]) -> None:
        """Raises SamesameError where the worker has other versions than this process."""
        here = code_and_packages()
        differ = next((name for name in {**here, **there} if here.get(name) != there.get(name)), None)
        if differ is not None:
            told = f"{differ} {there.get(differ)}{self.cluster.spoken}, and {here.get(differ)} here"
            raise SamesameError(f"{told}; install the same on every machine")

    def last_words(self) -> str:
        return ""

    def end(self) -> None:
        """It is told to put its things away, and ended."""
        self.pipe.close()
        self._theirs.close()
        try:
            self.ray.wait([self.actor.close.remote()], timeout=ENDING)
        finally:
            self.ray.kill(self.actor)


def code_and_packages() -> dict[str, str]:
    """All versions that a result hangs on: of packages, and of the code that a proof rests on."""
    prover, semantics = versions()
    own = {"samesame's provers": prover, "samesame's operators": semantics, "samesame's files": code()}
    return {**versions_of_packages(), **own}


class Holder:
    """What lives on the other machine: a worker process and its folder, which go with it."""

    def __init__(self, settings: str) -> None:
        told = json.loads(settings)
        sys.path += [place for place in told["path"] if os.path.isdir(place) and place not in sys.path]
        self.folder = TemporaryDirectory(prefix="samesame-")
        scratch = {told["scratch"]: self.folder.name} if told["scratch"] else {}
        self.worker = Process(Local(told["prepare"], told["given"], environment={**told["environment"], **scratch},
                                    quiet=told["quiet"]))

    def ready(self) -> str:
        kind, content = self.worker.heard()
        return json.dumps((kind, code_and_packages() if kind == READY else content))

    def ask(self, content: str) -> str:
        if not self.worker.give(Task("", json.loads(content))):
            return json.dumps((CRASHED, self.worker.process.exitcode))
        kind, found = self.worker.heard()
        return json.dumps((kind, asdict(found) if kind == LOST else found))

    def close(self) -> None:
        self.worker.end()
        self.folder.cleanup()
