"""A drop-in: the program that was found wherever what was proved covers the call, and the original everywhere else.

With built.py this file stands by itself, with torch alone: their text is a part of every file that `samesame optimize`
writes. A call is covered if its arguments are put together as in the example, its tensors have the dtypes, devices and
strides of the example's and sizes that the proof speaks of, no gradients are recorded and the mode is the example's.
A program that computes gradients itself is covered where these are on, for the tensors that had them in the example.
What is not covered goes to the original, and a warning says why, once for each reason. Weights are the original's own
tensors, so that one that is changed in place is seen, and one that is replaced by another of its kind is taken instead.
How the module is built (`built.py`) has to be as it was when the drop-in is made; what of this is cheap to ask is asked
in each call.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import reduce
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._C import _get_tracing_state, _len_torch_dispatch_stack
from torch._C._functorch import peek_interpreter_stack
from torch.autograd import forward_ad
from torch.nn.modules import module as every_module
from torch.optim import optimizer

from samesame.optimize.built import MARKS, apart, digest_of, home_of, hooks_of, is_torchs, loose, place_of, unlike

EAGER, DEFAULT, AUTOTUNED, FROZEN, BOTH = WAYS = (
    "eager", "torch.compile", "max-autotune", "freezing", "max-autotune and freezing"
)


def steps() -> list[int]:
    """How often optimizers of this process changed weights, at its one place: fused ones do so without a new version of
    the tensor. Counted once, however many files hold this text."""
    for hook in optimizer._global_optimizer_post_hooks.values():
        if hasattr(hook, "samesame_steps"):
            return hook.samesame_steps  # type: ignore[no-any-return]
    count = [0]

    def stepped(*_: Any) -> None:
        count[0] += 1

    stepped.samesame_steps = count  # type: ignore[attr-defined]
    optimizer.register_optimizer_step_post_hook(stepped)
    return count


STEPS = steps()


class Instead(nn.Module):
    """What stands in the place of `original`: it has its mode and its attributes. Parts and weights that are set
    through it are set there, where they are seen. All that is its own lies in `_instead`, so that nothing of the
    original's is hidden behind it; this runs in the place of the original."""

    def __init__(self, original: Callable[..., Any], instead: ByCompiler | Found) -> None:
        super().__init__()
        self.training = getattr(original, "training", False)
        self.original = original
        self._instead = instead

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._instead(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("original"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        original = self._modules.get("original") if "_instead" in self.__dict__ else None
        if not isinstance(original, nn.Module) or name in self.__dict__:
            super().__setattr__(name, value)
        elif (name in vars(original) or is_of_class(original, name)) and name not in MARKS:
            setattr(original, name, value)
            self._instead.attribute_set(name)
        else:
            held = original._modules, original._parameters, original._buffers
            inner = any(name in holder for holder in held)
            setattr(original, name, value) if inner else super().__setattr__(name, value)


def by_compiler(original: Callable[..., Any], way: str, weights: Mapping[str, torch.Tensor]) -> Instead:
    """A program compiled in one of the WAYS when it is first called; `weights` are what it reads, by name."""
    return Instead(original, ByCompiler(original, way, weights))


def drop_in(
    original: Callable[..., Any],
    make: Callable[[Any, dict[str, torch.Tensor]], Any],
    facts: Mapping[str, Any],
    weights: Mapping[str, torch.Tensor] | None = None,
    reference: Callable[[Any], Any] | None = None,
    altered: str = "",
) -> Instead:
    """`original`, and in its place `make(original, weights)` where `facts` cover the call.

    `facts` are what `facts.py` wrote down. Kernels cannot be looked into: whoever records or compiles a call is shown
    the `reference`, the same program in torch's operators. `weights` are those of a function by the names in `facts`,
    else variables of its file; a module's are found in it. `altered` says what keeps the found program from being what
    was proved, if anything.
    """
    return Instead(original, Found(original, make, facts, weights, reference, altered))


def all_held(original: Any) -> list[torch.Tensor]:
    """The parameters and buffers of a module, read by what was found or not."""
    return [*original.parameters(), *original.buffers()] if isinstance(original, nn.Module) else []


def hooks_behind(original: Any, wanted: Iterable[torch.Tensor]) -> bool:
    """Whether somebody looks at gradients on their way: of these tensors, of a module's parts, or of all."""
    parts = original.modules() if isinstance(original, nn.Module) else ()
    behind = any(part._backward_hooks or part._backward_pre_hooks for part in parts)
    everywhere = every_module._global_backward_hooks or every_module._global_backward_pre_hooks
    of_tensors = any(t._backward_hooks or t._post_accumulate_grad_hooks for t in wanted)
    saved = torch._C._autograd._top_saved_tensors_default_hooks(False)
    return bool(behind or everywhere or of_tensors or saved)


def without_gradients(run: Callable[..., Any], tensors: tuple[torch.Tensor, ...]) -> Any:
    with torch.no_grad():
        return run(*tensors)


class ByCompiler:
    """A program compiled in one of the WAYS when it is first called.

    Freezing makes constants of the weights: where one of `weights` has been changed since, or may have been (tensors of
    inference mode do not say), and where gradients are on, the program runs as it is.
    """

    def __init__(self, original: Callable[..., Any], way: str, weights: Mapping[str, torch.Tensor]) -> None:
        self.original, self.way, self.weights = original, way, dict(weights)
        self.held: tuple[Any, ...] | None = None
        self.run = compiled(original, way)

    def __getstate__(self) -> dict[str, Any]:
        """A copy is compiled anew."""
        return {name: value for name, value in self.__dict__.items() if name != "run"} | {"held": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.run = compiled(self.original, self.way)

    def attribute_set(self, name: str) -> None:
        """The compiler looks at attributes itself."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.way not in (FROZEN, BOTH):
            return self.run(*args, **kwargs)
        if torch.is_grad_enabled() or any([tensor.is_inference() for tensor in self.weights.values()]):
            return self.original(*args, **kwargs)
        now = (STEPS[0], *[(tensor._version, tensor.data_ptr()) for tensor in self.weights.values()])
        if self.held is None:
            self.held = now
            with torch._inductor.config.patch(freezing=True):
                return self.run(*args, **kwargs)
        return (self.run if self.held == now else self.original)(*args, **kwargs)


def compiled(program: Callable[..., Any], way: str) -> Callable[..., Any]:
    """The program, compiled in this way when it is first called."""
    mode = "max-autotune-no-cudagraphs" if way in (AUTOTUNED, BOTH) else None
    return program if way == EAGER else torch.compile(program, mode=mode)


class Found:
    """A program that was found, where facts cover the call, and the original elsewhere: what `drop_in` is of."""

    def __init__(
        self,
        original: Callable[..., Any],
        make: Callable[[Any, dict[str, torch.Tensor]], Any],
        facts: Mapping[str, Any],
        weights: Mapping[str, torch.Tensor] | None,
        reference: Callable[[Any], Any] | None,
        altered: str,
    ) -> None:
        self.original = original
        self.reference, self.facts, self.way = reference, facts, facts["way"]
        self.told = set[str]()
        self.covered = dict[Any, str]()                    # why not, by the kinds of the tensors; "" where covered
        self.last: list[Kind] = []                         # the kinds of a call that was covered
        self.make, self.names = make, list(facts["weights"])
        self.modules_before = list(original.modules()) if isinstance(original, nn.Module) else []
        self.children_before = [(holder, name, held) for part in self.modules_before
                                for holder in (part._modules, part._parameters, part._buffers)
                                for name, held in holder.items() if holder is part._modules or held is None]
        self.states_before = [(part, type(part), len(part._modules), len(part._parameters), len(part._buffers),
                               hooks_of(part), mode) for part, mode in zip(self.modules_before, facts["modes"],
                                                                           strict=False)]
        self.device = next((kind["device"] for kind in facts["inputs"].values()), "cpu")
        self.signature = inspect.signature(original.forward if isinstance(original, nn.Module) else original)
        self.flat = all(part is ... for part in facts["arguments"])
        self.wanted: list[bool] | None = facts["gradients"]
        self.one, self.gaps = facts["results"] is ..., facts.get("gaps", [])
        self.default_dtype = getattr(torch, facts["default dtype"].removeprefix("torch."))
        self.unfit = altered or unfit(facts) or unlike(original, facts)
        if not self.unfit:
            try:
                self.results = of_classes(facts["results"], original)
            except (ImportError, AttributeError) as error:
                self.unfit = f"a class of its results is not there: {error}"
        if not self.unfit:
            self.places = [place_of(original, name, weights) for name in self.names]
            self.loose = [(*place, place[2]._version, place[2].detach().clone())
                          for place in loose(original, self.names)]
            self.tied = [[(name, *place_of(original, name, weights)) for name in names] for names in facts["tied"]]
            self.take()
        if self.unfit:
            self.tell(self.unfit)

    def take(self) -> None:
        """Make the found program over the weights as they are now; where this fails, the original runs from now on."""
        held = [holder[key] for holder, key in self.places]
        named = dict(zip(self.names, held, strict=True))
        try:
            made = self.make(self.original, named)
        except Exception as error:                         # no compiler, no library of kernels
            self.unfit = str(error) or type(error).__name__
            return
        self.held = held
        self.watched = [(*place, tensor) for place, tensor in zip(self.places, held, strict=True)]
        self.watched += [(holder, key, holder[key]) for names in self.tied for _, holder, key in names]
        self.shown = self.reference(self.original) if self.reference else None
        self.negated = any([weight.is_neg() for weight in held])       # kernels read memory as it is
        self.fast = made if self.way == EAGER else ByCompiler(made, self.way, named)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors, why = args, self.unfit
        if not why and (kwargs or not self.as_before(args)):
            tensors, why = self.opened(args, kwargs)
            why = why or self.uncovered(tensors)
        why = why or self.otherwise(tensors)
        if why:
            self.tell(why)
            return self.original(*args, **kwargs)
        run = self.shown if self.shown is not None and (self.negated or observed(tensors)) else self.fast
        try:
            found = run(*tensors) if self.wanted is None else without_gradients(run, tensors)
        except IndexError:                                 # an index in the data is out of range: torch says which
            return self.original(*args, **kwargs)
        if self.one and not self.gaps and isinstance(found, torch.Tensor):
            return found
        found = results_of(found)
        if self.gaps:
            found = [spread(each, gaps) if gaps else each for each, gaps in zip(found, self.gaps, strict=True)]
        return found[0] if self.one else filled(self.results, iter(found))

    def differentiated_otherwise(self, tensors: tuple[torch.Tensor, ...]) -> str:
        """What is otherwise with the gradients that the program computes itself than it was in the example."""
        if not torch.is_grad_enabled():
            return "it computes gradients, and these are off"
        own = all_held(self.original)
        if [tensor.requires_grad for tensor in (*tensors, *own)] != self.wanted:
            return "other tensors have gradients than in the example"
        wanted = [tensor for tensor in (*tensors, *own) if tensor.requires_grad]
        if len({id(tensor) for tensor in wanted}) < len(wanted) or not all(tensor.is_leaf for tensor in wanted):
            return "tensors that have gradients are made of one another"
        if any(tensor.is_inference() for tensor in (*tensors, *own)):
            return "a tensor is one of inference mode"
        if hooks_behind(self.original, wanted) or torch.is_anomaly_enabled():
            return "hooks see the gradients"
        if peek_interpreter_stack() is not None or forward_ad._current_level >= 0:
            return "it is differentiated or vectorised itself"
        return ""

    def as_before(self, tensors: tuple[Any, ...]) -> bool:
        """Whether these and the weights are of the kinds of a call that was covered. This is asked in every call."""
        if len(self.last) != len(tensors) + len(self.held):
            return False
        try:                                               # one by one, as this is what takes the time
            return all([x.shape == shape and x.stride() == strides and x.dtype is dtype and x.device == device
                        and type(x) is cls for x, (cls, shape, strides, dtype, device)
                        in zip((*tensors, *self.held), self.last, strict=True)]) and self.in_place(self.watched)
        except (AttributeError, RuntimeError):             # what is no tensor, and a tensor without strides
            return False

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy counts changes of its own tensors anew; of what lies in files there is one."""
        self.__dict__ |= state
        if not self.unfit:
            now = loose(self.original, self.names)
            self.loose = [(*place, -1, before) for place, (*_, before) in zip(now, self.loose, strict=False)]

    def attribute_set(self, name: str) -> None:
        """A plain attribute is a number in what was found."""
        self.unfit = f"{name} was set since it was made"

    @staticmethod
    def in_place(things: list[tuple[dict[str, Any], str, Any]]) -> bool:
        """Whether each still lies in its dict, under its key."""
        return all([holder.get(key) is thing for holder, key, thing in things])

    def tell(self, why: str) -> None:
        if why not in self.told:
            self.told.add(why)
            warnings.warn(f"the original runs, and not the program that was found: {why}", stacklevel=callers())

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
        if not self.in_place(self.watched):
            gone = [key for holder, key, _ in self.watched if not isinstance(holder.get(key), torch.Tensor)]
            if gone:
                return f"the weight {gone[0]} is no longer there"
            if several := apart(self.tied):
                return several
            self.take()
            if self.unfit:
                return self.unfit
        laid = {str(x.layout) for x in (*tensors, *self.held)} - {"torch.strided"}
        if laid:
            return f"a tensor lies in memory as {laid.pop()}, which has no strides"
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
        if self.wanted is not None:
            if why := self.differentiated_otherwise(tensors):
                return why
        elif torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (*tensors, *self.held)):
            return "gradients are recorded; call it under torch.no_grad()"
        if not self.as_built():
            return self.changed()
        if not self.in_place(self.children_before):
            return "a part of the module is another one now"
        if self.loose and not torch.compiler.is_compiling() and (why := self.written()):
            return why
        if torch.get_default_dtype() is not self.default_dtype:
            return f"torch's default dtype is {torch.get_default_dtype()}, and was {self.default_dtype}"
        if any([not str(getattr(hook, "__module__", "")).startswith("samesame.")          # ours look on
                for hooks in EVERY_MODULES if hooks for hook in hooks.values()]):
            return "a hook runs for every module"
        if self.device == "cuda":
            devices = {tensor.device for tensor in (*tensors, *self.held)}
            if devices != {torch.device("cuda", torch.cuda.current_device())}:
                return f"tensors are on {', '.join(sorted(map(str, devices)))}, and not on the current device alone"
        return "autocast is on" if torch.is_autocast_enabled(self.device) else ""

    def written(self) -> str:
        """Which tensor that may be numbers in what was found holds others now, or is another; nothing where none is."""
        for place, (holder, name, tensor, when, before) in enumerate(self.loose):
            now = tensor if holder is None else holder.get(name)
            if now is not tensor or tensor._version != when:
                if not isinstance(now, torch.Tensor) or kind(now) != kind(before) or not torch.equal(now, before):
                    return f"{name}, whose numbers may stand in it, holds others now"
                self.loose[place] = holder, name, now, now._version, before
        return ""

    def as_built(self) -> bool:
        """Whether each part is in the mode and of the class that it was, with as much in it and the same hooks."""
        return all([part.training is training and type(part) is cls and len(part._modules) == modules
                    and len(part._parameters) == parameters and len(part._buffers) == buffers
                    and (not (part._forward_hooks or part._forward_pre_hooks or hooks) or hooks_of(part) == hooks)
                    for part, cls, modules, parameters, buffers, hooks, training in self.states_before])

    def changed(self) -> str:
        """What is otherwise about the parts of the module."""
        if self.modules_before[0].training != self.facts["training"]:
            return f"the module is {'not ' * self.facts['training']}in training mode"
        for part, cls, *_, hooks, training in self.states_before:
            if part.training != training:
                return "a part of the module is in another mode, training or not, than it was"
            if type(part) is not cls:
                return "a part of the module is of another class"
            if hooks_of(part) != hooks:
                return "a hook of the module was added or removed"
        return "a part of the module is one with other parts or weights"


def callers() -> int:
    """How many calls above its caller's caller the user's own line is: past this file and torch's calls of modules."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename in (callers.__code__.co_filename, nn.modules.module.__file__):
        frame, level = frame.f_back, level + 1
    return level


def is_of_class(original: nn.Module, name: str) -> bool:
    """Whether it is an attribute of a module's class, and none that torch gave it: a number, or a property."""
    return any(name in vars(cls) for cls in type(original).__mro__ if cls is not object and not is_torchs(cls))


EVERY_MODULES = torch.nn.modules.module._global_forward_hooks, torch.nn.modules.module._global_forward_pre_hooks


def observed(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether operators are recorded, compiled, mapped or differentiated rather than only run, or a tensor's memory
    holds other numbers than it does."""
    return (torch.compiler.is_compiling() or _len_torch_dispatch_stack() > 0 or forward_ad._current_level >= 0
            or peek_interpreter_stack() is not None or _get_tracing_state() is not None
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


def without_gaps(tensor: torch.Tensor) -> torch.Tensor:
    """One of its shape, dtype and order of dimensions, with one element beside the other, on no device. What shares
    memory within itself is returned."""
    reach = 1                                              # elements of memory that the dimensions so far span
    for stride, n in sorted((step, n) for n, step in zip(tensor.shape, tensor.stride(), strict=True) if n > 1):
        if stride < reach:
            return tensor
        reach += (n - 1) * stride
    return torch.empty_like(tensor, device="meta")


def spread(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """The tensor in memory of its own with these strides, which leave gaps between its elements."""
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


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
    here |= {"gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else "none"} if "gpu" in facts else {}
    told = [f"{what} {facts[what]}, and this is {now}" for what, now in here.items() if facts.get(what, now) != now]
    return f"it was proved and measured with {' and '.join(told)}; run samesame optimize here" if told else ""


def altered_in(folder: Path, digests: Mapping[str, str]) -> str:
    """Which of the files is not there, or not as it was written; nothing where all are."""
    for name, digest in digests.items():
        try:
            text = (folder / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return f"{name}, which was saved with it, cannot be read"
        if digest_of(text) != digest:
            return f"{name} is no longer as it was saved, and was proved and tested as that"
    return ""


def installed(package: str) -> str:
    """The version of a package; "none" where it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


class Record:
    """A named tuple, a dataclass or a mapping in a skeleton: its parts by name, and its class as `module:name`, without
    the module where that is the program's own, which another process may import by another name."""

    def __init__(self, kind: str, parts: dict[Any, Any], cls: Any = None) -> None:
        self.kind, self.parts, self.cls = kind, parts, cls

    def __repr__(self) -> str:
        return f"Record({self.kind!r}, {self.parts!r})"


def named_parts(value: Any) -> dict[Any, Any] | None:
    """The parts by name of what has some; None for anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return dict(zip(getattr(value, "_fields", range(len(value))), value, strict=True))
    return {part.name: getattr(value, part.name) for part in fields(value)} if is_record(value) else None


def is_record(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def of_classes(shape: Any, original: Any) -> Any:
    """A skeleton with classes in the place of their names. Raises ImportError or AttributeError where one is not
    there."""
    if isinstance(shape, Record):
        module, _, name = shape.kind.rpartition(":")
        cls = reduce(getattr, name.split("."), import_module(module or home_of(original)))
        return Record(shape.kind, of_classes(shape.parts, original), cls)
    if type(shape) in (tuple, list):
        return type(shape)(of_classes(part, original) for part in shape)
    return {key: of_classes(part, original) for key, part in shape.items()} if type(shape) is dict else shape


def put_together(cls: Any, parts: dict[Any, Any]) -> Any:
    """A record of this class with these parts."""
    if issubclass(cls, tuple):                       # torch's own take a sequence
        return cls._make(parts.values()) if hasattr(cls, "_make") else cls(tuple(parts.values()))
    by_name: Any = cls
    return by_name(**parts) if is_dataclass(cls) else by_name(parts)


def skeleton(value: Any, tensors: list[torch.Tensor], home: str = "") -> Any:
    """How a value is put together: the same with `...` for each tensor, which are noted in order. `home` is the module
    of the program that it is of."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return ...
    if type(value) in (tuple, list):
        return type(value)(skeleton(part, tensors, home) for part in value)
    if type(value) is dict:
        return {key: skeleton(part, tensors, home) for key, part in value.items()}
    parts = named_parts(value)
    if parts is None:
        return value
    module = "" if type(value).__module__ == home else type(value).__module__
    return Record(f"{module}:{type(value).__qualname__}", skeleton(parts, tensors, home))


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
    if isinstance(shape, Record):
        return put_together(shape.cls, filled(shape.parts, tensors))
    return shape
