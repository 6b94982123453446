"""`samesame replay`: a certificate checked step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from samesame.cli.options import Verbose, argument, option
from samesame.cli.streams import reported, to_stdout
from samesame.evidence import SamesameError

EPILOG = "Exit codes: 0 it holds, 1 it does not, 2 usage or unusable input."

Certificate = Annotated[str, argument("FILE", "A certificate that check --certificate wrote.")]
GRAPHS = "The two graphs that were compared, saved by `samesame graph --save`, left and right."
Graphs = Annotated[tuple[str, str] | None, option("--graphs", metavar="LEFT RIGHT", words=GRAPHS)]


def replay(
    certificate: Certificate,
    graphs: Graphs = None,
    verbose: Verbose = False,
) -> None:
    """Check a certificate step by step, without searching.

    samesame check pair.py --certificate proof.json && samesame replay proof.json
    """
    with reported(verbose):
        from samesame.certificate.outline import lacking
        from samesame.certificate.replay import Broken, Unreadable, beside, read
        from samesame.certificate.replay import replay as checked

        try:
            form = read(Path(certificate))
            given = (saved_graph(graphs[0]), saved_graph(graphs[1])) if graphs else None
            found, trusted = checked(form, given)
            if files := beside(form, Path(certificate).parent):
                found.append(files)
        except Unreadable as fault:
            raise SamesameError(f"{certificate}: {fault}; `samesame check --certificate FILE` writes one") from None
        except Broken as fault:
            to_stdout(f"does not hold   {lacking(form) or fault}")
            raise typer.Exit(1) from None
        lines = ["holds", *(f"  checked   {line}" for line in found), *(f"  trusted   {line}" for line in trusted)]
        to_stdout("\n".join(lines))


def saved_graph(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A saved graph as `check` reads it, defaults filled in, and its tensors."""
    from samesame.capture import load_graph
    from samesame.graph.text import to_json
    from samesame.operators.defaults import with_defaults

    graph = with_defaults(load_graph(path))
    return to_json(graph), graph.tensors
