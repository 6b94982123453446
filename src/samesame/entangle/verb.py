"""--case: graphs that another tool captured, with the relation that it states of them.

Their sizes are those of real models, far too large to run. So both sides run at small sizes, one of its own for each
role that a size plays. What differs there is a finding; what is proved there is then proved of the captured program
(captured.py).
"""

from __future__ import annotations

from samesame.budget import Run
from samesame.entangle.captured import Captured, stated_parts, weaken
from samesame.entangle.case import Sides, load_case
from samesame.evidence import Refinement, Rung
from samesame.refine.verb import book_of, establish
from samesame.relate.layout import Slice, Whole
from samesame.store import Store
from samesame.versions import versions_of_packages


def refine_case(
    path: str, *, seed: int = 0, timeout: float | None = None, run: Run | None = None, store: Store | None = None
) -> Refinement:
    """Decide whether the ranks of a case refine its sequential graph: at every size if that can be proved, else at the
    captured ones. A proof at the reduced sizes alone counts as a test.

    Raises Refused for a file that is not what the case format says, naming what is wrong.
    """
    run = run or Run(timeout)
    verdict = Refinement("undecided", Rung.UNDECIDED, versions=versions_of_packages(), seed=seed)
    told: list[str] = []
    with run.bounded():
        _decide(verdict, path, run, store, told)
    verdict.notes += [*told, *run.notes()]
    verdict.timing = run.seconds
    return verdict


def _decide(verdict: Refinement, path: str, run: Run, store: Store | None, told: list[str]) -> None:
    """Write into the verdict what is found; `told` takes what is to be said of the case itself."""
    with run.during("capture"):
        case = load_case(path)
        told += [*case.assumptions, *(f"{name} is related by its name and shape alone" for name in case.guessed)]
        sides = case.shrunk(verdict.seed)
    verdict.world_size = len(sides.ranks)
    loading = run.seconds["capture"]
    found = establish(verdict, sides.sequential, sides.ranks, {"ranks": len(sides.ranks)}, {}, _words(sides),
                      sides.layouts, stated_parts(sides), run, book_of(store))
    run.seconds["capture"] += loading
    proved = verdict.evidence >= Rung.PROVED_HERE
    weaken(verdict, case)                  # so it stays if what follows is stopped
    if found is not None and proved:
        with run.during("generalise"):
            Captured(case, found, run).prove(verdict)


def _words(sides: Sides) -> dict[str, str]:
    """How the case states that the ranks hold each output, where one word says it."""
    stated: dict[str, set[str]] = {}
    for title, layout in stated_parts(sides).items():
        match layout:
            case Whole():
                word = "replicated"
            case Slice(Whole(), dim):
                word = f"shard({dim})"
            case _:
                word = ""
        stated.setdefault(title.partition(".")[2], set()).add(word)
    return {name: word for name, words in stated.items() if len(words) == 1 and (word := min(words))}
