"""A function of JAX as a program: traced for the shapes it is given, and walked in torch.

Calls inside (jit, custom derivatives, remat) are put in line, loops are gone through step by step (relate/rounds reads
them back as loops), plain numbers, counters among them, are computed as they come. Arrays that the function holds are
its weights, named by where they stand. Where nobody watches, JAX itself runs it on the CPU: so every check that a
program computes what its graph does is one of the translation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode

from samesame.capture.jax.indexing import Unknown
from samesame.capture.jax.primitives import HELD, PRIMITIVES, number, shortest
from samesame.capture.jax.weights import DTYPES, Weights, array_of, tensor_of
from samesame.capture.program import taking
from samesame.evidence import Refused
from samesame.graph import Origin
from samesame.programs.named import called, named
from samesame.programs.origins import place

PREFIX = "jax:"
RANDOM = ("random_", "threefry", "rng_")


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
    jax.config.update("jax_platforms", "cpu")
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
        self.weights = Weights(function)
        self.traces: dict[Any, Any] = {}
        self.forward = taking(function, self.called)

    @property
    def remembers(self) -> bool:
        return False                                       # functions of JAX leave nothing behind

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return ((name, tensor) for name, tensor in self.weights.tensors.items() if tensor.is_floating_point())

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Any]:
        return ((name, tensor) for name, tensor in self.weights.tensors.items() if not tensor.is_floating_point())

    def called(self, *args: Any, **kwargs: Any) -> Any:
        import jax

        leaves, structure = jax.tree_util.tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        key = structure, tuple(t if not isinstance(t, torch.Tensor) else (tuple(map(int, t.shape)), t.dtype)
                               for t in leaves)
        if key not in self.traces:
            self.traces[key] = self.traced(leaves, structure)
        trace, shapes = self.traces[key]
        if _get_current_dispatch_mode() is None:
            found = self.by_jax(trace, [array_of(x) for x in tensors])
            return jax.tree_util.tree_unflatten(shapes, [tensor_of(array) for array in found])
        given = [converted(x, v.aval) for x, v in zip(tensors, trace.jaxpr.invars, strict=True)]
        found = [whole(value, v.aval) for value, v in zip(self.walk(trace, given), trace.jaxpr.outvars, strict=True)]
        return jax.tree_util.tree_unflatten(shapes, found)

    def traced(self, leaves: Sequence[Any], structure: Any) -> tuple[Any, Any]:
        """The jaxpr of a call on tensors of these shapes, and the structure of what it returns."""
        import jax

        def flat(*arrays: Any) -> Any:
            left = iter(arrays)
            whole = [next(left) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            args, kwargs = jax.tree_util.tree_unflatten(structure, whole)
            return self.function(*args, **kwargs)

        examples = [numpy.zeros(tuple(map(int, x.shape)), str(x.dtype).removeprefix("torch."))
                    for x in leaves if isinstance(x, torch.Tensor)]
        trace, shapes = jax.make_jaxpr(flat, return_shape=True)(*examples)
        return trace, jax.tree_util.tree_structure(shapes)

    def by_jax(self, trace: Any, given: Sequence[Any]) -> list[Any]:
        """What JAX itself computes, with the numbers that the weights have now."""
        import jax
        from jax.extend.core import jaxpr_as_fun

        now = with_arrays(trace, lambda array: array if (w := self.weights.tensor(array)) is None else array_of(w))
        found: list[Any] = jax.jit(jaxpr_as_fun(now))(*given)
        return found

    def constant(self, array: Any) -> torch.Tensor:
        """A weight, or what the function made while it was traced: a literal of the program."""
        held = self.weights.tensor(array)
        return torch.tensor(numpy.asarray(array).tolist(), dtype=DTYPES[str(array.dtype)]) if held is None else held

    # -------------------------------------------------------------------------------------------------------- the walk

    def walk(self, closed: Any, given: Sequence[Any]) -> list[Any]:
        """What a jaxpr gives: tensors, and plain numbers where these are known."""
        jaxpr, constants = getattr(closed, "jaxpr", closed), map(self.constant, getattr(closed, "consts", ()))
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
        return list(map(value, jaxpr.outvars))

    def results(self, equation: Any, read: list[Any], made: dict[Any, Any], value: Callable[[Any], Any]) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        if name.startswith(RANDOM):
            raise Refused(f"{self.where.spoken} draws random numbers ({name}), so no two runs agree; pass them as an "
                          "argument")
        inner = next((params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in params), None)
        if name in LOOPS:
            return LOOPS[name](self, read, params)
        if inner is not None and name not in PRIMITIVES:
            return self.walk(inner, read)
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
    kinds = params["jaxpr"].jaxpr.outvars[params["num_carry"] :]
    given: list[list[Any]] = []
    steps = range(params["length"])
    for step in reversed(steps) if params["reverse"] else steps:
        found = program.walk(params["jaxpr"], [*held, *carried, *(row.select(0, step) for row in rows)])
        carried, each = found[: len(carried)], found[len(carried) :]
        given.append([whole(value, v.aval) for value, v in zip(each, kinds, strict=True)])
    ordered = given[::-1] if params["reverse"] else given
    return [*carried, *(torch.stack(column) for column in zip(*ordered, strict=True))]


def repeated(program: Jaxed, read: list[Any], params: Any) -> list[Any]:
    """A while loop whose end does not depend on data."""
    asked, done = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    of_cond, of_body, carried = read[:asked], read[asked:done], read[done:]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    while bool(program.walk(cond, [*of_cond, *carried])[0]):
        carried = program.walk(body, [*of_body, *carried])
    return carried


def chosen(program: Jaxed, read: list[Any], params: Any) -> list[Any]:
    """A branch that does not depend on data."""
    branches = params["branches"]
    which = branches[min(max(int(read[0]), 0), len(branches) - 1)]
    return program.walk(which, read[1:])


LOOPS: dict[str, Callable[[Jaxed, list[Any], Any], list[Any]]] = {"scan": scanned, "while": repeated, "cond": chosen}


# ------------------------------------------------------------------------------------------------------ between the two


def with_arrays(part: Any, now: Callable[[Any], Any]) -> Any:
    """A jaxpr, or what stands in its parameters, with other arrays in the place of those it holds."""
    from jax.extend.core import ClosedJaxpr, Jaxpr

    changed: dict[str, Any]
    if isinstance(part, ClosedJaxpr):
        changed = {"jaxpr": with_arrays(part.jaxpr, now), "consts": [now(array) for array in part.consts]}
    elif isinstance(part, Jaxpr):
        changed = {"eqns": [equation.replace(params={key: with_arrays(value, now)
                                                     for key, value in equation.params.items()})
                            for equation in part.eqns]}
    else:
        return tuple(with_arrays(inner, now) for inner in part) if type(part) is tuple else part
    return part.replace(**changed)


def converted(tensor: torch.Tensor, aval: Any) -> torch.Tensor:
    """An input in the dtype that JAX makes of it."""
    return tensor.to(DTYPES[str(aval.dtype)])


def whole(value: Any, aval: Any) -> torch.Tensor:
    """A number as the tensor that it is in JAX."""
    if isinstance(value, torch.Tensor):
        return value
    return torch.full(tuple(aval.shape), value, dtype=DTYPES[str(aval.dtype)])
