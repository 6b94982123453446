"""Programs written by a language model, behind any URL that speaks OpenAI's protocol.

A model is asked for modules with explicit inputs, and answers with text. The text is taken apart here and executed only
in a worker's fork. Every prompt and answer is a line of `written.jsonl` in the campaign's folder, so that a campaign
can be run again without the model. Off unless asked for.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from samesame.evidence import SamesameError
from samesame.work.record import open_record

FILE = "written.jsonl"
TRIES = 3  # answers in a row without a program, before the model is given up
SECONDS = 120.0  # for one answer
FENCED = re.compile(r"```(?:python|py)?\s*\n(.*?)```", re.DOTALL)
TOPICS = (
    "views and in-place writes into them", "reductions over several dimensions", "integer and boolean arithmetic",
    "indexing, gather and scatter", "convolutions and pooling with odd sizes", "broadcasting over four dimensions",
    "a loop that updates a tensor", "mixed dtypes and casts", "softmax, norms and attention written out",
    "concatenation, splitting and padding",
)  # fmt: skip
PROMPT = """Write one PyTorch module as a single Python code block, nothing else.
It must define `class Model(torch.nn.Module)` whose `forward` takes one to five tensors and returns tensors, and a
function `inputs()` that returns a list of example tensors of three or four dimensions. No randomness in forward, no
training, no files, no printing. Use Python operators (+, -, *, /, @, **, unary minus) where you can. Topic: {topic}."""


class Writer:
    """Asks a model for programs; first those that the campaign's folder has already."""

    def __init__(self, url: str, model: str, folder: Path) -> None:
        self.url, self.model = url, model
        self.kept = open_record(folder / FILE, {"record": "corpus of written programs"}, dict)
        self.without_program = 0

    def program(self, number: int) -> str | None:
        """The text of the program of this number; None where the model's answer holds none. Raises SamesameError where
        it does not answer, or never with a program."""
        row = self.kept.get(str(number))
        if row is None:
            prompt = PROMPT.format(topic=TOPICS[number % len(TOPICS)])
            answer = self._answer(prompt)
            row = {"model": self.model, "prompt": prompt, "answer": answer, "program": program_in(answer) or ""}
            self.kept.add(str(number), row)
            self.without_program = 0 if row["program"] else self.without_program + 1
            if self.without_program == TRIES:
                told = f"{self.model} at {self.url} answered {TRIES} times without a program"
                raise SamesameError(f"{told}; name a model that writes Python")
        return row["program"] or None

    def _answer(self, prompt: str) -> str:
        try:
            from openai import OpenAI, OpenAIError
        except ImportError:
            raise SamesameError("--llm needs the openai client: pip install 'samesame[fuzz]'") from None
        try:
            client = OpenAI(base_url=self.url, api_key="none", timeout=SECONDS, max_retries=1)
            answer = client.chat.completions.create(model=self.model, messages=[{"role": "user", "content": prompt}])
            return answer.choices[0].message.content or ""
        except OpenAIError as error:
            told = f"no answer from {self.url}: {error}"
            raise SamesameError(f"{told}; is the server running, and the model's name right?") from None


def program_in(answer: str) -> str | None:
    """The code of an answer that parses and defines what was asked for."""
    found = FENCED.search(answer)
    text = found[1] if found else answer
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    names = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return text if {"Model", "inputs"} <= names else None
