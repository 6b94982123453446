"""Record a program: run it once, on real tensors, and note every operator that torch dispatches.

The program runs eagerly, in inference mode, where torch shows whole operators (`linear`, `matmul`, `softmax`) instead
of what autograd needs. Composite operators are opened into their parts, except for those of WHOLE, which mean more than
their parts would. Views and writes are made pure by `memory`. Casts to the same dtype, copies, aliases and views of
the whole are no nodes.

A graph stands for the program on all values of its inputs and parameters, so nothing may have depended on theirs. A
value that leaves torch for Python (`.item()`, `if tensor:`), or that decides a shape, is let out only if it is closed,
that is, a constant of the program; else the program is refused, and the message names the line.
"""

from __future__ import annotations

import logging
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map_only

from samesame.capture.again import Outputs, Ways, confirm, demand_same
from samesame.capture.alive import tensors_alive
from samesame.capture.asked import setting_of
from samesame.capture.eager import Watching, eagerly
from samesame.capture.exits import Exits, guarded
from samesame.capture.memory import Memory, Step, address
from samesame.capture.program import Program, failed
from samesame.capture.statistics import SPELLED_OUT
from samesame.capture.tape import Tape, dtype_of, type_of
from samesame.capture.twins import functional, positional, returned
from samesame.capture.views import demand_no_views
from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Node, Origin
from samesame.operators.execute import UNINITIALISED, bound, draws_numbers, pure, tensors_in, undefined_, written
from samesame.programs.origins import running_modules, thread_line


def aten(names: str) -> frozenset[str]:
    return frozenset("aten." + name for name in names.split())


# Composite operators that stay whole.
WHOLE = aten(
    """batch_norm.default einsum.default group_norm.default instance_norm.default layer_norm.default linear.default
    log_softmax.int matmul.default one_hot.default prelu.default reshape.default rms_norm.default
    scaled_dot_product_attention.default softmax.int"""
)

# The same elements in memory of their own; one result, of the argument's type unless a dtype is given.
COPIES = aten("clone.default _to_copy.default lift_fresh_copy.default")

# The same tensor in other words.
SAME = aten("alias.default detach.default lift.default lift_fresh.default")

# Views that change nothing where they give back the shape they got.
FITTING = aten(
    """expand.default reshape.default slice.Tensor squeeze.default squeeze.dim squeeze.dims view.default
    _unsafe_view.default"""
)

# Views that say the shape they give, each under one name and with the shape written out.
SHAPED = {
    "aten.view.default": "aten.reshape.default",
    "aten._unsafe_view.default": "aten.reshape.default",
    "aten.reshape.default": "aten.reshape.default",
    "aten.expand.default": "aten.expand.default",
}

# Tensors of one value throughout: of another tensor they take only the shape and the dtype.
FILLED: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "aten.zeros_like.default": lambda given: 0,
    "aten.ones_like.default": lambda given: 1,
    "aten.new_zeros.default": lambda given: 0,
    "aten.new_ones.default": lambda given: 1,
    "aten.zero_.default": lambda given: 0,
    "aten.full_like.default": lambda given: given["fill_value"],
    "aten.new_full.default": lambda given: given["fill_value"],
    "aten.fill_.Scalar": lambda given: given["value"],
}

PLACEMENT = frozenset(("device", "layout", "pin_memory", "memory_format", "non_blocking", "generator"))

# Operators that write into running statistics, which their schema does not say, where this argument is true.
UPDATES = {
    "batch_norm": "training",
    "native_batch_norm": "training",
    "cudnn_batch_norm": "training",
    "miopen_batch_norm": "training",
    "instance_norm": "use_input_stats",
}

# What a program does when it lets a value out, in the words of who wrote it.
LETS_OUT = {
    "aten.item.default": "calls .item() on a tensor",
    "aten._local_scalar_dense.default": "calls .item() on a tensor",
    "aten.is_nonzero.default": "uses a tensor as a condition",
    "aten.index.Tensor": "indexes with a mask, which gives a shape that depends on values",
    "aten.masked_select.default": "selects by a mask, which gives a shape that depends on values",
    "aten.tensor_split.tensor_indices_or_sections": "splits at places that a tensor holds",
}

# The argument that decides, where it is not all of them.
DECIDES = {
    "aten.index.Tensor": "indices",
    "aten.masked_select.default": "mask",
    "aten.tensor_split.tensor_indices_or_sections": "tensor_indices_or_sections",
}

# Functions that read values only to print a warning.
ONLY_WARN = frozenset([("transformers/modeling_utils.py", "warn_if_padding_and_no_attention_mask")])

# Transformers asks values such questions for speed only, and not while torch.export traces it.
TRACING = ", or capture by torch.export (--how export)"

UNSEEN = (
    "something in it works on tensors in a way torch does not show, such as a kernel called by address; register that "
    "as a torch operator"
)


def record(program: Program, name: str, again: bool = True) -> Graph:
    """The graph of one run of `program` on its example inputs; tensors from outside hold afterwards what they held
    before. With `again`, the program has run on other values too, and computed what the graph computes.

    Raises Refused where the program fails, draws random numbers, or lets data decide its course.
    """
    graph, recorder, outputs = recorded(program, name)
    if not again:
        confirm(graph, outputs, UNSEEN)
        return graph
    return assured(program, graph, recorder)


def assured(program: Program, graph: Graph, recorder: Recorder, afresh: Callable[[], None] = lambda: None) -> Graph:
    """The graph of a run, once the program has computed the same on other values. `afresh` leaves the program as it was
    before a run."""
    demand_no_views(program, recorder.memory.written)

    def run(gradients: bool = False) -> Outputs:
        try:
            return unwatched(program, gradients)
        finally:
            afresh()

    def recorded_again() -> Graph:
        try:
            return recorded(program, graph.name)[0]
        finally:
            afresh()

    fixed = bool(program.stand_ins)                        # these keep what they made of their weights
    ways = Ways(
        run=run,
        recorded=recorded_again,
        weights={} if fixed else recorder.weights,
        others=[] if fixed else program.parameters,
        written=recorder.memory.written,
        asked=recorder.asked,
        otherwise=UNSEEN,
    )
    return replace(graph, setting=setting_of(program.program, demand_same(program, graph, ways)))


def recorded(
    program: Program, name: str, make: Callable[[Program], Recorder] | None = None
) -> tuple[Graph, Recorder, Outputs]:
    """The graph of one run, what recorded it, and what the run returned. A recorder of another kind is one to
    `make`."""
    recorder = (make or Recorder)(program)
    try:
        outputs = recorder.run()
        roots = [(root, recorder.memory.read(output)) for root, output in outputs]
        graph = recorder.tape.graph(name, roots)
        kept = [(root, x.clone()) for root, x in outputs]
        recorder.ended(graph)
        return graph, recorder, kept
    finally:
        recorder.restore()


def unwatched(program: Program, gradients: bool = False) -> list[tuple[str, torch.Tensor]]:
    """What the program returns where nobody watches."""
    with ExitStack() as stack:
        for state in ordinary(gradients):
            stack.enter_context(state)
        stack.enter_context(triton_kernels())
        return [(name, tensor.detach().clone()) for name, tensor in program.roots(program.call())]


def ordinary(gradients: bool = False) -> Iterator[AbstractContextManager[Any]]:
    """The state of torch in which a program is recorded: without gradients, by torch's own kernels."""
    yield torch.inference_mode(not gradients)
    yield torch.set_grad_enabled(gradients)
    yield eagerly()
    yield general_kernels()


def random_states() -> tuple[Any, ...]:
    """The states of the random numbers that torch does not know of: Python's, and numpy's where it is loaded."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return random.getstate(), None
    state = numpy.random.get_state(legacy=False)["state"]
    return random.getstate(), {name: bytes(part) if hasattr(part, "tobytes") else part for name, part in state.items()}


# An operator that failed: where, on which arguments, and how.
Failure = tuple[Origin, OpOverload, tuple[Any, ...], dict[str, Any], Exception]


class Recorder(Watching):
    """Notes operators as torch dispatches them. One that `follows_statistics` notes how norms move running statistics;
    for another, a program that does so is refused."""

    follows_statistics = True
    has_gradients = False

    def __init__(self, program: Program) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.program, self.stand_ins = program, program.stand_ins
        self.modules: list[str] = [""]
        self.weights: dict[str, torch.Tensor] = {}         # the tensor behind each parameter, by its node's name
        self.refused: SamesameError | None = None          # the first refusal, whatever the program makes of it
        self.failures: list[Failure] = []
        self.asked: dict[str, Origin] = {}                 # what the program asks for beside values, and where first
        self.tape = Tape(self.here)
        self.memory = Memory(self.tape.emit, self.source, self.refusal)
        self.outside = tensors_alive()
        for input_name, tensor in program.inputs.items():
            self.memory.fresh(tensor, self.tape.source("input", input_name, tensor, Origin()), source=True)

    def here(self) -> Origin:
        """Where the program is: line and module."""
        return self.program.here(self.modules[-1] if self.modules else "")

    def refusal(self, why: str) -> Refused:
        """The error that refuses the program because of what the line that is running does."""
        return self.noted(Refused(f"{self.program.spoken(self.here())} {why}"))

    def noted(self, error: Refused) -> Refused:
        """A refusal stands from here on: a program that catches it is refused when it ends."""
        self.refused = self.refused or error
        return error

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Around the program: however it ends, what was refused on the way is raised, and what it swallowed of an
        operator's failure on these values."""
        try:
            yield
        except (Exception, SystemExit) as error:
            raise self.failure(error) from error.__cause__ if isinstance(error, SamesameError) else error
        if self.refused is not None:
            raise self.refused
        self.demand_failures_of_shapes()

    def failure(self, error: BaseException) -> SamesameError:
        """What to say when the program raises."""
        if self.refused is not None or isinstance(error, SamesameError):
            return self.refused or error                                   # type: ignore[return-value]
        return failed(error, self.program.spoken(self.here()))

    def run(self) -> list[tuple[str, torch.Tensor]]:
        """Run the program and note it; its outputs by name."""
        with ExitStack() as stack:
            for state in ordinary():
                stack.enter_context(state)
            self.modules = stack.enter_context(running_modules(self.program.modules))
            stack.enter_context(triton_kernels(self.noted))
            stack.enter_context(self.standing())
            stack.enter_context(guarded(self))
            stack.enter_context(Exits(self))
            stack.enter_context(self)
            return self.results()

    def results(self) -> list[tuple[str, torch.Tensor]]:
        """What the run gives, by name: what the program returns."""
        return self.program.roots(self.program.call())

    def ended(self, graph: Graph) -> None:
        """Called when the graph is made, before anything is put back."""

    def restore(self) -> None:
        """Put back what the run changed."""
        with torch.inference_mode():
            self.memory.restore()

    def source(self, tensor: torch.Tensor) -> Node:
        """The node of a tensor that the program found rather than computed: a parameter, or a constant."""
        named = self.program.named(tensor)
        if named is not None:
            operator, name = named
            module = name.rpartition(".")[0]
            return self.introduced(operator, name, tensor, Origin(module=module, parameter=name))
        if id(tensor) not in self.outside:
            raise self.refusal(
                "uses a tensor that was made in a way torch does not show (an extension, a file); make "
                "it beforehand, or register the code that makes it as a torch operator"
            )
        operator = "parameter" if isinstance(tensor, torch.nn.Parameter) else "constant"
        return self.introduced(operator, operator, tensor, self.here())

    def introduced(self, operator: str, name: str, tensor: torch.Tensor, origin: Origin) -> Node:
        node = self.tape.source(operator, name, tensor, origin)
        if operator == "parameter":
            self.weights[node.name] = tensor
        return node

    # ------------------------------------------------------------------------------------------------- one operator

    def __torch_dispatch__(
        self, operation: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        try:
            return self.operator(operation, types, args, kwargs or {})
        except Refused as error:
            raise self.noted(error) from error.__cause__
        except Exception as error:
            self.failures.append((self.here(), operation, args, kwargs or {}, error))
            raise

    def operator(self, operation: OpOverload, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the program sees of an operator."""
        name = str(operation)
        if name in self.stand_ins:
            return self.stand_ins[name](self, operation, args, kwargs)
        given = bound(operation, args, kwargs)
        if reads_values(operation, given):
            doing = LETS_OUT.get(name, f"calls {operation._opname}, whose result cannot be known before it runs")
            self.demand_closed(tensors_in(given[DECIDES[name]] if name in DECIDES else list(given.values())), doing)
        if name not in WHOLE and operation.namespace == "aten" and operation._can_decompose():
            with self:
                return operation.decompose(*args, **kwargs)
        if given.get(UPDATES.get(operation._opname, "")) and given.get("running_mean") is not None:
            spelled_out = SPELLED_OUT.get(name)
            if spelled_out is None or not self.follows_statistics:
                name = operation._opname
                raise self.refusal(f"updates running statistics ({name}); call .eval() on the module")
            with self:
                return spelled_out(given)
        if draws_numbers(operation, args, kwargs):
            raise self.refusal(
                f"draws random numbers ({operation._opname}), so no two runs agree; call .eval() on the module "
                "(dropout then does nothing), or draw the numbers before, under a seed, and pass them as an argument"
            )
        if torch.Tag.inplace_view in operation.tags:
            return self.change_view(operation, args, kwargs)
        if written(operation):
            return self.write(operation, args, kwargs, given)
        return self.apply(operation, args, kwargs, given)

    def apply(self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], given: dict[str, Any]) -> Any:
        """An operator without side effects: a view, or a result of its own."""
        if not any("Tensor" in str(r.type) for r in operation._schema.returns):
            return operation(*args, **kwargs)                 # a number that is closed, a size, an assertion
        name = str(operation)
        arguments = list(tensors_in(list(given.values())))
        if name.startswith("aten.as_strided") and not (args[0].is_contiguous() and args[0].storage_offset() == 0):
            raise self.refusal("calls as_strided on a tensor that is not contiguous; use slices instead")
        if name == "aten.lift_fresh.default":
            self.outside.setdefault(id(args[0]), args[0])     # a literal: torch.tensor([1, 2]) says it this way
        result = operation(*args, **kwargs)
        if name in FILLED:
            return self.filled(result, FILLED[name](given))
        if name.partition(".")[2].partition(".")[0] in UNINITIALISED:
            return self.filled(undefined_(result), None)
        results = list(tensors_in(result))
        if name in SAME or (name in COPIES | FITTING and unchanged(results[0], arguments[0])):
            return self.again(results[0], arguments[0])
        node_args, node_kwargs = self.arguments(args, kwargs)
        if not arguments and "dtype" in (a.name for a in operation._schema.arguments):
            node_kwargs["dtype"] = dtype_of(results[0].dtype)
        if name in SHAPED:
            name, node_args, node_kwargs = SHAPED[name], (node_args[0], tuple(result.shape)), {}
        self.bind(name, result, node_args, node_kwargs, arguments)
        return result

    def bind(
        self,
        operator: str,
        result: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        arguments: list[torch.Tensor],
    ) -> None:
        """Make the node of an application, and tie its results to it."""
        several = isinstance(result, list | tuple)
        type_ = tuple(map(type_of, result)) if several else type_of(result)
        node = self.tape.emit(operator, args, kwargs, type_)
        for index, tensor in enumerate(result if several else (result,)):
            if not isinstance(tensor, torch.Tensor):
                continue
            self.memory.demand_memory(tensor)
            part = self.tape.emit("getitem", (node, index), {}, type_of(tensor)) if several else node
            viewed = next((a for a in arguments if address(a) == address(tensor)), None)
            if viewed is None:
                self.memory.fresh(tensor, part)
            elif tensor is not viewed:
                step = Step(operator, args, kwargs, self.memory.read(viewed), index if several else None, type_)
                self.memory.alias(tensor, self.memory.view(viewed), step, part)

    def again(self, result: torch.Tensor, argument: torch.Tensor) -> torch.Tensor:
        """A result that has the argument's value: no node."""
        if address(result) == address(argument):
            self.memory.bind(result, self.memory.view(argument))
        else:
            self.memory.fresh(result, self.memory.read(argument))
        return result

    def filled(self, result: torch.Tensor, value: Any) -> torch.Tensor:
        """A new tensor that holds one value throughout; None where it holds none yet."""
        self.memory.fresh(result, self.full(result, value))
        return result

    def full(self, like: torch.Tensor, value: Any) -> Node:
        operator, rest = ("aten.empty.memory_format", ()) if value is None else ("aten.full.default", (value,))
        return self.tape.emit(operator, (tuple(like.shape), *rest), {"dtype": dtype_of(like.dtype)}, type_of(like))

    def arguments(self, args: Any, kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments as nodes hold them."""
        node_kwargs = {name: self.argument(part) for name, part in kwargs.items() if name not in PLACEMENT}
        return tuple(map(self.argument, args)), node_kwargs

    def argument(self, argument: Any) -> Any:
        if isinstance(argument, torch.Tensor):
            return self.memory.read(argument)
        if isinstance(argument, list | tuple):
            return tuple(map(self.argument, argument))
        if isinstance(argument, torch.dtype):
            return dtype_of(argument)
        if isinstance(argument, torch.device | torch.layout | torch.memory_format | torch.Generator):
            return None
        return argument

    # ------------------------------------------------------------------------------------------------------- writes

    def write(self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], given: dict[str, Any]) -> Any:
        """An operator that writes into arguments: compute the result apart, then give it to them."""
        names = [operation._schema.arguments[position].name for position in written(operation)]
        targets = [tensor for name in names for tensor in tensors_in(given.get(name))]
        for target in targets:
            self.memory.will_write(target)
        name = str(operation)
        if name in FILLED or name in ("aten.copy_.default", "aten.fill_.Tensor"):
            target = targets[0]
            node = self.full(target, FILLED[name](given)) if name in FILLED else self.fitted(args[1], target)
            operation(*args, **kwargs)
            self.memory.write(target, node)
            return target
        fresh = self.rewrite(operation, args, kwargs, given, targets)
        return returned(operation, given, fresh)

    def rewrite(
        self,
        operation: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        given: dict[str, Any],
        targets: list[torch.Tensor],
    ) -> list[Any]:
        """Apply the pure form of a writing operator and write its results; returns those that are no targets."""
        twin = functional(operation)
        if twin is not None:
            kept = {a.name for a in twin._schema.arguments}
            args, kwargs = (), {name: value for name, value in given.items() if name in kept}
        result = pure(twin or operation)(*args, **kwargs)
        results = list(result) if isinstance(result, list | tuple) else [result]
        node_args, node_kwargs = self.arguments(args, kwargs)
        if twin is not None:
            node_args, node_kwargs = positional(twin, node_kwargs)
        self.bind(str(twin or operation), result, node_args, node_kwargs, [])
        fresh, values = results[: len(results) - len(targets)], results[len(results) - len(targets) :]
        for target, value in zip(targets, values, strict=True):
            if value.shape != target.shape:
                raise self.refusal(
                    f"writes a result of shape {list(value.shape)} into a tensor of shape "
                    f"{list(target.shape)}; use the result instead of out="
                )
            node = self.fitted(value, target)
            target.copy_(value)
            self.memory.write(target, node)
        return fresh

    def fitted(self, value: torch.Tensor, target: torch.Tensor) -> Node:
        """A value with the dtype and the shape of the tensor that it is written into."""
        node = self.memory.read(value)
        type_ = type_of(target)
        if value.dtype != target.dtype:
            cast = type_of(value.to(target.dtype))
            node = self.tape.emit("aten._to_copy.default", (node,), {"dtype": dtype_of(target.dtype)}, cast)
        if value.shape != target.shape:
            node = self.tape.emit("aten.expand.default", (node, type_.shape), {}, type_)
        return node

    def change_view(self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
        """`t_`, `squeeze_`, …: the tensor itself becomes another view of its memory."""
        twin = functional(operation)
        if twin is None or twin._schema.returns[0].alias_info is None:
            raise self.refusal(f"calls {operation._opname}, which replaces a tensor's memory; make a new one")
        tensor: torch.Tensor = args[0]
        node_args, node_kwargs = self.arguments(args, kwargs)
        view = self.memory.view(tensor)
        operation(*args, **kwargs)
        if str(twin) in SAME:
            self.memory.bind(tensor, view)
        else:
            step = Step(str(twin), node_args, node_kwargs, node_args[0], None, type_of(tensor))
            self.memory.alias(tensor, view, step, step.apply(node_args[0], self.tape.emit))
        return tensor

    # ------------------------------------------------------------------------------------------------ values let out

    def demand_failures_of_shapes(self) -> None:
        """Raise Refused where the program went on after an operator that failed on these values, and might not on
        others."""
        for here, operation, args, kwargs, error in self.failures:
            given = [tensor for tensor in tensors_in([*args, *kwargs.values()]) if self.memory.knows(tensor)]
            if not any(self.memory.read(tensor) in self.tape.open for tensor in given):
                continue
            if not fails_without_values(operation, args, kwargs, error):
                said = (str(error).strip().splitlines() or ["no message"])[0]
                raise Refused(
                    f"{self.program.spoken(here)} goes on after {operation._opname} failed on these values ({said}); "
                    "on others it may not fail, so the graph depends on data; choose by torch.where instead"
                )

    def demand_closed(self, tensors: Iterator[torch.Tensor], doing: str) -> None:
        here = self.here()
        if (here.file, here.function) in ONLY_WARN:
            return
        if any(self.memory.read(tensor) in self.tape.open for tensor in tensors):
            way_out = TRACING if here.file.startswith("transformers/") else ""
            raise self.refusal(f"{doing}, so the graph depends on data; pass the value as an argument instead{way_out}")

    def demand_unknown(self, tensors: Iterator[torch.Tensor], doing: str) -> None:
        """In another thread: of tensors that the recorder knows, only closed ones may be read."""
        for tensor in tensors:
            known = self.memory.views.get(id(tensor))
            if (known is not None and known[2].node in self.tape.open) or self.program.named(tensor) is not None:
                raise self.noted(Refused(f"{thread_line().spoken or self.program.title} {doing}"))


def reads_values(operation: OpOverload, given: Mapping[str, Any]) -> bool:
    """Whether the result, or its shape, can be known only by running the operator on values."""
    name = str(operation)
    if name == "aten.index.Tensor":
        return any(index.dtype in (torch.bool, torch.uint8) for index in tensors_in(given["indices"]))
    if name == "aten.one_hot.default":
        return bool(given.get("num_classes", -1) < 0)
    tags = torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape
    return name in LETS_OUT or any(tag in operation.tags for tag in tags)


def fails_without_values(
    operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> bool:
    """Whether an operator fails for shapes or dtypes alone: in the same way on tensors that hold nothing. Tells torch's
    log nothing of it."""
    if isinstance(error, NotImplementedError) or "not implemented for" in str(error):
        return True
    log = logging.getLogger(FakeTensorMode.__module__)
    before, log.disabled = log.disabled, True
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        try:
            operation(
                *tree_map_only(torch.Tensor, fake.from_tensor, args),
                **tree_map_only(torch.Tensor, fake.from_tensor, kwargs),
            )
        except Exception as other:
            return type(other) is type(error)
        finally:
            log.disabled = before
    return False


def unchanged(result: torch.Tensor, argument: torch.Tensor) -> bool:
    return result.shape == argument.shape and result.dtype == argument.dtype


@contextmanager
def general_kernels() -> Iterator[None]:
    """Do without the libraries that have whole recurrent layers as operators of their own, in few dtypes.

    By torch's own functions: the flags in torch.backends may be frozen (torch's test tools freeze them), and the
    context managers there set other flags too, which warns.
    """
    own = torch._C
    libraries = [
        (own._get_mkldnn_enabled(), own._set_mkldnn_enabled),
        (own._get_cudnn_enabled(), own._set_cudnn_enabled),
    ]
    for _, switch in libraries:
        switch(False)
    try:
        yield
    finally:
        for enabled, switch in libraries:
            switch(enabled)


def triton_kernels(noted: Callable[[Refused], Refused] | None = None) -> AbstractContextManager[None]:
    """Launches of Triton kernels as operators; nothing where no program can have one, for Triton is slow to load."""
    if "triton.runtime.jit" not in sys.modules:
        return nullcontext()
    from samesame.capture.triton_operators import kernels_as_operators

    return kernels_as_operators(noted)
