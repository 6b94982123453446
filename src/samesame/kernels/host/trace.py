"""Runs host code around Triton kernels on fake tensors, and notes launches and tensor operators.

Two of torch's modes see what the host does: one stands above its functions and answers what a fake device cannot
(addresses, contiguous copies), one sees each operator it dispatches to. Example tensors are those that the launch
function is given, or makes in its own body or by its file's `inputs`; their sizes become symbols, variables name them.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten_with_path, tree_map
from triton._C.libtriton import native_specialize_impl
from triton.backends.compiler import BaseBackend

from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.kernels.host.changes import has_storage, is_told_by, leaves_of, tensors_written
from samesame.kernels.host.contracts import Contract, Names, finished, is_of_tensor, read_contract
from samesame.kernels.host.device import (
    KernelInterface,
    TimeUp,
    compiled,
    configurations,
    jit_of,
    limited,
    pretended,
    replaced,
    triton,
)
from samesame.kernels.host.failures import about_import, reason
from samesame.kernels.host.finished import read, read_host_step, read_step
from samesame.kernels.host.frames import call, makes_examples, users_frames
from samesame.kernels.host.launch import UNDEFINED, Call, Captured, HostStep, Launch, Memory, View
from samesame.kernels.host.parts import whole_of_parts
from samesame.kernels.host.reads import Reads, is_read
from samesame.kernels.host.sizes import HostSizes
from samesame.kernels.host.versions import defined_at
from samesame.kernels.host.written import AsWritten, as_it_is, with_sizes
from samesame.programs.named import module_of_file, module_of_name, named
from samesame.programs.origins import is_users, line_of_error, place
from samesame.programs.outputs import kind_of_value, place_name

CUDA = "cuda"
ADDRESSES = 40                              # each memory has 2^40 addresses of its own
DEVICE, CPU = torch.device(CUDA, 0), torch.device("cpu")

# What tensors hold that are made by operators that compute nothing: by the operator's packet.
CONTENTS: dict[str, Any] = {
    **dict.fromkeys(("empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"),
                    UNDEFINED),
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros"), 0),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), 1),
}
FILLED = ("full", "full_like", "new_full")
VALUES = "values"
PARTS = "parts"                             # of the elements, some may be nobody's


def run_host(
    target: Any,
    inputs: Any,
    symbolic: bool,
    timeout: float,
    may_fail: bool = False,
    step: int = 1,
    assume: Sequence[Contract] = (),
    literal: bool = False,
    apart: bool = False,
    reads: Sequence[int] | None = None,
) -> Captured:
    """One run, in which the elements of example tensors lie `step` apart, under a user's contracts; `reads` are the
    numbers that it reads from tensors. Raises Refused where it reached no launch, unless it `may_fail`, and where a
    contract says nothing of it or does not hold."""
    host = Host(symbolic, step, literal, apart)
    host.reads = Reads(reads, host.sizes if symbolic else None)
    returned, refused = None, []
    with ExitStack() as stack:
        stack.enter_context(pretended(host.launch, host.asked))
        function = run_of(target, host.asked)
        args, keywords = host.arguments(function, inputs)
        replaced(stack, triton, "next_power_of_2", host.next_power_of_2)
        replaced(stack, math, "sqrt", partial(square_root, math.sqrt))
        replaced(stack, torch.SymInt, "__repr__", host.text(torch.SymInt.__repr__))
        stack.enter_context(host.fake)
        stack.enter_context(Operators(host))
        stack.enter_context(Functions(host))
        try:
            with limited(timeout):
                returned = call(function, args, keywords)
        except TimeUp as error:
            where = line_of_error(error).spoken
            refused.append(f"{where} still runs after {timeout:g} seconds; a launch function has to come to an end")
        except Refused as error:
            refused.append(str(error))
        except Exception as error:
            refused.append(reason(error))
        captured = host.captured(returned, tuple(refused), () if refused else assume)
    if not may_fail and not captured.launches:
        name = target if isinstance(target, str) else getattr(function, "__qualname__", "the function")
        raise Refused(refused[0] if refused else f"{name} launches no Triton kernel")
    return captured


def square_root(original: Any, x: Any) -> Any:
    """The square root of a number; of a symbol, which Python's would hold to the example's value, as a symbol."""
    return torch.sym_sqrt(x) if isinstance(x, torch.SymInt | torch.SymFloat) else original(x)


ASKED: dict[str, dict[str, Any]] = {}  # by source: what it asks of a device while it is imported, which is once


def run_of(target: Any, asked: dict[str, Any]) -> Any:
    """The function to run: the one that a target names, with the sizes that it writes down as parameters."""
    if isinstance(target, AsWritten):
        return as_it_is(loaded(target.target, asked))
    return with_sizes(loaded(target, asked))


def loaded(target: Any, asked: dict[str, Any]) -> Any:
    """The function that a target names; whatever its file asks of a device on import is answered, and noted in
    `asked`."""
    if not isinstance(target, str):
        return target
    source, _, _ = target.rpartition(":")
    if not source and not target.endswith(".py"):
        raise Refused(f"{target!r} names no function; write file.py:launch, package.module:launch, or a .ttir file")
    if not source:
        raise Refused(f"{target} is a file; add the name of the function that launches, such as {target}:launch")
    try:
        module_of_file(Path(source)) if source.endswith(".py") else module_of_name(source)
    except Refused as refused:
        raise about_import(refused, source) from refused.__cause__
    asked |= ASKED.setdefault(source, dict(asked))
    found = named(target)
    if isinstance(found, KernelInterface):
        raise Refused(f"{target} is a Triton kernel; give a function that launches it on example tensors")
    if not callable(found):
        raise Refused(f"{target} is {kind_of_value(found)}, not a function that launches kernels")
    return found


class Host:
    """What one run of host code has done so far."""

    def __init__(self, symbolic: bool, step: int = 1, literal: bool = False, apart: bool = False) -> None:
        self.symbolic, self.step = symbolic, step
        self.sizes = HostSizes(literal, apart)
        self.fake = FakeTensorMode(shape_env=self.sizes.env, allow_non_fake_inputs=True)
        self.steps: list[Call | HostStep] = []
        self.prepared: list[HostStep] = []                  # what the launch function's body makes its examples with
        self.changed = False                                # whether more was written before a launch than that says
        self.memories: dict[int, tuple[int, dict[str, Any]]] = {}      # by storage
        self.names: dict[int, str] = {}                                # of memories, by number
        self.alive: list[Any] = []                                     # what must not be freed: its id is a key
        self.inputs: dict[str, View] = {}
        self.parts: dict[str, View] = {}                               # other variables: parts of these, or filled
        self.launched = False
        self.asked: dict[str, Any] = {}                                # facts of the device
        self.said = Names()                                            # what names in contracts stand for
        self.reads = Reads(None, None)

    # ---------------------------------------------------------------------------------------------- example tensors

    def arguments(self, function: Any, inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the launch function: tensors made fake, ints made symbols."""
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            parameters = inspect.signature(lambda *args, **keywords: None).parameters
        positional = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        given: dict[str, Any] = {}
        args: list[Any] = []
        if isinstance(inputs, Mapping):
            given = {name: self.example(value, name) for name, value in inputs.items()}
        elif inputs is not None:
            values = inputs if isinstance(inputs, tuple | list) else (inputs,)
            names = [*positional, *(f"arg{k}" for k in range(len(positional), len(values)))]
            args = [self.example(value, names[k]) for k, value in enumerate(values)]
        for p in list(parameters.values())[len(args):]:
            if p.name not in given and type(p.default) is int:
                given[p.name] = self.parameter(p.default, p.name)
            elif p.name not in given and isinstance(p.default, torch.Tensor):
                given[p.name] = self.example(p.default, p.name)
        required = [p.name for p in list(parameters.values())[len(args):] if p.default is p.empty
                    and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in given]
        if required:
            raise Refused(
                f"{getattr(function, '__qualname__', function)} asks for {', '.join(required)}; give example inputs "
                "(--inputs file.py:inputs), or a function without arguments that makes them"
            )
        return tuple(args), given

    def parameter(self, value: int, name: str) -> Any:
        return self.sizes.parameter(value, name) if self.symbolic else value

    def size(self, value: int) -> Any:
        return self.sizes.size(value) if self.symbolic else value

    def shape(self, numbers: Sequence[Any]) -> list[Any]:
        return self.sizes.shape(numbers) if self.symbolic else list(numbers)

    def example(self, value: Any, name: str) -> Any:
        """An argument: its tensors as fake ones with symbolic sizes, its ints as symbols."""
        def one(leaf: Any) -> Any:
            if isinstance(leaf, torch.Tensor):
                return self.example_tensor(leaf, name)
            return self.parameter(leaf, name) if type(leaf) is int else leaf

        return tree_map(one, value)

    def example_tensor(self, real: torch.Tensor, name: str) -> torch.Tensor:
        shape = self.shape(real.shape)
        steps = real.stride()
        order = sorted(range(real.dim()), key=lambda d: (-steps[d], d))
        dense = torch.empty([real.shape[d] for d in order]).permute([order.index(d) for d in range(real.dim())])
        if dense.stride() == real.stride():
            running: Any = 1
            strides: list[Any] = [1] * real.dim()
            for d in reversed(order):
                strides[d] = running
                running = running * shape[d]
        else:
            strides = [self.size(n) for n in real.stride()]
        with self.fake:
            made = torch.empty_strided(shape, [n * self.step for n in strides], dtype=real.dtype)
        put(made, DEVICE)
        self.remember(made, given=True, contents=VALUES, origin=Origin(parameter=name), name=name)
        return made

    # ------------------------------------------------------------------------------------------------------- memory

    def remember(self, tensor: torch.Tensor, given: bool, contents: Any, origin: Origin, name: str = "") -> None:
        """A tensor in memory of its own."""
        storage = tensor.untyped_storage()
        number = len(self.memories)
        self.alive.append(storage)
        elements = storage.nbytes() // tensor.element_size()
        told = {"given": given, "contents": contents, "elements": elements, "dtype": dtype_name(tensor.dtype),
                "origin": origin}
        self.memories[storage._cdata] = number, told
        if name:
            self.names[number] = name
            self.inputs[name] = self.view(tensor)

    def overwrite(self, tensor: torch.Tensor, operator: str, args: tuple[Any, ...]) -> None:
        """An example is written to. Raises Refused if a step has read it: it is known as it is in the end alone."""
        read = {view.memory for step in self.steps if isinstance(step, HostStep) for view in step.tensors}
        if self.view(tensor).memory in read:
            raise Refused(f"{self.here().spoken} writes to an example that was read before; make it whole first")
        told = self.memories[tensor.untyped_storage()._cdata][1]
        count, first, elements = (
            self.sizes.at_example(n) for n in (tensor.numel(), tensor.storage_offset(), told["elements"])
        )
        whole = count == elements and first == 0
        if whole and operator in ("fill_", "zero_"):
            told["contents"] = args[1] if len(args) > 1 and isinstance(args[1], int | float) else 0
        elif whole and operator == "copy_":
            told["contents"] = VALUES
        elif told["contents"] is UNDEFINED:
            told["contents"] = PARTS
        elif told["contents"] != PARTS:
            told["contents"] = VALUES

    def is_strange(self, tensor: torch.Tensor) -> bool:    # it was there before the run, and nobody has met it
        return not has_storage(tensor) or tensor.untyped_storage()._cdata not in self.memories

    def memory(self, tensor: torch.Tensor) -> int:
        """The number of a tensor's memory; one that was there before the run is given."""
        key = tensor.untyped_storage()._cdata
        if key not in self.memories:
            self.remember(tensor, given=True, contents=VALUES, origin=self.here())
        return self.memories[key][0]

    def view(self, tensor: torch.Tensor) -> View:
        offset: Any = tensor.storage_offset()
        return View(
            self.memory(tensor), tuple(tensor.shape), tuple(tensor.stride()), offset, dtype_name(tensor.dtype)
        )

    def here(self) -> Origin:
        frames = users_frames()
        if not frames:
            return Origin()
        code = frames[-1].f_code
        return place(code.co_filename, frames[-1].f_lineno, code.co_name)

    def look_for_names(self) -> None:
        """Name memories by the variables of the host's frames, the launch function's first."""
        for frame in users_frames():
            for name, value in frame.f_locals.items():
                self.said.note(name, value)
                if isinstance(value, FakeTensor):
                    number, told = self.memories.get(value.untyped_storage()._cdata, (-1, {}))
                    is_given = not self.launched and told.get("given", False)
                    is_example = is_given and told["contents"] is VALUES
                    variables = frame.f_locals.values() if is_example else ()
                    whole = whole_of_parts(value, variables, self.sizes.at_example)
                    if number >= 0 and number not in self.names:
                        called = name if whole is value else f"{name}_and_others"
                        while called in self.names.values() or called in self.inputs:
                            called += "_"
                        self.names[number] = called
                        if is_example:
                            self.inputs[called] = self.view(whole)
                            if whole is value:
                                continue
                    is_part = not self.launched and self.names.get(number) in self.inputs
                    if is_part or (is_given and type(told["contents"]) in (int, float)):
                        self.parts.setdefault(name, self.view(value))
                elif type(value) is torch.SymInt:
                    self.sizes.suggest(name, value)

    # ----------------------------------------------------------------------------------------------------- launches

    def next_power_of_2(self, n: Any) -> int:
        """Triton's, of the example's size: a choice of the wrapper's, which no guard holds."""
        def above(value: Any) -> int:
            return 1 << max(int(value) - 1, 0).bit_length() if value > 0 else 0

        return above(n) if isinstance(n, int) else self.sizes.choice(n, "next_power_of_2", above)

    def text(self, original: Callable[[Any], str]) -> Callable[[Any], str]:
        """What makes text of a size: to the host code it is a number, and what depends on its digits is a choice."""
        def written(n: Any) -> str:
            users = is_users(sys._getframe(1).f_code.co_filename)
            return str(self.sizes.choice(n, "str", str)) if users else original(n)

        return written

    def launch(self, launcher: Any, args: tuple[Any, ...], keywords: dict[str, Any], grid: Any) -> Any:
        jit = jit_of(launcher)
        self.look_for_names()
        self.launched = True
        keywords = {k: v for k, v in keywords.items() if k not in ("grid", "warmup")}
        called, variants = self.here(), dict[str, Launch]()
        number = sum(isinstance(step, Call) for step in self.steps)
        for choice in list(configurations(launcher, args, keywords)):
            kept = len(self.steps)
            choice.prepare()
            before = tuple(step for step in self.steps[kept:] if isinstance(step, HostStep))
            if len(before) < len(self.steps) - kept:
                raise Refused(f"{called.spoken}: a hook of {jit.__name__}'s configurations launches a kernel itself")
            del self.steps[kept:]
            launch = self.bound(jit, args, choice.keywords, grid, choice.label, called, number)
            launch = replace(launch, before=before, put_back=choice.put_back if choice.tuner is not None else None)
            told = launch.constexprs, launch.grid, launch.signature, [(step.operator, step.args) for step in before]
            variants.setdefault(repr(told), launch)
        self.steps.append(Call(tuple(variants.values())))
        return compiled()

    def bound(
        self,
        jit: Any,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        grid: Any,
        label: str,
        called: Origin,
        number: int,
    ) -> Launch:
        """The arguments by name, constants apart."""
        own = {k: v for k, v in keywords.items() if k in jit.arg_names}
        options = {k: v for k, v in keywords.items() if k not in own}
        try:
            binding = jit.signature.bind(*args, **own)
        except TypeError as error:
            raise Refused(f"{called.spoken} launches {jit.__name__} with wrong arguments: {error}") from None
        binding.apply_defaults()
        values = binding.arguments
        signature, constants, arguments = {}, {}, {}
        for parameter in jit.params:
            name, value = parameter.name, values[parameter.name]
            type_ = "constexpr" if parameter.is_constexpr else self.type_of(parameter, value, jit, called)
            signature[name] = type_
            self.said.note_parameter(name, value)
            if type_ == "constexpr":
                constants[name] = values[name] = tree_map(self.sizes.number, value)
            elif type(value).__name__ == "TensorDescriptor":
                raise Refused(
                    f"{called.spoken} gives {jit.__name__} a tensor descriptor as {name}, which is not supported where "
                    "the host makes it; make it in the kernel, with tl.make_tensor_descriptor"
                )
            else:
                arguments[name] = tree_map(self.told, value)
                self.sizes.suggest(name, value)
        extent = grid(dict(values)) if callable(grid) else grid
        extent = tuple(extent) if isinstance(extent, tuple | list) else (extent,)
        if not all(hasattr(n, "__index__") for n in extent):
            wrong = next(n for n in extent if not hasattr(n, "__index__"))
            raise Refused(f"{called.spoken} launches {jit.__name__} on a grid with {kind_of_value(wrong)}; a grid has "
                          "whole numbers")
        if len(extent) > 3:
            raise Refused(f"{called.spoken} launches {jit.__name__} on a grid of {len(extent)} dimensions; at most 3")
        origin = place(*defined_at(jit), jit.__name__)
        three = (*extent, 1, 1)[:3]
        return Launch(
            jit.__name__, origin, called, number, label, three, signature, arguments, constants, options, jit
        )

    def type_of(self, parameter: Any, value: Any, jit: Any, called: Origin) -> Any:
        """Triton's type of an argument, without its specialisation to 1 and to multiples of 16."""
        try:
            return triton_type(parameter, tree_map(self.sizes.at_example, value))
        except TypeError as error:
            raise Refused(
                f"{called.spoken} gives {jit.__name__} {kind_of_value(value)} as {parameter.name}, which is no "
                f"argument for a kernel ({error})"
            ) from None

    def told(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.view(value)
        return self.reinterpreted(value) if is_pointer(value) else value

    def reinterpreted(self, value: Any) -> View:
        """A view that is no tensor of torch's, but says what a kernel needs: `data_ptr`, `dtype`, `shape`, `stride`."""
        address = value.data_ptr()
        number = (self.sizes.at_example(address) >> ADDRESSES) - 1
        if not 0 <= number < len(self.memories):
            raise Refused(f"{self.here().spoken} gives a kernel a pointer to no tensor")
        offset = (address - ((number + 1) << ADDRESSES)) // value.dtype.itemsize
        return View(number, tuple(value.shape), tuple(value.stride()), offset, dtype_name(value.dtype))

    # ------------------------------------------------------------------------------------------------------ the end

    def passed(self) -> list[View]:
        """The tensors that kernels are given."""
        variants = (launch for step in self.steps if isinstance(step, Call) for launch in step.variants)
        return [view for launch in variants for view in launch.arguments.values() if isinstance(view, View)]

    def captured(self, returned: Any, refused: tuple[str, ...], assume: Sequence[Contract]) -> Captured:
        claims = [read_contract(contract, self.said, self.sizes.ask) for contract in assume]
        leaves, _ = tree_flatten_with_path(returned)
        outputs = [(place_name((), path) or "0", self.view(x)) for path, x in leaves if isinstance(x, torch.Tensor)]
        claims = [replace(c, tensor=self.view(c.tensor)) if is_of_tensor(c) else c for c in claims]
        claims += self.reads.claims(self.passed(), self.view, {c.tensor.memory for c in claims if is_of_tensor(c)})
        for name, view in self.inputs.items():
            self.sizes.note_shape(name, view.shape)
        made = {view.memory for step in self.prepared for view in step.results} - self.names.keys()   # in passing
        self.inputs |= {f"memory{view.memory}": view for view in self.passed() if view.memory in made}
        reading = self.sizes.finished()
        steps = tuple(read_step(step, reading) for step in self.steps)
        memories = tuple(
            Memory(number, self.names.get(number, f"memory{number}"), told["given"], told["contents"],
                   reading.number(told["elements"]), told["dtype"], told["origin"])
            for number, told in self.memories.values())
        inputs, parts, shown = (tuple((name, read(view, reading)) for name, view in views)
                                for views in (self.inputs.items(), self.parts.items(), outputs))
        guards, unread = reading.guards()
        return Captured(steps, memories, inputs, shown, reading.example, guards, unread,
                        (*reading.fixed, *self.reads.held),
                        reading.choices, reading.chosen, refused, self.asked,
                        tuple(finished(c, reading, read) for c in claims if c is not None), reading.tied,
                        (written := tuple(self.sizes.written)), written if self.sizes.literal else (), reading.solved,
                        self.sizes.are_named, parts, None if self.reads.asked else tuple(self.reads.values or ()),
                        tuple(read_host_step(step, reading) for step in self.prepared), self.changed,
                        reading.parameters)


def triton_type(parameter: Any, value: Any) -> Any:
    """Triton's type of an argument, as it stands in a signature. Raises TypeError where it has none."""
    if isinstance(value, tuple):
        return tuple(triton_type(parameter, part) for part in value)
    if parameter.annotation_type:
        return parameter.annotation_type
    plain = Pointer(value) if is_pointer(value) else value
    return native_specialize_impl(BaseBackend, plain, parameter.is_const, False, False)[0]


class Pointer:
    """What Triton asks of a tensor for its type."""

    def __init__(self, tensor: Any) -> None:
        self.dtype = tensor.dtype

    def data_ptr(self) -> int:
        return 0


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def is_device(value: Any) -> bool:
    """Whether an argument names the device that is not there."""
    if isinstance(value, torch.device):
        return value.type == CUDA
    return isinstance(value, str) and value.split(":")[0] == CUDA


def put(tensor: Any, device: torch.device) -> None:
    """Let a fake tensor say that it is on this device."""
    tensor._fake_device = device


def elsewhere(value: Any) -> Any:
    """The CPU in the place of the device."""
    return CPU if is_device(value) else value


class Functions(TorchFunctionMode):
    """Fake tensors say that they are on the device, and are on the CPU while torch works on them: a torch that was
    built without CUDA cannot index a tensor that is on one, nor copy it."""

    def __init__(self, host: Host) -> None:
        super().__init__()
        self.host = host

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function is torch.Tensor.data_ptr and isinstance(args[0], FakeTensor):
            return ((self.host.memory(args[0]) + 1) << ADDRESSES) + args[0].storage_offset() * args[0].element_size()
        if is_read(function, args) and (number := self.host.reads.next(args[0])) is not None:
            return number
        if getattr(function, "__name__", "") in ("__get__", "__set__"):
            return function(*args, **kwargs)
        there = [leaf for leaf in leaves_of((args, kwargs)) if isinstance(leaf, FakeTensor) and leaf.is_cuda]
        asked = any(map(is_device, leaves_of((args, kwargs))))
        for tensor in there:
            put(tensor, CPU)
        try:
            result = args[0] if function is torch.Tensor.cuda else function(*tree_map(elsewhere, args),
                                                                            **tree_map(elsewhere, kwargs))
        finally:
            for tensor in there:
                put(tensor, DEVICE)
        leaves = list(leaves_of((args, kwargs)))
        stays = function is torch.Tensor.cpu or CPU in leaves or "cpu" in leaves
        if asked or (there and not stays) or function is torch.Tensor.cuda:
            for tensor in leaves_of(result):
                if isinstance(tensor, FakeTensor):
                    put(tensor, DEVICE)
        return result


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes operators as torch dispatches them, and gives the example's tensors their sizes."""

    def __init__(self, host: Host) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.host = host

    def __torch_dispatch__(
        self, operation: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in leaves_of((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        own = makes_examples() and not self.host.launched
        if not tensors and own and self.host.symbolic:
            args, kwargs = self.with_sizes(operation, args, kwargs)
        known = {t.untyped_storage()._cdata for t in tensors if has_storage(t)}
        result = operation(*args, **kwargs)
        if own and self.host.step > 1:
            result = tree_map(partial(self.stepped, known), result)
        results = [leaf for leaf in leaves_of(result) if isinstance(leaf, torch.Tensor) and has_storage(leaf)]
        fresh = [t for t in results if t.untyped_storage()._cdata not in known | set(self.host.memories)]
        name = operation._schema.name.removeprefix("aten::")
        self.host.reads.note(name, args, results)
        contents = args[-1] if name == "fill" else CONTENTS.get(name, VALUES)
        if name in FILLED:
            contents = next((a for a in args[1:] if isinstance(a, int | float)), kwargs.get("fill_value", VALUES))
        for tensor in fresh:
            self.host.remember(tensor, own, contents, self.host.here())
        computed = bool(fresh) and contents is VALUES
        written = [t for t in tensors_written(operation, args, kwargs) if has_storage(t)]
        untold = [t for t in written if not is_told_by(results, t)]
        changes = operation._schema.is_mutable or written != []
        strange = own and any(map(self.host.is_strange, tensors))
        self.host.changed |= (bool(untold) or (changes and (strange or not own))) and not self.host.launched
        if untold and not own:
            raise Refused(f"{self.host.here().spoken} applies {operation}, whose changes are not followed")
        for tensor in (*results, *untold) if own and changes else ():
            if not self.host.is_strange(tensor):
                self.host.overwrite(tensor, name, args)
        if (computed or changes) and not strange:
            args, kwargs = tree_map(self.host.told, (args, kwargs))
            step = HostStep(str(operation), args, kwargs, tuple(map(self.host.view, results)), self.host.here())
            (self.host.prepared if own else self.host.steps).append(step)
        return result

    def stepped(self, known: set[int], made: Any) -> Any:
        """A fresh tensor with its elements further apart; anything else as it is."""
        if not isinstance(made, torch.Tensor) or not has_storage(made) or made.untyped_storage()._cdata in known:
            return made
        return torch.empty_strided(made.shape, [n * self.host.step for n in made.stride()], dtype=made.dtype)

    def with_sizes(
        self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of an operator that makes an example tensor, with symbols for its sizes."""
        names = [argument.name for argument in operation._schema.arguments]

        def one(name: str, value: Any) -> Any:
            if name == "size" and isinstance(value, list | tuple):
                return self.host.shape(value)
            ranging = operation._schema.name == "aten::arange" and "start" not in names
            if name == "end" and type(value) is int and ranging:
                return self.host.size(value)
            return value

        return tuple(one(n, v) for n, v in zip(names, args, strict=False)), {n: one(n, v) for n, v in kwargs.items()}


def is_pointer(value: Any) -> bool:
    """Whether a kernel takes this as a pointer: a tensor, or what says its address and dtype like one."""
    return hasattr(value, "data_ptr") and isinstance(getattr(value, "dtype", None), torch.dtype)
