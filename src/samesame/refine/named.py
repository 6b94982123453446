"""A job by its name: a job file, or `hf:DIR` for Transformers' own plan, as arguments of `refine`."""

from __future__ import annotations

from typing import Any

from samesame.evidence import Refused
from samesame.refine.job import load_job
from samesame.refine.transformers_plan import of_transformers


def arguments_of(
    target: str, *, world_size: int | None = None, tp: int | None = None, train: bool = False, seed: int = 0
) -> dict[str, Any]:
    """What `refine` is to be called with. Raises Refused."""
    if target.startswith("hf:"):
        given = of_transformers(target, tp or world_size or 2, seed)
    elif tp is not None:
        raise Refused("--tp is for hf:DIR; a job has --world-size")
    else:
        given = load_job(target)
    given["world_size"] = tp or world_size or given.get("world_size")
    given["backward"] = train or given.get("backward", False)
    return given
