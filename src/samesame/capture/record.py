"""Record a program: run it once, on real tensors, and note every operator that torch dispatches.

The program runs eagerly, in inference mode, where torch shows whole operators (`linear`, `matmul`, `softmax`) instead
of what autograd needs; one that computes gradients runs with them, and what autograd runs is noted as the program's own
operators are. Composite operators are opened into their parts, except for those of WHOLE (`spelled`), which mean more
than their parts would. Views and writes are made pure by `memory`. Casts to the same dtype, copies, aliases and views
of the whole are no nodes.

A graph stands for the program on all values of its inputs and parameters, so nothing may have depended on theirs. A
value that leaves torch for Python (`.item()`, `if tensor:`), or that decides a shape, is let out only if it is closed,
that is, a constant of the program; else the program is refused, and the message names the line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.autograd import forward_ad

from samesame.capture.again import Outputs, Ways, confirm, demand_same
from samesame.capture.alive import tensors_alive
from samesame.capture.asked import setting_of
from samesame.capture.derivatives import Lines, derivative
from samesame.capture.eager import Watching
from samesame.capture.exits import OFF, Differentiates, Exits, guarded
from samesame.capture.higher import definition
from samesame.capture.lists import one_by_one
from samesame.capture.memory import Memory, Step, address
from samesame.capture.ordinary import ordinary, triton_kernels
from samesame.capture.program import Foreign, Program, failed, kind_of
from samesame.capture.reading import (
    AS_ARGUMENT,
    DECIDES,
    ONLY_WARN,
    TRACING,
    counts_enough,
    fails_without_values,
    lets_out,
    reads_values,
)
from samesame.capture.rows.chosen import ALL_ROWS, Rows
from samesame.capture.rows.counted import counting
from samesame.capture.rows.forced import demand_nothing_else, likely
from samesame.capture.snapshot import kept
from samesame.capture.spelled import COPIES, FILLED, FITTING, PLACEMENT, SAME, SHAPED, UPDATES, is_opened
from samesame.capture.statistics import KEEPING, SPELLED_OUT
from samesame.capture.tape import Tape, dtype_of, type_of
from samesame.capture.twins import functional, is_diagonal, positional, returned
from samesame.capture.views import demand_no_views
from samesame.evidence import Refused, SamesameError
from samesame.graph import Graph, Node, Origin
from samesame.operators.execute import bound, draws_numbers, pure, tensors_in, undefined_, written
from samesame.operators.table import UNINITIALISED, packet
from samesame.programs.origins import running_modules, thread_line

UNSEEN = (
    "something in it works on tensors in a way torch does not show, such as a kernel called by address; register that "
    "as a torch operator"
)


MISREAD = "the tool that runs it understands one of its operators otherwise than we do; please report it"


def record(program: Program, name: str, again: bool = True) -> Graph:
    """The graph of one run of `program` on its example inputs; tensors from outside hold afterwards what they held
    before. With `again`, the program has run on other values too, and computed what the graph computes.

    Raises Refused where the program fails, draws random numbers, or lets data decide its course.
    """
    with kept(program) as afresh:
        graph, recorder, outputs = recorded(program, name)
        try:
            afresh()
            if again:
                return assured(program, graph, recorder, afresh)
            confirm(graph, outputs, UNSEEN)
            return graph
        finally:
            recorder.let_go()


def assured(program: Program, graph: Graph, recorder: Recorder, afresh: Callable[[], None] = lambda: None) -> Graph:
    """The graph of a run, once the program has computed the same on other values. `afresh` leaves the program as it was
    before a run."""
    demand_no_views(program, recorder.memory.written)

    def run(otherwise: bool = False) -> Outputs:
        try:
            return unwatched(program, program.gradients is not otherwise)
        finally:
            afresh()

    def recorded_again() -> Graph:
        try:
            return recorded(program, graph.name)[0]
        finally:
            afresh()

    fixed = bool(program.stand_ins)                        # these keep what they made of their weights
    sites = recorder.rows.sites if recorder.rows is not None else {}
    ways = Ways(
        run=run,
        recorded=recorded_again,
        weights={} if fixed else recorder.weights,
        others=[] if fixed else program.parameters,
        written=recorder.memory.written,
        asked=recorder.asked,
        otherwise=MISREAD if isinstance(program.program, Foreign) else likely(sites, UNSEEN),
    )
    asked = demand_same(program, graph, ways)
    if sites:
        asking = recorder.tape.graph(graph.name, list(graph.roots), sites)
        demand_nothing_else(program, asking, sites, ways, is_opened)
    return replace(graph, setting=setting_of(program.program, asked, program.gradients))


def recorded(
    program: Program, name: str, make: Callable[[Program], Recorder] | None = None
) -> tuple[Graph, Recorder, Outputs]:
    """The graph of one run, what recorded it, and what the run returned. A recorder of another kind is one to
    `make`."""
    recorder = (make or Recorder)(program)
    try:
        try:
            outputs = recorder.run()
            roots = [(root, recorder.memory.read(output)) for root, output in outputs]
            recorder.demand_all_rows(roots)
            graph = recorder.tape.graph(name, roots)
            kept = [(root, x.clone()) for root, x in outputs]
            recorder.ended(graph)
        finally:
            recorder.restore()
    except BaseException:
        recorder.let_go()
        raise
    return graph, recorder, kept


def unwatched(program: Program, gradients: bool) -> list[tuple[str, torch.Tensor]]:
    """What the program returns where nobody watches."""
    with ordinary(gradients), triton_kernels():
        return [(name, tensor.detach().clone()) for name, tensor in program.roots(program.plain().call())]


# An operator that failed: where, on which arguments, and how.
Failure = tuple[Origin, OpOverload, tuple[Any, ...], dict[str, Any], Exception]


class Recorder(Watching):
    """Notes operators as torch dispatches them. One that `follows_statistics` notes how norms move running statistics;
    for another, a program that does so is refused. Where one `follows_rows`, data may choose rows."""

    follows_statistics = True
    follows_rows = True

    def __init__(self, program: Program, borrows: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.program, self.stand_ins = program, program.stand_ins
        self.has_gradients, self.lines = program.gradients, Lines()
        self.modules: list[str] = [""]
        self.weights: dict[str, torch.Tensor] = {}         # the tensor behind each parameter, by its node's name
        self.refused: SamesameError | None = None          # the first refusal, whatever the program makes of it
        self.failures: list[Failure] = []
        self.drawn: dict[int, tuple[torch.Tensor, Refused]] = {}      # by id, what was drawn and must not be read
        self.asked: dict[str, Origin] = {}                 # what the program asks for beside values, and where first
        self.in_brackets = False                           # inside of x[…]
        self.tape = Tape(self.here, borrows)
        self.memory = Memory(self.tape.emit, self.source, self.refusal)
        self.rows = Rows(self) if self.follows_rows and program.plain() is program else None
        if self.rows is not None:
            self.tape.follow = self.rows.follow
        self.outside = tensors_alive()
        for input_name, tensor in program.inputs.items():
            self.memory.fresh(tensor, self.tape.source("input", input_name, tensor, Origin()), source=True)

    def let_go(self) -> None:
        """After its last use. The parts of a recorder refer to one another, so the tensors of a run would stay until
        Python's collector comes by, and each further recording goes through all that there are."""
        for part in (self.tape, self.rows, self):
            if part is not None:
                vars(part).clear()

    def here(self) -> Origin:
        """Where the program is, line and module; where autograd is, that of the operator it is the derivative of."""
        return self.lines.here(self.on_its_way) if self.has_gradients else self.on_its_way()

    def on_its_way(self) -> Origin:
        return self.program.here(self.modules[-1] if self.modules else "")

    def refusal(self, why: str, kind: type[Refused] = Refused) -> Refused:
        """The error that refuses the program because of what the line that is running does."""
        return self.noted(kind(f"{self.program.spoken(self.here())} {why}"))

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
            stack.enter_context(ordinary(self.has_gradients))
            self.modules = stack.enter_context(running_modules(self.program.modules))
            stack.enter_context(triton_kernels(self.noted))
            stack.enter_context(self.standing())
            stack.enter_context(guarded(self))
            stack.enter_context(Exits(self))
            stack.enter_context(counting(self.rows) if self.rows is not None else nullcontext())
            stack.enter_context(self)
            return self.results()

    def results(self) -> list[tuple[str, torch.Tensor]]:
        """What the run gives, by name: what the program returns."""
        return self.program.roots(self.program.call())

    def demand_all_rows(self, roots: list[tuple[str, Node]]) -> None:
        """Raise Refused where the program gives away rows that data chose."""
        for root, node in roots:
            if self.rows is not None and any(self.rows.known.get(node, ())):
                raise Refused(f"{node.origin.spoken} makes {root} of rows that data chose, so its shape depends on "
                              f"data; {ALL_ROWS}")

    def ended(self, graph: Graph) -> None:
        """Called when the graph is made, before anything is put back."""

    def restore(self) -> None:
        """Put back what the run changed."""
        with torch.inference_mode():
            self.memory.restore()

    def source(self, tensor: torch.Tensor) -> Node:
        """The node of a tensor that the program found rather than computed: a parameter, or a constant."""
        if id(tensor) in self.drawn:
            raise self.noted(self.drawn[id(tensor)][1])
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
        operator = kind_of(tensor)
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
        if (inside := definition(operation)) is not None:
            with self:
                return inside(*args, **kwargs)
        if isinstance(operation, HigherOrderOperator):
            raise self.refusal(f"uses the operator {operation}, which has no definition in torch's other operators")
        name = str(operation)
        if name in self.stand_ins:
            return self.stand_ins[name](self, operation, args, kwargs)
        if self.has_gradients:
            self.lines.note(self.on_its_way)
        elif forward_ad._current_level >= 0:
            raise self.refusal(OFF, Differentiates)
        opened = one_by_one(operation) or (derivative(operation) if self.has_gradients else None)
        if opened is not None:
            with self:
                return opened(*args, **kwargs)
        if self.has_gradients and name in KEEPING:
            with self:
                plain = KEEPING[name](*args, **kwargs)
            if plain is not None:
                return plain
        given = bound(operation, args, kwargs)
        answer = self.rows.answer(operation, given) if self.rows is not None else NotImplemented
        if answer is not NotImplemented:
            return answer
        if reads_values(operation, given) and not self.counts_enough(operation, given):
            deciding = tensors_in(given[DECIDES[name]] if name in DECIDES else list(given.values()))
            self.demand_closed(deciding, *lets_out(operation, self.in_brackets))
        if is_opened(operation):
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
            return self.draw(operation, args, kwargs)
        if torch.Tag.inplace_view in operation.tags:
            return self.change_view(operation, args, kwargs)
        if written(operation):
            return self.write(operation, args, kwargs, given)
        return self.apply(operation, args, kwargs, given)

    def draw(self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Random numbers of their own may be drawn as long as nothing reads them, as layers do that may be skipped in
        training; they have no node, and whatever needs one of theirs is refused."""
        error = Refused(
            f"{self.program.spoken(self.here())} draws random numbers ({operation._opname}), so no two runs agree; "
            "call .eval() on the module (dropout then does nothing), or draw the numbers before, under a seed, and "
            "pass them as an argument"
        )
        if any(True for _ in tensors_in([*args, *kwargs.values()])):
            raise self.noted(error)
        self.asked.setdefault("chance", self.here())
        result = operation(*args, **kwargs)
        self.drawn |= {id(tensor): (tensor, error) for tensor in tensors_in(result)}
        return result

    def apply(self, operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], given: dict[str, Any]) -> Any:
        """An operator without side effects: a view, or a result of its own."""
        if not any("Tensor" in str(r.type) for r in operation._schema.returns):
            return operation(*args, **kwargs)                 # a number that is closed, a size, an assertion
        name = str(operation)
        arguments = list(tensors_in(list(given.values())))
        if name == "aten.as_strided.default" and is_diagonal(*args):
            with self:
                return args[0].diagonal()
        if name.startswith("aten.as_strided") and not (args[0].is_contiguous() and args[0].storage_offset() == 0):
            raise self.refusal("calls as_strided on a tensor that is not contiguous; use slices instead")
        if name == "aten.lift_fresh.default" and id(args[0]) not in self.outside:
            self.outside[id(args[0])] = args[0]               # a literal: torch.tensor([1, 2]) says it this way
            self.memory.fresh(args[0], self.source(args[0]))
        result = operation(*args, **kwargs)
        if name in FILLED:
            return self.filled(result, FILLED[name](given), arguments)
        if packet(name) in UNINITIALISED:
            return self.filled(undefined_(result), None, arguments)
        results = list(tensors_in(result))
        if name in SAME | COPIES and not arguments:         # of a plain number, which vmap makes a tensor so
            return self.filled(result, args[0], [])
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
        if id(argument) in self.drawn:
            self.drawn[id(result)] = result, self.drawn[id(argument)][1]
            return result
        if address(result) == address(argument):
            self.memory.bind(result, self.memory.view(argument))
        else:
            self.memory.fresh(result, self.memory.read(argument))
        return result

    def filled(self, result: torch.Tensor, value: Any, like: list[torch.Tensor]) -> torch.Tensor:
        """A new tensor that holds one value throughout; None where it holds none yet. It may have the shape of another,
        chosen rows included."""
        self.memory.fresh(result, self.full(result, value, like))
        return result

    def full(self, held: torch.Tensor, value: Any, like: list[torch.Tensor]) -> Node:
        operator, rest = ("aten.empty.memory_format", ()) if value is None else ("aten.full.default", (value,))
        node = self.tape.emit(operator, (tuple(held.shape), *rest), {"dtype": dtype_of(held.dtype)}, type_of(held))
        if self.rows is not None and like:
            self.rows.alike(node, like[0], tuple(held.shape))
        return node

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
            self.tape.own(target)
        name = str(operation)
        if name in FILLED or name in ("aten.copy_.default", "aten.fill_.Tensor"):
            target = targets[0]
            node = self.full(target, FILLED[name](given), [target]) if name in FILLED else self.fitted(args[1], target)
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
            if self.rows is not None:
                self.rows.fitted(node, value, target)
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

    def counts_enough(self, operation: OpOverload, given: Mapping[str, Any]) -> bool:
        """Whether it is a `bincount` of as many integers as there are, which verdicts take for granted then."""
        return counts_enough(operation, given)

    def demand_closed(self, tensors: Iterator[torch.Tensor], doing: str, instead: str = AS_ARGUMENT) -> None:
        here = self.here()
        if (here.file, here.function) in ONLY_WARN:
            return
        if any(map(self.is_open, tensors)):
            way_out = TRACING if here.file.startswith("transformers/") else ""
            program = self.program.program
            if isinstance(program, Foreign) and program.runs:
                doing = f"{program.runs}, which needs the values of a tensor to go on"
            raise self.refusal(f"{doing}, so the graph depends on data; {instead}{way_out}")

    def is_open(self, tensor: torch.Tensor) -> bool:
        """Whether what a tensor holds, or how many rows it has, hangs on data."""
        return self.memory.read(tensor) in self.tape.open or self.has_chosen_rows(tensor)

    def has_chosen_rows(self, tensor: torch.Tensor) -> bool:
        return self.rows is not None and any(self.rows.axes(tensor))

    def demand_unknown(self, tensors: Iterator[torch.Tensor], doing: str) -> None:
        """In another thread: of tensors that the recorder knows, only closed ones may be read."""
        for tensor in tensors:
            if id(tensor) in self.drawn:
                raise self.noted(self.drawn[id(tensor)][1])
            known = self.memory.views.get(id(tensor))
            if (known is not None and known[2].node in self.tape.open) or self.program.named(tensor) is not None:
                raise self.noted(Refused(f"{thread_line().spoken or self.program.title} {doing}"))


def unchanged(result: torch.Tensor, argument: torch.Tensor) -> bool:
    return result.shape == argument.shape and result.dtype == argument.dtype
