"""A drop-in: the program that was found wherever what was proved covers the call, and the original everywhere else.

This file stands by itself, with torch alone: its text is a part of every file that `samesame optimize` writes. A call
is covered if its arguments are put together as in the example, its tensors have the dtypes, devices and strides of the
example's and sizes that the proof speaks of, no gradients are recorded and the mode is the example's. What is not
covered goes to the original, and a warning says why, once for each reason. Weights are the original's own tensors, so
that one that is changed in place is seen, and one that is replaced by another of its kind is taken instead.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch
from torch import nn
from torch.autograd import forward_ad
from torch.utils._python_dispatch import _get_current_dispatch_mode

EAGER, DEFAULT, AUTOTUNED, FROZEN, BOTH = WAYS = (
    "eager", "torch.compile", "max-autotune", "freezing", "max-autotune and freezing"
)


class Compiled(nn.Module):
    """A program compiled in one of the WAYS when it is first called.

    Freezing makes constants of the weights: where one of `weights` has been changed since, the program runs as it is.
    """

    def __init__(self, program: Callable[..., Any], way: str, weights: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.program, self.way, self.weights = program, way, dict(weights)
        mode = "max-autotune-no-cudagraphs" if way in (AUTOTUNED, BOTH) else None
        self.run = program if way == EAGER else torch.compile(program, mode=mode)
        self.held: tuple[Any, ...] | None = None

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.way not in (FROZEN, BOTH):
            return self.run(*args, **kwargs)
        now = tuple((tensor._version, tensor.data_ptr()) for tensor in self.weights.values())
        if self.held is None:
            self.held = now
            with torch.no_grad(), torch._inductor.config.patch(freezing=True):
                return self.run(*args, **kwargs)
        if self.held == now and not torch.is_grad_enabled():
            return self.run(*args, **kwargs)
        return self.program(*args, **kwargs)


class DropIn(nn.Module):
    """`original`, and in its place `make(original, weights)` where `facts` cover the call.

    `facts` are what `facts.py` wrote down. Kernels cannot be looked into: whoever records or compiles a call is shown
    the `reference`, the same program in torch's operators. `weights` are those of a function by the names in `facts`;
    a module's are found in it.
    """

    def __init__(
        self,
        original: Callable[..., Any],
        make: Callable[[Any, dict[str, torch.Tensor]], Any],
        facts: Mapping[str, Any],
        weights: Mapping[str, torch.Tensor] | None = None,
        reference: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        self.reference = reference
        self.original, self.facts, self.way = original, facts, facts["way"]
        self.told = set[str]()
        self.covered = dict[Any, str]()                    # why not, by the kinds of the tensors; "" where covered
        self.last: list[Kind] = []                         # the kinds of a call that was covered
        self.make, self.names = make, list(facts["weights"])
        self.places = [place_of(original, name, weights) for name in self.names]
        self.modules_before = list(original.modules()) if isinstance(original, nn.Module) else []
        self.children_before = [(part._modules, name, child) for part in self.modules_before
                                for name, child in part._modules.items()]
        self.hooks_before = [count_of_hooks(part) for part in self.modules_before]
        self.signature = inspect.signature(original.forward if isinstance(original, nn.Module) else original)
        self.flat = all(part is ... for part in facts["arguments"])
        self.one = facts["results"] is ...
        self.unfit = unfit(facts)
        try:
            if not self.unfit:
                self.take()
        except Exception as error:                         # no compiler, no library of kernels
            self.unfit = str(error)
        if self.unfit:
            self.tell(self.unfit)

    def take(self) -> None:
        """Make the found program over the weights as they are now."""
        self.held = [holder[key] for holder, key in self.places]
        self.watched = [(*place, held) for place, held in zip(self.places, self.held, strict=True)]
        named = dict(zip(self.names, self.held, strict=True))
        made = self.make(self.original, named)
        self.shown = [self.reference(self.original)] if self.reference else []
        self.fast = [made if self.way == EAGER else Compiled(made, self.way, named)]      # in a list: no part of this

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        tensors, why = args, self.unfit
        if not why and (kwargs or not self.as_before(args)):
            tensors, why = self.opened(args, kwargs)
            why = why or self.uncovered(tensors)
        why = why or self.otherwise(tensors)
        if why:
            self.tell(why)
            return self.original(*args, **kwargs)
        run = self.shown[0] if self.shown and observed(tensors) else self.fast[0]
        found = run(*tensors)
        if self.one and isinstance(found, torch.Tensor):
            return found
        found = results_of(found)
        return found[0] if self.one else filled(self.facts["results"], iter(found))

    def as_before(self, tensors: tuple[Any, ...]) -> bool:
        """Whether these and the weights are of the kinds of a call that was covered. This is asked in every call."""
        try:
            kinds = [(type(x), x.shape, x.stride(), x.dtype, x.device) for x in (*tensors, *self.held)]
        except AttributeError:
            return False
        return kinds == self.last and all([holder.get(key) is held for holder, key, held in self.watched])

    def tell(self, why: str) -> None:
        if why not in self.told:
            self.told.add(why)
            warnings.warn(f"the original runs, and not the program that was found: {why}", stacklevel=3)

    def opened(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], str]:
        """The tensors of a call, and what else is in it that the example does not have."""
        if kwargs or len(args) != len(self.facts["arguments"]):
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        if self.flat and len(args) == len(self.facts["arguments"]) and all(isinstance(x, torch.Tensor) for x in args):
            return args, ""
        tensors: list[torch.Tensor] = []
        shown = skeleton(args, tensors)
        if repr(shown) != repr(self.facts["arguments"]):
            return (), f"it was called with {shown!r}, and proved for {self.facts['arguments']!r}"
        return tuple(tensors), ""

    def uncovered(self, tensors: tuple[torch.Tensor, ...]) -> str:
        """Why the found program does not stand for the original on these tensors; nothing where it does."""
        for holder, key, held in self.watched:
            if not isinstance(holder.get(key), torch.Tensor):
                return f"the weight {key} is no longer there"
            if holder[key] is not held:
                self.take()
                break
        kinds = [kind(tensor) for tensor in (*tensors, *self.held)]
        why = self.covered.get(tuple(kinds))
        if why is None:
            why = not_covered(self.facts, tuple(kinds[: len(tensors)]), tuple(kinds[len(tensors):]))
            self.covered[tuple(kinds)] = why
        if not why and self.flat:
            self.last = kinds
        return why

    def otherwise(self, tensors: tuple[torch.Tensor, ...]) -> str:
        """What is otherwise than in the example, beside the tensors; nothing where all is as there."""
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (*tensors, *self.held)):
            return "gradients are recorded; call it under torch.no_grad()"
        if self.modules_before and self.modules_before[0].training != self.facts["training"]:
            return f"the module is {'not ' * self.facts['training']}in training mode"
        if [part.training for part in self.modules_before] != self.facts["modes"]:
            return "a part of the module is in another mode, training or not, than it was"
        if not all([held.get(name) is child for held, name, child in self.children_before]):
            return "a part of the module is another one now"
        if self.hooks_before != [count_of_hooks(part) for part in self.modules_before]:
            return "a hook of the module was added or removed"
        return "autocast is on" if torch.is_autocast_enabled(tensors[0].device.type if tensors else "cpu") else ""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("original"), name)


def count_of_hooks(module: nn.Module) -> int:
    """How many hooks a call of the module runs."""
    return len(module._forward_hooks) + len(module._forward_pre_hooks)


def observed(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether operators are recorded, compiled, mapped or differentiated rather than only run, or a tensor's memory
    holds other numbers than it does."""
    return (torch.compiler.is_compiling() or _get_current_dispatch_mode() is not None or forward_ad._current_level >= 0
            or torch._C._functorch.peek_interpreter_stack() is not None or torch._C._get_tracing_state() is not None
            or any([tensor.is_neg() for tensor in tensors]))


Kind = tuple[type, tuple[int, ...], tuple[int, ...], torch.dtype, torch.device]


def kind(tensor: torch.Tensor) -> Kind:
    """What a proof and a kernel ask of a tensor besides its numbers."""
    return type(tensor), tensor.shape, tensor.stride(), tensor.dtype, tensor.device


def covered_by(tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """The kinds of tensors, by name, as they are written down."""
    return {name: {"shape": tuple(x.shape), "strides": x.stride(), "dtype": str(x.dtype), "device": x.device.type}
            for name, x in tensors.items()}


def not_covered(facts: Mapping[str, Any], inputs: tuple[Kind, ...], weights: tuple[Kind, ...]) -> str:
    """Why tensors of these kinds are not what the proof speaks of; nothing where they are."""
    symbols: dict[str, int] = {}
    for given, expected, symbolic in ((inputs, facts["inputs"], True), (weights, facts["weights"], False)):
        for (cls, shape, strides, dtype, device), (name, own) in zip(given, expected.items(), strict=True):
            if cls not in (torch.Tensor, nn.Parameter):
                return f"{name} is a {cls.__name__}"
            if str(dtype) != own["dtype"] or device.type != own["device"]:
                return f"{name} is {dtype} on {device}, and was {own['dtype']} on {own['device']}"
            sizes = own.get("sizes", own["shape"]) if symbolic else own["shape"]
            if len(shape) != len(sizes) or not all(
                fits(n, size, symbols, facts["bounds"]) for n, size in zip(shape, sizes, strict=True)
            ):
                return f"{name} has the shape {tuple(shape)}, which is not covered by {facts['proved']}"
            if strides != own["strides"] and not (
                dense(own["shape"], own["strides"]) and dense(tuple(shape), strides)
            ):
                return f"{name} has the strides {strides}, and had {own['strides']}"
    return ""


def fits(n: int, size: Any, symbols: dict[str, int], bounds: Mapping[str, Any]) -> bool:
    """Whether a dimension is as long as the proof asks: a number, or (symbol, step) for a multiple of a symbol."""
    if isinstance(size, int):
        return n == size
    symbol, step = size
    low, high = bounds[symbol]
    value, rest = divmod(n, step)
    return not rest and symbols.setdefault(symbol, value) == value and low <= value <= (value if high is None else high)


def dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements follow one another row by row."""
    step = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1 and stride != step:
            return False
        step *= n
    return True


def unfit(facts: Mapping[str, Any]) -> str:
    """Why this machine is not what was measured; nothing where it is."""
    here = {"torch": torch.__version__, "instructions": torch.backends.cpu.get_cpu_capability()}
    here |= {"triton": installed("triton")} if "triton" in facts else {}
    told = [f"{what} {facts[what]}, and this is {now}" for what, now in here.items() if facts.get(what, now) != now]
    return f"it was proved and measured with {' and '.join(told)}; run samesame optimize here" if told else ""


def installed(package: str) -> str:
    """The version of a package; "none" where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def place_of(original: Any, name: str, weights: Mapping[str, torch.Tensor] | None) -> tuple[dict[str, Any], str]:
    """Where a weight is kept: a dict, and its key there."""
    if weights is not None:
        return dict(weights), name
    path, _, last = name.rpartition(".")
    module = original.get_submodule(path)
    for holder in (module._parameters, module._buffers, module.__dict__):
        if last in holder:
            return holder, last
    raise KeyError(f"{type(original).__name__} has no {name}, which the program that was found needs")


def skeleton(value: Any, tensors: list[torch.Tensor]) -> Any:
    """How a value is put together: the same with `...` for each tensor, which are noted in order."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return ...
    if type(value) in (tuple, list):
        return type(value)(skeleton(part, tensors) for part in value)
    if type(value) is dict:
        return {key: skeleton(part, tensors) for key, part in value.items()}
    return value


def results_of(found: Any) -> Any:
    """The tensors that a found program returned, in order."""
    return (found,) if isinstance(found, torch.Tensor) else tuple(found.values()) if isinstance(found, dict) else found


def filled(shape: Any, tensors: Iterator[torch.Tensor]) -> Any:
    """A skeleton with tensors in their places."""
    if shape is ...:
        return next(tensors)
    if type(shape) in (tuple, list):
        return type(shape)(filled(part, tensors) for part in shape)
    if type(shape) is dict:
        return {key: filled(part, tensors) for key, part in shape.items()}
    return shape
