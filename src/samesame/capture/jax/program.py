"""A function of JAX as a program: traced for the shapes it is given, and walked in torch.

Calls inside (jit, custom derivatives, remat) are put in line, loops are unrolled at these sizes, plain numbers are
computed as they come. Arrays that the function holds are its weights, named by where they stand. Where nobody watches,
JAX itself runs it on the CPU: so every check that a program computes what its graph does is one of the translation.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

import numpy
import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode

from samesame.capture.jax.indexing import Unknown
from samesame.capture.jax.primitives import HELD, PRIMITIVES, number, shortest
from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.graph.interface import path_name
from samesame.programs.named import called, named
from samesame.programs.origins import place

PREFIX = "jax:"
RANDOM = ("random_", "threefry", "rng_")
DTYPES = {
    "float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16,
    "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64, "uint8": torch.uint8,
    "bool": torch.bool,
}


def is_jax(text: str) -> bool:
    """Whether a target names a function of JAX."""
    return text.startswith(PREFIX)


def load_jax(text: str) -> Jaxed:
    """The program that `jax:file.py:name` names: a function over arrays, or a callable pytree (a module of equinox, a
    bound one of flax). Raises Refused where there is none."""
    try:
        import jax
    except ImportError:
        raise Refused(f"{text} needs the package jax: pip install 'samesame[jax]'") from None
    jax.config.update("jax_platforms", "cpu")              # type: ignore[no-untyped-call]
    found = named(text.removeprefix(PREFIX))
    if inspect.isclass(found) or (inspect.isfunction(found) and not inspect.signature(found).parameters):
        found = called(found, text)
    if not callable(found):
        raise Refused(f"{text} is no function over arrays")
    return Jaxed(found)


class Jaxed(nn.Module):
    """A function of JAX over torch's tensors. `where` is the line of the equation that runs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function, self.where = function, Origin()
        self.places = dict(places_of(function))            # the names of its arrays, by id
        self.weights: dict[str, torch.Tensor] = {}
        self.traces: dict[Any, Any] = {}
        for name, array in self.places.values():
            self.weights[name] = tensor_of(array)
            self.weights[name].requires_grad_(self.weights[name].is_floating_point())

    @property
    def remembers(self) -> bool:
        return False                                       # functions of JAX leave nothing behind

    def weight(self, array: Any) -> torch.Tensor | None:
        """The tensor of an array that the function holds; None for one that it made."""
        if id(array) in self.places:
            return self.weights[self.places[id(array)][0]]
        same = (name for name, held in self.places.values() if held.shape == array.shape and held.dtype == array.dtype
                and numpy.array_equal(held, array))
        name = next(same, None)
        return None if name is None else self.weights[name]

    def constant(self, array: Any) -> torch.Tensor:
        """A weight, or what the function made while it was traced: a literal of the program."""
        held = self.weight(array)
        return torch.tensor(numpy.asarray(array).tolist(), dtype=DTYPES[str(array.dtype)]) if held is None else held

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return ((name, tensor) for name, tensor in self.weights.items() if tensor.is_floating_point())

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return ((name, tensor) for name, tensor in self.weights.items() if not tensor.is_floating_point())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        import jax

        leaves, structure = jax.tree_util.tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        key = structure, tuple(t if not isinstance(t, torch.Tensor) else (tuple(map(int, t.shape)), t.dtype)
                               for t in leaves)
        if key not in self.traces:
            self.traces[key] = self.traced(leaves, structure)
        trace, shapes, compiled = self.traces[key]
        if _get_current_dispatch_mode() is None:
            arrays = [array_of(self.constant(array)) for array in trace.consts]
            found = compiled(arrays, [array_of(x) for x in tensors])
            return jax.tree_util.tree_unflatten(shapes, [tensor_of(array) for array in found])
        held = [self.constant(array) for array in trace.consts]
        given = [converted(x, v.aval) for x, v in zip(tensors, trace.jaxpr.invars, strict=True)]
        return jax.tree_util.tree_unflatten(shapes, self.walk(trace.jaxpr, held, given))

    def traced(self, leaves: Sequence[Any], structure: Any) -> tuple[Any, Any, Any]:
        """The jaxpr of a call on tensors of these shapes, the structure of what it returns, and JAX's own code for
        it."""
        import jax

        def flat(*arrays: Any) -> Any:
            left = iter(arrays)
            whole = [next(left) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            args, kwargs = jax.tree_util.tree_unflatten(structure, whole)
            return self.function(*args, **kwargs)

        examples = [numpy.zeros(tuple(map(int, x.shape)), str(x.dtype).removeprefix("torch."))
                    for x in leaves if isinstance(x, torch.Tensor)]
        trace, shapes = jax.make_jaxpr(flat, return_shape=True)(*examples)
        whole = jax.jit(lambda held, given: jax.core.eval_jaxpr(trace.jaxpr, held, *given))
        return trace, jax.tree_util.tree_structure(shapes), whole

    # -------------------------------------------------------------------------------------------------------- the walk

    def walk(self, jaxpr: Any, constants: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """What a jaxpr gives: tensors, and plain numbers where these are known."""
        values = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*constants, *given), strict=True))
        made: dict[Any, Any] = {}                          # the equation of each variable

        def value(atom: Any) -> Any:
            return shortest(atom.val) if hasattr(atom, "val") else values[atom]

        for equation in jaxpr.eqns:
            self.at(equation)
            read = [value(atom) for atom in equation.invars]
            found = self.results(equation, read, made, value)
            values.update(zip(equation.outvars, found, strict=True))
            made.update((variable, equation) for variable in equation.outvars)
        return [tensor if isinstance(tensor := value(v), torch.Tensor) else whole(tensor, v.aval)
                for v in jaxpr.outvars]

    def results(self, equation: Any, read: list[Any], made: dict[Any, Any], value: Callable[[Any], Any]) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        if name.startswith(RANDOM):
            raise Refused(f"{self.where.spoken} draws random numbers ({name}), so no two runs agree; pass them as an "
                          "argument")
        inner = next((params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in params), None)
        if name in LOOPS:
            return LOOPS[name](self, read, params)
        if inner is not None and name not in PRIMITIVES:
            closed = getattr(inner, "jaxpr", inner)
            return self.walk(closed, getattr(inner, "consts", ()), read)
        if all(not isinstance(part, torch.Tensor) for part in read) and read and name not in HELD:
            folded = number(equation, read)
            if folded is not None:
                return folded
        if name not in PRIMITIVES:
            raise Refused(f"{self.where.spoken} uses JAX's {name}, which samesame has no meaning for")
        try:
            found = PRIMITIVES[name](equation, read, made, value)
        except Unknown as error:
            raise Refused(f"{self.where.spoken} uses JAX's {name} in a way that samesame has no meaning for: {error}") \
                from None
        return list(found) if isinstance(found, list | tuple) else [found]

    def at(self, equation: Any) -> None:
        """Note the user's line that an equation is of."""
        from jax._src.source_info_util import user_frame

        frame = user_frame(equation.source_info.traceback)
        if frame is not None:
            self.where = place(frame.file_name, frame.start_line, frame.function_name)


def scanned(program: Jaxed, read: list[Any], params: Any) -> list[Any]:
    """A scan, unrolled."""
    consts, first = params["num_consts"], params["num_consts"] + params["num_carry"]
    held, carried, rows = read[:consts], read[consts:first], read[first:]
    given: list[list[Any]] = []
    steps = range(params["length"])
    for step in reversed(steps) if params["reverse"] else steps:
        inner = params["jaxpr"]
        found = program.walk(inner.jaxpr, inner.consts, [*held, *carried, *(row.select(0, step) for row in rows)])
        carried, each = found[: len(carried)], found[len(carried) :]
        given.append(each)
    ordered = given[::-1] if params["reverse"] else given
    return [*carried, *(torch.stack(column) for column in zip(*ordered, strict=True))]


def repeated(program: Jaxed, read: list[Any], params: Any) -> list[Any]:
    """A while loop whose end does not depend on data."""
    asked, done = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    of_cond, of_body, carried = read[:asked], read[asked:done], read[done:]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    while bool(program.walk(cond.jaxpr, cond.consts, [*of_cond, *carried])[0]):
        carried = program.walk(body.jaxpr, body.consts, [*of_body, *carried])
    return carried


def chosen(program: Jaxed, read: list[Any], params: Any) -> list[Any]:
    """A branch that does not depend on data."""
    branches = params["branches"]
    which = branches[min(max(int(read[0]), 0), len(branches) - 1)]
    return program.walk(which.jaxpr, which.consts, read[1:])


LOOPS: dict[str, Callable[[Jaxed, list[Any], Any], list[Any]]] = {"scan": scanned, "while": repeated, "cond": chosen}


# ------------------------------------------------------------------------------------------------------ between the two


def converted(tensor: torch.Tensor, aval: Any) -> torch.Tensor:
    """An input in the dtype that JAX makes of it."""
    return tensor.to(DTYPES[str(aval.dtype)])


def whole(value: Any, aval: Any) -> torch.Tensor:
    """A number as the tensor that it is in JAX."""
    return torch.full(tuple(aval.shape), value, dtype=DTYPES[str(aval.dtype)])


def tensor_of(array: Any) -> torch.Tensor:
    """JAX's array as a tensor of its own."""
    name = str(array.dtype)
    if name not in DTYPES:
        raise Refused(f"a JAX array of {name} has no counterpart in torch")
    plain = numpy.asarray(array.astype("float32") if name == "bfloat16" else array)
    return torch.from_numpy(plain.copy()).to(DTYPES[name])


def array_of(tensor: torch.Tensor) -> Any:
    import jax.numpy

    plain = tensor.detach()
    array = jax.numpy.asarray((plain.float() if plain.dtype is torch.bfloat16 else plain).numpy())
    return array.astype("bfloat16") if plain.dtype is torch.bfloat16 else array


def places_of(function: Any) -> Iterator[tuple[int, tuple[str, Any]]]:
    """The arrays that a function refers to, by id, each with the name of its place."""
    import jax

    for name, thing in held_by(function):
        for path, leaf in jax.tree_util.tree_flatten_with_path(thing)[0]:
            if isinstance(leaf, jax.Array):
                keys = (getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))) for key in path)
                yield id(leaf), (path_name((name,) if name else (), tuple(map(str, keys))), leaf)


def held_by(function: Any) -> Iterator[tuple[str, Any]]:
    """What a callable refers to: the variables of closures, globals, arguments that are bound, the object itself."""
    if isinstance(function, functools.partial):
        yield from held_by(function.func)
        yield from ((str(k), part) for k, part in enumerate(function.args))
        yield from function.keywords.items()
    elif inspect.ismethod(function):
        yield "", function.__self__
    elif inspect.isfunction(function):
        scope = function.__globals__ | dict(inspect.getclosurevars(function).nonlocals)
        yield from ((name, scope[name]) for name in dict.fromkeys(spoken_of(function.__code__)) if name in scope)
    elif hasattr(function, "__wrapped__"):
        yield from held_by(function.__wrapped__)
    else:
        yield "", function


def spoken_of(code: CodeType) -> Iterator[str]:
    """The names that a function speaks of, and the functions inside of it."""
    yield from (*code.co_names, *code.co_freevars)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from spoken_of(part)
