"""Snapshots: what a program holds in Python, so that it can be seen to change, and put back.

A module's attributes, its parts, plain objects and containers among them, the variables of closures, the globals that
the program's own functions speak of, their defaults and caches: whatever can be reached from the program by looking;
gradients at tensors, and what optimizers keep, too.
A snapshot keeps a shallow copy of each holder; `restore` puts back what changed, so that every recording begins where
the first one did. Libraries' globals, open files, running generators and what C++ keeps for itself are not looked at.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

import numpy
import torch
from torch import nn
from torch.utils._mode_utils import no_dispatch

from samesame.capture.jax.program import Jaxed
from samesame.capture.memory import has_memory, place_of
from samesame.capture.program import Foreign, Program, StandIn
from samesame.capture.torchscript import Scripted
from samesame.graph.interface import Key, path_name
from samesame.programs.origins import INSTALLED, is_users
from samesame.programs.outputs import PLAIN
from samesame.programs.spoken import names_in

MOST = 100_000                                             # holders that are looked into
LARGEST = 1 << 20                                          # elements of an array that is copied
CLOSED = ("torch", "logging", "threading", "concurrent", "asyncio", "weakref", "_thread", "multiprocessing", "re")
WATCHING = "samesame.capture."                             # functions that stand in the place of others meanwhile
CACHED = type(functools.lru_cache(lambda: None))
Steps = tuple[Any, ...]


class Place(tuple[Any, ...]):
    """Where a tensor lies in memory."""


@dataclass(slots=True)
class Holder:
    """One thing that holds others, and what it held."""

    thing: Any
    held: Any
    put: Callable[[Any, Any], None]
    now: Callable[[Any], Any]

    def restore(self) -> None:
        if not _alike(self.now(self.thing), self.held):
            self.put(self.thing, self.held)


@dataclass(slots=True)
class Snapshot:
    """What a program holds at one moment: plain values and tensors by the name of their place, and the holders."""

    values: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    holders: list[Holder] = field(default_factory=list)

    def restore(self) -> None:
        """Put back what has changed since."""
        for holder in self.holders:
            holder.restore()

    def changed(self, later: Snapshot) -> frozenset[str]:
        """Names of plain values that are others, or there at one of the two moments only."""
        mine, theirs = self.values, later.values
        return frozenset(name for name in mine.keys() | theirs.keys()
                         if name not in mine or name not in theirs or not _same(mine[name], theirs[name]))

    def new_tensors(self, later: Snapshot) -> dict[str, torch.Tensor]:
        """Tensors that stand later where none, or another one, stood, and those that were given other memory."""
        return {name: tensor for name, tensor in later.tensors.items()
                if self.tensors.get(name) is not tensor or self.places.get(name) != later.places.get(name)}


def snapshot(program: Any) -> Snapshot:
    """What a program holds now."""
    walk = _Walk()
    walk.visit(program, ())
    walk.run()
    return walk.found


@contextmanager
def kept(program: Program) -> Iterator[Callable[[], None]]:
    """Around runs of a program that computes gradients: what is yielded puts back what a run has changed, gradients
    and optimizers among it, and so does the end."""
    if not program.gradients:
        yield lambda: None
        return
    before = snapshot(program.program)
    try:
        yield before.restore
    finally:
        before.restore()


def snapshot_of_arguments(arguments: Mapping[str, Any]) -> Snapshot:
    """What the containers among a call's arguments hold now, and the gradients at its tensors."""
    walk = _Walk()
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor):
            walk.leaf(value, (name,))
        else:
            walk.visit(value, (name,))
    walk.run()
    return walk.found


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and repr(a) == repr(b))


def _alike(now: Any, held: Any) -> bool:
    """Whether a holder holds the very same things."""
    if isinstance(now, dict):
        return list(now) == list(held) and all(now[key] is held[key] for key in held)
    if isinstance(now, numpy.ndarray):
        return bool(now.shape == held.shape and now.tobytes() == held.tobytes())
    if isinstance(now, set):
        return bool(now == held)
    return len(now) == len(held) and all(a is b or (type(a) is Place and a == b)
                                         for a, b in zip(now, held, strict=True))


class _Walk:
    """Looks at everything that can be reached, each thing once."""

    def __init__(self) -> None:
        self.found = Snapshot()
        self.seen: dict[int, Any] = {}                     # kept, so that an id stays its own
        self.classes: set[type] = set()
        self.waiting: deque[tuple[Any, Steps]] = deque()

    def visit(self, thing: Any, steps: Steps) -> None:
        """Note a leaf at once; what holds others later."""
        if isinstance(thing, torch.Tensor):
            self.found.tensors[path_name((), steps)] = thing
            self.leaf(thing, steps)
        elif isinstance(thing, PLAIN):
            self.found.values[path_name((), steps)] = thing
        elif id(thing) not in self.seen and len(self.seen) < MOST:
            self.seen[id(thing)] = thing
            self.waiting.append((thing, steps))

    def leaf(self, tensor: torch.Tensor, steps: Steps) -> None:
        """What autograd keeps at a tensor, and where this lies: `tensor.data = …` moves it."""
        if id(tensor) in self.seen or not tensor.is_leaf or not has_memory(tensor):
            return
        self.seen[id(tensor)] = tensor
        with no_dispatch():                                # where a recorder looks on, that is nothing the program did
            lies = Place(place_of(tensor)), tensor.detach()
        self.keep(tensor, [tensor.grad, tensor.requires_grad, lies[0]], partial(_put_leaf, lies[1]), _leaf)
        self.found.places[path_name((), steps)] = lies[0]
        if tensor.requires_grad:
            self.found.values[path_name((), (*steps, "requires_grad"))] = True
        if tensor.grad is not None:
            self.visit(tensor.grad, (*steps, "grad"))

    def run(self) -> None:
        while self.waiting:
            thing, steps = self.waiting.popleft()
            for look in LOOKS:
                if look(self, thing, steps):
                    break

    def keep(self, thing: Any, held: Any, put: Callable[[Any, Any], None], now: Callable[[Any], Any]) -> None:
        self.found.holders.append(Holder(thing, held, put, now))

    def mapping(self, held: dict[Any, Any], steps: Steps, *, keyed: bool) -> None:
        for key, value in list(held.items()):
            self.visit(value, (*steps, Key(key) if keyed else key))


def _stand_in(walk: _Walk, thing: Any, steps: Steps) -> bool:
    """A program that we run in another's place: what that one holds."""
    if not isinstance(thing, StandIn):
        return False
    walk.visit(thing.program, steps)
    return True


def _module(walk: _Walk, thing: Any, steps: Steps) -> bool:
    """A module: its own attributes, and its parameters, buffers and parts as attributes too."""
    if not isinstance(thing, nn.Module):
        return False
    hooks = (own for name in HIDDEN if "hooks" in name and isinstance(own := thing.__dict__.get(name), dict))
    for own in hooks:                                      # those that a call puts on
        walk.keep(own, dict(own), _put_dict, lambda now: now)
    for own in (thing.__dict__, thing._parameters, thing._buffers, thing._modules):
        walk.keep(own, dict(own), _put_dict, lambda now: now)
        walk.seen[id(own)] = own
        walk.mapping({k: v for k, v in own.items() if k not in HIDDEN}, steps, keyed=False)
    for hook in (*thing._forward_pre_hooks.values(), *thing._forward_hooks.values()):
        walk.visit(hook, (*steps, "hook"))
    _class(walk, type(thing), steps)
    return True


def _elsewhere(walk: _Walk, thing: Any, steps: Steps) -> bool:
    """A program that is walked or run elsewhere: its tensors, and what a scripted one sets of its attributes, which
    TorchScript keeps. What we keep there to run it is no state of it."""
    if not isinstance(thing, Scripted | torch.jit.ScriptModule | Foreign | Jaxed):
        return False
    for name, tensor in (*thing.named_parameters(), *thing.named_buffers()):
        walk.visit(tensor, (*steps, *name.split(".")))
    for path, owner, name in getattr(thing, "attributes", ()):
        held = [owner.getattr(name)]
        walk.keep(owner, held, partial(_put_in_script, name), partial(_now_in_script, name))
        walk.visit(held[0], (*steps, *path, name))
    return True


HIDDEN = frozenset(vars(nn.Module())) - {"training"}       # what torch itself keeps in a module


def _container(walk: _Walk, thing: Any, steps: Steps) -> bool:
    if isinstance(thing, dict):
        walk.keep(thing, dict(thing), _put_dict, lambda now: now)
        walk.mapping(thing, steps, keyed=True)
        return True
    if isinstance(thing, list | deque):
        walk.keep(thing, list(thing), _put_list, list)
    elif isinstance(thing, set):
        walk.keep(thing, set(thing), _put_set, set)
    elif not isinstance(thing, tuple | frozenset):
        return False
    if isinstance(thing, set | frozenset):
        walk.found.values[f"len({path_name((), steps)})"] = len(thing)
        return True
    for key, value in enumerate(list(thing)):
        walk.visit(value, (*steps, key))
    return True


def _optimizer(walk: _Walk, thing: Any, steps: Steps) -> bool:
    """One of torch's optimizers: what it keeps for each weight, by their numbers as in its `state_dict`, and the
    options of its groups. The weights themselves are a module's."""
    if not isinstance(thing, torch.optim.Optimizer):
        return False
    holders: tuple[dict[Any, Any], ...] = (thing.state, *thing.param_groups, vars(thing))
    for own in holders:
        walk.keep(own, dict(own), _put_dict, lambda now: now)
        walk.seen[id(own)] = own
    walk.keep(thing.param_groups, list(thing.param_groups), _put_list, list)
    for number, kept in enumerate(thing.state.values()):
        walk.visit(kept, (*steps, "state", Key(number)))
    for number, group in enumerate(thing.param_groups):
        options = {name: value for name, value in group.items() if name != "params"}
        walk.mapping(options, (*steps, "param_groups", number), keyed=False)
    return True


def _array(walk: _Walk, thing: Any, steps: Steps) -> bool:
    if not isinstance(thing, numpy.ndarray):
        return False
    if thing.size <= LARGEST and thing.dtype != object:
        walk.keep(thing, thing.copy(), _put_array, lambda now: now)
        walk.found.values[path_name((), steps)] = hash(thing.tobytes())
    return True


def _function(walk: _Walk, thing: Any, steps: Steps) -> bool:
    """A function: what its closure, its defaults and its globals hold."""
    if isinstance(thing, functools.partial):
        walk.visit(thing.func, steps)
        walk.visit(thing.args, steps)
        walk.visit(thing.keywords, steps)
        return True
    if inspect.ismethod(thing):
        walk.visit(thing.__self__, steps)
        walk.visit(thing.__func__, steps)
        return True
    if isinstance(thing, CACHED):
        kept = thing.cache_info().currsize
        walk.keep(thing, [kept], lambda now, held: None if held[0] else now.cache_clear(),
                  lambda now: [now.cache_info().currsize])
        name = getattr(thing, "__name__", "")              # what caches a functools.partial has none
        walk.found.values[path_name((), (*steps, f"{name}.cache_info".lstrip(".")))] = kept
        walk.visit(thing.__wrapped__, steps)
        return True
    if not isinstance(thing, types.FunctionType) or (thing.__module__ or "").startswith(WATCHING):
        return isinstance(thing, types.FunctionType | types.BuiltinFunctionType | types.ModuleType)
    code = thing.__code__
    for name, cell in zip(code.co_freevars, thing.__closure__ or (), strict=True):
        walk.keep(cell, [_content(cell)], _put_cell, lambda now: [_content(now)])
        walk.visit(_content(cell), (*steps, name))
    for defaults in (thing.__defaults__, thing.__kwdefaults__):
        if defaults:
            walk.visit(defaults, steps)
    walk.mapping(thing.__dict__, steps, keyed=False)
    if thing.__dict__:
        walk.keep(thing.__dict__, dict(thing.__dict__), _put_dict, lambda now: now)
    if is_users(code.co_filename) and not any(marker in code.co_filename for marker in INSTALLED):
        _globals(walk, thing.__globals__, frozenset(names_in(code)))
    return True


def _globals(walk: _Walk, scope: dict[str, Any], names: frozenset[str]) -> None:
    """The globals of these names, and what the user's modules among them hold."""
    present = {name: scope[name] for name in names if name in scope}
    walk.keep(scope, dict(present), partial(_put_names, names), lambda now: {n: now[n] for n in names if n in now})
    for name, value in present.items():
        if isinstance(value, types.ModuleType):
            file = getattr(value, "__file__", None) or ""
            if file and is_users(file) and not any(marker in file for marker in INSTALLED):
                _globals(walk, vars(value), frozenset(n for n in vars(value) if n in names))
        else:
            walk.visit(value, (name,))


def _class(walk: _Walk, kind: type, steps: Steps) -> bool:
    """The attributes that the user's own classes hold, and what their methods speak of."""
    for part in kind.__mro__:
        module = inspect.getmodule(part)
        file = getattr(module, "__file__", None) or ""
        if part in walk.classes or not file or not is_users(file) or any(marker in file for marker in INSTALLED):
            continue
        walk.classes.add(part)
        own = {name: value for name, value in vars(part).items() if not name.startswith("__")}
        walk.keep(part, own, _put_attributes, partial(_attributes, tuple(own)))
        for name, value in {**own, **{n: vars(part)[n] for n in ("__call__",) if n in vars(part)}}.items():
            inner = value.__func__ if isinstance(value, staticmethod | classmethod) else value
            inner = inner.fget if isinstance(inner, property) else inner
            walk.visit(inner, (part.__name__, name))
    return True


def _object(walk: _Walk, thing: Any, steps: Steps) -> bool:
    """An instance of a class that keeps its attributes where they can be seen."""
    if isinstance(thing, type):
        return _class(walk, thing, steps)
    home = type(thing).__module__
    if (home.partition(".")[0] in CLOSED and home != "torch.optim.lr_scheduler") or isinstance(thing, Enum):
        return True
    own = getattr(thing, "__dict__", None)
    if isinstance(own, dict):
        walk.keep(own, dict(own), _put_dict, lambda now: now)
        walk.seen[id(own)] = own
        walk.mapping(own, steps, keyed=False)
    _slots(walk, thing, steps)
    return _class(walk, type(thing), steps)


def _slots(walk: _Walk, thing: Any, steps: Steps) -> None:
    names = [name for kind in type(thing).__mro__ for name in _listed(vars(kind).get("__slots__", ()))]
    own = {name: getattr(thing, name) for name in names if not name.startswith("__") and hasattr(thing, name)}
    if own:
        walk.keep(thing, own, _put_attributes, partial(_attributes, tuple(own)))
        walk.mapping(own, steps, keyed=False)


def _listed(names: Any) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


LOOKS = (_stand_in, _elsewhere, _module, _container, _optimizer, _array, _function, _object)


# --------------------------------------------------------------------------------------------------------- putting back


def _put_dict(now: dict[Any, Any], held: dict[Any, Any]) -> None:
    now.clear()
    now.update(held)


def _leaf(tensor: torch.Tensor) -> list[Any]:
    return [tensor.grad, tensor.requires_grad, Place(place_of(tensor))]


def _put_leaf(before: torch.Tensor, tensor: torch.Tensor, held: list[Any]) -> None:
    if place_of(tensor) != held[2]:
        tensor.data = before
    tensor.grad = held[0]
    with torch.inference_mode(tensor.is_inference()):      # as memory is that a program made in a run without gradients
        tensor.requires_grad_(held[1])


def _put_in_script(name: str, now: Any, held: list[Any]) -> None:
    now.setattr(name, held[0])


def _now_in_script(name: str, now: Any) -> list[Any]:
    return [now.getattr(name)]


def _put_list(now: Any, held: list[Any]) -> None:
    now.clear()
    now.extend(held)


def _put_set(now: set[Any], held: set[Any]) -> None:
    now.clear()
    now.update(held)


def _put_array(now: Any, held: Any) -> None:
    now[...] = held


def _put_cell(cell: Any, held: list[Any]) -> None:
    if held[0] is EMPTY:
        del cell.cell_contents
    else:
        cell.cell_contents = held[0]


def _put_names(names: frozenset[str], now: dict[str, Any], held: dict[str, Any]) -> None:
    for name in names & now.keys() - held.keys():
        del now[name]
    now.update(held)


def _put_attributes(thing: Any, held: dict[str, Any]) -> None:
    now = _attributes(tuple(held), thing)
    for name, value in held.items():
        if now.get(name, EMPTY) is not value:
            setattr(thing, name, value)


def _attributes(names: tuple[str, ...], thing: Any) -> dict[str, Any]:
    """What a class itself, or an object with slots, has under these names."""
    own = {name: getattr(thing, name, EMPTY) for name in names} if not isinstance(thing, type) else vars(thing)
    return {name: own[name] for name in names if own.get(name, EMPTY) is not EMPTY}


EMPTY = object()


def _content(cell: Any) -> Any:
    """What a variable of a closure holds; EMPTY where it has no value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY
