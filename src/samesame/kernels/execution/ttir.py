"""Triton's IR as data: functions, operations, types and the source line of each operation.

Triton prints a kernel as MLIR text: one operation a line, regions in braces, and a table of `#loc` entries that says
where each operation comes from. `parse` reads that text and nothing else, so a kernel's file from Triton's cache is as
good as one made a moment ago. It knows no operation by name: what an operation does is said in `symbolic.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from samesame.evidence import Refused

NAME = r"%[\w$.-]+(?:#\d+)?"
HEAD = re.compile(r'"?([a-z_]\w*(?:\.\w+)+|module)"?')
RESULTS = re.compile(r"((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = ")
LABEL = re.compile(r"(\^bb\d+)(?:\((.*)\))?:")
JUMP = re.compile(r"(\^bb\d+)(?:\(([^)]*)\))?")
SYMBOL = re.compile(r'@("[^"]*"|[\w$.-]+)')
BLOCK_TYPE = re.compile(r"tensor<((?:\d+x)*)(.+?)(?:, #[^>]*)?>$")
FILE_LINE = re.compile(r'"([^"]*)":(\d+):\d+$')


@dataclass(frozen=True)
class Place:
    """A line of the user's program; nowhere where the text does not tell."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if not self.file:
            return "an unknown line"
        file = self.file.removeprefix(os.getcwd() + os.sep)
        return f"{file}:{self.line}" if self.line else file


@dataclass(frozen=True)
class Type:
    """`tensor<16x32xf16>` is shape (16, 32) and element "f16"; a scalar has shape ()."""

    shape: tuple[int, ...]
    element: str

    @property
    def kind(self) -> str:
        """real, int, bool or pointer."""
        if self.element.startswith("!tt.ptr"):
            return "pointer"
        if self.element == "i1":
            return "bool"
        return "int" if re.fullmatch(r"u?i\d+|index", self.element) else "real"

    @property
    def bits(self) -> int:
        digits = re.search(r"\d+", self.element)
        return 64 if self.element == "index" or digits is None else int(digits[0])

    @property
    def pointee(self) -> Type:
        inner = re.fullmatch(r"!tt\.ptr<(.+?)(?:, \d+)?>", self.element)
        return Type(self.shape, inner[1] if inner else self.element)


@dataclass
class Region:
    """A block of operations and the names of its arguments."""

    arguments: list[tuple[str, Type]] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Operation:
    """`results = name operands {attributes} : types`, with `text` what stands between name and types.

    `given` are the types written after the colon, `made` those of the results where they are written apart.
    """

    name: str
    results: list[str]
    operands: list[str]
    text: str
    given: list[Type]
    made: list[Type]
    place: Place
    regions: list[Region] = field(default_factory=list)

    @property
    def type(self) -> Type:
        """The type of the first result, or of what is written where results have no type of their own."""
        return (self.made or self.given)[0]

    def attribute(self, name: str, default: int | None = None) -> int:
        """An integer attribute. Raises Refused where it is missing and has no default."""
        found = re.search(rf"\b{name} = (-?\d+|true|false)\b", self.text)
        if found:
            return int(found[1]) if found[1] not in ("true", "false") else int(found[1] == "true")
        if default is None:
            raise Refused(f"{self.place}: {self.name} has no attribute {name}; is the file of another Triton version?")
        return default

    @property
    def jumps(self) -> list[tuple[str, list[str]]]:
        """The blocks that a branch may jump to, in order, each with the names of what it hands on."""
        return [(label, re.findall(NAME, given.partition(" : ")[0])) for label, given in JUMP.findall(self.text)]

    @property
    def callee(self) -> str:
        """The function that a call names."""
        found = SYMBOL.search(self.text)
        return found[1].strip('"') if found else ""

    def word(self) -> str:
        """The first word of the text: a predicate, an axis, the kind of an atomic operation."""
        return self.text.split(",")[0].split()[0] if self.text.split() else ""


@dataclass
class Function:
    """A kernel, or a function that it calls: its arguments in order, and its blocks by label, the first one entered.

    `others` are the functions of the module that are called by name.
    """

    name: str
    arguments: list[tuple[str, Type]]
    blocks: dict[str, Region]
    place: Place
    others: dict[str, Function] = field(default_factory=dict)


def parse(text: str, source: str = "the TTIR text") -> Function:
    """The public function of a module's text. Raises Refused, with the line of the text, where it cannot be read."""
    for number, line in enumerate(text.splitlines(), 1):
        if LAYOUTS.search(line):
            raise Refused(f"{source}:{number} is TTGIR, in which tiles have layouts; give the .ttir file beside it")
    return _Parser(text, source).kernel()


# Of the dialect in which tiles have layouts; a barrier says nothing of these.
LAYOUTS = re.compile(r"^#\w+ = #(ttg|triton_gpu)\.|\b(ttg|triton_gpu)\.(?!(local_)?barrier\b)\w")


class _Parser:
    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.lines: list[tuple[int, str]] = []
        self.table: dict[str, str] = {}
        self.located = " loc(" in text  # else the text's own lines are all there is to name
        for number, line in enumerate(text.splitlines(), 1):
            entry = re.match(r"(#loc\d*) = loc\((.*)\)\s*$", line)
            if entry:
                self.table[entry[1]] = entry[2]
            elif line.strip() and not line.startswith(("#", "//", "/*")):
                self.lines.append((number, line))
        self.at = 0
        self.around = Place()           # the function, for constants that Triton folded and has no line of any more

    def kernel(self) -> Function:
        public: list[Function] = []
        others: dict[str, Function] = {}
        while self.at < len(self.lines):
            number, line = self.lines[self.at]
            self.at += 1
            text, location = _without_locations(line.strip())
            head = re.match(rf"tt\.func (?:public |private )?{SYMBOL.pattern}\(", text)
            if not head:
                continue
            listed = split(_enclosed(text[head.end() - 1 :]))
            arguments = [_argument(part) for part in listed if part.startswith("%")]
            self.around = self.place(location)
            function = Function(head[1].strip('"'), arguments, self.blocks(number), self.around, others)
            if "private" in text.split("@")[0]:
                others[function.name] = function
            else:
                public.append(function)
        if len(public) != 1:
            held = f"{len(public)} kernels; give the TTIR of one" if public else "no kernel (tt.func public)"
            raise Refused(f"{self.source} holds {held}")
        return public[0]

    def blocks(self, opened: int) -> dict[str, Region]:
        """The blocks up to the brace that closes the function, by label; that of the first one is not written."""
        here = Region()
        found = {"^bb0": here}
        while self.at < len(self.lines):
            text, _ = _without_locations(self.lines[self.at][1].strip())
            if text.startswith("}"):
                self.at += 1
                return found
            label = LABEL.match(text)
            if label is None:
                here.operations.append(self.operation())
                continue
            self.at += 1
            here = found[label[1]] = Region([_argument(part) for part in split(label[2] or "")])
        raise Refused(f"{self.source}:{opened}: a brace is never closed; is the file cut off?")

    def regions(self, opened: int) -> tuple[list[Region], str, str]:
        """Regions that follow an opening brace; of the last closing brace, the text behind it and the location."""
        found: list[Region] = []
        while True:
            region = Region()
            while self.at < len(self.lines):
                text, location = _without_locations(self.lines[self.at][1].strip())
                if label := LABEL.match(text):
                    if region.arguments or region.operations:
                        raise Refused(f"{self.source}:{self.lines[self.at][0]}: a region of several blocks")
                    self.at += 1
                    region.arguments = [_argument(part) for part in split(label[2] or "")]
                elif text.startswith("}"):
                    break
                else:
                    region.operations.append(self.operation())
            else:
                raise Refused(f"{self.source}:{opened}: a brace is never closed; is the file cut off?")
            found.append(region)
            self.at += 1
            if not text.endswith("{"):
                return found, text, location

    def operation(self) -> Operation:
        number, line = self.lines[self.at]
        self.at += 1
        text, location = _without_locations(line.strip())
        results: list[str] = []
        made = RESULTS.match(text)
        if made:
            for part in made[1].split(", "):
                name, _, several = part.partition(":")
                results += [f"{name}#{k}" for k in range(int(several))] if several else [name]
            text = text[made.end() :]
        head = HEAD.match(text)
        if head is None:
            raise Refused(f"{self.source}:{number}: {line.strip()[:60]!r} is no operation of Triton's IR; "
                          "is the file cut off?")
        name, rest = head[1], text[head.end() :].strip()
        regions: list[Region] = []
        if rest.endswith("{"):
            regions, closing, location = self.regions(number)
            if rest.endswith("({"):  # the generic form has its types behind the regions
                rest = rest[:-2].rstrip() + " " + closing[closing.find(")") + 1 :].strip()
            else:
                rest = rest[:-1].rstrip()
        body, types = _split_types(rest)
        given, results_types = _types(types)
        if name in ("scf.for", "scf.if"):
            arrow = body.rfind("->")
            if arrow >= 0:
                results_types = [_type(part) for part in split(_bare(body[arrow + 2 :]))]
                body = body[:arrow]
        operands = re.findall(NAME, body)
        place = self.place(location) if self.located else Place(self.source, number)
        return Operation(name, results, operands, body.strip(), given, results_types, place, regions)

    def place(self, location: str) -> Place:
        """The user's line behind a location: of a call, the line in the file that is not Triton's own."""
        places = list(self.places(location, 0))
        own = [p for p in places if not re.search(r"/triton/(language|runtime|compiler)/", p.file)]
        return (own or places or [self.around])[0]

    def places(self, location: str, depth: int) -> Iterator[Place]:
        location = location.strip()
        if depth > 50:
            return
        if location in self.table:
            yield from self.places(self.table[location], depth + 1)
        elif location.startswith("callsite("):
            inner, _, outer = location[9:-1].rpartition(" at ")
            if location.count(" at ") > 1:
                inner, outer = _split_callsite(location[9:-1])
            yield from self.places(inner, depth + 1)
            yield from self.places(outer, depth + 1)
        elif location.startswith("fused["):
            for part in split(location[6:-1]):
                yield from self.places(part, depth + 1)
        elif found := FILE_LINE.search(location):
            yield Place(found[1], int(found[2]))
        elif named := re.fullmatch(r'"[^"]*"\((.*)\)', location):
            yield from self.places(named[1], depth + 1)


def _split_callsite(text: str) -> tuple[str, str]:
    """The two sides of the ` at ` outside all parentheses."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and text.startswith(" at ", k):
            return text[:k], text[k + 4 :]
    return text, ""


def _enclosed(text: str) -> str:
    """What stands between the first parenthesis and the one that closes it."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:k]
    return text[1:]


def _without_locations(line: str) -> tuple[str, str]:
    """The line without its `loc(…)` parts, and what the last of them says."""
    last = ""
    while (start := line.find(" loc(")) >= 0:
        depth, end = 0, start + 4
        while end < len(line):
            depth += (line[end] == "(") - (line[end] == ")")
            end += 1
            if depth == 0:
                break
        last = line[start + 5 : end - 1]
        line = line[:start] + line[end:]
    return line.rstrip(), last


def split(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        if letter in "<({[":
            depth += 1
        elif letter in ")}]" or (letter == ">" and text[k - 1 : k] != "-"):
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


def _split_types(text: str) -> tuple[str, str]:
    """What stands before the first ` : ` outside brackets, and what stands behind."""
    depth = 0
    for k, letter in enumerate(text):
        if letter in "<({[":
            depth += 1
        elif letter in ")}]" or (letter == ">" and text[k - 1 : k] != "-"):
            depth -= 1
        elif depth == 0 and text.startswith(" : ", k):
            return text[:k], text[k + 3 :]
    return (text[:-2], "") if text.endswith(" :") else (text, "") if not text.startswith(": ") else ("", text[2:])


def _types(text: str) -> tuple[list[Type], list[Type]]:
    """Types written after the colon, and those behind `->` or `to`."""
    for arrow in (" -> ", " to "):
        before, found, after = text.rpartition(arrow)
        if found:
            return _several(before), _several(after)
    return _several(text), []


def _several(text: str) -> list[Type]:
    flat = _bare(text.replace(" * ", ", "))
    return [_type(part) for part in split(flat)]


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _type(text: str) -> Type:
    found = BLOCK_TYPE.fullmatch(text.strip())
    if found is None:
        return Type((), text.strip())
    return Type(tuple(int(n) for n in found[1].split("x") if n), found[2])


def _argument(text: str) -> tuple[str, Type]:
    name, _, kind = text.strip().partition(": ")
    return name, _type(re.sub(r" \{.*\}$", "", kind))
