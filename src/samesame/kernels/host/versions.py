"""What differs between versions of Triton, each difference in one place.

Triton is not one library: torch pins a version of its own, which a user has, and it moves what we ask it for. Whatever
has another name, place or result in one of the versions that `pyproject.toml` admits stands here, asked for by what is
there rather than by a number, so that the rest reads as if there were one Triton. Mistakes that one version's
interpreter makes are in `mended`. Triton's intermediate language says itself what it holds: `execution/ttir` reads what
any version prints, and only what an operation does that is spelt the same is a question of this file.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import triton
from triton.runtime.autotuner import Autotuner, Config

RUN = Autotuner.run                         # what it is, whatever stands in its place while launches are captured


def defined_at(jit: Any) -> tuple[str, int]:
    """The file and the line of a kernel's `def`, below its decorators. From 3.9 on a kernel says both; what they are
    made of it always said."""
    above = next((k for k, line in enumerate(jit.raw_src) if line.strip().startswith("def ")), 0)
    return jit.fn.__code__.co_filename, jit.starting_line_number + above


class Nothing:
    """A kernel that does nothing, and notes how often it is timed."""

    def __init__(self) -> None:
        self.timed = 0

    @staticmethod
    def fn() -> None:
        return None

    def run(self, **_: Any) -> None:
        return None

    def time(self, *_: Any, **__: Any) -> float:
        self.timed += 1
        return 0.0


@cache
def times_a_single_one() -> bool:
    """Whether an autotuner that prunes its configurations to one runs the kernel to time that one, too, as 3.6 does and
    3.9 does not. A tuner over nothing says so."""
    kernel = Nothing()
    pruned = {"early_config_prune": lambda configs, *_, **__: configs[:1]}
    tuner = Autotuner(kernel, [], [Config({}), Config({}, num_warps=8)], [], None, None, prune_configs_by=pruned)
    tuner.cache_results, tuner._bench = False, kernel.time
    RUN(tuner)
    return kernel.timed > 0


def leaves_out() -> bool:
    """Whether a histogram counts nowhere what is in none of its bins. 3.6 looks at the last bits of a number only, so
    that 32 is counted as 0; 3.9 compares. Nothing but the number of the version tells, and of those between we do not
    know."""
    return tuple(int(part) for part in triton.__version__.split(".")[:2]) >= (3, 9)
