"""The command line: one file a verb; `options` are shared by all, `streams` say where results and failures go.

torch takes seconds to load, so what needs it is imported inside the commands, after their options have been read. What
the user's own program prints goes to stderr, so that stdout holds the result and nothing else; one that ends the
process is survived (`supervised.py`). A new verb is a file with a function, and a line below.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

from samesame.cli import check, fuzz, graph, lift, optimize, refine, replay, rules, suite, sweep
from samesame.cli.apart import Apart
from samesame.cli.options import option
from samesame.cli.streams import UNUSABLE, complain
from samesame.supervised import supervised

UsageError: Any = typer.BadParameter.__base__        # of click, or of the copy of click in newer typer

app = typer.Typer(
    help="Proves whether two tensor programs compute the same thing.",
    epilog=check.EPILOG,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command(cls=Apart, epilog=check.EPILOG)(check.check)
app.command(cls=Apart, epilog=graph.EPILOG)(graph.graph)
app.command(cls=Apart, epilog=replay.EPILOG)(replay.replay)
app.command(cls=Apart, epilog=lift.EPILOG)(lift.lift)
app.command(cls=Apart, epilog=refine.EPILOG)(refine.refine)
app.command(cls=Apart, epilog=fuzz.EPILOG)(fuzz.fuzz)
app.command(cls=Apart, epilog=sweep.EPILOG)(sweep.sweep)
app.command(cls=Apart, epilog=optimize.EPILOG)(optimize.optimize)
app.command(cls=Apart, epilog=suite.EPILOG)(suite.suite)
app.add_typer(rules.app, name="rules")


def print_version(asked: bool) -> None:
    if asked:
        try:
            typer.echo(f"samesame {version('samesame')}")
        except PackageNotFoundError:
            typer.echo("samesame, run from its source without being installed")
        raise typer.Exit


Version = Annotated[bool, option("--version", is_eager=True, callback=print_version, words="Show the version.")]


@app.callback()
def options_before(show_version: Version = False) -> None:
    """Proves whether two tensor programs compute the same thing."""


def call() -> None:
    """Run the command. A call that cannot be understood is one sentence, as any other input is that cannot be used."""
    try:
        sys.exit(app(prog_name="samesame", standalone_mode=False) or 0)
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
        else:
            complain(in_a_sentence(error))
        sys.exit(UNUSABLE)


def in_a_sentence(error: Any) -> str:
    """no such option: --nope; `samesame check --help` shows how it is called"""
    message = str(error.format_message()).rstrip(".").replace("Value error, ", "")
    path = error.ctx.command_path if error.ctx else "samesame"
    return f"{message[:1].lower()}{message[1:]}; `{path} --help` shows how it is called"


def main() -> None:
    """Entry point of the command `samesame`."""
    for stream in sys.stdout, sys.stderr:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")                              # a terminal that cannot show ∞ or Σ
    sys.exit(supervised(call, UNUSABLE))
