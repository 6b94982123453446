"""The verdict of `lift` as a page: each kernel's formula, its source with the obligations beside their lines, and what
breaks one, step by step."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from samesame.formula.mathml import mathml_tensor
from samesame.formula.tensor import tensor_over
from samesame.kernels.formulas.present import presentable
from samesame.kernels.formulas.textbook import textbook
from samesame.kernels.verdict import Formula, KernelVerdict, LiftVerdict, Obligation
from samesame.report.answers import place_of_line
from samesame.report.html.page import page, write_page
from samesame.report.lifted import in_words, lines, of_numerics

STATES = {"proved": "all", "violated": "refuted", "undecided": "undecided"}
COLOURS = {"verified": "good", "violated": "bad"}
REACHED = ("access", "tensor", "offset", "elements")        # of a counterexample: what is reached in the end
LAST = ("line", "replayed")


def lift_html(verdict: LiftVerdict) -> str:
    """The whole page."""
    told = [f"not lifted: {sentence}" for sentence in verdict.unsupported]
    *_, headline = lines(verdict)
    return page(
        "lift.html",
        title=f"{verdict.verdict}: {verdict.target}",
        code=verdict.exit_code,
        headline=Markup('<span class="tight {}">{}</span>{}').format(
            COLOURS.get(verdict.verdict, "open"), verdict.verdict, headline.removeprefix(verdict.verdict)),
        target=verdict.target,
        against=None if not verdict.against else {
            "headline": f"against {verdict.reference}: {verdict.against_headline}",
            "detail": verdict.against_detail,
            "steps": steps(verdict.against_counterexample),
        },
        kernels=[_kernel(number, kernel) for number, kernel in enumerate(verdict.kernels, 1)],
        notes=[*told, *verdict.notes],
    )


def write_lift(verdict: LiftVerdict, path: Path) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(lift_html(verdict), path)


def _kernel(number: int, kernel: KernelVerdict) -> dict[str, Any]:
    obligations = [
        {"id": f"o{number}-{k}", "name": o.name, "kind": STATES[o.state], "state": o.state, "detail": o.detail,
         "place": o.place, "steps": steps(o.counterexample)}
        for k, o in enumerate(sorted(kernel.obligations, key=lambda o: o.state == "proved"))
    ]
    return {
        "id": f"kernel-{number}",
        "name": kernel.kernel,
        "verdict": kernel.verdict,
        "headline": kernel.headline,
        "called": kernel.name,
        "configuration": kernel.configuration,
        "formulas": [{"tensor": f.tensor, "drawn": _drawn(f), "text": f.text} for f in kernel.formulas],
        "needs": kernel.preconditions,
        "obligations": obligations,
        "source": _source(kernel.obligations, obligations, kernel),
        "stages": kernel.stages,
        "numerics": [" ".join(line.split()) for line in of_numerics(kernel)],
        "readings": kernel.readings,
        "unsupported": kernel.unsupported,
    }


def _drawn(formula: Formula) -> Markup:
    """The formula as MathML; empty where it is known as text only."""
    if formula.expr is None:
        return Markup("")
    indices, expr = formula.expr
    whole = tensor_over(indices, presentable(textbook(expr)))
    return Markup(mathml_tensor(formula.tensor, whole))


def steps(case: dict[str, Any] | None) -> list[str]:
    """A counterexample from the sizes to the program, the lane and what is reached there, a sentence each."""
    if not case:
        return []
    reached = {name: case[name] for name in REACHED if name in case}
    parts = [{name: value} for name, value in case.items() if name not in (*REACHED, *LAST)]
    ends = [{name: case[name]} for name in LAST if name in case]
    return [words for part in (*parts, *([reached] if len(reached) == len(REACHED) else []), *ends)
            if (words := in_words(part))]


def _source(
    found: Sequence[Obligation], shown: Sequence[dict[str, Any]], kernel: KernelVerdict
) -> dict[str, Any] | None:
    """The function that most obligations speak of, each line with what is said of it."""
    places = [place for text in (*(o.place for o in found), *(s.place for s in kernel.stages))
              if (place := place_of_line(text)) is not None]
    if not places:
        return None
    file = places[0].file
    at = {place.line for place in places if place.file == file}
    first, last, text = _function(file, max(at))
    if not text:
        return None
    beside: dict[int, list[dict[str, Any]]] = {}
    for obligation in shown:
        place = place_of_line(obligation["place"])
        if place is not None and place.file == file:
            beside.setdefault(place.line, []).append(obligation)
    numbered = [(n, text[n - 1], beside.get(n, [])) for n in range(first, last + 1)]
    return {"file": f"{file}:{first}", "lines": numbered}


def _function(file: str, line: int) -> tuple[int, int, list[str]]:
    """The first and the last line of the function round a line, and the file's lines; no lines where there is none."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        functions = list(_functions(ast.parse(text)))
    except (OSError, SyntaxError, ValueError):
        return 0, 0, []
    around = [(a, b) for a, b in functions if a <= line <= b]
    return (*max(around), text.splitlines()) if around else (0, 0, [])


def _functions(tree: ast.AST) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min((part.lineno for part in node.decorator_list), default=node.lineno)
            yield first, node.end_lineno or node.lineno
