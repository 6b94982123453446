"""A GGUF file's comparison as a page: every tensor with its format, what it is made of and what came of it, those that
are not the checkpoint's first; and how far each lies from what it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samesame.gguf.verb import MISSING, UNKNOWN, WRONG, Answer, Tensor
from samesame.gguf.words import headline, sentence
from samesame.report.html.page import choices, page, write_page
from samesame.report.words import number_in_words

COLOURS = {WRONG: "refuted", MISSING: "refuted", UNKNOWN: "undecided", "quantised": "rounded", "rounded": "rounded",
           "equal": "all"}                              # the worst first


def weights_html(answer: Answer) -> str:
    """The whole page."""
    order = list(COLOURS)
    tensors = sorted(answer.tensors, key=lambda tensor: order.index(tensor.found.how))
    states = choices((tensor.found.how, COLOURS[tensor.found.how]) for tensor in tensors)
    word, _, told = headline(answer).partition("   ")
    return page(
        "gguf.html",
        title=f"{word}: {answer.checkpoint} and {answer.file}",
        code=answer.exit_code,
        word=word,
        headline=told,
        sides=[("checkpoint", answer.checkpoint), ("file", answer.file)],
        tensors=[{**_tensor(tensor), **states[tensor.found.how]} for tensor in tensors],
        states=states.values(),
        notes=answer.notes,
    )


def write_weights(answer: Answer, path: Path) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(weights_html(answer), path)


def _tensor(tensor: Tensor) -> dict[str, Any]:
    found, of = tensor.found, ", ".join(tensor.source.names)
    change = tensor.source.change.words if tensor.source.change else ""
    return {
        "name": tensor.name,
        "format": tensor.kind,
        "of": of,
        "change": change,
        "error": number_in_words(found.error) if tensor.kind and found.how != UNKNOWN else "",
        "told": sentence(tensor) if COLOURS[found.how] in ("refuted", "undecided") else "",
        "search": f"{tensor.name} {tensor.kind} {of} {change} {found.how}",
    }
