"""What a Triton kernel is launched with: the wrapper around it runs on fake tensors, and each launch is noted.

No GPU is needed and no kernel runs. The example tensors of the launch function get symbolic sizes where the wrapper
lets them (`host_sizes`), so that a grid reads `(n + 1023)//1024` and the branches that the wrapper took are conditions
on n. What the host does between launches is noted too, tensor operator by tensor operator, with the memory that each
one reads and makes: several kernels in one wrapper can be composed.

    captured = capture_launches("softmax.py:launch")
    for launch in captured.launches:
        launch.kernel, launch.grid, launch.arguments, launch.ttir

`triton_interpret` runs the same function on values.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from triton._C.libtriton import ir
from triton.compiler.compiler import ASTSource, make_backend
from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure

from samesame.evidence import Refused
from samesame.formula.expr import Expr
from samesame.formula.sizes import value_at
from samesame.formula.tensor import Dim
from samesame.graph import Origin
from samesame.kernels.host.device import TARGET, JITFunction, pretended
from samesame.kernels.host.versions import defined_at, leaves_out
from samesame.kernels.stated import Stated
from samesame.programs.origins import shown

UNDEFINED = None                            # the contents of memory that nobody has written to


@dataclass(frozen=True, slots=True)
class Memory:
    """One allocation. Tensors with the same memory share elements.

    `given`: an example tensor of the launch function, passed to it or made in its own body; else the wrapper allocated
    or computed it. `contents` is what it holds when it is made: UNDEFINED (`torch.empty`), a number that fills it
    (`torch.zeros`), "values" (random or computed ones), or "parts" where some elements may be nobody's. So what
    a launch reads from: a given memory with "values", or a given one that no kernel writes to.
    """

    number: int
    name: str
    given: bool
    contents: Any
    elements: Dim
    dtype: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class View:
    """A tensor in its memory: element [i, j] lies at `offset + i·strides[0] + j·strides[1]`, counted in elements."""

    memory: int
    shape: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    offset: Dim
    dtype: str


@dataclass(frozen=True, slots=True)
class HostStep:
    """A tensor operator that the host ran: torch's name with the overload; a View in the place of each tensor."""

    operator: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: tuple[View, ...]
    origin: Origin

    @property
    def tensors(self) -> tuple[View, ...]:
        """The tensors that it takes, those in lists too."""
        values = [*self.args, *self.kwargs.values()]
        return tuple(one for value in values for one in (value if isinstance(value, tuple | list) else (value,))
                     if isinstance(one, View))


@dataclass(frozen=True)
class Launch:
    """One kernel, launched in one configuration of its autotuner.

    `arguments` has the parameters that are no constants, in order: a View, an int or a size expression, a float (or an
    expression with that value, such as n^-1/2), a bool. `signature` has Triton's type of every parameter ("*fp32",
    "i32", "constexpr"). `constexprs` are those of type constexpr, None and the like included. `grid` has three parts.
    `call` numbers the launches of one run, `configuration` says which of the tuner's choices this is ("" where there is
    only one); configurations that differ in warps and stages only are one. `before` are the steps of this
    configuration's own hook. A tuner that tries several runs the kernel many times: `put_back` are the parameters that
    it resets to zero, and those that it restores, in between; None where there is no such tuner.
    """

    kernel: str
    origin: Origin                          # the kernel's definition
    called: Origin                          # the line of the host code that launches it
    call: int
    configuration: str
    grid: tuple[Dim, Dim, Dim]
    signature: dict[str, Any]
    arguments: dict[str, Any]
    constexprs: dict[str, Any]
    options: dict[str, Any]
    jit: Any = field(repr=False)
    before: tuple[HostStep, ...] = ()
    put_back: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    @cached_property
    def ttir(self) -> str:
        """The kernel in Triton's own intermediate language, as text, with lines. Raises Refused with the kernel's line
        where it does not compile."""
        return ttir(self.jit, self.signature, self.constexprs, self.options)

    @property
    def leaves_out(self) -> bool:
        """Whether a histogram of the Triton that is installed is known to count nowhere what is in none of its bins."""
        return leaves_out()


@dataclass(frozen=True, slots=True)
class Call:
    """One launch in the order of the host code, in each configuration."""

    variants: tuple[Launch, ...]


@dataclass(frozen=True, slots=True)
class Captured:
    """One run of a launch function.

    `sizes` are the example's values of the symbols, by name; a symbol is `Size(name, 2)`. `guards` are the conditions
    on them under which the wrapper does what it did here; `unread` are those that have no formula (the claim then is
    about the sizes for which the wrapper does the same). `fixed` says which sizes the wrapper held to the example's
    value, and `choices` which numbers it chose by a size and how (`BLOCK` = 1024 where it is `next_power_of_2(n)`);
    `chosen` are the conditions that a choice is of sizes (512 < n ≤ 1024), where it can be said as some.
    `inputs` are the example tensors with values, by the names of the host's variables, `parts` what other variables
    have of these, as slices of them, or are filled with; `outputs` are what the function
    returned, by name. `refused` are sentences about what could not go on. `device` are the facts that the host code
    asked of a device, which is not there, and what it was told. `contracts` are a user's: of sizes, and what is
    Stated of tensors. `solved` are contracts under which sizes follow from numbers that the wrapper worked out of them
    (D = 24 where D // 2 is 12). `tied` are names of sizes that others tell (K = 2·N), `parameters` is what each of the
    function's own numbers is: a size, one for all that are equal in the example, or a number. `written` are short
    lengths that the host code writes as numbers; `literal` those that are taken as such. `named`: the function has
    sizes as parameters. `reads` are the whole numbers that it reads from tensors, in order; None where
    they are not known. `prepared` are the operators by which the function's own body makes examples of others;
    `changed`: more was written before the first launch than these say.
    """

    steps: tuple[Call | HostStep, ...]
    memories: tuple[Memory, ...]
    inputs: tuple[tuple[str, View], ...]
    outputs: tuple[tuple[str, View], ...]
    sizes: Mapping[str, int]
    guards: tuple[Expr, ...] = ()
    unread: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    choices: Mapping[str, Any] = field(default_factory=dict)
    chosen: tuple[Expr, ...] = ()
    refused: tuple[str, ...] = ()
    device: Mapping[str, Any] = field(default_factory=dict)
    contracts: tuple[Expr | Stated, ...] = ()
    tied: Mapping[str, Dim] = field(default_factory=dict)
    written: tuple[int, ...] = ()
    literal: tuple[int, ...] = ()
    solved: tuple[str, ...] = ()
    named: bool = False
    parts: tuple[tuple[str, View], ...] = ()
    reads: tuple[int, ...] | None = ()
    prepared: tuple[HostStep, ...] = ()
    changed: bool = False
    parameters: Mapping[str, Dim] = field(default_factory=dict)

    @property
    def worked(self) -> frozenset[str]:
        """The inputs that are made of other inputs, as a mask of scores: numbers of their own they never have."""
        given = {view.memory for _, view in self.inputs}
        of: dict[int, set[int]] = {}
        for step in self.prepared:
            if step.operator.partition(".default")[0].endswith("_like"):
                continue                                   # of the shape alone
            taken = {memory for view in step.tensors for memory in (view.memory, *of.get(view.memory, ()))}
            for view in step.results:
                of[view.memory] = of.get(view.memory, set()) | taken - {view.memory}
        return frozenset(name for name, view in self.inputs if of.get(view.memory, set()) & given)

    def by_every_name(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Sizes, and the function's own numbers, by their names."""
        return by_every_name(self.parameters, sizes)

    def with_tied(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Sizes, and those that they tell."""
        whole = {**self.sizes, **sizes}
        return {**sizes, **{name: value_at(n, whole) for name, n in self.tied.items()}}

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Every launch, in every configuration, in the order of the host code."""
        return tuple(launch for step in self.steps if isinstance(step, Call) for launch in step.variants)


# -------------------------------------------------------------------------------------------------------------- TTIR


def ttir(jit: JITFunction[Any], signature: Mapping[str, Any], constexprs: Mapping[str, Any],
         options: Mapping[str, Any]) -> str:
    """The kernel's module after Triton's own first passes (inlining, canonical forms, common subexpressions)."""
    backend = make_backend(TARGET)
    with pretended(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")    # of no matter to real numbers
        try:
            parsed = backend.parse_options(dict(options))
            context = ir.context()
            ir.load_dialects(context)
            backend.load_dialects(context)
            constants = {(jit.arg_names.index(name),): value for name, value in constexprs.items()}
            source = ASTSource(jit, dict(signature), constants, {})
            codegen = backend.get_codegen_implementation(parsed)
            module = source.make_ir(TARGET, parsed, codegen, backend.get_module_map(), context)
            module = type(backend).make_ttir(module, {}, parsed, TARGET.arch)
            module.context = context
            return str(module)
        except CompilationError as error:
            raise Refused(does_not_compile(jit, error)) from error
        except Exception as error:
            first = (str(error).strip().splitlines() or ["no message"])[0]
            file, line = defined_at(jit)
            place = f"{shown(file)}:{line}"
            raise Refused(f"{place} does not compile: {type(error).__name__}: {first}") from error


def does_not_compile(jit: JITFunction[Any], error: CompilationError) -> str:
    """The line of the kernel, and the innermost reason."""
    file, line = defined_at(jit)
    place = f"{shown(file)}:{line + (getattr(error.node, 'lineno', 1) or 1) - 1}"
    reason: BaseException = error
    while reason.__cause__ is not None:
        reason = reason.__cause__
    text = [part for part in str(getattr(reason, "error_message", None) or reason).splitlines() if part.strip(" ^")]
    text = text or [type(reason).__name__]
    written = error.src.splitlines()[error.node.lineno - 1] if getattr(error, "src", None) and error.node else ""
    if isinstance(reason, CompileTimeAssertionFailure):
        return f"{place} fails in this configuration: {written.strip()}"
    for old, instead in GONE.items():
        if old in written or old in text[-1]:
            return f"{place} uses tl.{old}, which this version of Triton no longer has; use {instead}"
    return f"{place} does not compile: {text[-1]}"


GONE = {
    "make_block_ptr": "tl.make_tensor_descriptor, or pointers with masks",
    "advance": "tl.make_tensor_descriptor, or pointers with masks",
}


def by_every_name(parameters: Mapping[str, Dim], sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes by their own names and by those of a launch function's parameters."""
    return {**{name: value_at(n, sizes) for name, n in parameters.items()}, **sizes}
