"""Words: what people and machines read of a GGUF file's comparison."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from samesame.gguf.verb import MISSING, UNKNOWN, WRONG, Answer, Tensor
from samesame.report.words import counted

LARGEST = 12                                               # wrong tensors that are shown without --verbose


def headline(answer: Answer) -> str:
    count = Counter(tensor.found.how for tensor in answer.tensors)
    told = ", ".join(f"{n} {how}" for how, n in count.items())
    return {
        "same": f"same   the checkpoint's weights ({told})",
        "different": f"different   {count[WRONG] + count[MISSING]} of {len(answer.tensors)} tensors are not the "
                     f"checkpoint's ({told})",
        "undecided": f"undecided   {count[UNKNOWN]} of {len(answer.tensors)} tensors cannot be compared ({told})",
    }[answer.verdict]


def text(answer: Answer, verbose: bool) -> str:
    return "\n".join(lines(answer, verbose))


def lines(answer: Answer, verbose: bool) -> Iterator[str]:
    yield headline(answer)
    yield f"  {answer.checkpoint} and {answer.file}"
    bad = [tensor for tensor in answer.tensors if tensor.found.how in (WRONG, MISSING, UNKNOWN)]
    for tensor in bad if verbose else bad[:LARGEST]:
        yield f"  {sentence(tensor)}"
    if len(bad) > LARGEST and not verbose:
        yield f"  and {len(bad) - LARGEST} more (--verbose)"
    good = [tensor for tensor in answer.tensors if tensor not in bad]
    for tensor in good if verbose else ():
        yield f"  {sentence(tensor)}"
    if good and not verbose:
        yield from summed_up(good)
    for note in answer.notes:
        yield f"  {note}"


def summed_up(tensors: list[Tensor]) -> Iterator[str]:
    """One line for each format and change, with the worst of its errors."""
    groups: dict[tuple[str, str, str], list[Tensor]] = {}
    for tensor in tensors:
        words = tensor.source.change.words if tensor.source.change else ""
        groups.setdefault((tensor.kind, tensor.found.how, words), []).append(tensor)
    for (kind, how, words), group in groups.items():
        worst = max(group, key=lambda tensor: tensor.found.error)
        error = f"; largest error {worst.found.error:.2g} in {worst.name}" if worst.found.error else ""
        yield f"  {len(group)} {kind} {how}{f', {words}' if words else ''}{error}"


def sentence(tensor: Tensor) -> str:
    found, of = tensor.found, " + ".join(tensor.source.names[:2]) + (" + …" if len(tensor.source.names) > 2 else "")
    if found.how == MISSING:
        return f"{tensor.name} is missing (of {of})"
    if found.how == UNKNOWN:
        why = "is in a format whose bound is not known" if of else "has no partner in the checkpoint"
        return f"{tensor.name} ({tensor.kind}) {why}"
    if found.how != WRONG:
        words = f", {tensor.source.change.words}" if tensor.source.change else ""
        return f"{tensor.name} ({tensor.kind}) is {of}, {found.how}{words}; largest error {found.error:.2g}"
    place = f" at {list(found.place)}" if found.place else ""
    off = f"{counted(found.off, 'element')} off" if found.off else f"all of it {found.factor:.4g} times as large"
    error = "" if math.isnan(found.error) else f", by up to {found.error:.2g}"
    return f"{tensor.name} ({tensor.kind}) {tensor.instead or f'is not {of}'}: {off}{error}{place}"


def dumps(answer: Answer) -> str:
    tensors = [{"name": t.name, "format": t.kind, "of": list(t.source.names), "instead": t.instead,
                "change": t.source.change.words if t.source.change else "",
                **{key: spoken(value) for key, value in asdict(t.found).items()}} for t in answer.tensors]
    held = {"format": 1, "verb": "check", "verdict": answer.verdict, "headline": headline(answer),
            "left": answer.checkpoint, "right": answer.file, "tensors": tensors, "notes": answer.notes,
            "exit_code": answer.exit_code}
    return json.dumps(held, indent=1, allow_nan=False) + "\n"


def spoken(value: Any) -> Any:
    """A number that JSON has; NaN and the infinities by name."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
