"""Kernels for a CUDA device: tiles by a model of machines, by what Triton's compiler says, and by measurement.

Every choice of tiles, warps and stages is estimated: bytes and operations of a kernel against what a device moves and
computes in a second, with as many of its processors at work as there are programs, and how long these wait for what
they load. Where a device is, the first by this order are compiled for it and timed (`measured`). Where none is, they
are compiled for the devices of a table; what does not fit one of them (shared memory, registers that spill) is left
out, and of the rest that goes first which is best with as many programs at a time as the compiler's figures allow
(`chosen`). The kernels that are left are lifted back (`lifted.py`): a specification that none of these compute has
none.
"""

from __future__ import annotations

import math
import re
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from samesame.formula.expr import Fn, Load, Size, Unsupported, walk
from samesame.formula.sizes import value_at
from samesame.kernels.front import element_name
from samesame.optimize.algebra import weights_in_code
from samesame.optimize.emit.arithmetic import from_largest, may_cancel
from samesame.optimize.emit.triton import DOT as LEAST_DOT
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
from samesame.optimize.graphs import Graph, alone
from samesame.optimize.ir import Buffer, Dim, Kernel, Program, Tile, expressions, innermost, lanes
from samesame.optimize.job import loaded
from samesame.optimize.lifted import NotLifted, lifted, require_values
from samesame.optimize.native import Native
from samesame.optimize.online import Softmax
from samesame.optimize.partition import Stage
from samesame.optimize.schedule import NoSchedule, Scheduled, Space, alternatives
from samesame.optimize.specification import Specification
from samesame.optimize.timing import cores
from samesame.optimize.tune import Choice, Tuned, choices

TRIED, TIMED, SETTINGS = 3, 12, 2                    # tiles that are compiled, for each schedule; timed; varied
TILE, DOT = 1 << 14, 1 << 12                         # elements of a tile, and of one of a contraction, at most
NEAR, BUSY = 3.0, 8                                  # times memory's speed that caches have; warps that keep one busy
LAUNCH, REPLAYED = 2e-5, 2e-3                        # seconds of a launch, about; and of those that are timed, together
WAITING = 7e-7                                       # seconds until what is loaded is there
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


def names_of(devices: Sequence[Device]) -> str:
    return ", ".join(device.name for device in devices)


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
    """What a kernel does at some sizes: programs, bytes that its tensors have and that programs load, operations, and
    the rounds of a program's longest loop."""

    programs: int
    bytes: float
    loaded: float
    operations: float
    narrow: bool
    rounds: int = 1

    def seconds(self, device: Device, warps: int, figures: Figures | None = None, ahead: int = 1) -> float:
        """By the model; with figures, as many programs at a time as they allow. So many loads are under way `ahead` of
        the round that needs them."""
        at_once = resident(device, warps, figures)
        turns = math.ceil(self.programs / (device.processors * at_once))
        here = min(at_once, math.ceil(self.programs / device.processors))
        busy = min(1.0, self.programs / device.processors) * min(1.0, here * warps / BUSY)
        if turns > 1:
            busy *= self.programs / (turns * device.processors * at_once)
        speed = device.narrow if self.narrow else device.real
        moved = max(self.bytes / device.bytes, self.loaded / (NEAR * device.bytes))
        return max(moved / busy, self.operations / speed / busy, turns * self.rounds * WAITING / ahead)

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
    programs, longest, loaded, operations, dots = 1, 1, 0.0, 0.0, False
    for loops, statement in innermost(kernel.body):
        extents = [(loop.kind, value_at(loop.variable.extent, sizes)) for loop in loops]
        programs = max(programs, math.prod(n for kind, n in extents if kind == "parallel"))
        rounds, tile = math.prod(n for kind, n in extents if kind != "vector"), lanes(loops)
        longest = max(longest, math.prod(n for kind, n in extents if kind not in ("vector", "parallel")))
        operations += 2.0 * rounds * math.prod(map(width, tile))
        dots |= len(tile) > 2
        for load in {e for value in expressions(statement) for e in walk(value) if isinstance(e, Load)}:
            if load.leaf.name in tensors:
                over = math.prod(width(v) for v in tile if v in load.free)
                loaded += rounds * over * tensors[load.leaf.name].itemsize
    own = sum(math.prod(value_at(n, sizes) for n in b.shape) * b.itemsize for b in tensors.values())
    return Work(programs, own, loaded, operations, dots and any(b.dtype in NARROW for b in kernel.reads), longest)


# ---------------------------------------------------------------------------------------------------------------- tiles


def worth(tile: Tile, length: int, program: Program) -> list[int]:
    """Powers of two that are no longer than what is tiled; of a contraction those that `tl.dot` takes, and fewer rows
    where there are fewer, which are multiplied without it."""
    contraction = any(other.role == "blocks" for other in program.tiles)
    several = {"rows": (16, 32, 64, 128) if contraction else (1, 2, 4, 8, 16), "blocks": (16, 32, 64, 128),
               "depth": (16, 32, 64, 128, 256), "lanes": (64, 256, 1024, 4096)}[tile.role]
    least = 16 if contraction else 1
    few = {power_above(length)} if tile.role == "rows" and length < least else set()
    return sorted({max(min(n, power_above(length)), least) for n in several} | few)


def fits(c: Choice) -> bool:
    """Whether its tiles are small enough."""
    sides = dict(c.roles)
    if "blocks" not in sides:
        return math.prod(sides.values()) <= TILE
    rows, blocks, depth = (sides.get(role, 1) for role in ("rows", "blocks", "depth"))
    if rows < LEAST_DOT:                             # all products are in registers
        return rows * blocks * depth <= TILE
    return rows * blocks <= DOT and (rows + blocks) * depth <= TILE


def settings(c: Choice) -> Iterator[Choice]:
    """The same tiles with several numbers of warps and stages."""
    (kernel,) = c.kernels.kernels
    usual = options(kernel)
    stages = (2, 3, 4, 5) if is_dot(kernel) else (usual["num_stages"],)
    for warps in sorted({max(1, usual["num_warps"] // 2), usual["num_warps"], min(8, usual["num_warps"] * 2)}):
        for ahead in stages:
            yield replace(c, numbers={**c.numbers, f"{kernel.name} warps": warps, f"{kernel.name} stages": ahead})


def sides(kernel: Kernel) -> list[list[int]]:
    """Of the tile of each store and fold."""
    return [[*map(width, lanes(loops))] for loops, _ in innermost(kernel.body)]


def is_dot(kernel: Kernel) -> bool:
    """Whether it multiplies matrices by `tl.dot`."""
    return any(len(tile) > 2 and min(tile) >= LEAST_DOT for tile in sides(kernel))


def options(kernel: Kernel, numbers: Mapping[str, int] = {}) -> dict[str, int]:
    """Triton's own: warps and loads that are under way ahead of a loop, as chosen or as tiles are large; and whether a
    product and a sum may be one rounding."""
    tiles = sides(kernel)
    stored = max(math.prod(tile) for tile in tiles if len(tile) < 3)
    warps = 4 if any(len(tile) > 2 for tile in tiles) else max(1, min(8, stored // 256))
    written = [e for _, write in innermost(kernel.body) for e in walk(write.value)]
    apart = any(may_cancel(e) or (isinstance(e, Fn) and e.name == "exp" and from_largest(e.argument)) for e in written)
    return {"num_warps": numbers.get(f"{kernel.name} warps", warps),
            "num_stages": numbers.get(f"{kernel.name} stages", 3),
            "enable_fp_fusion": not apart}


def chosen(programs: Sequence[Program], sizes: Mapping[str, int]) -> Tuned:
    """The schedule and tiles that go first by the model, of those that fit every device. Raises Unsupported where none
    does."""
    tried = [(c, seconds(c, sizes, MODEL, figures_of(c, MODEL, sizes)))
             for c in promising(programs, sizes, MODEL, TRIED)]
    for c, best in sorted(tried, key=lambda each: each[1]):
        if all(figures_of(c, device, sizes).fits(device) for device in (MODEL, *DEVICES)):
            return Tuned(c.program, c.numbers, best, c.roles, tuple((c.program, c.numbers, t) for c, t in tried))
    raise Unsupported("no choice of tiles fits all of " + names_of(DEVICES))


def measured(
    programs: Sequence[Program], sizes: Mapping[str, int], tensors: Mapping[str, torch.Tensor], seconds: float
) -> Tuned:
    """The schedule and tiles that are fastest on the device that is there, of those that go first by the model: as many
    as there are seconds for, and the fastest of them with other warps and stages. `tensors` are examples of what
    programs read, by name; others are made. Raises Unsupported where none fits."""
    from triton.errors import TritonError

    until, device, made = time.monotonic() + seconds, present(), _Arguments(tensors, sizes)
    tried, reasons = list[tuple[Choice, float]](), list[str]()
    some = promising(programs, sizes, device, TIMED)
    for _ in range(2):
        with ThreadPoolExecutor(max(cores() - 1, 1)) as pool:
            for c, compiling in [(c, pool.submit(built, *of(c, device, sizes))) for c in some]:
                if tried and time.monotonic() > until:
                    compiling.cancel()
                    continue
                try:
                    figures, binary = compiling.result()
                    if figures.fits(device):
                        tried.append((c, made.timed(c, binary)))
                except Unsupported as error:
                    reasons.append(str(error))
                except (RuntimeError, TritonError) as error:       # of CUDA or of a launcher, such as too little memory
                    first = (str(error).splitlines() or [type(error).__name__])[0]
                    reasons.append(f"{c.kernels.kernels[0].name} does not run: {first}")
        some = _likely(tried)
    if not tried:
        raise Unsupported(reasons[0] if reasons else f"no choice of tiles fits {device.name}")
    c, best = min(tried, key=lambda each: each[1])
    return Tuned(c.program, c.numbers, best, c.roles, tuple((c.program, c.numbers, t) for c, t in tried))


def _likely(tried: Sequence[tuple[Choice, float]]) -> list[Choice]:
    """The fastest with all settings that were not tried."""
    known = [c.numbers for c, _ in tried]
    first = sorted(tried, key=lambda each: each[1])[:SETTINGS]
    return [other for c, _ in first for other in settings(c) if other.numbers not in known]


def present() -> Device:
    """The device that is there: of those in the table that which is nearest, by its own number of processors."""
    from triton.runtime import driver

    major, minor = torch.cuda.get_device_capability()
    nearest = min(DEVICES, key=lambda device: abs(device.arch - (10 * major + minor)))
    found = torch.cuda.get_device_properties(torch.cuda.current_device())
    return replace(nearest, arch=10 * major + minor, processors=int(found.multi_processor_count),
                   shared=int(driver.active.utils.get_device_properties(torch.cuda.current_device())["max_shared_mem"]))


class _Arguments:
    """Tensors on the device for a kernel's launches: the examples, and numbers of no meaning for what others make."""

    def __init__(self, examples: Mapping[str, torch.Tensor], sizes: Mapping[str, int]) -> None:
        self.examples, self.sizes, self.made = examples, sizes, dict[str, torch.Tensor]()

    def one(self, buffer: Buffer) -> torch.Tensor:
        if buffer.name not in self.made:
            shape = [value_at(n, self.sizes) for n in buffer.shape]
            example = self.examples.get(buffer.name)
            if example is None or list(example.shape) != shape:
                example = torch.rand(shape).to(getattr(torch, buffer.dtype))
            self.made[buffer.name] = example.detach().contiguous().cuda()
        return self.made[buffer.name]

    def timed(self, c: Choice, binary: Any) -> float:
        """Seconds of a launch."""
        (kernel,) = c.kernels.kernels
        made = function(kernel, Names())
        grid = tuple(value_at(n, self.sizes) for n in made.programs)
        arguments = [*map(self.one, made.tensors), *(self.sizes[name] for name in made.sizes)]
        with alone():
            return Graph(lambda: binary[grid](*arguments), LAUNCH).seconds(REPLAYED)


def promising(programs: Sequence[Program], sizes: Mapping[str, int], device: Device, most: int) -> list[Choice]:
    """So many tiles for each program, the best by the model first; of those that are as good, the larger ones. Each
    with its usual settings."""
    each = filter(fits, choices(programs, sizes, worth, {}))
    found = sorted(each, key=lambda c: (seconds(c, sizes, device), -math.prod(c.roles.values())))
    return [c for place in range(len(programs)) for c in [c for c in found if c.program == place][:most]]


def seconds(c: Choice, sizes: Mapping[str, int], device: Device, figures: Figures | None = None) -> float:
    """What the model says of a choice; with figures, of what the compiler made of it."""
    (kernel,) = c.kernels.kernels
    own = options(kernel, c.numbers)
    ahead = own["num_stages"] - 1 if is_dot(kernel) else 1
    return work(kernel, sizes).seconds(device, own["num_warps"], figures, ahead)


def figures_of(c: Choice, device: Device, sizes: Mapping[str, int]) -> Figures:
    """What the compiler says of a choice at such sizes."""
    return compiled(*of(c, device, sizes))


def of(
    c: Choice, device: Device, sizes: Mapping[str, int]
) -> tuple[Kernel, Device, tuple[tuple[str, int], ...], frozenset[str]]:
    """What a compiler is given of a choice."""
    (kernel,) = c.kernels.kernels
    return kernel, device, tuple(options(kernel, c.numbers).items()), even_in(sizes)


def even_in(sizes: Mapping[str, int]) -> frozenset[str]:
    """The sizes of which Triton is told that they are multiples of 16, as it asks of each launch."""
    return frozenset(name for name, n in sizes.items() if n % 16 == 0)


# ------------------------------------------------------------------------------------------------------------- compiled


@cache
def compiled(
    kernel: Kernel, device: Device, settings: tuple[tuple[str, int], ...] = (), even: frozenset[str] = frozenset()
) -> Figures:
    """What Triton's compiler says of a kernel for a device, with settings of its own (those of `options`); tensors that
    begin at multiples of 16 bytes, as torch makes them, and sizes that are `even` multiples of 16. Raises Unsupported
    where it does not compile."""
    return built(kernel, device, settings or tuple(options(kernel).items()), even)[0]


def built(
    kernel: Kernel, device: Device, settings: tuple[tuple[str, int], ...], even: frozenset[str]
) -> tuple[Figures, Any]:
    """What the compiler says, and what it made. Raises Unsupported where it does not compile."""
    with TemporaryDirectory(prefix="samesame-") as place:
        names = Names()
        made = function(kernel, names)
        file = Path(place) / "kernels.py"
        file.write_text(f"{HEAD.format(words='')}\n\n{made.text}\n")
        jit = getattr(loaded(file), names(kernel.name))
        return _built(jit, made, device, dict(settings), even)


def _built(
    jit: Any, made: Function, device: Device, options: dict[str, int], even: Collection[str]
) -> tuple[Figures, Any]:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource

    kinds = [*(f"*{element_name(b.dtype)}" for b in made.tensors), *("i32" for _ in made.sizes)]
    many = [*(True for _ in made.tensors), *(size in even for size in made.sizes)]
    aligned = {(k,): [["tt.divisibility", 16]] for k, multiple in enumerate(many) if multiple}
    source = ASTSource(jit, dict(zip(jit.arg_names, kinds, strict=True)), {}, aligned)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")
            binary = triton.compile(source, target=GPUTarget("cuda", device.arch, WARP), options=options)
    except Exception as error:                       # of any kind: Triton's passes raise what they like
        first = (str(error).strip().splitlines() or ["no message"])[0]
        raise Unsupported(f"{made.name} does not compile for {device.name}: {first}") from error
    with TemporaryDirectory(prefix="samesame-") as place:
        file = Path(place) / "kernel.cubin"
        file.write_bytes(binary.asm["cubin"])
        said = subprocess.run([triton.knobs.nvidia.cuobjdump.path, "-res-usage", str(file)], capture_output=True,
                              text=True, check=False).stdout
    usage = dict(re.findall(r"(REG|STACK|LOCAL):(\d+)", said))
    return Figures(int(binary.metadata.shared), int(usage.get("REG", 255)), int(usage.get("LOCAL", 0))), binary


# --------------------------------------------------------------------------------------------------------------- native


@dataclass
class InTriton(Native):
    """Triton kernels for a specification, whose code is proved."""

    runs_ahead = False

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
        settings = {kernel.name: options(kernel, self.tiles) for kernel in self.program.kernels}
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
        sizes, settings = self.over.numbers(), options(kernel, self.tiles)
        those = (present(),) if torch.cuda.is_available() else DEVICES
        figures = [compiled(kernel, device, tuple(settings.items()), even_in(sizes)) for device in those]
        model = next((device for device in those if device == MODEL), those[0])
        does, warps = work(kernel, sizes), settings["num_warps"]
        registers, shared = ({getattr(each, what) for each in figures} for what in ("registers", "shared"))
        largest = max(sides(kernel), key=len)
        tiles = f"tiles {' × '.join(map(str, largest))}, {warps} warps"
        return (f"{kernel.name}: {tiles}, {does.programs} programs; {spoken(registers)} registers and "
                f"{spoken(shared)} bytes of shared memory, compiled for {names_of(those)}; "
                f"{1e6 * does.seconds(model, warps, figures[those.index(model)]):.3g} µs by the model of {model.name}, "
                f"for want of {does.limit(model)}")


def spoken(numbers: Collection[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


WORDS = "Triton kernels that `samesame optimize` found; each was lifted back and proved to be what fast.py says."
ALL = names_of(DEVICES)
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
