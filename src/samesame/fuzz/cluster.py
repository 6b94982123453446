"""Workers on other machines: a Ray cluster runs the same workers, each held by an actor that has one processor.

A case goes to the actor and its result comes back; the campaign's folder, its corpus and its findings stay where the
campaign is. An actor whose machine is lost costs the case that it was at, and another takes its place. Every machine
needs samesame and the same torch.
"""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from socket import create_connection
from tempfile import TemporaryDirectory
from typing import Any

from samesame.evidence import SamesameError
from samesame.fuzz.pool import Worker
from samesame.versions import versions_of_packages

ANSWERING = 10.0             # seconds for a cluster to answer at its address


class Cluster:
    """A Ray cluster with room for so many workers. Raises SamesameError where there is none."""

    def __init__(self, address: str, jobs: int) -> None:
        try:
            ray: Any = import_module("ray")
        except ImportError:
            raise SamesameError("--ray needs Ray: pip install 'samesame[ray]'") from None
        self.ray, self.address = ray, address
        try:
            host, _, port = address.removeprefix("ray://").rpartition(":")
            if host:                                   # Ray itself would wait for minutes
                create_connection((host, int(port)), ANSWERING).close()
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        except Exception as error:
            told = f"no Ray cluster answers at {address}: {' '.join(str(error).split())[:200]}"
            raise SamesameError(f"{told}; start one with `ray start --head`, and give its address") from None
        processors = int(ray.cluster_resources().get("CPU", 0))
        if processors < jobs:
            self.close()
            raise SamesameError(f"the cluster at {address} has {processors} processors; give no more --jobs")

    def worker(self, settings: dict[str, Any]) -> Remote:
        return Remote(self.ray, self.address, settings)

    def close(self) -> None:
        self.ray.shutdown()


class Remote:
    """A worker somewhere on the cluster; to the campaign it is like one beside it."""

    def __init__(self, ray: Any, address: str, settings: dict[str, Any]) -> None:
        self.ray, self.address, self.settings = ray, address, settings
        self.actor, self.reached = self._begun()

    def _begun(self) -> tuple[Any, dict[str, list[int]]]:
        actor = self.ray.remote(num_cpus=1)(Holder).remote(self.settings)
        try:
            versions, reached = self.ray.get(actor.ready.remote())
        except self.ray.exceptions.RayError as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            raise SamesameError(f"no worker begins on the cluster at {self.address}: {lines[-1].strip()}") from None
        here = versions_of_packages()
        if versions != here:
            differ = next(name for name in {**here, **versions} if here.get(name) != versions.get(name))
            told = f"{differ} {versions.get(differ)} on the cluster at {self.address}, and {here.get(differ)} here"
            raise SamesameError(f"{told}; install the same on every machine")
        return actor, reached

    def ask(self, case: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """The result of a case; `seconds` where it may take longer than others."""
        try:
            result: dict[str, Any] = self.ray.get(self.actor.ask.remote(case, seconds))
            return result
        except self.ray.exceptions.RayActorError:
            self.actor, _ = self._begun()
            return {"status": "failed", "stage": "", "detail": "the machine that was at it is lost"}

    def close(self) -> None:
        self.ray.kill(self.actor)


class Holder:
    """What lives on the other machine: a worker and its cache, which go with it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.folder = TemporaryDirectory(prefix="samesame-fuzz-")
        self.worker = Worker(Path(self.folder.name), settings)

    def ready(self) -> tuple[dict[str, str], dict[str, list[int]]]:
        return versions_of_packages(), self.worker.reached

    def ask(self, case: dict[str, Any], seconds: float | None) -> dict[str, Any]:
        return self.worker.ask(case, seconds)
