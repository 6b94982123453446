"""Where the elements of buffers are, in printed code: in memory, or in variables that stay in registers.

In a loop whose rounds are lanes, a value is `wide` (a number for each lane) or the same for all of them. A buffer's
element is at a linear form over loop variables, and the coefficient of the lanes' variable says how it is reached: 0
once for all lanes, 1 as neighbours, any other number with gaps. An accumulator that all lanes share keeps a partial
result in each lane, and these are folded when it is read, or when the loop over lanes ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from math import prod
from pathlib import Path
from zlib import crc32

from samesame.formula.expr import Expr, Index, Num, Unsupported
from samesame.optimize.emit.arithmetic import Text
from samesame.optimize.emit.ranges import Linear, Span, Spans
from samesame.optimize.ir import Buffer

COPIES, ACCUMULATORS = 4, 16                         # partial results of a fold over lanes; of all folds of a buffer
STREAMED = 1 << 20                                   # bytes; what is less may be in a cache still
LANES = Path(__file__).with_name("lanes.h")
C_TYPES = {"float32": "float", "float64": "double", "bfloat16": "bf16",
           "int64": "int64_t", "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t",
           "bool": "bool"}
KEYWORDS = frozenset([
    "alignas", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue",
    "default", "delete", "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "not", "operator", "or",
    "private", "protected", "public", "register", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "template", "this", "throw", "true", "try", "typedef", "union", "unsigned", "using", "virtual", "void",
    "volatile", "while", "xor",
])


def c_type(dtype: str) -> str:
    """A dtype as C++ has it. Raises Unsupported for one that the kernels do not compute with."""
    if dtype not in C_TYPES:
        raise Unsupported(f"kernels for the processor take no {dtype}; give it as one of {', '.join(C_TYPES)}")
    return C_TYPES[dtype]


@cache
def _taken() -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]\w*", LANES.read_text())) | KEYWORDS


def reserved(name: str) -> str:
    """A tensor's name as C++ can have it. Different names stay different."""
    if name.isidentifier() and name.isascii():
        return f"{name}_" if name in _taken() or re.fullmatch(r"(i|t|before|factor)\d+", name) else name
    return f"n{re.sub(r'[^A-Za-z0-9_]', '_', name)}_{crc32(name.encode()):08x}"


# --------------------------------------------------------------------------------------------------------------- scopes


class Misplaced(Exception):
    """A local buffer cannot be held as it was tried: it needs memory, or (`across`) a partial result for each lane, or
    all its variables (`runs`) were not known when they were rescaled."""

    def __init__(self, name: str, across: bool = False, runs: Mapping[int, int] | None = None) -> None:
        self.name, self.across, self.runs = name, across, runs


class Wide(Exception):
    """The rounds of this variable have to be written out: registers are named by it."""

    def __init__(self, variable: Index, name: str) -> None:
        self.variable, self.name = variable, name


class Serially(Exception):
    """A loop whose rounds cannot be lanes."""


class Singly(Exception):
    """A loop whose rounds cannot be taken two at a time."""


@dataclass(frozen=True)
class Scope:
    """What is known at a place of the code. `region`: inside a parallel loop. With a `lane`, `width` values of this
    variable are taken at once, the first of which is `start` if it is a number; `frame` is the loop over them. `pair`
    is a variable of which two values are taken at once. `fetched` is what a round has asked for ahead. Of lanes at the
    ragged end of a loop only the first `taken` are rounds; in the others stands whatever it may be."""

    spans: Spans
    places: Mapping[str, Place]
    written: Callable[[Linear, Scope], str]          # an index as code
    region: bool = False
    lane: Index | None = None
    width: int = 1
    taken: int = 1
    start: int | None = None
    copy: int = 0
    frame: Frame | None = None
    pair: Index | None = None
    fetched: set[str] = field(default_factory=set)

    def at(self, variable: Index, span: Span) -> Scope:
        return replace(self, spans=self.spans.having(variable, span))

    def with_place(self, name: str, place: Place) -> Scope:
        return replace(self, places={**self.places, name: place})

    def text(self, form: Linear) -> str:
        return self.written(form, self)

    def widened(self, text: Text, real: str) -> str:
        """The same number in all lanes, where there are any."""
        return text.code if text.wide or self.lane is None else f"all<{self.width}>({real}({text.code}))"

    def slope(self, form: Linear) -> int | None:
        return 0 if self.lane is None else form.slope(self.lane)

    def of(self, function: str) -> str:
        """A function of memory in lanes, by how many there are, and how many of them are rounds."""
        return f"{function}<{self.width}>" if self.taken == self.width else f"{function}<{self.width}, {self.taken}>"

    def each_lane(self) -> Iterator[Scope]:
        """The scope of each lane alone."""
        assert self.lane is not None
        span = self.spans[self.lane]
        for i in range(self.taken):
            text = f"({span.text} + {i})" if self.start is None else str(self.start + i)
            at = Span(text, span.low + i, span.high - self.taken + 1 + i)
            yield replace(self, spans=self.spans.having(self.lane, at), lane=None, width=1, taken=1, frame=None)


@dataclass
class Frame:
    """A loop over lanes, and the partial results of its folds: one for each lane (and copy), folded at the end."""

    outside: Scope
    written_out: bool
    partial: dict[tuple[str, int, int], tuple[str, str, str, Callable[[str], str]]] = field(default_factory=dict)

    def reaches(self, form: Linear) -> bool:
        """An element that is the same one in all rounds."""
        return all(variable in self.outside.spans for atom in form.terms for variable in atom.free)

    def result(self, target: str, width: int, copy: int, real: str, monoid: str, finish: Callable[[str], str]) -> str:
        key = (target, width, copy)
        if key not in self.partial:
            name = re.sub(r"\W+", "_", f"partial {target} {width} {copy}")
            self.partial[key] = (name, real, monoid, finish)
        return self.partial[key][0]

    def around(self, lines: list[str]) -> list[str]:
        if not self.partial:
            return lines
        begin = [f"auto {name} = all<{width}>({monoid}::identity<{real}>);"
                 for (_, width, _), (name, real, monoid, _) in self.partial.items()]
        ends = []
        for target, width in dict.fromkeys((target, width) for target, width, _ in self.partial):
            names = [entry for (t, w, _), entry in self.partial.items() if (t, w) == (target, width)]
            total = [name for name, *_ in names]
            _, _, monoid, finish = names[0]
            while len(total) > 1:
                pairs = [total[i:i + 2] for i in range(0, len(total), 2)]
                total = [f"{monoid}::fold({', '.join(pair)})" if len(pair) == 2 else pair[0] for pair in pairs]
            ends.append(finish(total[0]))
        return ["{", *begin, *lines, *ends, "}"]


# --------------------------------------------------------------------------------------------------------------- places


def whole(size: Expr | int) -> int:
    """A size that is a number."""
    if isinstance(size, int):
        return size
    if isinstance(size, Num) and size.value.denominator == 1:
        return int(size.value)
    raise Unsupported("a size without a number: kernels are printed once all sizes are known")


def strides(buffer: Buffer) -> list[int]:
    """In elements, one for each dimension."""
    if buffer.strides is not None:
        return [whole(stride) for stride in buffer.strides]
    found = [1]
    for size in reversed(buffer.shape[1:]):
        found.insert(0, found[0] * whole(size))
    return found[:len(buffer.shape)]


@dataclass
class Place:
    """Where a buffer's elements are. A local one that is declared where rounds are `lanes` has one of each per lane."""

    name: str
    buffer: Buffer
    monoid: str = ""
    running: str = ""
    elements: int = 0
    lanes: int = 0
    static: bool = False
    across: int = 0

    @cached_property
    def strides(self) -> list[int]:
        return strides(self.buffer)

    @property
    def kind(self) -> str:
        return c_type(self.buffer.dtype)

    @property
    def real(self) -> str:
        """The kind of number that its elements are computed with."""
        return {"bf16": "float", "bool": "int"}.get(self.kind, self.kind)

    def address(self, indices: tuple[Expr, ...], spans: Spans) -> Linear:
        total = Linear(0)
        for at, stride in zip(indices, self.strides, strict=True):
            total += spans.linear(at).times(stride)
        return total

    def declaration(self) -> list[str]:
        raise NotImplementedError

    def read(self, at: Linear, scope: Scope) -> Text | None:
        """The element; None where each lane has to ask for its own."""
        raise NotImplementedError

    def write(self, at: Linear, value: str, wide: bool, scope: Scope) -> str | None:
        raise NotImplementedError

    def scaled(self, element: Linear, inner: int, factor: str, scope: Scope) -> list[str]:
        """What belongs to an element of the running maximum, times the factor."""
        raise NotImplementedError

    def accumulate(self, at: Linear, value: Text, scope: Scope) -> str | None:
        """One more value folded in; where the lanes share an element, all of theirs."""
        slope = scope.slope(at)
        if slope == 0 and not self.lanes and scope.taken < scope.width:
            value = Text(f"only<{scope.taken}>({value.code}, {self.monoid}::identity<{self.real}>)", True)
        if scope.lane is None or self.lanes or slope == 1:
            before = self.read(at, scope)
            assert before is not None
            wide = before.wide
            return self.write(at, f"{self.monoid}::fold({before.code}, {value.code})", wide, scope)
        if slope != 0:
            return None
        return self._folded(at, value, scope)

    def _folded(self, at: Linear, value: Text, scope: Scope) -> str:
        alone = replace(scope, lane=None, width=1)

        def finish(partial: str) -> str:
            before = self.read(at, alone)
            assert before is not None
            line = self.write(at, f"{self.monoid}::fold({before.code}, across<{self.monoid}>({partial}))", False, alone)
            assert line is not None
            return line

        if scope.frame is None or not scope.frame.reaches(at):
            return finish(value.code)
        target = f"{self.name} {scope.text(at)}"
        name = scope.frame.result(target, scope.width, scope.copy, self.real, self.monoid, finish)
        return f"{name} = {self.monoid}::fold({name}, {value.code});"


class Memory(Place):
    """In memory: a tensor, or a local buffer that is indexed by what only running the code can tell."""

    def declaration(self) -> list[str]:
        kind = f"vec<{self.real}, {self.lanes}>" if self.lanes else self.kind
        size = max(self.elements, 1)
        begin = []
        if self.monoid and self.lanes:
            identity = f"all<{self.lanes}>({self.monoid}::identity<{self.real}>)"
            begin = [f"for (long i = 0; i < {size}; ++i) {self.name}[i] = {identity};"]
        elif self.monoid:
            begin = [f"begin<{self.monoid}>({self.name}, {size});"]
        if not self.static:
            return [f"alignas(64) {kind} {self.name}[{size}];", *begin]
        return [f"alignas(64) static thread_local {kind} {self.name}_kept[{size}];",
                f"{kind}* const {self.name} = {self.name}_kept;", *begin]

    def run(self, place: str, scope: Scope) -> str:
        """Where a run of lanes is read. Of a tensor too large to stay near, what comes next is asked for as well, once
        in a round of the loop."""
        here = f"{self.name} + {place}"
        if self.elements or self._bytes < STREAMED or here in scope.fetched:
            return here
        scope.fetched.add(here)
        return f"soon({here})"

    @cached_property
    def _bytes(self) -> int:
        return prod(map(whole, self.buffer.shape)) * self.buffer.itemsize

    def read(self, at: Linear, scope: Scope) -> Text | None:
        place = scope.text(at)
        if self.lanes:
            return Text(f"{self.name}[{place}]", True)
        match scope.slope(at):
            case 0:
                return Text(f"get({self.name} + {place})")
            case 1:
                return Text(f"{scope.of('load')}({self.run(place, scope)})", True)
            case None:
                return None
            case stride:
                return Text(f"{scope.of('gather')}({self.name} + {place}, {stride})", True)

    def write(self, at: Linear, value: str, wide: bool, scope: Scope) -> str | None:
        place, some = scope.text(at), "" if scope.taken == scope.width else f"<{scope.taken}>"
        if self.lanes:
            return f"{self.name}[{place}] = {scope.widened(Text(value, wide), self.real)};"
        match scope.slope(at):
            case 0:
                if scope.lane is not None:
                    raise Serially()
                return f"put({self.name} + {place}, {value});"
            case 1:
                return f"put{some}({self.name} + {place}, {scope.widened(Text(value, wide), self.real)});"
            case None:
                return None
            case stride:
                return f"scatter{some}({self.name} + {place}, {stride}, {scope.widened(Text(value, wide), self.real)});"

    def scaled(self, element: Linear, inner: int, factor: str, scope: Scope) -> list[str]:
        return [f"scale({self.name} + {scope.text(element.times(inner))}, {inner}, {factor});"]


def register(elements: int) -> int:
    """How many lanes so many elements take."""
    return 1 << (elements - 1).bit_length()


@dataclass
class Registers(Place):
    """A variable for each run of lanes: `runs` says at which element each begins, and how many it holds. Of partial
    results for each lane there are several copies, for runs of lanes in turn, as one fold would wait for the one
    before; all of them are folded where the result is read first."""

    runs: dict[int, int] = field(default_factory=dict)
    rescaled: frozenset[int] | None = None           # the variables that were there when all were rescaled
    copies: int = 1                                  # partial results that there are, one for each lane each
    settled: bool = False                            # whether something was read or rescaled, and no more may come

    def _variable(self, first: int, copy: int = 0) -> str:
        return f"{self.name}_at{first}{f'_copy{copy}' if copy else ''}"

    def declaration(self) -> list[str]:
        if self.rescaled is not None and self.rescaled != set(self.runs):
            raise Misplaced(self.buffer.name, runs=self.runs)
        lines = []
        for first, width in sorted(self.runs.items()):
            lanes = self.lanes or self.across or register(width)
            kind = f"vec<{self.real}, {lanes}>" if lanes > 1 else self.real
            identity = f"{self.monoid}::identity<{self.real}>"
            begin = f" = {f'all<{lanes}>({identity})' if lanes > 1 else identity}" if self.monoid else ""
            lines += [f"{kind} {self._variable(first, copy)}{begin};" for copy in range(self.copies)]
        return lines

    def _run(self, at: Linear, scope: Scope) -> tuple[int, int]:
        """The first element, as a number, and how many of its neighbours are meant."""
        slope = scope.slope(at)
        if self.lanes or slope == 0 or scope.lane is None:
            if at.terms:
                raise Misplaced(self.buffer.name)
            return at.constant, 1
        if slope != 1 or len(at.terms) > 1:
            raise Misplaced(self.buffer.name)
        if scope.start is None:
            raise Wide(scope.lane, self.buffer.name)
        return at.constant + scope.start, scope.taken

    def _holder(self, first: int, width: int, whole: bool) -> int:
        """Which variable holds these elements; all that it holds if `whole`."""
        for start, held in self.runs.items():
            if start <= first and first + width <= start + held and (not whole or held == width or width == 1):
                return start
            if start < first + width and first < start + held:
                raise Misplaced(self.buffer.name)
        self.runs[first] = width
        return first

    def read(self, at: Linear, scope: Scope) -> Text | None:
        first, taken = self._run(at, scope)
        start = self._holder(first, taken, whole=False)
        name, held = self._variable(start), self.runs[start]
        if self.lanes:
            return Text(name, True)
        if self.across:
            self.settled = True
            several = [self._variable(start, copy) for copy in range(self.copies)]
            whole = reduce(lambda a, b: f"{self.monoid}::fold({a}, {b})", several)
            return Text(f"across<{self.monoid}>({whole})")
        if held == taken:
            return Text(name, taken > 1)
        if taken == 1:
            return Text(f"{name}[{first - start}]")
        if first - start + scope.width > register(held):
            raise Misplaced(self.buffer.name)
        return Text(f"part<{scope.width}, {first - start}>({name})", True)

    def write(self, at: Linear, value: str, wide: bool, scope: Scope) -> str | None:
        first, taken = self._run(at, scope)
        start = self._holder(first, taken, whole=True)
        name = self._variable(start)
        if self.lanes or taken > 1:
            return f"{name} = {scope.widened(Text(value, wide), self.real)};"
        if scope.lane is not None:
            raise Serially()
        return f"{name} = {value};" if self.runs[start] == 1 else f"{name}[{first - start}] = {value};"

    def accumulate(self, at: Linear, value: Text, scope: Scope) -> str | None:
        if not self.across or (scope.lane is not None and scope.slope(at) != 0):
            return super().accumulate(at, value, scope)
        first, _ = self._run(at, replace(scope, lane=None))
        most = max(1, min(COPIES, ACCUMULATORS // max(1, self.elements)))
        copy = 0 if scope.start is None or scope.width != self.across else scope.start // self.across % most
        if copy < self.copies or not self.settled:
            self.copies = max(self.copies, copy + 1)
        else:
            copy = 0
        name = self._variable(self._holder(first, 1, whole=True), copy)
        if scope.lane is None:
            return f"{name}[0] = {self.monoid}::fold({self.real}({name}[0]), {value.code});"
        code, rest = value.code, f"{self.monoid}::identity<{self.real}>"
        code = code if scope.taken == scope.width else f"only<{scope.taken}>({code}, {rest})"
        code = code if scope.width == self.across else f"extended<{self.across}>({code}, {rest})"
        return f"{name} = {self.monoid}::fold({name}, {code});"

    def _folded(self, at: Linear, value: Text, scope: Scope) -> str:
        if scope.frame is not None and scope.frame.written_out:
            raise Misplaced(self.buffer.name, across=True)
        return super()._folded(at, value, scope)

    def scaled(self, element: Linear, inner: int, factor: str, scope: Scope) -> list[str]:
        if element.terms:
            raise Misplaced(self.buffer.name)
        self.settled = True
        self.rescaled = frozenset(self.runs) if self.rescaled is None else self.rescaled
        low, lines = element.constant * inner, list[str]()
        for first, held in sorted(self.runs.items()):
            mine = range(max(first, low), min(first + held, low + inner))
            if len(mine) == held:
                lines += [f"{self._variable(first, copy)} *= {factor};" for copy in range(self.copies)]
            else:
                lines += [f"{self._variable(first)}[{i - first}] *= {factor};" for i in mine]
        return lines
