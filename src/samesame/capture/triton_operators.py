"""Triton kernels inside models: each launch becomes an operator of torch, with a meaning where `lift` finds one.

A kernel writes into tensors that it is given. As an operator it is a function instead: it takes the tensors that the
kernel reads, the numbers, the grid and how the tensors lie in memory, and gives what the kernel leaves in the tensors
that it writes. A launch applies the operator and copies its results into place, so that whoever records the model sees
operators only. On a CPU the kernel runs in Triton's interpreter; in float64 the lifted formula is worked out.

The kernel is lifted for the sizes that a node has, numbers or symbols, and its formula is the operator's meaning if
every obligation is proved: then the kernel does what the formula says. Otherwise the operator is opaque.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from samesame.evidence import Refused
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Expr, Index, Load, Unsupported, rebuild
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim, Tensor, leaf, tensor_over
from samesame.graph import Dtype
from samesame.kernels.front import element_name
from samesame.kernels.host.device import arguments_of, compiled, configurations, jit_of, launching
from samesame.kernels.host.interpret import Execution, run_kernel
from samesame.kernels.host.language import undefined
from samesame.kernels.host.launch import ttir
from samesame.kernels.host.trace import triton_type
from samesame.kernels.host.versions import leaves_out
from samesame.kernels.kernel import Settings, lift_launch
from samesame.kernels.launch import Launch, Memory
from samesame.kernels.verdict import KernelVerdict
from samesame.operators.shapes import kind_of
from samesame.operators.table import REAL
from samesame.programs.origins import users_line

NAMESPACE = "triton"
LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")     # type: ignore[no-untyped-call]
Grid = tuple[int, int, int]
KERNELS: dict[str, Kernel] = {}
SCALARS = {bool: "bool", int: "int", float: "float"}
SECONDS = 20.0                              # to lift one kernel at one set of sizes


@contextmanager
def kernels_as_operators(noted: Callable[[Refused], Refused] | None = None) -> Iterator[None]:
    """Launches apply operators, one for each distinct kernel and signature. A launch that is refused is `noted`."""

    def launched(*launch: Any) -> Any:
        try:
            return apply(*launch)
        except Refused as why:
            raise (why if noted is None else noted(why)) from why.__cause__

    with launching(launched):
        yield


def apply(launcher: Any, args: tuple[Any, ...], keywords: dict[str, Any], grid: Any) -> Any:
    """A launch: the operator applied to what the kernel reads, and its results copied to where the kernel writes."""
    jit = jit_of(launcher)
    keywords = {k: v for k, v in keywords.items() if k not in ("grid", "warmup")}
    choice = next(configurations(launcher, args, keywords))
    choice.prepare()
    values, whole = arguments_of(jit, args, choice.keywords, grid)
    kernel = kernel_of(jit, values, whole, {k: v for k, v in choice.keywords.items() if k not in jit.arg_names})
    results = kernel.operator(*kernel.packed(values, whole))
    for name, result in zip(kernel.written, results if len(kernel.written) > 1 else (results,), strict=True):
        values[name].copy_(result)
    return compiled()


def kernel_of(jit: Any, values: dict[str, Any], grid: Grid, options: dict[str, Any]) -> Kernel:
    """The kernel of this launch, made when it is first met."""
    signature, constants = {}, {}
    for parameter in jit.params:
        value = values[parameter.name]
        signature[parameter.name] = "constexpr" if parameter.is_constexpr else triton_type(parameter, value)
        if signature[parameter.name] == "constexpr":
            constants[parameter.name] = value
    text = ttir(jit, signature, constants, options)
    without_lines = re.sub(r" ?loc\(.*\)|^#loc.*$", "", text, flags=re.MULTILINE)
    told = hashlib.sha256(repr((without_lines, sorted(signature.items()))).encode()).hexdigest()[:8]
    name = f"{jit.__name__.strip('_')}_{told}"
    if name not in KERNELS:
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            KERNELS[name] = Kernel.met(name, jit, text, constants, values, grid)
    return KERNELS[name]


@dataclass(eq=False)
class Kernel:
    """One kernel with one signature. `tensors` and `numbers` are its parameters that are no constants; of the tensors,
    `read` are arguments of the operator, `written` its results. `dtypes` are those of the tensors."""

    name: str
    jit: Any
    ttir: str
    constants: dict[str, Any]
    tensors: tuple[str, ...]
    numbers: tuple[tuple[str, type], ...]
    read: tuple[str, ...]
    written: tuple[str, ...]
    dtypes: dict[str, torch.dtype]
    meanings: dict[Any, KernelVerdict] = field(default_factory=dict)

    @classmethod
    def met(
        cls, name: str, jit: Any, text: str, constants: dict[str, Any], values: dict[str, Any], grid: Grid
    ) -> Kernel:
        """A kernel that is launched for the first time: run once on copies, to see what it reads and writes."""
        tensors = tuple(n for n in values if isinstance(values[n], torch.Tensor) and n not in constants)
        numbers = tuple((n, type(values[n])) for n in values if n not in constants and n not in tensors)
        for number, kind in numbers:
            if kind not in SCALARS:
                raise Refused(f"{users_line(apply.__code__).spoken} gives {jit.__name__} {kind.__name__} as {number}")
        separate(jit, {n: values[n] for n in tensors})
        copies = {n: laid_out(values[n], values[n].stride()) for n in tensors}
        execution = run_kernel(jit, values | copies, grid)
        demand_faultless(execution)
        written = tuple(n for n in tensors if bool(execution.written[n].any()))
        whole = {n for n in written if bool(everywhere(copies[n], execution.written[n]).all())}
        read = tuple(n for n in tensors if bool(execution.read[n].any()) or n not in whole)
        made = cls(name, jit, text, dict(constants), tensors, numbers, read, written,
                   {n: values[n].dtype for n in tensors})
        made.register()
        return made

    # ------------------------------------------------------------------------------------------------- the operator

    @property
    def operator(self) -> Any:
        return getattr(getattr(torch.ops, NAMESPACE), self.name).default

    def register(self) -> None:
        """Tell torch of the operator, and the table of meanings of its meaning."""
        arguments = [f"Tensor {n}" for n in self.read]
        arguments += [f"{SCALARS[kind]} {n}" for n, kind in self.numbers]
        arguments += [f"int[] shape_of_{n}" for n in self.written if n not in self.read]
        arguments += ["int[] strides", "int[] grid"]
        results = ", ".join("Tensor" for _ in self.written)
        shown = results if len(self.written) == 1 else f"({results})"
        LIBRARY.define(f"{self.name}({', '.join(arguments)}) -> {shown}")               # type: ignore[no-untyped-call]
        LIBRARY.impl(self.name, self.run, "CompositeExplicitAutograd")      # type: ignore[no-untyped-call]
        REAL[f"{NAMESPACE}.{self.name}.default"] = self.meaning

    def packed(self, values: dict[str, Any], grid: Grid) -> list[Any]:
        """The operator's arguments for a launch."""
        strides = [n for name in self.tensors for n in values[name].stride()]
        shapes = [list(values[n].shape) for n in self.written if n not in self.read]
        return [*(values[n] for n in self.read), *(values[n] for n, _ in self.numbers), *shapes, strides, list(grid)]

    def unpacked(self, args: Sequence[Any]) -> Applied:
        """What the arguments of the operator say, by name."""
        rest = list(args)
        read = {n: rest.pop(0) for n in self.read}
        numbers = {n: rest.pop(0) for n, _ in self.numbers}
        shapes = {n: tuple(read[n].shape) for n in self.read}
        shapes |= {n: tuple(rest.pop(0)) for n in self.written if n not in self.read}
        flat, grid = list(rest[0]), tuple(rest[1])
        strides = {n: tuple(flat.pop(0) for _ in shapes[n]) for n in self.tensors}
        return Applied(read, numbers, shapes, strides, grid)

    def run(self, *args: Any) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """The operator on values: in the dtypes of the launch by the interpreter, in wider ones by the formula."""
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            applied = self.unpacked(args)
            wide = next((x.dtype for n, x in applied.read.items() if x.dtype != self.dtypes[n]), None)
            found = (self.evaluated(applied) if wide is not None else None) or self.interpreted(applied, wide)
            return found[0] if len(found) == 1 else found

    def interpreted(self, applied: Applied, wide: torch.dtype | None) -> tuple[torch.Tensor, ...]:
        """What the kernel writes, by the interpreter; as `wide` numbers where these are asked for."""
        given: dict[str, torch.Tensor] = {}
        for n in self.tensors:
            shape, strides = applied.numeric(n)
            made = torch.empty_strided(shape, strides, dtype=self.dtypes[n])
            given[n] = made.copy_(applied.read[n]) if n in applied.read else made.fill_(undefined(made.dtype))
        x, y, z = (int(n) for n in applied.grid if isinstance(n, int))
        demand_faultless(run_kernel(self.jit, self.constants | applied.numbers | given, (x, y, z)))
        return tuple(
            given[n].to(wide) if wide is not None and given[n].is_floating_point() else given[n] for n in self.written
        )

    def evaluated(self, applied: Applied) -> tuple[torch.Tensor, ...] | None:
        """The lifted formulas on these values, in float64; None where the kernel has none."""
        read = applied.read.items()
        arrays = {n: x.detach().double().numpy() if x.is_floating_point() else x.numpy() for n, x in read}
        kinds = {n: kind_of(Dtype(str(x.dtype).removeprefix("torch."))) for n, x in read}
        leaves = {n: leaf(n, tuple(x.shape), kinds[n]) for n, x in read}
        try:
            formulas = self.formulas(applied, leaves)
            results = [evaluate(formula, arrays) for formula in formulas]
        except Unsupported:
            return None
        return tuple(self.typed(n, array) for n, array in zip(self.written, results, strict=True))

    def typed(self, name: str, array: np.ndarray) -> torch.Tensor:
        value = torch.from_numpy(np.ascontiguousarray(array))
        return value if self.dtypes[name].is_floating_point else value.to(self.dtypes[name])

    # --------------------------------------------------------------------------------------------------- the meaning

    def meaning(self, *args: Any) -> Tensor | tuple[Tensor, ...]:
        """What the operator means, over the formulas of the tensors that it reads. Raises Unsupported."""
        applied = self.unpacked(args)
        found = self.formulas(applied, applied.read)
        return found[0] if len(found) == 1 else found

    def formulas(self, applied: Applied, read: dict[str, Tensor]) -> tuple[Tensor, ...]:
        for n in self.read:
            if grows_into_itself(applied.shapes[n], applied.strides[n]):
                raise Unsupported(f"{n} lies in memory as it did at other sizes")
        verdict = self.lifted(applied)
        if verdict.verdict != "verified":
            raise Unsupported(f"{self.jit.__name__} is not verified ({why_not(verdict)})")
        if verdict.demands:
            raise Unsupported(f"{self.jit.__name__} is right only where {', '.join(verdict.demands)}")
        by_name: dict[str, tuple[tuple[Index, ...], Expr]] = {f.tensor: f.expr for f in verdict.formulas}
        if set(by_name) != set(self.written):
            raise Unsupported(f"{self.jit.__name__} writes {', '.join(by_name)}, and not as it did when it was met")
        return tuple(self.formula(by_name[n], applied.shapes[n], read) for n in self.written)

    def formula(
        self, lifted: tuple[tuple[Index, ...], Expr], shape: tuple[Dim, ...], read: dict[str, Tensor]
    ) -> Tensor:
        """A lifted formula, with elements of the given tensors in the place of what the kernel loads."""
        indices, expr = lifted
        memo: dict[Expr, Expr] = {}

        def bound(e: Expr) -> Expr:
            if e not in memo:
                if isinstance(e, Load):
                    if e.leaf.name not in read:
                        raise Unsupported(f"{self.jit.__name__} reads {e.leaf.name} by an offset that is no index")
                    memo[e] = read[e.leaf.name][tuple(bound(i) for i in e.indices)]
                else:
                    memo[e] = rebuild(e, bound)
            return memo[e]

        return tensor_over(indices, bound(expr), shape)

    def lifted(self, applied: Applied) -> KernelVerdict:
        """The verdict on the kernel at these sizes, made once."""
        key = applied.key
        if key not in self.meanings:
            memories = {
                n: Memory(n, applied.shapes[n], applied.strides[n], element_name(self.dtypes[n]), n)
                for n in self.tensors
            }
            launch = Launch(
                name=self.jit.__name__, ttir=self.ttir, arguments=memories | applied.numbers, grid=applied.grid,
                place=f"{self.jit.__name__}", leaves_out=leaves_out(),
                order=tuple(p.name for p in self.jit.params if p.name in memories or p.name in applied.numbers),
            )
            self.meanings[key] = lift_launch(launch, Settings(seconds=SECONDS))
        return self.meanings[key]


@dataclass(frozen=True)
class Applied:
    """One application of a kernel's operator: tensors (or their formulas), numbers, and how tensors lie in memory."""

    read: dict[str, Any]
    numbers: dict[str, Any]
    shapes: dict[str, tuple[Dim, ...]]
    strides: dict[str, tuple[Dim, ...]]
    grid: tuple[Dim, ...]

    def numeric(self, name: str) -> tuple[list[int], list[int]]:
        """Shape and strides of a tensor, where they are numbers."""
        return [int(n) for n in self.shapes[name] if isinstance(n, int)], [
            int(n) for n in self.strides[name] if isinstance(n, int)]

    @cached_property
    def key(self) -> Any:
        def one(size: Any) -> Any:
            return canonical(size) if isinstance(size, Expr) and size.kind == "int" else size

        sizes = [(n, tuple(map(one, self.shapes[n])), tuple(map(one, self.strides[n]))) for n in self.shapes]
        return tuple(sizes), tuple((n, one(v)) for n, v in self.numbers.items()), tuple(map(one, self.grid))


def demand_faultless(execution: Execution) -> None:
    """Raise Refused where the kernel left its memory or raced on this run."""
    if execution.faults:
        raise Refused(f"{execution.faults[0]} of {execution.kernel}")


def grows_into_itself(shape: Sequence[Dim], strides: Sequence[Dim]) -> bool:
    """Whether a dimension of symbolic size lies between steps that are numbers, where not every size fits."""
    numbers = [s for s in strides if isinstance(s, int)]
    return any(isinstance(n, Expr) and isinstance(s, int) and any(other > s for other in numbers)
               for n, s in zip(shape, strides, strict=True))


def why_not(verdict: KernelVerdict) -> str:
    open_ = [f"{o.name} {o.state}" for o in verdict.obligations if o.state != "proved"]
    return "; ".join([*verdict.unsupported, *open_])


def separate(jit: Any, tensors: dict[str, torch.Tensor]) -> None:
    """Raise Refused where two arguments share memory: what one writes, the other would read."""
    seen: dict[int, str] = {}
    for name, x in tensors.items():
        other = seen.setdefault(x.untyped_storage().data_ptr(), name)
        if other != name and x.numel():
            raise Refused(
                f"{users_line(apply.__code__).spoken} gives {jit.__name__} the same memory as {other} and {name}; give "
                "it tensors of their own"
            )


def laid_out(x: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """A copy of a tensor with these strides."""
    return torch.empty_strided(x.shape, tuple(strides), dtype=x.dtype).copy_(x)


def everywhere(x: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
    """Marks on memory, as marks on the elements of a tensor in it."""
    return torch.as_strided(marks, x.shape, x.stride(), 0)
