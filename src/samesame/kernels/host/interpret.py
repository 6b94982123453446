"""Triton kernels on values, without a GPU: the launch function runs on the CPU, its kernels in Triton's interpreter.

This is the numeric oracle beside `triton_launch`: the same function, the same wrapper, real numbers. Pointers are not
addresses here: each allocation has a range of its own, far from the others, so that every access is known to belong to
one tensor, and one that leaves its memory is noted (program, lane, line) and left out instead of carried out. What is
undefined on a GPU is NaN, or a conspicuous integer: lanes of a masked load without `other`, memory from `torch.empty`.
What two programs do to one element is noted where the order would matter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, product
from typing import Any

import numpy as np
import torch
import triton.language as tl
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten_with_path, tree_leaves, tree_map
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, interpreter_builder
from triton.runtime.jit import mangle_type

from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.kernels.host.device import TimeUp, arguments_of, compiled, configurations, jit_of, limited, pretended
from samesame.kernels.host.frames import call, makes_examples, users_frames
from samesame.kernels.host.language import Rewriter, interpreted, kernels_line, undefined
from samesame.kernels.host.launch import UNDEFINED
from samesame.kernels.host.reads import is_read
from samesame.kernels.host.trace import ADDRESSES, CONTENTS, VALUES, elsewhere, is_pointer, run_of
from samesame.programs.named import seeded
from samesame.programs.origins import line_of_error
from samesame.programs.outputs import place_name

MOST_FAULTS = 16                            # noted for one kernel
TRIED = 2                                   # runs in which an autotuner tries a configuration
NEARER = 0.25                              # as far from zero as ever, where numbers lie on one side of it


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a kernel must not do: "load out of bounds", "store out of bounds" or "race".

    `element` counts from the start of the memory of `argument`; `other` is the other program of a race.
    """

    kind: str
    kernel: str
    program: tuple[int, int, int]
    lane: tuple[int, ...]
    origin: Origin
    argument: str
    element: int
    other: tuple[int, int, int] | None = None

    def __str__(self) -> str:
        where = f"{self.origin.spoken}: {self.kind} by program {self.program}, lane {self.lane}"
        also = f", and program {self.other}" if self.other else ""
        return f"{where}{also}, at element {self.element} of {self.argument}"


@dataclass(frozen=True, slots=True)
class Execution:
    """One launch: its tensor arguments before and after, by parameter, and the faults seen. Of an argument that is no
    tensor of torch's it is the whole memory, as one row.

    `written` and `read` say which elements of an argument's memory some program wrote or read, by parameter (1-d,
    bool).
    """

    kernel: str
    grid: tuple[int, int, int]
    scalars: dict[str, Any]
    before: dict[str, torch.Tensor]
    after: dict[str, torch.Tensor]
    written: dict[str, torch.Tensor]
    read: dict[str, torch.Tensor]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a launch function on values: the example tensors as they were before the first launch, by the names of
    the host's variables, and what other variables are parts of; what it returned, by name; each launch; the whole
    numbers that it read from tensors; its sizes, where it was run at given ones; and how many of its tensors were drawn
    from a normal distribution around zero."""

    inputs: dict[str, torch.Tensor]
    parts: dict[str, torch.Tensor]
    outputs: dict[str, torch.Tensor]
    executions: tuple[Execution, ...]
    reads: tuple[int, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    normal: int = 0

    @property
    def named(self) -> dict[str, torch.Tensor]:
        """What a reference can be given."""
        return {**self.parts, **self.inputs}

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(fault for execution in self.executions for fault in execution.faults)


def interpret(
    target: Any,
    inputs: Any = None,
    *,
    sizes: Mapping[str, int] | None = None,
    example: Mapping[str, int] | None = None,
    literal: Collection[int] = (),
    seed: int = 0,
    configuration: str = "",
    blank: bool = False,
    tuning: bool = False,
    backwards: bool = False,
    timeout: float = 120.0,
    given: Mapping[str, Any] | None = None,
    sides: Sequence[int] = (),
) -> Run:
    """Run a launch function on the CPU, with its kernels in Triton's interpreter.

    `target` and `inputs` are as for `capture_launches`. `sizes` replaces sizes of the example: ints among the
    function's parameters by name, and sizes named in `example` (the `sizes` of a capture) wherever the function makes a
    tensor of that size, but for `literal` lengths, which stay as they are written. `configuration` is the autotuner's
    choice, as captured launches name it; the first by default. Random tensors come from `seed`. With `blank`, undefined
    values are zeros instead, as they often are on a device. With `tuning`, autotuners try their configurations first,
    as they do when they are first called. With `backwards`, the last program of a grid runs first. `given` are values
    for example tensors, by the names of the host's variables, which they get before the first launch. Tensors that
    are drawn from a normal distribution around zero lie in turn on these `sides` of it (1: above, −1: below), each
    number a fourth as far from it, as their sums are longer. Raises Refused with the line where the function or a
    kernel fails.
    """
    named = [(name, value) for name, value in (example or {}).items() if value not in literal]
    changed = {value: (sizes or {}).get(name, value) for name, value in named}
    oracle = Oracle(changed, configuration, blank, tuning, backwards, given or {}, sides)
    with ExitStack() as stack:
        asked: dict[str, Any] = {}
        stack.enter_context(pretended(oracle.launch, asked))
        function = run_of(target, asked)
        oracle.written = whole_numbers_in(function)
        args, keywords = oracle.arguments(function, inputs, sizes or {})
        stack.enter_context(seeded(seed))
        stack.enter_context(np.errstate(all="ignore"))
        stack.enter_context(interpreted(oracle))
        stack.enter_context(Making(oracle))
        stack.enter_context(OnTheCpu(oracle))
        try:
            with limited(timeout):
                returned = call(function, args, keywords)
        except TimeUp as error:
            raise Refused(f"{line_of_error(error).spoken} still runs after {timeout:g} seconds") from None
        except Refused:
            raise
        except Exception as error:
            where = line_of_error(error)
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            text = (str(cause).strip().splitlines() or ["no message"])[0]
            raise Refused(f"{where.spoken} fails in the interpreter: {type(cause).__name__}: {text}") from error
    leaves, _ = tree_flatten_with_path(returned)
    outputs = {place_name((), path) or "0": leaf for path, leaf in leaves if isinstance(leaf, torch.Tensor)}
    executions, reads = tuple(oracle.executions), tuple(oracle.reads)
    return Run(oracle.inputs, oracle.parts, outputs, executions, reads, normal=oracle.normal)


def run_kernel(jit: Any, values: Mapping[str, Any], grid: tuple[int, int, int]) -> Execution:
    """One kernel on CPU tensors and numbers, given by parameter; tensors are written into."""
    oracle = Oracle({}, "")
    with np.errstate(all="ignore"), interpreted(oracle):
        oracle.run(jit, dict(values), grid)
    return oracle.executions[0]


# ------------------------------------------------------------------------------------------------------------- memory


@dataclass(slots=True)
class Slot:
    """One allocation, and who touched its elements in the running launch: 0 nobody, else a program's number plus 1."""

    storage: torch.UntypedStorage
    base: int
    name: str = ""
    width: int = 1                          # bytes of an element
    written: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    read: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    atomic: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # by which atomic operation; 0: by none


class Oracle:
    """What one run on values has done so far."""

    def __init__(
        self,
        changed: Mapping[int, int],
        configuration: str,
        blank: bool = False,
        tuning: bool = False,
        backwards: bool = False,
        given: Mapping[str, Any] | None = None,
        sides: Sequence[int] = (),
    ) -> None:
        self.changed, self.configuration, self.blank, self.tuning = dict(changed), configuration, blank, tuning
        self.backwards = backwards
        self.slots: dict[int, Slot] = {}                     # by storage
        self.by_number: list[Slot] = []
        self.executions: list[Execution] = []
        self.faults: list[Fault] = []
        self.kernel = ""
        self.program = (0, 0, 0)
        self.grid = (1, 1, 1)
        self.functions: dict[Any, Callable[..., Any]] = {}
        self.made: set[int] = set()                          # the memory of example tensors
        self.alive: list[torch.Tensor] = []                  # so that no other memory takes their place
        self.inputs: dict[str, torch.Tensor] = {}            # their values before the first launch
        self.parts: dict[str, torch.Tensor] = {}             # those of other variables in the same memory
        self.reads: list[int] = []
        self.shared: set[int] = set()                        # the memory of inputs, and of zeros
        self.given = given or {}                             # values that they get
        self.sides = cycle(sides)
        self.normal = 0                                      # tensors drawn from a normal distribution around zero
        self.written: frozenset[int] | None = None           # numbers in the launch function's text; None: not known

    def arguments(
        self, function: Any, inputs: Any, sizes: Mapping[str, int]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            parameters = inspect.signature(lambda *args, **keywords: None).parameters
        names = list(parameters)

        def example(value: Any, name: str) -> Any:
            def one(leaf: Any) -> Any:
                if isinstance(leaf, torch.Tensor):
                    tensor = self.resized(leaf)
                    self.alive.append(tensor)
                    self.fill(name, tensor)
                    self.inputs.setdefault(name, tensor.clone())
                    return tensor
                return sizes.get(name, self.changed.get(leaf, leaf)) if type(leaf) is int else leaf
            return tree_map(one, value)

        if isinstance(inputs, Mapping):
            return (), {name: example(value, name) for name, value in inputs.items()}
        if inputs is not None:
            values = inputs if isinstance(inputs, tuple | list) else (inputs,)
            return tuple(example(v, names[k] if k < len(names) else f"arg{k}") for k, v in enumerate(values)), {}
        keywords = {}
        for name, p in parameters.items():
            if type(p.default) is int:
                keywords[name] = sizes.get(name, self.changed.get(p.default, p.default))
                self.changed.setdefault(p.default, keywords[name])
            elif isinstance(p.default, torch.Tensor):
                keywords[name] = example(p.default, name)
        return (), keywords

    def resized(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor with other sizes, its values repeated or cut."""
        for d, size in enumerate(tensor.shape):
            wanted = self.changed.get(size, size) if size > 1 else size
            if wanted != size:
                tensor = tensor.index_select(d, torch.arange(wanted) % size)
        return tensor.detach().clone()

    def keep(self, tensor: torch.Tensor) -> None:
        """An example tensor."""
        self.made.add(tensor.untyped_storage()._cdata)
        self.alive.append(tensor)

    def fill(self, name: str, tensor: torch.Tensor) -> None:
        """Give an example tensor the values that are asked for, if they fit."""
        values = self.given.get(name)
        if values is not None and tuple(values.shape) == tuple(tensor.shape):
            tensor.copy_(torch.as_tensor(values))

    def put_on_its_side(self, tensor: torch.Tensor) -> None:
        """A tensor that was drawn around zero, mirrored to one side of it, if it has to lie on one."""
        self.normal += 1
        side = next(self.sides, 0)
        if side:
            tensor.abs_().mul_(side * NEARER)

    def look_for_inputs(self) -> None:
        """The example tensors by the names of the host's variables, the launch function's first."""
        for frame in users_frames():
            for name, value in frame.f_locals.items():
                memory = value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None
                if memory in self.made:
                    self.fill(name, value)
                    self.inputs.setdefault(name, value.detach().clone())
                    self.made.remove(memory)
                    self.shared.add(memory)
                elif memory in self.shared:
                    self.parts.setdefault(name, value.detach().clone())

    def slot(self, tensor: torch.Tensor) -> Slot:
        storage = tensor.untyped_storage()
        if storage._cdata not in self.slots:
            slot = Slot(storage, (len(self.slots) + 1) << ADDRESSES)
            self.slots[storage._cdata] = slot
            self.by_number.append(slot)
        return self.slots[storage._cdata]

    def address(self, tensor: torch.Tensor) -> int:
        """A tensor's address: not where it is, but in its allocation's own range."""
        return self.slot(tensor).base + int(tensor.storage_offset()) * tensor.element_size()

    # ----------------------------------------------------------------------------------------------------- launches

    def launch(self, launcher: Any, args: tuple[Any, ...], keywords: dict[str, Any], grid: Any) -> Any:
        jit = jit_of(launcher)
        if not self.executions:
            self.look_for_inputs()
        keywords = {k: v for k, v in keywords.items() if k not in ("grid", "warmup")}
        found = list(configurations(launcher, args, keywords))
        choice = next((choice for choice in found if choice.label == self.configuration), found[0])

        def run(chosen: dict[str, Any]) -> None:
            self.run(jit, *arguments_of(jit, args, chosen, grid))

        if self.tuning and choice.tuner is not None:
            kept = len(self.executions)
            for each in found:
                for _ in range(TRIED):
                    each.tried(partial(run, each.keywords))
            choice.settled()
            del self.executions[kept:]
        choice.prepare()
        run(choice.keywords)
        return compiled()

    def run(self, jit: Any, values: dict[str, Any], grid: tuple[int, ...]) -> None:
        pointers = {name: v for name, v in values.items() if is_pointer(v)}
        tensors = {name: v if isinstance(v, torch.Tensor) else self.whole(v) for name, v in pointers.items()}
        for name, tensor in tensors.items():
            slot = self.slot(tensor)
            elements = slot.storage.nbytes() // tensor.element_size()
            slot.name, slot.width = name, tensor.element_size()
            slot.written, slot.read = np.zeros(elements, np.int64), np.zeros(elements, np.int64)
            slot.atomic = np.zeros(elements, np.int64)
        constant = {p.name for p in jit.params if p.is_constexpr}
        args = {name: v if name in constant else self.handle(v) for name, v in values.items()}
        before = {name: kept(tensor) for name, tensor in tensors.items()}
        self.kernel, self.faults, self.grid = jit.__name__, [], (grid[0], grid[1], grid[2])
        interpreter_builder.set_grid_dim(*grid)
        function = self.function(jit)
        for program in self.in_order():
            self.program = program
            interpreter_builder.set_grid_idx(*program)
            function(**args)
        after = {name: kept(tensor) for name, tensor in tensors.items()}
        written = {name: torch.from_numpy(self.slot(tensor).written > 0) for name, tensor in tensors.items()}
        read = {name: torch.from_numpy(self.slot(tensor).read != 0) for name, tensor in tensors.items()}
        scalars = {name: v for name, v in values.items() if name not in tensors}
        self.executions.append(
            Execution(self.kernel, self.grid, scalars, before, after, written, read, tuple(self.faults))
        )

    def in_order(self) -> Iterator[tuple[int, int, int]]:
        """The programs of the grid, which may run in any order."""
        ends = [range(n)[::-1] if self.backwards else range(n) for n in self.grid]
        yield from product(*ends)

    def whole(self, value: Any) -> torch.Tensor:
        """The whole memory, as one row, that something points into which is no tensor of torch's."""
        slot = self.by_number[(value.data_ptr() >> ADDRESSES) - 1]
        return torch.tensor([], dtype=value.dtype).set_(slot.storage)

    def handle(self, value: Any) -> Any:
        """An argument as the interpreter takes it."""
        if is_pointer(value):
            type_ = tl.str_to_ty(mangle_type(value), None)
            address = self.address(value) if isinstance(value, torch.Tensor) else value.data_ptr()
            return tl.tensor(TensorHandle(np.array([address], dtype=np.uint64), type_), type_)
        if isinstance(value, tuple):
            return tl.tuple([self.handle(part) for part in value])
        if isinstance(value, bool):
            return tl.tensor(TensorHandle(np.array([value]), tl.int1), tl.int1)
        if isinstance(value, float):
            return tl.tensor(TensorHandle(np.array([value], dtype=np.float32), tl.float32), tl.float32)
        return interpreter._implicit_cvt(value)

    def function(self, jit: Any) -> Callable[..., Any]:
        """The kernel as a Python function over the interpreter's tensors."""
        if jit.fn not in self.functions:
            self.functions[jit.fn] = Rewriter(jit.fn).rewrite_ast()
        return self.functions[jit.fn]

    # ----------------------------------------------------------------------------------------------------- accesses

    def number(self) -> int:
        x, y, z = self.program
        return (x * self.grid[1] + y) * self.grid[2] + z + 1

    def program_of(self, number: int) -> tuple[int, int, int]:
        rest, z = divmod(int(number) - 1, self.grid[2])
        return (*divmod(rest, self.grid[1]), z)

    def access(
        self,
        pointers: np.ndarray,
        mask: np.ndarray,
        what: str,
        width: int,
        values: np.ndarray | None = None,
        kind: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Real addresses, and the mask without lanes that leave their memory. Notes who touches what; of an atomic
        operation, `kind` says which it is."""
        mask = np.broadcast_to(mask, pointers.shape)
        signed = pointers.astype(np.int64)
        slots = (signed + (1 << (ADDRESSES - 1))) >> ADDRESSES
        real, allowed = np.zeros_like(pointers), mask.copy()
        for number in np.unique(slots[mask]) if mask.any() else ():
            here = mask & (slots == number)
            if not 1 <= number <= len(self.by_number):
                self.note(f"{what} out of bounds", here, signed, None)
                allowed &= ~here
                continue
            slot = self.by_number[int(number) - 1]
            offset = signed - slot.base
            outside = here & ((offset < 0) | (offset + width > slot.storage.nbytes()))
            if outside.any():
                self.note(f"{what} out of bounds", outside, offset // width, slot)
                allowed &= ~outside
            real = np.where(here, (offset + slot.storage.data_ptr()).astype(np.uint64), real)
            inside = here & ~outside
            if inside.any() and slot.width == width and slot.written.size:
                self.touch(slot, inside, offset // width, what, values, kind)
        return real, allowed

    def touch(
        self, slot: Slot, inside: np.ndarray, element: np.ndarray, what: str, values: np.ndarray | None, kind: int
    ) -> None:
        """Note an access, and a race with another program. Atomic operations of one kind may meet."""
        me, at = self.number(), element[inside]
        written, read, atomic = slot.written[at], slot.read[at], slot.atomic[at]
        if what == "load":
            race = (written != 0) & (written != me)
            slot.read[at] = np.where((read != 0) & (read != me), -1, me)
        else:
            race = (written != 0) & (written != me)
            if what == "store" and values is not None:
                held = self.held(slot, at)
                fresh = np.broadcast_to(values, inside.shape)[inside].view(held.dtype)
                race &= held != fresh
            if what == "atomic":
                race &= atomic != kind
            else:
                race |= (read != 0) & (read != me)
            slot.written[at], slot.atomic[at] = me, kind
        if race.any():
            lanes = np.zeros_like(inside)
            lanes[inside] = race
            first = int(np.flatnonzero(race)[0])
            other = next((n for n in (written[first], read[first]) if n > 0 and n != me), 0)
            self.note("race", lanes, element, slot, self.program_of(other) if other > 0 else None)

    def held(self, slot: Slot, at: np.ndarray) -> np.ndarray:
        """The bits of elements, as unsigned integers."""
        raw = torch.tensor([], dtype=torch.uint8).set_(slot.storage)
        whole = slot.storage.nbytes() // slot.width * slot.width
        bits: np.ndarray = raw[:whole].numpy().view(f"u{slot.width}")[at]
        return bits

    def note(
        self, kind: str, lanes: np.ndarray, element: np.ndarray, slot: Slot | None, other: Any = None
    ) -> None:
        origin = kernels_line()
        same = sum(f.kind == kind and f.origin.line == origin.line for f in self.faults)
        if len(self.faults) < MOST_FAULTS and not same:
            lane = tuple(map(int, np.argwhere(lanes)[0]))
            name = slot.name if slot is not None else "no argument"
            at = int(np.broadcast_to(element, lanes.shape)[lane])
            self.faults.append(Fault(kind, self.kernel, self.program, lane, origin, name, at, other))


def whole_numbers_in(function: Any) -> frozenset[int] | None:
    """The whole numbers that a function is written with, itself or by a name outside of it: what else it makes tensors
    of follows from its arguments. None where there is no text."""
    plain = inspect.unwrap(function) if callable(function) else function
    code = getattr(plain, "__code__", None)
    if code is None:
        return None
    held = [cell.cell_contents for cell in plain.__closure__ or () if cell.cell_contents is not plain]
    held += [plain.__globals__[name] for name in code.co_names if name in plain.__globals__]
    leaves = [leaf for value in (*code.co_consts, *held) for leaf in tree_leaves(value)]
    return frozenset(leaf for leaf in leaves if type(leaf) is int)


def kept(x: torch.Tensor) -> torch.Tensor:
    """A copy of a tensor that lies in its memory as the tensor does, with all of that memory."""
    storage = x.untyped_storage().clone()                      # type: ignore[no-untyped-call]
    return torch.tensor([], dtype=x.dtype).set_(storage, x.storage_offset(), tuple(x.shape), x.stride())


# -------------------------------------------------------------------------------------------------------- the modes


class OnTheCpu(TorchFunctionMode):
    """Tensors live on the CPU, and say that they live on the device."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__()
        self.oracle = oracle

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function in TOLD:
            return TOLD[function]
        if function is torch.Tensor.data_ptr:
            return self.oracle.address(args[0])
        if function is torch.Tensor.cuda:
            return args[0]
        if function is torch.Tensor.get_device:
            return 0
        if is_read(function, args):
            self.oracle.reads.append(function(*args))
            return self.oracle.reads[-1]
        if function is not torch.Tensor.__repr__:
            args, kwargs = tree_map(elsewhere, (args, kwargs))
        return function(*args, **kwargs)


# What a tensor says about where it is.
TOLD: dict[Any, Any] = {
    getter.__get__: answer
    for getter, answer in (
        (vars(torch._C.TensorBase)["device"], torch.device("cuda", 0)),
        (vars(torch._C.TensorBase)["is_cuda"], True),
        (vars(torch._C.TensorBase)["is_cpu"], False),
    )
}


class Making(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Example tensors get the sizes of this run; uninitialised memory gets values that show."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.oracle = oracle

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = operation._schema.name.removeprefix("aten::")
        own = not self.oracle.executions and makes_examples()
        if own:
            names = [argument.name for argument in operation._schema.arguments]
            args = tuple(self.sized(name, n, v) for n, v in zip(names, args, strict=False))
            kwargs = {n: self.sized(name, n, v) for n, v in kwargs.items()}
        result = operation(*args, **kwargs)
        if not self.oracle.executions and is_around_zero(name, args, kwargs) and result.is_floating_point():
            self.oracle.put_on_its_side(result)
        if CONTENTS.get(name, 0) is UNDEFINED and isinstance(result, torch.Tensor):
            result.fill_(0 if self.oracle.blank else undefined(result.dtype))
        elif own and isinstance(result, torch.Tensor) and CONTENTS.get(name, VALUES) != 0:
            self.oracle.keep(result)
        elif own and isinstance(result, torch.Tensor):
            self.oracle.alive.append(result)
            self.oracle.shared.add(result.untyped_storage()._cdata)
        return result

    def sized(self, operator: str, name: str, value: Any) -> Any:
        written = self.oracle.written
        changed = {n: k for n, k in self.oracle.changed.items() if written is None or n in written}
        if name == "size" and isinstance(value, list | tuple):
            return [changed.get(n, n) for n in value]
        return changed.get(value, value) if name == "end" and operator == "arange" and type(value) is int else value


def is_around_zero(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether an operator draws from a normal distribution with the mean 0."""
    if name == "normal_":
        return [*args[1:2], *(v for n, v in kwargs.items() if n == "mean")] in ([], [0])
    return name in ("randn", "randn_like")
