"""Notebooks: what one shows of a verb's result, as HTML and as Markdown. Every verb says its result as answers, and is
asked for them here, the one place that knows all of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samesame.evidence import Refinement, Verdict
from samesame.report.answers import Answer, of_check, of_lift, of_refine
from samesame.report.markdown import html_of, markdown

if TYPE_CHECKING:
    from samesame.fuzz.campaign import Progress
    from samesame.fuzz.single import OwnResult
    from samesame.kernels.verdict import LiftVerdict
    from samesame.optimize.verb import Optimized

    Result = Verdict | LiftVerdict | Optimized | Progress | OwnResult


def as_markdown(result: Result) -> str:
    """What a notebook shows that reads Markdown."""
    return markdown(answers_of(result))


def as_html(result: Result) -> str:
    """What a notebook shows: the headline, formulas, where to look, and the report in a fold."""
    return "\n".join(map(html_of, answers_of(result)))


def answers_of(result: Result) -> list[Answer]:
    """The answers of any result."""
    if isinstance(result, Refinement):
        return [of_refine(result)]
    if isinstance(result, Verdict):
        return [of_check(result)]
    from samesame.kernels.verdict import LiftVerdict

    if isinstance(result, LiftVerdict):
        return of_lift(result)
    from samesame.optimize.verb import Optimized

    if isinstance(result, Optimized):
        from samesame.optimize.answers import of_optimize

        return [of_optimize(result.report, result.report.title)]
    from samesame.fuzz.answers import of_campaign, of_own
    from samesame.fuzz.single import OwnResult

    return [of_own(result)] if isinstance(result, OwnResult) else of_campaign(result)
