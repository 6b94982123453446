"""Kernels for a CUDA device: tiles by a model of machines and by what Triton's compiler says, no device needed.

Every choice of tiles is estimated: bytes and operations of a kernel against what a device moves and computes in a
second, with as many of its processors at work as there are programs. The first few by this order are compiled for the
devices of a table; what does not fit one of them (shared memory, registers that spill) is left out, and of the rest
that goes first which is best with as many programs at a time as the compiler's figures allow. Nothing is timed. The
kernels that are left are lifted back (`lifted.py`): a specification that none of these compute has none.
"""

from __future__ import annotations

import math
import re
import subprocess
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from samesame.formula.expr import Fn, Load, Size, Unsupported, walk
from samesame.formula.sizes import value_at
from samesame.kernels.front import element_name
from samesame.optimize.algebra import weights_in_code
from samesame.optimize.emit.arithmetic import from_largest
from samesame.optimize.emit.triton import (
    HEAD,
    NARROW,
    Function,
    Module,
    Names,
    function,
    module,
    power_above,
    sizes_in,
    width,
)
from samesame.optimize.ir import Dim, Kernel, Program, Tile, expressions, innermost, lanes
from samesame.optimize.job import loaded
from samesame.optimize.lifted import NotLifted, lifted, require_values
from samesame.optimize.native import Native
from samesame.optimize.online import Softmax
from samesame.optimize.partition import Stage
from samesame.optimize.schedule import NoSchedule, Scheduled, Space, alternatives
from samesame.optimize.specification import Specification
from samesame.optimize.tune import Choice, Tuned, choices

TRIED = 3                                            # choices of tiles that are compiled, for each schedule
TILE, DOT = 1 << 14, 1 << 12                         # elements of a tile, and of one of a contraction, at most
NEAR, BUSY = 3.0, 8                                  # times memory's speed that caches have; warps that keep one busy
REGISTERS, WARP, THREADS, PROGRAMS = 65536, 32, 2048, 32        # of a processor: all of these devices are alike


@dataclass(frozen=True)
class Device:
    """A kind of GPU, from its maker's data sheet: bytes and operations in a second, shared memory in bytes."""

    arch: int
    processors: int
    shared: int
    bytes: float
    real: float                                      # float32 operations
    narrow: float                                    # of matrices of 16-bit numbers

    @property
    def name(self) -> str:
        return f"sm_{self.arch}"


MODEL = Device(90, 132, 227 << 10, 3.35e12, 67e12, 989e12)
DEVICES = (Device(80, 108, 163 << 10, 2e12, 19.5e12, 312e12), MODEL, Device(100, 148, 227 << 10, 8e12, 75e12, 2250e12))


@dataclass(frozen=True)
class Figures:
    """What the compiler says of a kernel: bytes of shared memory, registers of a thread, bytes beyond these."""

    shared: int
    registers: int
    spilled: int

    def fits(self, device: Device) -> bool:
        return self.shared <= device.shared and not self.spilled


@dataclass(frozen=True)
class Work:
    """What a kernel does at some sizes: programs, bytes that its tensors have and that programs load, operations."""

    programs: int
    bytes: float
    loaded: float
    operations: float
    narrow: bool

    def seconds(self, device: Device, warps: int, figures: Figures | None = None) -> float:
        """By the model; with figures, as many programs at a time as they allow."""
        at_once = resident(device, warps, figures)
        turns = math.ceil(self.programs / (device.processors * at_once))
        here = min(at_once, math.ceil(self.programs / device.processors))
        busy = min(1.0, self.programs / device.processors) * min(1.0, here * warps / BUSY)
        if turns > 1:
            busy *= self.programs / (turns * device.processors * at_once)
        speed = device.narrow if self.narrow else device.real
        return max(self.bytes / device.bytes, self.loaded / (NEAR * device.bytes), self.operations / speed) / busy

    def limit(self, device: Device) -> str:
        """What the model says a kernel waits for."""
        memory = max(self.bytes, self.loaded / NEAR) / device.bytes
        return "memory" if memory > self.operations / (device.narrow if self.narrow else device.real) else "arithmetic"


def resident(device: Device, warps: int, figures: Figures | None) -> int:
    """How many programs a processor holds at a time."""
    most = min(THREADS // (warps * WARP), PROGRAMS)
    if figures is not None:
        registers = -(-max(figures.registers, 16) // 8) * 8 * warps * WARP
        most = min(most, REGISTERS // registers, device.shared // max(figures.shared, 1))
    return max(most, 1)


def work(kernel: Kernel, sizes: Mapping[str, int]) -> Work:
    """What a kernel with numbers for its tiles does at these sizes."""
    tensors = {buffer.name: buffer for buffer in kernel.tensors}
    programs, loaded, operations, dots = 1, 0.0, 0.0, False
    for loops, statement in innermost(kernel.body):
        extents = [(loop.kind, value_at(loop.variable.extent, sizes)) for loop in loops]
        programs = max(programs, math.prod(n for kind, n in extents if kind == "parallel"))
        rounds, tile = math.prod(n for kind, n in extents if kind != "vector"), lanes(loops)
        operations += 2.0 * rounds * math.prod(map(width, tile))
        dots |= len(tile) > 2
        for load in {e for value in expressions(statement) for e in walk(value) if isinstance(e, Load)}:
            if load.leaf.name in tensors:
                over = math.prod(width(v) for v in tile if v in load.free)
                loaded += rounds * over * tensors[load.leaf.name].itemsize
    own = sum(math.prod(value_at(n, sizes) for n in b.shape) * b.itemsize for b in tensors.values())
    return Work(programs, own, loaded, operations, dots and any(b.dtype in NARROW for b in kernel.reads))


# ---------------------------------------------------------------------------------------------------------------- tiles


def worth(tile: Tile, length: int, program: Program) -> list[int]:
    """Powers of two that are no longer than what is tiled; of a contraction those that `tl.dot` takes."""
    contraction = any(other.role == "blocks" for other in program.tiles)
    several = {"rows": (16, 32, 64) if contraction else (1, 2, 4, 8, 16), "blocks": (16, 32, 64, 128),
               "depth": (16, 32), "lanes": (64, 256, 1024, 4096)}[tile.role]
    return sorted({max(min(n, power_above(length)), 16 if contraction else 1) for n in several})


def fits(c: Choice) -> bool:
    """Whether its tiles are small enough."""
    elements = math.prod(n for role, n in c.roles.items() if role != "depth")
    return elements <= (DOT if "blocks" in c.roles else TILE)


def sides(kernel: Kernel) -> list[list[int]]:
    """Of the tile of each store and fold."""
    return [[*map(width, lanes(loops))] for loops, _ in innermost(kernel.body)]


def options(kernel: Kernel) -> dict[str, int]:
    """Triton's own: warps by how large a kernel's tiles are, loads that are under way ahead of a loop, and whether a
    product and a sum may be one rounding."""
    tiles = sides(kernel)
    stored = max(math.prod(tile) for tile in tiles if len(tile) < 3)
    dots = any(len(tile) > 2 for tile in tiles)
    warps = 4 if dots else max(1, min(8, stored // 256))
    exponents = (e.argument for _, write in innermost(kernel.body) for e in walk(write.value)
                 if isinstance(e, Fn) and e.name == "exp")
    return {"num_warps": warps, "num_stages": 3, "enable_fp_fusion": not any(map(from_largest, exponents))}


def chosen(programs: Sequence[Program], sizes: Mapping[str, int], share: float) -> Tuned:
    """The schedule and tiles that go first by the model, of those that fit every device. Raises Unsupported where none
    does."""
    found = sorted(filter(fits, choices(programs, sizes, worth, {})), key=lambda c: _promise(c, sizes))
    tried = list[tuple[Choice, float]]()
    for c in (c for place in range(len(programs)) for c in [c for c in found if c.program == place][:TRIED]):
        tried.append((c, seconds(c, sizes, compiled(c.kernels.kernels[0], MODEL))))
    for c, best in sorted(tried, key=lambda each: each[1]):
        if all(compiled(c.kernels.kernels[0], device).fits(device) for device in (MODEL, *DEVICES)):
            return Tuned(c.program, c.numbers, best, c.roles, tuple((c.program, c.numbers, t) for c, t in tried))
    raise Unsupported("no choice of tiles fits all of " + ", ".join(device.name for device in DEVICES))


def seconds(c: Choice, sizes: Mapping[str, int], figures: Figures | None = None) -> float:
    """What the model says of a choice; with figures, of what the compiler made of it."""
    (kernel,) = c.kernels.kernels
    return work(kernel, sizes).seconds(MODEL, options(kernel)["num_warps"], figures)


def _promise(c: Choice, sizes: Mapping[str, int]) -> tuple[float, int]:
    """By the model; of those that are as good, that with the larger tiles."""
    return seconds(c, sizes), -math.prod(c.roles.values())


# ------------------------------------------------------------------------------------------------------------- compiled


@cache
def compiled(kernel: Kernel, device: Device) -> Figures:
    """What Triton's compiler says of a kernel for a device; tensors that begin at multiples of 16 bytes, as torch makes
    them. Raises Unsupported where it does not compile."""
    with TemporaryDirectory(prefix="samesame-") as place:
        names = Names()
        made = function(kernel, names)
        file = Path(place) / "kernels.py"
        file.write_text(f"{HEAD.format(words='')}\n\n{made.text}\n")
        return _figures(getattr(loaded(file), names(kernel.name)), made, device, options(kernel))


def _figures(jit: Any, made: Function, device: Device, options: Mapping[str, int]) -> Figures:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource

    kinds = [*(f"*{element_name(b.dtype)}" for b in made.tensors), *("i32" for _ in made.sizes)]
    aligned = {(k,): [["tt.divisibility", 16]] for k in range(len(made.tensors))}
    source = ASTSource(jit, dict(zip(jit.arg_names, kinds, strict=True)), {}, aligned)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")
            binary = triton.compile(source, target=GPUTarget("cuda", device.arch, WARP), options=dict(options))
    except Exception as error:                       # of any kind: Triton's passes raise what they like
        first = (str(error).strip().splitlines() or ["no message"])[0]
        raise Unsupported(f"{made.name} does not compile for {device.name}: {first}") from error
    with TemporaryDirectory(prefix="samesame-") as place:
        file = Path(place) / "kernel.cubin"
        file.write_bytes(binary.asm["cubin"])
        said = subprocess.run([triton.knobs.nvidia.cuobjdump.path, "-res-usage", str(file)], capture_output=True,
                              text=True, check=False).stdout
    usage = dict(re.findall(r"(REG|STACK|LOCAL):(\d+)", said))
    return Figures(int(binary.metadata.shared), int(usage.get("REG", 255)), int(usage.get("LOCAL", 0)))


# --------------------------------------------------------------------------------------------------------------- native


@dataclass
class OnGpu(Native):
    """Triton kernels for a specification, whose code is proved."""

    @classmethod
    def space(cls, specification: Specification, cut: list[Stage]) -> Space:
        """Sizes of 1, which Triton's host code takes for numbers, and those that no input has are numbers. The host
        code makes what it is given row-major."""
        tensors = {name: replace(tensor, strides=None) for name, tensor in specification.tensors.items()}
        specification = replace(specification, tensors=tensors)
        space = super().space(specification, cut)
        given = sizes_in(space.buffers[name] for name, t in specification.tensors.items() if t.role != "result")
        fixed = {axis: space.extent(axis) for axis, size in space.sizes.items()
                 if isinstance(size, Size) and (space.extent(axis) == 1 or size.name not in given)}
        return Space(specification, cut, dict[str, Dim](fixed)) if fixed else space

    @classmethod
    def means(cls, space: Space, counts: Counter[str]) -> list[Softmax]:
        return []                                    # tiles with a running maximum are not printed as Triton

    @classmethod
    def schedules(cls, space: Space, means: Sequence[Softmax]) -> Iterator[list[Scheduled]]:
        """Of the maps of a contraction those whose columns lie side by side in what is stored, if there is one."""
        for several in alternatives(space, gpu=True):
            along = [each for each in several if each.map.endswith(f" along {each.group[0].axes[-1]}")]
            yield along or several

    @classmethod
    def numbers(cls, space: Space) -> dict[str, int]:
        return {}

    def __post_init__(self) -> None:
        """Lift the kernels back and run them at small ragged sizes. Raises NoSchedule where they are not proved."""
        with TemporaryDirectory(prefix="samesame-") as place:
            file = Path(place) / "kernels.py"
            file.write_text(self.module.text)
            inputs = [self.over.buffers[name] for name in self.arguments]
            outputs = [output.name for output in self.specification.outputs]
            try:
                found = lifted(file, self.module, inputs, outputs, self.holds, self.over.numbers())
                require_values(file, self.module, inputs, self.holds)
            except NotLifted as error:
                raise NoSchedule(f"a kernel that was printed is not proved, {error}") from error
        self.conditions = tuple(dict.fromkeys((*self.conditions, *(c for each in found for c in each.where))))
        self.lifted = tuple(f"{each.kernel}: {'; '.join(each.formulas)}"
                            f"{'   if ' * bool(each.conditions)}{', '.join(each.conditions)}" for each in found)

    @property
    def arguments(self) -> list[str]:
        return [*self.named("input"), *self.named("weight")]

    @cached_property
    def module(self) -> Module:
        outputs = [output.name for output in self.specification.outputs]
        settings = {kernel.name: options(kernel) for kernel in self.program.kernels}
        return module(self.program, self.arguments, outputs, settings, WORDS)

    @property
    def files(self) -> dict[str, str]:
        return {"kernels.py": self.module.text}

    def source(self) -> str:
        return TEMPLATE.format(weights=weights_in_code(self.specification),
                               layouts=list(map(self.layout, self.specification.outputs)))

    def each(self) -> Iterator[str]:
        return map(self.described, self.program.kernels)

    def described(self, kernel: Kernel) -> str:
        """A kernel's tiles, and what compilers and the model say of it."""
        figures, warps = [compiled(kernel, device) for device in DEVICES], options(kernel)["num_warps"]
        does = work(kernel, self.over.numbers())
        registers, shared = ({getattr(each, what) for each in figures} for what in ("registers", "shared"))
        largest = max(sides(kernel), key=len)
        return (f"{kernel.name}: tiles {' × '.join(map(str, largest))}, {warps} warps, {does.programs} programs; "
                f"{spoken(registers)} registers and {spoken(shared)} bytes of shared memory, compiled for {ALL}; "
                f"{1e6 * does.seconds(MODEL, warps, compiled(kernel, MODEL)):.3g} µs by the model of {MODEL.name}, "
                f"for want of {does.limit(MODEL)}")


def spoken(numbers: Collection[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


WORDS = "Triton kernels that `samesame optimize` found; each was lifted back and proved to be what fast.py says."
ALL = ", ".join(device.name for device in DEVICES)
TEMPLATE = '''"""Triton kernels for a program; what they compute in torch's operators stands in reference.py."""

from pathlib import Path
from runpy import run_path

import torch

LAYOUTS = {layouts!r}


class Fast(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weights = {weights}
        self.launch = run_path(str(Path(__file__).parent / "kernels.py"))["launch"]

    def forward(self, *tensors):
        found = self.launch(*[tensor.to(tensors[0].device).contiguous() for tensor in (*tensors, *self.weights)])
        return tuple(tensor.as_strided(*layout) for tensor, layout in zip(found, LAYOUTS))
'''
