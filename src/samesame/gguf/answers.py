"""A GGUF file's comparison as an answer for other tools: a finding for each tensor that is not the checkpoint's, or
that nobody can compare."""

from __future__ import annotations

from collections.abc import Iterator

from samesame.gguf.verb import MISSING, UNKNOWN, WRONG, Answer
from samesame.gguf.words import headline, sentence, text
from samesame.report import answers
from samesame.report.answers import ERROR, NOT_DECIDED, STATES, Finding, Rule, in_order, place_of_target

RULES = {
    WRONG: Rule("weights-differ", ERROR, "A tensor of the file is not what the checkpoint's weights make it."),
    MISSING: Rule("weights-missing", ERROR, "The file lacks a tensor of the checkpoint."),
    UNKNOWN: NOT_DECIDED,
}


def of_weights(answer: Answer, seconds: float) -> answers.Answer:
    """The answer, which took so long."""
    return answers.Answer("check", f"{answer.checkpoint} and {answer.file}", answer.verdict, STATES[answer.exit_code],
                          headline(answer), text(answer, False), seconds, tuple(_findings(answer)))


def _findings(answer: Answer) -> Iterator[Finding]:
    places = in_order(map(place_of_target, (answer.file, answer.checkpoint)))
    for tensor in answer.tensors:
        if tensor.found.how in RULES:
            yield Finding(RULES[tensor.found.how], sentence(tensor), places)
