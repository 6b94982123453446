"""`lift`: every launch of a target, and the whole against a reference.

A target is a function that launches kernels, or a file of TTIR. A kernel that is launched twice with the same signature
is lifted once. Of a TTIR file nothing is known of the tensors and the grid, so its formula is over memory as one line
and what depends on shapes stays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from samesame.evidence import Refused
from samesame.formula.assumptions import Assumption, simplified
from samesame.formula.expr import Expr, Size, Unsupported
from samesame.formula.show import unicode
from samesame.kernels import clock
from samesame.kernels.execution.ttir import parse
from samesame.kernels.formulas.present import presentable
from samesame.kernels.front import launch_of, passed_of, scalar, times_written
from samesame.kernels.host.sizes import SHORT
from samesame.kernels.host.written import AsWritten
from samesame.kernels.indices.integers import equal
from samesame.kernels.indices.solver import with_fact
from samesame.kernels.kernel import Settings, all_told, lift_launch
from samesame.kernels.launch import Argument, Launch, Memory
from samesame.kernels.stated import Above, Sum
from samesame.kernels.verdict import KernelVerdict, LiftVerdict
from samesame.lift.attempts import Shared, in_time
from samesame.lift.contracts import check_contracts
from samesame.lift.differences import replay_difference
from samesame.lift.draws import Held
from samesame.lift.example import Example
from samesame.lift.layouts import layouts_needed
from samesame.lift.names import name_of
from samesame.lift.numerics import plain
from samesame.lift.parameters import taken_by
from samesame.lift.replayed import replay
from samesame.lift.stating import breaks_at, under_contracts
from samesame.lift.together import cover_together, covered_by
from samesame.lift.told import hold_infinities, made_before, with_infinities
from samesame.lift.tried import Tried
from samesame.lift.wholes import hold_rests
from samesame.lift.written import as_given, written_before
from samesame.operators.ideal import idealised, is_guarded
from samesame.operators.numbers import readings

NAMING = 0.25  # of the time that a kernel may take
SUFFIXES = (".ttir", ".mlir")
OF_A_FILE = (
    "TTIR says nothing of tensors' shapes and of the grid, and what depends on them stays undecided; lift the function "
    "that launches the kernel"
)


def lift(
    target: Any,
    against: Any = None,
    settings: Settings | None = None,
    *,
    inputs: Any = None,
    name: str = "",
    numerics: bool = False,
    assume: Sequence[str] = (),
) -> LiftVerdict:
    """What the kernels of `target` compute, for all sizes, and whether they are safe.

    `target` is a function that launches Triton kernels, its name (`file.py:launch`), or a file of TTIR. `against` is a
    PyTorch function, or its name, whose parameters are called as the launch's tensors. With `numerics` the error of
    each stored tensor is measured besides. `assume` are contracts in the names of the launch (`N % 2 == 0`,
    `0 <= labels < V or labels == -100`, `distinct(slots)`), beside those that the launch function has as its own
    (`launch.assume = […]`). The example has to meet them; they are part of what the verdict stands on. Raises Refused
    where there is nothing to lift, where Triton is missing, and of a contract that cannot be read or that the example
    breaks.
    """
    settings = settings or Settings()
    title = name or (target if isinstance(target, str) else getattr(target, "__name__", "launch"))
    if isinstance(target, str | Path) and str(target).endswith(SUFFIXES):
        if against is not None or numerics or assume:
            raise Refused(
                f"{target} says nothing of tensors, so it can be neither compared nor measured, and contracts have no "
                "names in it; give a function that launches it"
            )
        kernel = named(lift_launch(launch_of_file(Path(target)), settings), settings)
        return LiftVerdict(title, [kernel], notes=[OF_A_FILE] if kernel.verdict == "undecided" else [])
    demand_triton()
    from samesame.kernels.host.launches import capture_launches, contracts_beside, writes_sizes

    assume, shared = (*contracts_beside(target), *assume), Shared(settings.seconds)

    def lifted(target: Any) -> Attempt:
        def attempt(more: Sequence[str], literal: bool = False, apart: bool = False) -> Attempt:
            contracts = (*assume, *more)
            captured = capture_launches(target, inputs, assume=contracts, literal=literal, apart=apart)
            with shared.attempt(captured):
                return attempted(target, against, settings, inputs, title, captured)

        found = of_lengths(attempt)
        if len(set(found.captured.parameters.values())) == len(found.captured.parameters):
            return found
        several = in_time(partial(of_lengths, partial(attempt, apart=True)))  # they are equal in the example alone
        if several is None:
            return found
        if several.rank >= found.rank:
            return several
        if several.verdict.against == "different":
            sizes = (several.verdict.against_counterexample or {}).get("sizes", {})
            told = ", ".join(f"{name} = {n}" for name, n in sizes.items())
            words = f"then the kernel and its reference differ, at {told}"
            found.verdict.notes.append(f"Parameters that are equal in the example were tried as others: {words}.")
        found.verdict.notes += elsewhere(several)
        return found

    found = lifted(target)
    if not found.is_done and writes_sizes(target):
        as_written = in_time(partial(lifted, AsWritten(target)))
        if as_written is not None and as_written.rank > found.rank:
            as_written.verdict.notes += elsewhere(found)
            target, found = AsWritten(target), as_written
    found.verdict.notes += shared.note()
    found.look_at_runs(target, inputs)
    if numerics:
        measure(target, inputs, found.captured, {call: one[0] for call, one in found.lifted.items()})
    return found.verdict


def of_lengths(attempt: Callable[..., Attempt]) -> Attempt:
    """The better attempt of two: with short lengths that the host code writes as sizes, and as the numbers they are."""
    found = under_contracts(attempt)
    meant = found.captured.named or not found.proved    # without parameters nobody said that others are sizes
    if min(found.captured.written, default=0) > SHORT and found.proved and found.verdict.against in ("", "same"):
        return found                                    # a longer one is a size, as long as nothing speaks against it
    if meant and found.captured.written and not found.is_done and not breaks_at(found, found.captured.sizes):
        as_written = in_time(partial(under_contracts, partial(attempt, literal=True)))
        if as_written is None:
            return found
        if as_written.rank > found.rank or (found.breaks and not as_written.breaks):  # at lengths that nobody means
            return as_written
    return found


def elsewhere(found: Attempt) -> Iterator[str]:
    """What breaks at other sizes than the launch function writes down, which nobody may mean."""
    for kernel, _ in found.launched:
        for obligation in kernel.obligations:
            if obligation.state == "violated" and obligation.counterexample is not None:
                sizes = ", ".join(f"{name} = {n}" for name, n in obligation.counterexample.get("sizes", {}).items())
                told = f"{obligation.name} is not kept, by the formulas alone"
                yield f"{kernel.kernel} at other sizes than are written, {sizes}: {told}"


@dataclass
class Attempt:
    """What proofs make of a target under some contracts; `lifted` has the verdicts by the number of the launch, for
    each of its configurations, and `launched` those that differ, with the launches as recorded."""

    captured: Any
    verdict: LiftVerdict
    lifted: dict[int, list[KernelVerdict]] = field(default_factory=dict)
    launched: list[tuple[KernelVerdict, Any]] = field(default_factory=list)
    reference: Callable[..., Any] | None = None
    configuration: str = ""
    example: Example | None = None

    def has_none_below_zero(self, name: str, drawn: Any) -> bool:
        """Whether integers that were drawn for a tensor lie below 0, and none does that it holds in the example."""
        held: Any = self.example.input(name) if self.example is not None else None
        if held is None or held.dtype.is_floating_point or not held.numel():
            return False
        return bool(np.any(np.asarray(drawn) < 0)) and bool((plain(held) >= 0).all())

    def has_some_below_zero(self, name: str) -> bool:
        """Whether a tensor holds integers in the example, some of which are below 0."""
        held: Any = self.example.input(name) if self.example is not None else None
        return held is not None and not held.dtype.is_floating_point and bool((plain(held) < 0).any())

    def has_all_above_zero(self, name: str) -> bool:
        """Whether a tensor holds reals in the example, each above 0."""
        held: Any = self.example.input(name) if self.example is not None else None
        return held is not None and held.dtype.is_floating_point and held.numel() > 0 and bool((plain(held) > 0).all())

    def has_none_below_one(self, name: str) -> bool:
        """Whether a tensor holds integers in the example, none of which is below 1."""
        held: Any = self.example.input(name) if self.example is not None else None
        if held is None or held.dtype.is_floating_point or not held.numel():
            return False
        return bool((plain(held) >= 1).all())

    @property
    def rank(self) -> tuple[int, ...]:
        """What is proved: of two attempts under different contracts, the one with more of it is the better one."""
        kernels = [kernel for kernel, _ in self.launched]
        proved = not self.verdict.unsupported and all(k.verdict == "verified" for k in kernels)
        same = self.verdict.against in ("", "same")
        left = sum(o.state != "proved" for k in kernels for o in k.obligations)
        unread = sum(bool(k.unsupported) for k in kernels)  # of such a kernel no obligation is open, as none is stated
        told = all(map(all_told, kernels))
        return proved and same, proved, self.breaks, same, -unread, told, -left, -len(self.held)

    @property
    def proved(self) -> bool:
        """Whether every kernel is verified."""
        return bool(self.rank[1])

    @property
    def breaks(self) -> bool:
        """Whether an obligation is violated."""
        return any(kernel.verdict == "violated" for kernel, _ in self.launched)

    @property
    def is_done(self) -> bool:
        """Whether all is proved, and at no sizes alone."""
        return self.rank[0] == 1 and not self.held

    @property
    def held(self) -> list[str]:
        """The sizes at which alone it is compared with the reference."""
        return self.verdict.against_held

    def look_at_runs(self, target: Any, inputs: Any) -> None:
        """Run what the proofs call violated or different, and what they leave open."""
        captured, verdict = self.captured, self.verdict
        for kernel, recorded in self.launched:
            replay(target, inputs, captured, recorded, kernel)
        case = verdict.against_counterexample
        if case is not None and self.reference is not None:
            replay_difference(target, inputs, captured, case, self.reference, self.configuration)
            if case["replayed"] != "yes":
                verdict.against = "undecided"
                verdict.against_detail += f", in a case that no run shows: {case['replayed'].removeprefix('no: ')}"
        tried = Tried(target, inputs, captured, self.launched, verdict, self.reference, self.configuration)
        if verdict.verdict == "undecided" and not captured.refused:
            assumed = (c for k, _ in self.launched for c in k.assumed)
            held = {name: n for k, _ in self.launched for name, n in k.held.items()}
            held |= self.example.written if self.example is not None else {}
            conditions = dict.fromkeys((*captured.guards, *captured.chosen, *assumed, *as_conditions(held)))
            tried.run(list(conditions), tiles_of(captured))
        if verdict.against == "same":
            tried.confirm()


def attempted(
    target: Any, against: Any, settings: Settings, inputs: Any, title: str, captured: Any
) -> Attempt:
    """The proofs about a target whose launches were captured. Raises Refused."""
    verdict = LiftVerdict(title, unsupported=list(captured.refused))
    found = Attempt(captured, verdict)
    seen: dict[Any, KernelVerdict] = {}
    found.example = example = Example(target, inputs, captured)
    check_contracts(captured, example)
    layouts = layouts_needed(target, inputs, captured)
    for recorded in captured.launches:
        try:
            launch = prepared(recorded, captured, found.lifted, example)
        except Refused as refused:
            verdict.kernels.append(KernelVerdict(recorded.kernel, recorded.called.spoken, unsupported=[str(refused)]))
            found.lifted.setdefault(recorded.call, []).append(verdict.kernels[-1])
            continue
        written = times_written(captured, recorded)
        arguments = tuple(launch.arguments.items()), tuple(launch.starts.items()), tuple(launch.ranges.items())
        key = launch.ttir, arguments, launch.grid, launch.put_back, written
        if key not in seen:
            seen[key] = named(lift_launch(launch, settings), settings)
            seen[key].demand((*demands_of(captured), *layouts.get(recorded.call, ())))
            seen[key].configuration = recorded.configuration
            verdict.kernels.append(seen[key])
            found.launched.append((seen[key], recorded))
        found.lifted.setdefault(recorded.call, []).append(seen[key])
    cover_together(captured, found.lifted)
    verdict.unsupported += hold_rests(captured, found.lifted)
    hold_infinities(captured, found.lifted)
    found.configuration = next((recorded.configuration for _, recorded in found.launched), "")
    if against is not None:
        found.reference, found.configuration = compare(verdict, captured, found.lifted, against, example)
    return found


def prepared(recorded: Any, captured: Any, lifted: Mapping[int, Sequence[KernelVerdict]], example: Example) -> Launch:
    """A recorded launch, with what is known of its tensors: what earlier steps, as they are lifted, make of them, and
    what they hold in the example. Raises Refused."""
    launch = launch_of(recorded, captured, covered_by(captured, lifted))
    made = made_before(captured, recorded, lifted)
    above = {name for name, claims in launch.stated.items() if any(isinstance(one, Above) for one in claims)}
    written = written_before(recorded, captured, lifted)
    views = passed_of(recorded, captured)
    arguments = {
        parameter: replace(given, above_zero=True)
        if isinstance(given, Memory) and given.name in above and views[parameter].view.memory not in written
        else given
        for parameter, given in launch.arguments.items()
    }
    inputs = {view.memory for _, view in captured.inputs}
    changed = {one.name for one in views.values() if one.view.memory in written & inputs}
    stated = {name: claims for name, claims in launch.stated.items() if name not in changed}
    launch = replace(launch, arguments=arguments, made=made, stated=stated)
    launch = replace(launch, values=example.values(recorded), certain=lambda: example.certain)
    return with_infinities(launch, captured, recorded, lifted)


def demands_of(captured: Any) -> Iterator[str]:
    """What must be as in the example, for the host code to launch like this."""
    for condition in captured.contracts:
        if isinstance(condition, Expr):
            yield from (unicode(presentable(part)) for part in with_fact((), condition))
    yield from captured.fixed
    yield from (f"a device with {fact} = {answer}" for fact, answer in captured.device.items())
    yield from (f"the host code: {guard}" for guard in captured.unread)
    yield from (f"the host code: {chosen} = {number}" for chosen, number in captured.choices.items())
    for condition in captured.chosen:
        yield from (unicode(presentable(part)) for part in with_fact((), condition))


def demand_triton() -> None:
    """Raise Refused where Triton cannot be imported: launches are recorded with its own front end."""
    if find_spec("triton") is None:
        raise Refused("`lift` of a launch needs Triton: pip install 'samesame[triton]', or give a .ttir file")


def measure(target: Any, inputs: Any, captured: Any, lifted: dict[int, KernelVerdict]) -> None:
    """Note in each kernel's verdict how exact it is."""
    from samesame.lift.numerics import measured

    found, sentences = measured(target, inputs, captured, lifted)
    for kernel in lifted.values():
        kernel.numerics = [m for m in found if m.kernel == kernel.kernel]
        kernel.unmeasured = sentences


def named(verdict: KernelVerdict, settings: Settings) -> KernelVerdict:
    """The verdict with the names of formulas that have one, as far as they are found in a part of a kernel's time."""
    with clock.limited(NAMING * settings.seconds):
        for formula in verdict.formulas:
            if formula.expr is None:
                continue
            indices, expr = formula.expr
            formula.name = name_of(indices, expr)
    return verdict


def compare(
    verdict: LiftVerdict, captured: Any, lifted: dict[int, list[KernelVerdict]], against: Any, example: Example
) -> tuple[Callable[..., Any], str]:
    """Put the launches together and compare what is returned with the reference, in whichever configurations. The
    answer is in the verdict; what comes back is the reference, and the configuration in which it was last asked."""
    from samesame.capture import load_target
    from samesame.lift.configurations import ways

    reference: Callable[..., Any] = load_target(against) if isinstance(against, str) else against
    verdict.reference = against if isinstance(against, str) else getattr(against, "__name__", "reference")
    try:
        found, configuration = None, ""
        conditions: list[Assumption] = []
        assumed = assumed_of(captured, lifted)
        for way in ways(lifted):
            found = compared(captured, way, reference, assumed, example)
            configuration = next((k.configuration for k in way.values() if k.configuration), "")
            conditions += found.conditions
            if found.state != "same":
                found.detail += "".join(f"; {k.kernel} with {k.configuration}" for k in way.values() if k.configuration)
                break
        assert found is not None
    except Unsupported as unsupported:
        verdict.against, verdict.against_detail = "undecided", str(unsupported)
        return reference, ""
    verdict.against, verdict.against_detail = found.state, found.detail
    verdict.against_counterexample = found.counterexample
    verdict.against_held = [f"{name} = {n}" for name, n in found.held.items()]
    verdict.against_conditions = list(dict.fromkeys(map(str, simplified(conditions))))
    return reference, configuration


def assumed_of(captured: Any, lifted: dict[int, list[KernelVerdict]]) -> tuple[Expr, ...]:
    """The conditions on sizes under which the host launches like this, and those that a kernel has in whichever
    configuration."""
    found: dict[Expr, None] = dict.fromkeys(captured.chosen)
    for first, *others in lifted.values():
        found |= dict.fromkeys(c for c in first.assumed if all(c in other.assumed for other in others))
    return tuple(found)


def compared(
    captured: Any,
    lifted: dict[int, KernelVerdict],
    reference: Callable[..., Any],
    assumed: tuple[Expr, ...],
    example: Example,
) -> Any:
    """The launches, each in one configuration, put together and compared where what is assumed of sizes holds; once
    more without guards against extremes, if either side has some and nothing is proved with them. Raises Unsupported.
    """
    found = compared_as_read(captured, lifted, reference, assumed, example)
    steps = (step.operator for step in captured.steps if not hasattr(step, "variants"))
    if found.state == "undecided" and (found.guarded or any(map(is_guarded, steps))):
        with readings() as told, idealised():
            again = compared_as_read(captured, lifted, reference, assumed, example)
        if again.state == "same":
            return replace(again, conditions=(*again.conditions, *sorted(told, key=str)))
    return found


def compared_as_read(
    captured: Any,
    lifted: dict[int, KernelVerdict],
    reference: Callable[..., Any],
    assumed: tuple[Expr, ...],
    example: Example,
) -> Any:
    from samesame.lift.compose import composed, in_terms_of, inputs_of, made_of, parts_of
    from samesame.lift.reference import Launched, compare_with

    ranges: dict[str, tuple[Expr, Expr]] = {}
    data: dict[str, Held] = {}
    held: dict[str, int] = {}
    sums: list[Sum] = []
    for recorded, names in as_given(captured, {call: [kernel] for call, kernel in lifted.items()}):
        kernel = lifted[recorded.call]
        of_inputs = {leaf for leaf in kernel.data if leaf.removesuffix("*") in names}
        ranges |= {leaf: ends for leaf, ends in kernel.ranges.items() if leaf in of_inputs}
        data |= {leaf.removesuffix("*"): Held(*kernel.data[leaf]) for leaf in of_inputs}
        held |= kernel.held
        sums += [one for one in kernel.sums if one.times.keys() <= names]
    order = {k: lifted[call] for k, call in enumerate(sorted(lifted))}
    inputs = inputs_of(captured, ranges)
    outputs = composed(captured, order, inputs)
    kept = list(as_conditions(example.written))
    given = parts_of(captured, inputs) | inputs
    if captured.worked:
        taken = taken_by(reference, given, captured.by_every_name(captured.sizes))
        made = made_of(captured, inputs, taken.keys() & inputs.keys())
        outputs = [in_terms_of(whole, made) for whole in outputs]
    tiles = tiles_of(captured)
    launched = Launched(
        given, outputs, captured.sizes, assumed, tiles, kept, data, sums, example.input, captured.parameters
    )
    return compare_with(reference, launched, held)


def as_conditions(held: Mapping[str, int]) -> Iterator[Expr]:
    """That some sizes are as in the example."""
    return (equal(Size(name, 2), n) for name, n in held.items())


def tiles_of(captured: Any) -> tuple[int, ...]:
    """The numbers that launches have and that sizes may be longer or shorter than."""
    return tuple(sorted({n for launch in captured.launches for n in launch.constexprs.values() if type(n) is int}))


def launch_of_file(path: Path) -> Launch:
    """A launch of which only the kernel is known: memory without a shape, sizes for integers, any grid."""
    try:
        text = path.read_text()
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Refused(f"{path} is no text; give the .ttir file of Triton's cache, not what comes of it") from None
    function = parse(text, str(path))
    arguments: dict[str, Argument] = {}
    for name, kind in function.arguments:
        plain = name.lstrip("%")
        if kind.kind == "pointer":
            element = kind.pointee.element
            triton_name = {"f16": "fp16", "f32": "fp32", "f64": "fp64"}.get(element, element)
            arguments[plain] = Memory(plain, (Size(f"|{plain}|", 1),), (1,), triton_name, contents="parts")
        else:
            arguments[plain] = Size(plain, 1) if kind.kind == "int" else scalar(plain)
    grid = tuple(Size(f"programs_{axis}", 1) for axis in "xyz")
    return Launch(function.name, text, arguments, grid, place=str(function.place), trusted="none", source=str(path))
