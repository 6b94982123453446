"""Reduce a program that shows a difference, while it shows the same one.

First outputs and steps go, many at a time and then one by one (delta debugging); a step that something needs may become
an input, or another value of the same kind. Then sizes shrink, everywhere at once, and then values become plain: ones,
counts, a literal. `shows(program)` runs a candidate and says what it shows, or ""; only candidates that show what the
original shows are kept.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from samesame.fuzz.program import Block, Input, Line, Program, Ref, Step, changed, evaluated, literal, steps_in, used

Shows = Callable[[Program], str]
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def reduced(program: Program, shows: Shows, label: str, until: float) -> Program:
    """The smallest program found before the clock (time.monotonic) says `until`."""
    flat = replace(program, steps=tuple(program.every_step))                 # without lines that only hold others
    program = flat if flat != program and shows(flat) == label else program
    improved = True
    while improved and time.monotonic() < until:
        improved = False
        for candidates in (fewer_outputs, fewer_steps, substituted, smaller_sizes, plainer_values, plainer_arguments):
            program, better = _descend(program, candidates, shows, label, until)
            improved = improved or better
    return renamed(program)


def _descend(
    program: Program, candidates: Callable[[Program], Iterator[Program]], shows: Shows, label: str, until: float
) -> tuple[Program, bool]:
    """Take the first candidate that shows the same, again and again."""
    better = False
    found = True
    while found:
        found = False
        for candidate in candidates(program):
            if time.monotonic() > until:
                return program, better
            if size(candidate) < size(program) and shows(candidate) == label:
                program, better, found = candidate, True, True
                break
    return program, better


def size(program: Program) -> tuple[int, ...]:
    """What is reduced, the most important first."""
    text = sum(len(given.text) for given in program.inputs)
    numbers = sum(int(n) for given in program.inputs for n in NUMBER.findall(given.text))
    arguments = sum(int(n) for step in program.every_step for n in NUMBER.findall(repr((step.args, step.kwargs))))
    blocks = sum(isinstance(line, Block) for line in program.steps)
    return len(program) + blocks, len(program.outputs), len(program.inputs), arguments + numbers + text


def first_wrong(program: Program, shows: Shows) -> str:
    """The line after which eager and compiled part: the last of the shortest beginning that shows anything."""
    lines = [line for line in program.steps if isinstance(line, Step)]
    if not lines or len(lines) < len(program.steps):
        return ""
    for count, line in enumerate(lines[:-1], 1):
        made = line.results or tuple(used([line]))[:1]
        if shows(replace(program, steps=program.steps[:count], outputs=made).lean()):
            return str(line)
    return str(lines[-1])


def fewer_outputs(program: Program) -> Iterator[Program]:
    """Without runs of outputs, long ones first, and without the steps that only these need."""
    length = len(program.outputs) // 2
    while length:
        for start in range(0, len(program.outputs), length):
            rest = (*program.outputs[:start], *program.outputs[start + length :])
            if rest:
                yield needed(replace(program, outputs=rest))
        length //= 2


def needed(program: Program) -> Program:
    """Without steps that write nothing and whose results nobody takes."""
    taken, kept = {*program.outputs}, list[Line]()
    for line in reversed(program.steps):
        drops = isinstance(line, Step) and line.results and not line.call.endswith("_") and not taken & {*line.results}
        if not drops:
            kept.append(line)
            taken |= {*used([line])}
    return replace(program, steps=tuple(reversed(kept))).lean()


def fewer_steps(program: Program) -> Iterator[Program]:
    """Without runs of steps, long ones first; what needed their results goes with them."""
    lines = program.steps
    length = len(lines) // 2
    while length:
        for start in range(len(lines) - length, -1, -1):
            yield without(program, lines[start : start + length])
        length //= 2


def without(program: Program, gone: Sequence[Line]) -> Program:
    """The program without these lines, and without what takes their results."""
    lost = {name for step in steps_in(gone) for name in step.results}
    kept: list[Line] = []
    for line in program.steps:
        if any(line is other for other in gone):
            continue
        if lost & set(used([line])):
            lost |= {name for step in steps_in([line]) for name in step.results}
            continue
        kept.append(line)
    outputs = tuple(name for name in program.outputs if name not in lost)
    made = [name for step in steps_in(kept) for name in step.results]
    inputs = [given.name for given in program.inputs]
    left = replace(program, steps=tuple(kept), outputs=outputs or tuple(made[-1:] or inputs[-1:]))
    return left.lean()


def substituted(program: Program) -> Iterator[Program]:
    """A step's result replaced by one of its own arguments, so that the step can go."""
    for line in program.steps:
        if isinstance(line, Step) and len(line.results) == 1:
            for name in dict.fromkeys(used([line])):
                rest = tuple(other for other in program.steps if other is not line)
                table = {line.results[0]: name}
                outputs = tuple(dict.fromkeys(table.get(out, out) for out in program.outputs))
                steps = tuple(_with_names(part, table) for part in rest)
                yield Program(program.inputs, steps, outputs).lean()


def smaller_sizes(program: Program) -> Iterator[Program]:
    """One number, wherever it stands, replaced by a smaller one."""
    texts = [given.text for given in program.inputs]
    texts += [repr((step.args, step.kwargs)) for step in program.every_step]
    numbers = sorted({int(n) for text in texts for n in NUMBER.findall(text)}, reverse=True)
    for number in numbers:
        for smaller in dict.fromkeys((1, 2, 3, number // 2, number - 1)):
            if 0 < smaller < number:
                yield _with_number(program, number, smaller)


def _with_number(program: Program, number: int, smaller: int) -> Program:
    def leaf(value: Any) -> Any:
        if isinstance(value, slice):
            return slice(*map(leaf, (value.start, value.stop, value.step)))
        return smaller if type(value) is int and value == number else value

    texts = (NUMBER.sub(lambda m: str(smaller) if int(m[0]) == number else m[0], x.text) for x in program.inputs)
    inputs = tuple(replace(given, text=text) for given, text in zip(program.inputs, texts, strict=True))
    return replace(program, inputs=inputs, steps=tuple(changed(line, leaf) for line in program.steps))


def plainer_values(program: Program) -> Iterator[Program]:
    """Inputs as ones, counts or a short literal; without their layout."""
    for k, given in enumerate(program.inputs):
        for text in _plainer(given):
            yield replace(program, inputs=(*program.inputs[:k], Input(given.name, text), *program.inputs[k + 1 :]))


def _plainer(given: Input) -> Iterator[str]:
    try:
        value = evaluated(given.text)
    except Exception:  # a text that makes no tensor has nothing plainer
        return
    shape, kind = tuple(value.shape), value.dtype
    named = "" if str(kind) == "torch.float32" else f", dtype={kind}"
    yield f"torch.ones({shape}{named})"
    yield f"torch.zeros({shape}{named})"
    if len(shape) == 1:
        yield f"torch.arange({shape[0]}, dtype={kind})"
    yield f"torch.arange({value.numel()}, dtype={kind}).reshape({shape})"
    if value.numel() <= 4:
        yield literal(value)
    yield re.sub(r"\.(transpose|expand)\([^()]*(\([^()]*\))?[^()]*\)$|\[[^\[\]]*\]$", "", given.text)


def plainer_arguments(program: Program) -> Iterator[Program]:
    """Without one keyword argument."""
    for position, line in enumerate(program.steps):
        if isinstance(line, Step):
            for name in line.kwargs:
                rest = {other: value for other, value in line.kwargs.items() if other != name}
                steps = (*program.steps[:position], replace(line, kwargs=rest), *program.steps[position + 1 :])
                yield replace(program, steps=steps).lean()


def renamed(program: Program) -> Program:
    """Inputs a, b, … and results y0, y1, …"""
    made = [name for step in program.every_step for name in step.results]
    table = {given.name: f"x{k}" for k, given in enumerate(program.inputs)} | {n: f"y{k}" for k, n in enumerate(made)}
    inputs = tuple(Input(table[given.name], given.text) for given in program.inputs)
    return Program(
        inputs, tuple(_with_names(line, table) for line in program.steps), tuple(table[n] for n in program.outputs)
    )


def _with_names(line: Line, table: Mapping[str, str]) -> Line:
    def name_of(name: str) -> str:
        return table.get(name, name)

    return changed(line, lambda leaf: Ref(name_of(leaf.name)) if isinstance(leaf, Ref) else leaf, name_of)
