"""Numbers for tiles, by measurement.

Several programs that compute the same tensors come with symbols for their tiles; every role (rows, lanes, …) has a few
numbers worth trying, and those that need more registers than there are are not tried. All candidates are compiled
together and timed in turn, a few calls each; the slower half is dropped and the rest timed twice as long, until one is
left or time is up. What won before goes first, so that a short budget is spent well. Results are plain data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import inf, prod

import torch

from samesame.formula.expr import Fn, Unsupported, walk
from samesame.formula.sizes import value_at
from samesame.optimize.compiled import Compiled, Description, describe, driver, library
from samesame.optimize.emit import cpp
from samesame.optimize.emit.cpp import in_registers
from samesame.optimize.emit.places import LANES, whole
from samesame.optimize.ir import Accumulate, Kernel, Loop, Program, Statement, Tile, bound, statements
from samesame.optimize.machine import Machine, here
from samesame.optimize.shared import CHEAP

NEAR = 1024, 4096                                    # sums side by side that are kept in memory
TOGETHER = 16                                        # candidates in one compilation
PACKED = 4 << 30                                     # bytes of packed weights that candidates may hold at a time
COMPILING, A_SECOND = 0.25, 60_000                   # seconds at least; characters, about: guesses to cut budgets by
MOST = 256                                           # choices of numbers for one program, each number by itself
HOPELESS = 3                                         # times the best: dropped after one call
CALLS = 3                                            # timed ones in a turn of the first round


@dataclass(frozen=True)
class Tuned:
    """The program that was fastest, by its place in the list, with numbers for its tiles, and the seconds of a call.

    `roles` is what is worth learning: the numbers by what they were for. `measured` holds all that was.
    """

    program: int
    numbers: Mapping[str, int]
    seconds: float
    roles: Mapping[str, int]
    measured: tuple[tuple[int, Mapping[str, int], float], ...]


@dataclass
class Choice:
    """A program, by its place in the list, with numbers for its tiles, and these by what they are for."""

    program: int
    numbers: Mapping[str, int]
    roles: Mapping[str, int]
    kernels: Program
    number: int = 0                                  # among those that are tried, which names its kernels
    printed: tuple[str, ...] = ()
    call: Compiled | None = None
    times: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The lower quartile: what the machine does when nobody else is at work."""
        ordered = sorted(self.times)
        return ordered[len(ordered) // 4]


def tune(
    programs: Sequence[Program], sizes: Mapping[str, int], tensors: Mapping[str, torch.Tensor], seconds: float,
    learnt: Sequence[Mapping[str, int]] = (), quiet: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Tuned:
    """The fastest of these programs at these sizes. `tensors` are examples of what they read, by name; others are
    made. They are timed inside of `quiet`. Raises Unsupported where no program can be printed."""
    until = time.monotonic() + seconds
    machine = here()
    found = sorted(candidates(programs, sizes, machine), key=lambda c: _promise(c, learnt))
    for number, c in enumerate(found):
        c.number = number
    alone = len(found) == 1
    kept: list[Choice] = []
    tried: list[Choice] = []
    while found and (not kept or time.monotonic() + COMPILING < until):
        several, found = _batch(found, (until - time.monotonic()) / 2, machine)
        started = _compiled(several)
        tried += started
        if alone:
            kept = started
            break
        with quiet():
            kept = _fastest([*kept, *started], _Arguments(tensors), until)
    if not kept:
        raise Unsupported("none of the programs could be printed and run")
    best = kept[0]
    measured = tuple((c.program, c.numbers, c.seconds) for c in tried if c.times)
    return Tuned(best.program, best.numbers, best.seconds if best.times else 0.0, best.roles, measured)


# ---------------------------------------------------------------------------------------------------------- candidates


def choices(
    programs: Sequence[Program], sizes: Mapping[str, int], worth: Callable[[Tile, int, Program], Sequence[int]],
    fixed: Mapping[str, int],
) -> Iterator[Choice]:
    """The programs with all numbers `worth` trying for each tile of such a length; and numbers for what is `fixed`."""
    for place, program in enumerate(programs):
        tiles = program.tiles
        for chosen in _together(tiles, [worth(tile, value_at(tile.of, sizes), program) for tile in tiles]):
            numbers = {tile.size.name: number for tile, number in zip(tiles, chosen, strict=True)}
            roles = {tile.role: number for tile, number in zip(tiles, chosen, strict=True)}
            yield Choice(place, numbers, roles, bound(program, {**fixed, **numbers}))


def _together(tiles: Sequence[Tile], several: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All numbers of tiles with one another; where that are too many, as in a sum of many products, those of one role
    grow together."""
    if prod(map(len, several)) <= MOST:
        yield from product(*several)
        return
    roles = list(dict.fromkeys(tile.role for tile in tiles))
    longest = [max(len(numbers) for tile, numbers in zip(tiles, several, strict=True) if tile.role == role)
               for role in roles]
    for places in product(*map(range, longest)):
        at = dict(zip(roles, places, strict=True))
        yield tuple(numbers[min(at[tile.role], len(numbers) - 1)] for tile, numbers in zip(tiles, several, strict=True))


def candidates(programs: Sequence[Program], sizes: Mapping[str, int], machine: Machine) -> Iterator[Choice]:
    """Those of the choices that need no more registers than there are."""
    for c in choices(programs, sizes, partial(worth, machine), sizes):
        if not c.numbers or max(registers(kernel, machine) for kernel in c.kernels.kernels) <= machine.registers - 2:
            yield c


def worth(machine: Machine, tile: Tile, length: int, program: Program) -> list[int]:
    """The numbers worth trying for a tile, by its role."""
    w, costly = machine.lanes, takes_functions(program)
    match tile.role:
        case "lanes":
            most = -(-length // w) * w
            return sorted({min(w * k, most) for k in ((1, 2) if costly else (1, 2, 3, 4, 6))})
        case "beside":                               # in registers, or in memory that is near
            return sorted({min(n, -(-length // w) * w) for n in (w, 2 * w, 4 * w, 8 * w, *NEAR)})
        case "across":
            return sorted({min(n, length) for n in (8, 16, 32)})
        case "along":
            return sorted({min(w * k, -(-length // w) * w) for k in (1, 2, 8)})
        case "rows" | "columns" if costly:
            return sorted({min(k, length) for k in (1, 2)})
        case "rows" | "columns":
            return sorted({min(k, length) for k in (1, 2, 4, 6, 8)} | ({length} if length <= 16 else set()))
        case "depth":
            return sorted({min(w * k, -(-length // w) * w) for k in (1, 4, 16)})
        case "keys":                                 # blocks of columns
            return [8, 16]
        case "parts":                                # how long they are
            return sorted({-(-length // k) for k in (2, 4, 8)})
    return [min(length, w)]


def takes_functions(program: Program) -> bool:
    """Whether a term of a sum takes functions. These are what takes the time, and what compilers take long for, so that
    few are written out side by side."""
    sums = (s.value for kernel in program.kernels if not kernel.ahead for s in statements(kernel.body)
            if isinstance(s, Accumulate))
    return any(isinstance(e, Fn) and e.name not in CHEAP for value in sums for e in walk(value))


def registers(kernel: Kernel, machine: Machine) -> int:
    """About how many vector registers a kernel's accumulators and operands take at a time: in one loop, whose rounds
    are not written out."""
    vectors = {s.variable for s in statements(kernel.body) if isinstance(s, Loop) and s.kind == "vector"}

    def most(body: Sequence[Statement], taken: dict[str, int]) -> int:
        found = 0
        for s in body:
            if isinstance(s, Accumulate) and s.target.shape:
                shape = [whole(size) for size in s.target.shape]
                if not in_registers(prod(shape), machine.lanes):
                    continue
                along = any(v in i.free for i in s.indices for v in vectors)
                runs = -(-shape[-1] // machine.lanes) if along else shape[-1]
                taken[s.target.name] = prod(shape[:-1]) * runs + (runs if along else 1)
            else:
                apart = isinstance(s, Loop) and s.kind in ("serial", "parallel")
                found = max(found, most(getattr(s, "body", ()), {} if apart else taken))
        return max(found, sum(taken.values()))

    return most(kernel.body, {}) + 1


def _promise(candidate: Choice, learnt: Sequence[Mapping[str, int]]) -> tuple[int, int]:
    """What won before first; then what uses more registers."""
    rank = next((i for i, roles in enumerate(learnt) if dict(roles) == candidate.roles), len(learnt))
    return rank, -prod(number for role, number in candidate.roles.items() if role in ("rows", "lanes", "columns"))


def _batch(found: list[Choice], seconds: float, machine: Machine) -> tuple[list[Choice], list[Choice]]:
    """The first ones, printed: as many as may hold packed weights at a time, and, but for two, are compiled in so many
    seconds."""
    held, length, count = 0, 0, 0
    for c in found[:TOGETHER]:
        packed = [b for kernel in c.kernels.kernels if kernel.ahead for b in kernel.writes]
        held += sum(b.itemsize * prod(map(whole, b.shape)) for b in packed)
        if not c.printed:
            named = [replace(kernel, name=f"{kernel.name} {c.number}") for kernel in c.kernels.kernels]
            with suppress(Unsupported):
                c.printed = tuple(cpp.function(kernel, machine.lanes) for kernel in named)
                c.kernels = Program(tuple(named))
        length += sum(map(len, c.printed))
        if count and (held > PACKED or (count > 1 and length > seconds * A_SECOND)):
            break
        count += 1
    return found[:count], found[count:]


# ---------------------------------------------------------------------------------------------------------- measurement


def _compiled(several: list[Choice]) -> list[Choice]:
    """All of them in one library, each under names of its own; but those that cannot be printed."""
    functions, named = [LANES.read_text()], list[tuple[Choice, Description, str]]()
    for i, c in enumerate(c for c in several if c.printed):
        description = describe(c.kernels, *_interface(c.kernels))
        functions += [*c.printed, driver(description, f"run{i}")]
        named.append((c, description, f"run{i}"))
    if not named:
        return []
    source = "\n".join(functions)
    file = library(source)
    for c, description, name in named:
        c.call = Compiled(source, description, file, name)
    return [c for c, *_ in named]


def _interface(program: Program) -> tuple[list[str], list[str], list[str]]:
    """Inputs, weights (what is read ahead) and outputs."""
    written = {b.name for kernel in program.kernels for b in kernel.writes}
    ahead = [b.name for kernel in program.kernels if kernel.ahead for b in kernel.reads if b.name not in written]
    reads = [b.name for kernel in program.kernels if not kernel.ahead for b in kernel.reads if b.name not in written]
    inputs = [name for name in dict.fromkeys(reads) if name not in ahead]
    return inputs, list(dict.fromkeys(ahead)), [b.name for b in program.kernels[-1].writes]


class _Arguments:
    """Tensors for a call: the examples, and for what earlier kernels would make, numbers of no meaning."""

    def __init__(self, examples: Mapping[str, torch.Tensor]) -> None:
        self.made = dict(examples)

    def of(self, candidate: Choice) -> list[torch.Tensor]:
        assert candidate.call is not None
        return [self.one(name, candidate.call.tensors[name]) for name in candidate.call.arguments]

    def one(self, name: str, form: Mapping[str, object]) -> torch.Tensor:
        if name not in self.made:
            dtype = getattr(torch, str(form["dtype"]))
            self.made[name] = torch.rand(form["shape"]).to(dtype)  # type: ignore[call-overload]
        return self.made[name]


def _fastest(several: list[Choice], arguments: _Arguments, until: float) -> list[Choice]:
    """Successive halving; the fastest first, alone if time allowed it."""
    calls, best = CALLS, inf
    for c in several:
        if time.monotonic() > until and COMPILING < 2 * best < inf:       # the others cost more to time than to compile
            break
        c.times = _timed(c, arguments, 1)
        best = min([best, *c.times])
    several = [c for c in several if c.times and min(c.times) < HOPELESS * best]
    while len(several) > 1 and time.monotonic() < until:
        for _ in range(2):
            for c in several:
                c.times += _timed(c, arguments, calls)
        several.sort(key=lambda c: c.seconds)
        for c in several[(len(several) + 1) // 2:]:
            c.call = None                            # lets go of packed weights
        several = several[:(len(several) + 1) // 2]
        calls *= 2
    return sorted(several, key=lambda c: c.seconds)[:1]


def _timed(candidate: Choice, arguments: _Arguments, calls: int) -> list[float]:
    """Seconds of a few calls in a row, after one that fills the caches; none at all where memory is too small."""
    assert candidate.call is not None
    tensors, found = arguments.of(candidate), list[float]()
    try:
        candidate.call(*tensors)
    except RuntimeError as fault:
        if "allocate" not in str(fault):             # what torch says of memory
            raise
        return []
    for _ in range(calls):
        start = time.perf_counter()
        candidate.call(*tensors)
        found.append(time.perf_counter() - start)
    return found
