"""`samesame graph`: the graph of a program, shown or saved."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

from samesame.cli.options import How, HowOption, Inputs, Verbose, argument, option
from samesame.cli.streams import reported, to_stdout
from samesame.evidence import Refused
from samesame.graph import Graph
from samesame.programs import FORMS

EPILOG = "Exit codes: 0 done, 2 usage or unusable input."

Program = Annotated[str, argument("TARGET", f"The program: {FORMS}.")]
Save = Annotated[str | None, option("--save", metavar="FILE", words="Save the graph here instead of showing it.")]


def graph(
    target: Program,
    inputs: Inputs = None,
    save: Save = None,
    verbose: Verbose = False,
    how: HowOption = How.record,
) -> None:
    """Show or save the graph of a program.

    samesame graph model.py:Fused --inputs model.py:inputs --save fused.json.gz
    """
    with reported(verbose):
        from samesame.capture import save_graph, text_form
        from samesame.capture.files import tensor_file
        from samesame.report import require_writable

        if save is not None:
            require_writable(Path(save))
            require_writable(tensor_file(Path(save)))
        captured = captured_graph(target, inputs, how.value)
        if save is None:
            to_stdout(text_form(captured))
        else:
            save_graph(captured, save)


def captured_graph(target: str, inputs: str | None, how: str) -> Graph:
    """The graph saved in a file, or captured from a program: on the inputs named, or else on its own or its file's
    `inputs`. Raises Refused where there are none."""
    with redirect_stdout(sys.stderr):
        from samesame.capture import capture, load_inputs, load_target

        program = load_target(target)
        if isinstance(program, Graph):
            return program
        own = getattr(program, "example", None)
        if inputs is None and own is None:
            if ":" not in target:
                raise Refused(f"{target} needs inputs to run on; give --inputs file.py:name")
            inputs = f"{target.split(':')[-2]}:inputs"
        return capture(program, load_inputs(inputs) if inputs else own, how=how, name=target)
