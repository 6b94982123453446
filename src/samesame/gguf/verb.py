"""The verb: every tensor of a GGUF file beside those of a checkpoint that it should be made of.

Tensors are read one at a time. One that is wrong is held against what it could be by mistake: the same without the
change that was due, with one that was not, or a tensor of another layer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy

from samesame.capture.checkpoints.folders import Checkpoint, parse
from samesame.evidence import Refused
from samesame.gguf.files import Weights, read
from samesame.gguf.formats import Compared, compared
from samesame.gguf.names import MADE, PLUS_ONE, Source, architecture_of, fields_of, others, rotary, sources

WRONG, MISSING, UNKNOWN = "wrong", "missing", "unknown"


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of the file, or one that it lacks: what it should be made of, how that compares, and what it seems to
    be instead."""

    name: str
    kind: str
    source: Source
    found: Compared
    instead: str = ""


@dataclass(slots=True)
class Answer:
    """What was found out about a file."""

    checkpoint: str
    file: str
    tensors: list[Tensor] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        hows = Counter(tensor.found.how for tensor in self.tensors)
        if hows[WRONG] or hows[MISSING]:
            return "different"
        return "undecided" if hows[UNKNOWN] else "same"

    @property
    def exit_code(self) -> int:
        return {"same": 0, "different": 1, "undecided": 3}[self.verdict]


def compare(checkpoint: str, file: str) -> Answer:
    """Hold `gguf:FILE` against `hf:DIR`. Raises Refused where one of them cannot be read, or is of an architecture
    whose changes are not known."""
    if not checkpoint.startswith("hf:"):
        raise Refused(f"{file} is compared with a checkpoint's weights: give hf:DIR, not {checkpoint}")
    given: Checkpoint = parse(checkpoint)
    if given.options or given.overrides:
        raise Refused(f"{checkpoint} has options; weights are compared as they are stored")
    config = fields_of(given.config, checkpoint)
    weights = Weights(given.path)
    architecture = architecture_of(config, checkpoint)
    stored, told = read(file)
    if told != architecture:
        raise Refused(f"{file} is a {told} and {checkpoint} a {architecture}: weights of two architectures")
    answer = Answer(checkpoint, file)
    expected = sources(architecture, weights.shapes, config)
    tied = bool(config.get("tie_word_embeddings")) or "output.weight" not in expected
    for name, source in expected.items():
        if name in stored:
            answer.tensors.append(held_against(stored[name], source, weights, architecture))
        elif not (tied and name == "output.weight"):
            answer.tensors.append(Tensor(name, "", source, Compared(MISSING)))
    for name, tensor in stored.items():
        if name == "output.weight" and name not in expected and "token_embd.weight" in expected:
            answer.tensors.append(held_against(tensor, expected["token_embd.weight"], weights, architecture))
        elif name in MADE:
            answer.notes.append(f"{name} is made of the config, and was not compared.")
        elif name not in expected:
            answer.tensors.append(Tensor(name, tensor.tensor_type.name, Source(()), Compared(UNKNOWN)))
    return answer


def held_against(tensor: Any, source: Source, weights: Weights, architecture: str) -> Tensor:
    kind = tensor.tensor_type.name
    plain = weights.stacked(source.names)
    wanted = plain if source.change is None else source.change.make(plain)
    if tuple(wanted.shape) != shape_of(tensor):
        found = Compared(WRONG, off=int(numpy.prod(shape_of(tensor))), factor=0.0)
        told = f"is {list(shape_of(tensor))} instead of {list(wanted.shape)}"
        return Tensor(tensor.name, kind, source, found, told)
    found = compared(wanted, tensor.data, kind)
    if found.how != WRONG:
        instead = ""
    elif math.isnan(found.error):
        instead = where_nan(wanted, found, source)
    else:
        instead = said(tensor, source, plain, found, weights)
    return Tensor(tensor.name, kind, source, found, instead)


def shape_of(tensor: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in reversed(tensor.shape))


def where_nan(wanted: Any, found: Compared, source: Source) -> str:
    """Which of the two holds NaN where the other holds a number."""
    if numpy.isnan(wanted[found.place]):
        return f"is not {' + '.join(source.names[:2])}, which holds NaN in the checkpoint"
    return f"holds NaN, where {' + '.join(source.names[:2])} holds {wanted[found.place]:.4g}"


def said(tensor: Any, source: Source, plain: Any, found: Compared, weights: Weights) -> str:
    """What a wrong tensor seems to hold instead."""
    kind = tensor.tensor_type.name

    def fits(numbers: Any) -> bool:
        return numbers.shape == shape_of(tensor) and compared(numbers, tensor.data, kind).how not in (WRONG, UNKNOWN)

    if source.change is not None and fits(plain):
        return f"holds {source.names[0]} as it is: {source.change.words} was due"
    for name, change in changes_not_due(plain):
        if (source.change is None or change is not source.change) and fits(change(plain)):
            return f"holds {source.names[0]} {name}, which was not due"
    for other in others(source.names, weights.shapes) if len(source.names) == 1 else ():
        numbers = weights[other]
        if fits(numbers if source.change is None else source.change.make(numbers)):
            return f"holds {other}"
    beside = max(found.relative**2 - (found.factor - 1) ** 2, 0.0)
    if found.factor and beside < 0.05 * found.factor**2 and abs(found.factor - 1) > 1e-3:
        return f"is {found.factor:.4g} times what it should be"
    return ""


def changes_not_due(plain: Any) -> Iterator[tuple[str, Any]]:
    """What may have been done by mistake."""
    yield PLUS_ONE.words, PLUS_ONE.make
    if plain.ndim == 2 and plain.shape[0] == plain.shape[1]:
        yield "transposed", lambda weight: numpy.ascontiguousarray(weight.T)
    heads = 1
    while plain.ndim and heads <= 256 and plain.shape[0] % (2 * heads) == 0:
        yield f"permuted as rows of {heads} heads", rotary(heads).make
        heads *= 2


