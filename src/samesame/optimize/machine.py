"""The machine that kernels are compiled for: its vector width, cores, caches and compiler, found out once."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from samesame.evidence import SamesameError


@dataclass(frozen=True)
class Machine:
    """`lanes`: float32 in a vector register; `level1`: bytes of a core's fastest cache, 0 if unknown."""

    name: str
    lanes: int
    registers: int
    level1: int
    features: str = ""                               # what code compiled for this machine may use

    @property
    def multiplies_pairs(self) -> bool:
        """Whether one instruction adds two products of bfloat16 to a float32."""
        return "avx512_bf16" in self.features.split()


@cache
def here() -> Machine:
    described = _first_cpu()
    features = described.get("flags", described.get("Features", ""))
    flags = set(features.split())
    lanes = 16 if "avx512f" in flags else 8 if "avx2" in flags else 4
    registers = 32 if lanes == 16 or platform.machine() in ("aarch64", "arm64") else 16
    name = described.get("model name", platform.processor() or platform.machine())
    return Machine(name, lanes, registers, _level1(), features)


def _first_cpu() -> dict[str, str]:
    try:
        first = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _level1() -> int:
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            said = {name: (folder / name).read_text().strip() for name in ("level", "type", "size")}
            if said["level"] == "1" and said["type"] != "Instruction":
                return int(said["size"].removesuffix("K")) * 1024
        except (OSError, ValueError):
            continue
    return 0


@cache
def compiler() -> tuple[str, str]:
    """The C++ compiler, and what it says of its version. Raises SamesameError where there is none."""
    wanted = os.environ.get("CXX", "g++")
    found = shutil.which(wanted)
    if found is None:
        raise SamesameError(f"there is no C++ compiler ({wanted}): install g++, or name one in the variable CXX")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    return found, said.stdout.partition("\n")[0]


@cache
def threading_runtime() -> Path | None:
    """The OpenMP library that torch has loaded. A second one in the process would cost milliseconds a loop."""
    import torch

    torch.get_num_threads()
    try:
        mapped = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        mapped = []
    files = [Path(line.split()[-1]) for line in mapped if "/" in line]
    found = [file for file in files if file.name.startswith(("libgomp", "libiomp", "libomp"))]
    beside = [file for file in found if file.is_relative_to(Path(torch.__file__).parent)]
    return next(iter([*beside, *found]), None)
