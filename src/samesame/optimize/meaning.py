"""What a kernel computes, as formulas, for all sizes and all tile sizes at once.

A loop nest is executed once, over symbols. Every write is kept with the loops and conditions that it stands in. To read
an element q is to ask which rounds wrote it: the write's indices are solved for the loops' variables, as digits of q
(`t·T + i = q` gives t = ⌊q/T⌋ and i = q mod T). What a sum folds over are the variables that are left. So

    loop t < ⌈K/T⌉, loop i < T, where t·T + i < K:   acc[m] += x[m, t·T + i]

holds Σ_{t<⌈K/T⌉} Σ_{i<T} [t·T + i < K] x[m, t·T + i], which the normal form knows to be Σ_{k<K} x[m, k], for every T.

A loop nest has no meaning, and is refused, where an element is stored twice, where rounds that run in parallel write
the same element, where a buffer is read while a loop that writes it is still open or before one that does, where a
sum that is scaled by a running maximum is not rescaled when that changes, and where a loop's variable is used outside
of it or by two loops. That all accesses are in range, and that what is read was stored, is proved beside the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from samesame.evidence import SamesameError
from samesame.formula.binders import replaced
from samesame.formula.expr import (
    NEG_INF,
    ONE,
    TRUE,
    ZERO,
    Add,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Leaf,
    Load,
    Mul,
    Num,
    Unsupported,
    Where,
    add,
    and_,
    compare,
    const,
    floordiv,
    index,
    mod,
    mul,
    not_,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.show import unicode
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Tensor
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Loop, Rescaled, Statement, Store, When

KINDS = ("bool", "int", "real")                      # each holds those before it
IDENTITY: dict[str, Expr] = {"sum": ZERO, "max": NEG_INF}


class Malformed(SamesameError):
    """A loop nest that has no meaning: a race, a second store, a read of what is not finished."""


@dataclass(eq=False)
class Frame:
    """A loop, condition or rescaling that is open."""

    statement: Loop | When | Rescaled


@dataclass
class Write:
    """A store or fold, in the `frames` that were opened since the buffer was declared; the how manieth of all."""

    frames: tuple[Frame, ...]
    indices: tuple[Expr, ...]
    value: Expr
    number: int

    @property
    def loops(self) -> list[Loop]:
        return [frame.statement for frame in self.frames if isinstance(frame.statement, Loop)]

    @property
    def conditions(self) -> list[Expr]:
        return [frame.statement.condition for frame in self.frames if isinstance(frame.statement, When)]


@dataclass
class Held:
    """A buffer of the kernel's own, all that was written to it so far, and the loops in which it was read."""

    local: Local
    depth: int
    writes: list[Write] = field(default_factory=list)
    read_in: list[Frame] = field(default_factory=list)


@dataclass(frozen=True)
class Claim:
    """What a finished accumulator should hold at `indices`: the element of a tensor at `at`, which are expressions of
    the loops around and of `indices`. Proved by itself, so that what is made of a sum need not be multiplied out."""

    leaf: Leaf
    indices: tuple[Index, ...]
    at: tuple[Expr, ...]
    definition: Tensor


@dataclass(frozen=True)
class Meaning:
    """What each written buffer holds, over the tensors that the kernel reads and those of claims; conditions that must
    never hold; pairs that must be equal."""

    holds: dict[str, Tensor]
    obligations: tuple[tuple[Expr, str], ...]
    equations: tuple[tuple[Expr, Expr, str], ...] = ()


def meaning(kernel: Kernel, claims: Mapping[str, Claim] | None = None) -> Meaning:
    """The formulas of a kernel. `claims` are by the names of its accumulators.

    Raises Malformed for a loop nest that has none.
    """
    run = _Execution(kernel, claims or {})
    run.body(kernel.body, tuple(Local(buffer) for buffer in kernel.writes))
    return Meaning(run.results, tuple(dict.fromkeys(run.obligations)), tuple(dict.fromkeys(run.equations)))


class _Execution:
    """Executes statements over symbols."""

    def __init__(self, kernel: Kernel, claims: Mapping[str, Claim]) -> None:
        self.claims = claims
        self.equations: list[tuple[Expr, Expr, str]] = []
        self.reads = {buffer.name: buffer for buffer in kernel.reads}
        self.held: dict[str, Held] = {}
        self.stack: list[Frame] = []
        self.variables: set[Index] = set()
        self.obligations: list[tuple[Expr, str]] = []
        self.results: dict[str, Tensor] = {}
        self.written = 0

    def body(self, body: tuple[Statement, ...], outliving: tuple[Local, ...] = ()) -> None:
        """Run statements; what they declare ends with them."""
        before = set(self.held)
        for local in outliving:
            self._declare(local)
        for statement in body:
            self.statement(statement)
        for local in outliving:
            self.results[local.buffer.name] = self._tensor(local.buffer)
        for name in set(self.held) - before:
            del self.held[name]

    def _tensor(self, buffer: Buffer) -> Tensor:
        held = self.held[buffer.name]
        indices = tuple(index(size) for size in buffer.shape)
        element = self.element(held, indices)
        return Tensor(buffer.shape, lambda *at: substitute(element, dict(zip(indices, map(const, at), strict=True))))

    def statement(self, statement: Statement) -> None:
        match statement:
            case Loop(_, variable, inside):
                if variable in self.variables or leaves(variable.extent):
                    raise Malformed(f"{unicode(variable)} is the variable of two loops, or its extent is read")
                self._in_range(variable.extent)
                self.variables.add(variable)
                self._within(Frame(statement), inside)
            case When(condition, inside):
                self._in_range(condition)
                resolved = When(self.resolved(condition), inside)
                self._within(Frame(resolved), inside)
            case Rescaled(_, _, inside):
                self._within(Frame(statement), inside)
            case Local():
                self._declare(statement)
            case Store(target, indices, value):
                self._write(target, indices, value, folds=False)
            case Accumulate(target, indices, value):
                self._write(target, indices, value, folds=True)

    def _within(self, frame: Frame, body: tuple[Statement, ...]) -> None:
        self.stack.append(frame)
        self.body(body)
        self.stack.pop()

    def _declare(self, local: Local) -> None:
        name = local.buffer.name
        if local.buffer.strides is not None:
            raise Malformed(f"{name} is written and has strides of its own")
        if name in self.held or name in self.reads:
            raise Malformed(f"{name} is declared twice")
        if local.monoid and local.monoid not in IDENTITY:
            raise Malformed(f"{name} folds with {local.monoid}; the monoids of kernels are {', '.join(IDENTITY)}")
        if local.running is not None:
            running = self._own(local.running)
            beside = not local.monoid or (local.monoid == "sum" and running.depth == len(self.stack))
            if running.local.monoid != "max" or not beside:
                raise Malformed(f"{name} must be a sum beside the running maximum {local.running.name}")
        self.held[name] = Held(local, len(self.stack))

    def _own(self, buffer: Buffer) -> Held:
        if buffer.name not in self.held or self.held[buffer.name].local.buffer != buffer:
            raise Malformed(f"{buffer.name} is not declared here")
        return self.held[buffer.name]

    # ------------------------------------------------------------------------------------------------------- writing

    def _write(self, target: Buffer, indices: tuple[Expr, ...], value: Expr, folds: bool) -> None:
        held = self._own(target)
        if folds != bool(held.local.monoid) or len(indices) != len(target.shape):
            raise Malformed(f"{target.name} is {'no accumulator' if folds else 'an accumulator'}")
        if KINDS.index(value.kind) > KINDS.index(target.leaf.kind):
            raise Malformed(f"{target.name} holds {target.dtype}, and what is stored there is {value.kind}")
        for part in (*indices, value):
            self._in_range(part)
        self._reaches(target.leaf, tuple(map(self.resolved, indices)), ())
        running = held.local.running
        seen = self.resolved(value, () if running is None else (running.name,))
        if running is not None:
            self._is_scaled(seen, running, indices)
            self._is_steady(target)
        if any(frame in self.stack for frame in held.read_in):
            raise Malformed(f"{target.name} is read in a loop, and written later in the same loop")
        self.written += 1
        write = Write(tuple(self.stack[held.depth :]), tuple(map(self.resolved, indices)), seen, self.written)
        self._is_once(target, held, write, folds)
        self._is_rescaled(target, write)
        held.writes.append(write)

    def _is_once(self, target: Buffer, held: Held, write: Write, folds: bool) -> None:
        """Every element is stored in one round at most, and parallel rounds write different elements."""
        left = solved(write, tuple(index(size) for size in target.shape)).left
        for loop in write.loops:
            if loop.variable in left and (not folds or loop.kind == "parallel"):
                rounds = "rounds that run in parallel write" if loop.kind == "parallel" else "several rounds store"
                raise Malformed(f"{rounds} the same element of {target.name}")
        for other in held.writes:
            shared = [loop for loop in other.loops if any(loop is mine for mine in write.loops)]
            meet = not are_apart(other.indices, write.indices)
            if meet and any(not folds or loop.kind == "parallel" for loop in shared):
                raise Malformed(f"{target.name} is written twice in one loop")

    def _is_rescaled(self, target: Buffer, write: Write) -> None:
        """Where a maximum changes, all sums scaled by it are rescaled; and none grows meanwhile."""
        scaled = {name for name, held in self.held.items() if held.local.running == target and held.local.monoid}
        open_ones = [f.statement for f in self.stack if isinstance(f.statement, Rescaled)]
        if scaled:
            last = open_ones[-1] if open_ones else None
            if last is None or last.running != target or {each.name for each in last.sums} != scaled:
                raise Malformed(f"{target.name} changes and {', '.join(sorted(scaled))} are not rescaled")
        elif any(target.name in [each.name for each in one.sums] for one in open_ones):
            raise Malformed(f"{target.name} grows while it is being rescaled")

    def _is_scaled(self, value: Expr, running: Buffer, indices: tuple[Expr, ...]) -> None:
        """The value is exp(s − running[first indices])·w, with no other mention of the maximum."""
        factors = value.factors if isinstance(value, Mul) else (value,)
        mentions = [factor for factor in factors if running.leaf in leaves(factor)]
        maximum = running[indices[: len(running.shape)]]
        match mentions:
            case [Fn("exp", Add(terms))] if mul(-1, maximum) in terms:
                rest = [term for term in terms if term is not mul(-1, maximum)]
                if len(rest) == len(terms) - 1 and not any(running.leaf in leaves(term) for term in rest):
                    return
        raise Malformed(f"a term is not scaled by exp(− {running.name}) and nothing else")

    # ------------------------------------------------------------------------------------------------------- reading

    def resolved(self, value: Expr, but: tuple[str, ...] = ()) -> Expr:
        """The value over what the kernel reads: elements of its own buffers are what was written there."""
        memo: dict[Expr, Expr] = {}

        def go(e: Expr) -> Expr:
            if e not in memo:
                if isinstance(e, Fold):
                    raise Malformed("a value holds a fold; write it as a loop")
                if isinstance(e, Load):
                    self._is_known(e.leaf)
                if isinstance(e, Load) and e.leaf.name in self.held and e.leaf.name not in but:
                    memo[e] = self.read(self.held[e.leaf.name], tuple(map(go, e.indices)), but)
                else:
                    memo[e] = rebuild(e, go)
            return memo[e]

        return go(value)

    def _is_known(self, leaf: Leaf) -> None:
        held = self.held.get(leaf.name)
        buffer = held.local.buffer if held is not None else self.reads.get(leaf.name)
        if buffer is None or buffer.leaf != leaf:
            raise Malformed(f"{leaf.name} is read{' in another shape' if buffer else ' and nobody gives it'}")

    def read(self, held: Held, at: tuple[Expr, ...], but: tuple[str, ...] = ()) -> Expr:
        """An element: what is claimed of it, where something is."""
        found = self.element(held, at, but)
        claim = self.claims.get(held.local.buffer.name)
        if claim is None:
            return found
        place = tuple(substitute(e, dict(zip(claim.indices, at, strict=True))) for e in claim.at)
        conditions = and_(TRUE, *self.conditions())
        self.equations.append((where(conditions, found, 0), where(conditions, claim.definition[place], 0),
                               held.local.buffer.name))
        return Load(claim.leaf, place)

    def conditions(self) -> list[Expr]:
        return [frame.statement.condition for frame in self.stack if isinstance(frame.statement, When)]

    def element(self, held: Held, at: tuple[Expr, ...], but: tuple[str, ...] = ()) -> Expr:
        """What an element holds by now, over the running maxima in `but` as they are."""
        name, monoid = held.local.buffer.name, held.local.monoid
        held.read_in += [frame for frame in self.stack[held.depth :] if isinstance(frame.statement, Loop)]
        if held.local.running is not None:
            self._is_steady(held.local.buffer)
        unwritten = Load(Leaf(f"{name} before any value", held.local.buffer.shape), at)
        found = IDENTITY[monoid] if monoid else unwritten
        for write in held.writes:
            for frame in write.frames:
                if isinstance(frame.statement, Loop) and any(frame is one for one in self.stack):
                    raise Malformed(f"{name} is read while a loop that writes it is open")
            rounds = solved(write, at)
            if monoid:
                term = where(rounds.condition, rounds.value, IDENTITY[monoid])
                term = Fold(monoid, rounds.left, term) if rounds.left else term
                found = term if found is IDENTITY[monoid] else _combined(monoid, found, term)
            else:
                found = where(rounds.condition, rounds.value, found)
        if held.local.running is not None:
            if not monoid:                           # that it was stored is asked of every read
                self._is_fresh(held)
                found = solved(held.writes[0], at).value
            if held.local.running.name not in but:
                found = self._at_the_end(found, self.held[held.local.running.name])
        return found

    def _is_steady(self, target: Buffer) -> None:
        if any(isinstance(frame.statement, Rescaled) for frame in self.stack):
            raise Malformed(f"{target.name} is read or written where a maximum is changing")

    def _is_fresh(self, held: Held) -> None:
        """Terms that wait in a buffer were scaled, in one store, by the maximum as it still is."""
        assert held.local.running is not None
        changes = self.held[held.local.running.name].writes
        if len(held.writes) != 1:
            raise Malformed(f"{held.local.buffer.name} is to be stored once before it is read")
        (write,) = held.writes
        again = [frame for change in changes for frame in change.frames if any(frame is mine for mine in write.frames)]
        if any(change.number > write.number for change in changes) or again:
            raise Malformed(f"{held.local.buffer.name} is read after its maximum has changed")

    def _at_the_end(self, found: Expr, running: Held) -> Expr:
        """The sum with the maximum's last value in place of the maximum."""
        leaf = running.local.buffer.leaf

        def go(e: Expr) -> Expr:
            if isinstance(e, Load) and e.leaf == leaf:
                return self.element(running, e.indices)
            return rebuild(e, go) if leaf in leaves(e) else e

        return go(found)

    # ------------------------------------------------------------------------------------------------- what must hold

    def _in_range(self, value: Expr) -> None:
        """Every element that a value reads is one of its tensor and was stored, under the conditions on the way to it;
        every variable is that of an open loop."""
        if out := value.free - {f.statement.variable for f in self.stack if isinstance(f.statement, Loop)}:
            raise Malformed(f"{', '.join(map(unicode, out))} is used outside of its loop")

        @cache                                               # a long recursion has few parts that many read
        def look(e: Expr, conditions: tuple[Expr, ...]) -> None:
            match e:
                case Where(condition, then, otherwise):
                    look(condition, conditions)
                    look(then, (*conditions, condition))
                    look(otherwise, (*conditions, not_(condition)))
                    return
                case Load(leaf, indices):
                    self._reaches(leaf, indices, conditions)
                    self._is_stored(leaf, indices, conditions)
            for child in e.children:
                look(child, conditions)

        look(value, ())

    def _is_stored(self, leaf: Leaf, indices: tuple[Expr, ...], conditions: tuple[Expr, ...]) -> None:
        held = self.held.get(leaf.name)
        if held is not None and not held.local.monoid:
            never = [not_(solved(write, indices).condition) for write in held.writes]
            missing = and_(*self.conditions(), *conditions, *never)
            self.obligations.append((missing, f"{leaf.name} is read before any value is stored there"))

    def _reaches(self, leaf: Leaf, indices: tuple[Expr, ...], conditions: tuple[Expr, ...]) -> None:
        around = self.conditions()
        for at, size in zip(indices, leaf.shape, strict=True):
            inside = and_(compare("≤", 0, at), compare("<", at, size))
            outside = and_(*around, *conditions, not_(inside))
            self.obligations.append((outside, f"{leaf.name} is read or written at {unicode(at)}, outside of it"))


def are_apart(one: tuple[Expr, ...], other: tuple[Expr, ...]) -> bool:
    """Whether two places are never the same, as some dimension's number is another."""
    return any(isinstance(a, Num) and isinstance(b, Num) and a != b for a, b in zip(one, other, strict=True))


def leaves(expr: Expr) -> frozenset[Leaf]:
    """The tensors that an expression reads."""
    return frozenset(e.leaf for e in walk(expr) if isinstance(e, Load))


def _combined(monoid: str, a: Expr, b: Expr) -> Expr:
    return add(a, b) if monoid == "sum" else Extremum(monoid, (a, b))


# --------------------------------------------------------------------------------------------------------------- rounds


@dataclass(frozen=True)
class Rounds:
    """Which rounds of a write reach an element: variables `left` over, in which the value stands where `condition`."""

    left: tuple[Index, ...]
    condition: Expr
    value: Expr


def solved(write: Write, at: tuple[Expr, ...]) -> Rounds:
    """The rounds in which a write's indices are `at`. Raises Malformed where that cannot be said."""
    variables = [loop.variable for loop in write.loops]
    found: dict[Index, Expr] = {}
    whole: dict[Expr, Expr] = {}                     # the indices themselves, which are what is wanted
    conditions: list[Expr] = []
    for position, wanted in zip(write.indices, at, strict=True):
        digits, rest = _digits(position, variables)
        if any(v in found for _, v in digits):
            conditions.append(compare("=", position, wanted))
            continue
        left = add(wanted, mul(-1, rest))
        if not digits:
            conditions.append(compare("=", left, 0))
            continue
        if rest is not ZERO:
            conditions.append(compare("≤", 0, left))
        whole[position] = wanted
        for (stride, v), (above, _) in zip(digits, [*digits[1:], (None, None)], strict=True):
            quotient = floordiv(left, stride)
            found[v] = quotient if above is None else mod(quotient, v.extent)
            if above is None:
                conditions.append(compare("<", quotient, v.extent))
    open_ones = tuple(v for v in variables if v not in found)

    def put(e: Expr) -> Expr:
        return substitute(replaced(e, whole), found)

    inside = [put(condition) for condition in (*conditions, *write.conditions)]
    return Rounds(open_ones, and_(*inside) if inside else TRUE, put(write.value))


def _digits(position: Expr, variables: list[Index]) -> tuple[list[tuple[Expr, Index]], Expr]:
    """The variables in an index as digits, (stride, variable) from the lowest, and what is beside them.

    Each stride is the one before it times that digit's extent: then every number has its digits in one way.
    """
    terms = position.terms if isinstance(position, Add) else (position,)
    digits: list[tuple[Expr, Index]] = []
    rest: list[Expr] = []
    for term in terms:
        factors = term.factors if isinstance(term, Mul) else (term,)
        inside = [factor for factor in factors if factor.free & set(variables)]
        if not inside:
            rest.append(term)
        elif len(inside) == 1 and isinstance(inside[0], Index):
            digits.append((mul(*(factor for factor in factors if factor is not inside[0])), inside[0]))
        else:
            raise Malformed(f"the index {unicode(position)} is no sum of loop variables times strides")
    return _in_order(digits, position), add(*rest) if rest else ZERO


def _in_order(digits: list[tuple[Expr, Index]], position: Expr) -> list[tuple[Expr, Index]]:
    ordered: list[tuple[Expr, Index]] = []
    stride = _size(ONE)
    while digits:
        here = [digit for digit in digits if _size(digit[0]) == stride]
        if len(here) != 1:
            raise Malformed(f"the strides of the index {unicode(position)} do not fit the loops' extents")
        ordered += here
        digits = [digit for digit in digits if digit is not here[0]]
        stride = _size(mul(here[0][0], here[0][1].extent))
    return ordered


def _size(expr: Expr) -> Expr | int:
    """A stride or extent in canonical form, so that == compares."""
    try:
        size = canonical(int(expr.value) if isinstance(expr, Num) else expr)
    except Unsupported as error:
        raise Malformed(f"{unicode(expr)} is no stride: {error}") from error
    return size
