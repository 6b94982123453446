"""Layers of public libraries refine what they stand for, and with a fault planted they do not. The jobs are in
tests/jobs/libraries, each with the library's version; one that is not installed is skipped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

import pytest

from samesame.programs.named import module_of_file
from samesame.refine import refine

JOBS = Path(__file__).parents[1] / "jobs" / "libraries"
FAULTS = {
    "megatron_linear": 2, "megatron_vocabulary": 3, "deepspeed_ulysses": 2, "fairscale_layers": 3,
    "hooks_of_gpt_fast": 2,
}
pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [str(JOBS), *sys.path])
    yield


def load(name: str) -> ModuleType:
    """The job of this name; skips where the library, in its version, is missing."""
    text = (JOBS / f"{name}.py").read_text()
    package, _, wanted = text.partition('library = "')[2].partition('"')[0].partition("==")
    try:
        found = version(package)
    except PackageNotFoundError:
        found = ""
    if not found.startswith(wanted):
        pytest.skip(f"{package} {wanted} is not installed")
    return module_of_file(JOBS / f"{name}.py")


def verdict(job: ModuleType, fault: str | None = None) -> str:
    told = {name: getattr(job, name) for name in ("relations", "expected", "backward", "world_size")
            if hasattr(job, name)}
    found = refine(job.sequential, partial(job.distributed, fault=fault), job.inputs, timeout=120, **told)
    return found.verdict


@pytest.mark.parametrize("name", FAULTS)
def test_a_librarys_layer_refines(name):
    assert verdict(load(name)) == "refines"


@pytest.mark.parametrize("name, number", [(name, k) for name, count in FAULTS.items() for k in range(count)])
def test_with_a_fault_it_does_not(name, number):
    job = load(name)
    assert verdict(job, job.faults[number]) == "does not refine", job.faults[number]
